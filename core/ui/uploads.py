"""Uploads only where a page asked for them.

Streamlit accepts a file for any session, even if its page has no upload field, and keeps it in memory until the session
ends. Here only a session with an upload field may upload, up to the limit of that field.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.elements.widgets.chat import ChatInputValue
from streamlit.runtime import get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

_PUT = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+$")
_FRAMING = 10_000
"""Bytes that a form with one file adds to it."""
_FIELD = "upload_field"


class _Field:
    """Upload limits of one session. It lives in the session's state and ends with it."""

    def __init__(self) -> None:
        self.megabytes = 0
        self.files = 0
        """Number of files that may be uploaded at once, and that are kept."""
        self.under_way = 0


Typed = str | ChatInputValue | None
_fields: WeakValueDictionary[str, _Field] = WeakValueDictionary()
"""Permits by session id."""


def upload_field(label: str, *, megabytes: int, **options: Any) -> UploadedFile | None:
    """Draw `st.file_uploader` for one file and permit its upload."""
    _expect(megabytes, 1)
    file: UploadedFile | None = st.file_uploader(label, max_upload_size=megabytes, **options)
    return file


def upload_fields(label: str, *, megabytes: int, files: int, **options: Any) -> list[UploadedFile]:
    """Draw `st.file_uploader` for several files and permit their upload."""
    _expect(megabytes, files)
    return list(st.file_uploader(label, max_upload_size=megabytes, accept_multiple_files=True, **options))


def chat_field(placeholder: str, *, megabytes: int, files: int, file_type: Sequence[str], **options: Any) -> Typed:
    """Draw `st.chat_input`, with files if `files` is not 0."""
    if files:
        _expect(megabytes, files)
        options |= {"accept_file": "multiple", "file_type": file_type, "max_upload_size": megabytes}
    typed: Typed = st.chat_input(placeholder, **options)
    return typed


def _expect(megabytes: int, files: int) -> None:
    """Permit uploads for this session. One file more is accepted, so that the page can report too many."""
    context = get_script_run_ctx()
    assert context is not None
    field = st.session_state.setdefault(_FIELD, _Field())
    field.megabytes, field.files = megabytes, files + 1
    _fields[context.session_id] = field


class OnlyExpectedUploads:
    """Middleware that refuses uploads without a permit before reading their first byte."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        upload = _PUT.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None
        if upload is None:
            await self.app(scope, receive, send)
            return
        field = _fields.get(upload[1])
        refusal = _refusal(field, Headers(scope=scope).get("content-length"))
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        assert field is not None
        field.under_way += 1
        try:
            await self.app(scope, receive, send)
        finally:
            field.under_way -= 1
            _keep_newest(upload[1], field.files)


def _refusal(field: _Field | None, length: str | None) -> PlainTextResponse | None:
    if field is None:
        return PlainTextResponse("这个页面没有要上传的文件。", 403)
    if length is None or not length.isdecimal():  # the server reads no more than the length says
        return PlainTextResponse("上传的文件没有写明大小。", 411)
    if int(length) > field.megabytes * 1024 * 1024 + _FRAMING:
        return PlainTextResponse(f"文件超过了 {field.megabytes} MB 的上限。", 413)
    if field.under_way >= field.files:
        return PlainTextResponse("还有文件正在上传，请稍候。", 429)
    return None


def _keep_newest(session_id: str, files: int) -> None:
    """Delete older uploads of a session. Streamlit would keep them as long as the session lasts."""
    kept = get_instance().uploaded_file_mgr
    assert isinstance(kept, MemoryUploadedFileManager)
    for file_id in list(kept.file_storage.get(session_id, {}))[:-files]:
        kept.remove_file(session_id, file_id)
