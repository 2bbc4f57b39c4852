"""A file on its way into a collection of documents."""

from __future__ import annotations

from tempfile import SpooledTemporaryFile
from typing import IO, Any

from starlette.requests import Request

from core.serve.collections import add_file
from core.serve.door import Entry
from core.serve.http.request_models import FileUpload
from core.serve.threads import run_in_service_thread

IN_MEMORY = 2**20
"""Bytes of an upload that are kept in memory while the rest comes. Slow uploads wait on the disk."""


async def store_upload(entry: Entry, asked: FileUpload, request: Request) -> dict[str, Any]:
    """Receive the file, store it and return it."""
    with SpooledTemporaryFile(IN_MEMORY) as file:
        async for chunk in request.stream():
            file.write(chunk)
        return await run_in_service_thread(entry.caller, lambda: _store(entry, asked, file))


def _store(entry: Entry, asked: FileUpload, file: IO[bytes]) -> dict[str, Any]:
    file.seek(0)
    return add_file(entry.app, entry.caller, asked.collection, asked.name, file.read(), asked.modified)
