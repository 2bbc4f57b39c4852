"""Uploads only where a page asked for them.

Streamlit accepts a file for any session, even if its page has no upload field, and keeps it in memory until the session
ends. Here only a session with an upload field may upload, up to the limit of that field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv6Address, ip_network
from typing import Any, Literal
from weakref import WeakValueDictionary

import streamlit as st
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.elements.widgets.chat import ChatInputValue
from streamlit.runtime import get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core import VISITOR_COOKIE
from core.base.visitors import address_group

_PUT = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+$")
_FORM_OVERHEAD = 10_000
"""Bytes that a form with one file adds to it."""
_FIELD = "upload_field"
_LOOPBACK_6 = IPv6Address("::1")
MAX_BYTES = 400_000_000
"""Bytes of uploads that this process keeps in memory, of all open pages together."""
MAX_ADDRESS_BYTES = MAX_BYTES // 4
"""Share of one address, or of all IPv6 addresses of one customer, so that nobody takes all of it. Addresses that proxies
hide have no share of their own."""


class _UploadPermit:
    """Upload limits of one session. It lives in the session's state and ends with it."""

    def __init__(self) -> None:
        self.megabytes = 0
        self.files = 0
        """Number of files that may be uploaded at once, and that are kept."""
        self.running_uploads = 0
        self.expected_bytes = 0
        """Bytes that the running uploads will take."""
        self.address = ""
        """Address of the browser, as it was at the last upload, as limits count it (`address_group`)."""
        self.mark: str | None = None
        """Cookie of the browser that the session belongs to."""


ChatInputResult = str | ChatInputValue | None
_permits: WeakValueDictionary[str, _UploadPermit] = WeakValueDictionary()
"""Permits by session id."""


def upload_field(label: str, *, megabytes: int, **options: Any) -> UploadedFile | None:
    """Draw `st.file_uploader` for one file and permit its upload."""
    _permit_uploads(megabytes, 1)
    file: UploadedFile | None = st.file_uploader(label, max_upload_size=megabytes, **options)
    return file


def upload_fields(
    label: str, *, megabytes: int, files: int, folders: bool = False, **options: Any
) -> list[UploadedFile]:
    """Draw `st.file_uploader` for several files, or for whole folders, and permit their upload."""
    _permit_uploads(megabytes, files)
    several: Literal[True, "directory"] = "directory" if folders else True
    return list(st.file_uploader(label, max_upload_size=megabytes, accept_multiple_files=several, **options))


def release_uploads(files: Iterable[UploadedFile]) -> None:
    """Forget files that were taken in. Streamlit would keep them in memory as long as the session lasts."""
    context = get_script_run_ctx()
    assert context is not None
    for file in files:
        _manager().remove_file(context.session_id, file.file_id)


def chat_field(
    placeholder: str, *, megabytes: int, files: int, file_type: Sequence[str], **options: Any
) -> ChatInputResult:
    """Draw `st.chat_input`, with files if `files` is not 0."""
    if files:
        _permit_uploads(megabytes, files)
        options |= {"accept_file": "multiple", "file_type": file_type, "max_upload_size": megabytes}
    typed: ChatInputResult = st.chat_input(placeholder, **options)
    return typed


def _permit_uploads(megabytes: int, files: int) -> None:
    """Permit uploads for this session. One file more is accepted, so that the page can report too many."""
    context = get_script_run_ctx()
    assert context is not None
    field = st.session_state.setdefault(_FIELD, _UploadPermit())
    field.megabytes, field.files = megabytes, files + 1
    field.mark = st.context.cookies.get(VISITOR_COOKIE)
    _permits[context.session_id] = field


class OnlyExpectedUploads:
    """Middleware that refuses uploads without a permit before reading their first byte."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        upload = _PUT.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None
        if upload is None:
            await self.app(scope, receive, send)
            return
        field, address = _permits.get(upload[1]), address_group((scope.get("client") or ("",))[0])
        headers = Headers(scope=scope)
        length, mark = headers.get("content-length"), cookie_parser(headers.get("cookie", "")).get(VISITOR_COOKIE)
        refusal = _refusal(field, length, mark) or _refusal_of_sum(address, int(length or 0))
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        assert field is not None
        field.address = address
        field.running_uploads += 1
        field.expected_bytes += int(length or 0)
        try:
            await self.app(scope, receive, send)
        finally:
            field.running_uploads -= 1
            field.expected_bytes -= int(length or 0)
            _keep_newest(upload[1], field.files)


def _refusal_of_sum(address: str, length: int) -> PlainTextResponse | None:
    """Refuse what would take more memory than all pages, or all pages of one address, may have together."""
    held = [(permit.address, _held_bytes(session_id, permit)) for session_id, permit in list(_permits.items())]
    if sum(size for _, size in held) + length > MAX_BYTES:
        return PlainTextResponse("现在同时上传的文件太多，请过几分钟再试。", 503)
    own = sum(size for holder, size in held if holder == address)
    if own + length > MAX_ADDRESS_BYTES and _is_one_visitor(address):
        return PlainTextResponse("打开的页面里文件太多了，请先关掉几个页面。", 429)
    return None


def _held_bytes(session_id: str, permit: _UploadPermit) -> int:
    files = _manager().file_storage.get(session_id, {})
    return permit.expected_bytes + sum(len(file.data) for file in list(files.values()))


def _is_one_visitor(address: str) -> bool:
    """Return whether an address stands for one visitor, and not for all who come through a proxy on this machine."""
    try:
        network = ip_network(address)
    except ValueError:
        return False
    return not network.is_loopback and _LOOPBACK_6 not in network


def _refusal(field: _UploadPermit | None, length: str | None, mark: str | None) -> PlainTextResponse | None:
    if field is None or field.mark != mark:
        return PlainTextResponse("这个页面没有要上传的文件。", 403)
    if length is None or not length.isdecimal():  # the server reads no more than the length says
        return PlainTextResponse("上传的文件没有写明大小。", 411)
    if int(length) > field.megabytes * 1024 * 1024 + _FORM_OVERHEAD:
        return PlainTextResponse(f"文件超过了 {field.megabytes} MB 的上限。", 413)
    if field.running_uploads >= field.files:
        return PlainTextResponse("还有文件正在上传，请稍候。", 429)
    return None


def _keep_newest(session_id: str, files: int) -> None:
    """Delete older uploads of a session. Streamlit would keep them as long as the session lasts."""
    manager = _manager()
    for file_id in list(manager.file_storage.get(session_id, {}))[:-files]:
        manager.remove_file(session_id, file_id)


def _manager() -> MemoryUploadedFileManager:
    manager = get_instance().uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager)
    return manager
