"""Middleware that sends Streamlit's scripts and styles compressed, a third of the bytes.

Streamlit sends them uncompressed, because it would compress them again for every reader. Here each is compressed once.
"""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import file_util

MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}
HEADERS = {
    "Content-Encoding": "gzip",
    "Vary": "Accept-Encoding",
    "Cache-Control": "public, max-age=31536000, immutable",  # the hash of its content is in its name
}


class CompressedFiles:
    def __init__(self, app: ASGIApp) -> None:
        root = Path(file_util.get_static_dir())
        self.app = app
        self.files = {
            f"/{path.relative_to(root).as_posix()}": path
            for path in root.glob("static/**/*")
            if path.suffix in MEDIA_TYPES
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        file = self._file_for(scope)
        if file is None:
            await self.app(scope, receive, send)
            return
        body = await run_in_threadpool(_compress, file)
        await Response(body, media_type=MEDIA_TYPES[file.suffix], headers=HEADERS)(scope, receive, send)

    def _file_for(self, scope: Scope) -> Path | None:
        if scope["type"] != "http" or scope["method"] != "GET":
            return None
        _, folder, name = scope["path"].partition("/static/")  # whatever path the app is served below
        file = self.files.get(folder + name)
        headers = Headers(scope=scope)
        return file if file and "gzip" in headers.get("accept-encoding", "") and "range" not in headers else None


@cache
def _compress(file: Path) -> bytes:
    return gzip.compress(file.read_bytes(), mtime=0)
