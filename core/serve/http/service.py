"""The ASGI application of the HTTP API: finds the operation for a request, reads what it is asked for, and answers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from core.app import App
from core.base.http import Deadline
from core.serve.disconnects import run_while_connected
from core.serve.door import Door, Entry, entry_of
from core.serve.errors import ContentTypeRefused, InvalidRequest, MethodRefused
from core.serve.http.answering import answer
from core.serve.http.description import DESCRIPTION_PATH, describe_api
from core.serve.http.operation import Operation
from core.serve.http.operations import PREFIX, find_operation
from core.serve.http.request_models import AnswerRequest, ApiRequest, FileUpload
from core.serve.http.uploading import store_upload
from core.serve.json_document import JsonDocument, encode_json
from core.serve.threads import run_in_service_thread
from core.serve.validation import invalid_request


async def serve_http(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one request that the door has let in."""
    path = _path(scope)
    if path == DESCRIPTION_PATH:
        if scope["method"] not in ("GET", "HEAD"):
            raise MethodRefused(["GET"])
        await JsonDocument(describe_api())(scope, receive, send)
        return
    operation, path_fields = find_operation(scope["method"], path)
    entry, request = entry_of(scope), Request(scope, receive)
    if operation.scope is not None:
        entry.caller.require(operation.scope)
    match await _read_request(entry, operation, request, path_fields):
        case AnswerRequest() as asked:
            await answer(entry, asked, scope, receive, send)
        case FileUpload() as asked:
            await JsonDocument(await store_upload(entry, asked, request))(scope, receive, send)
        case asked:
            document = await run_while_connected(receive, _serve(entry, operation, asked))
            await JsonDocument(document)(scope, receive, send)


def _path(scope: Scope) -> str:
    """Return the path below the prefix, still percent-encoded: names may have slashes."""
    raw: bytes = scope["raw_path"]
    return raw.decode("ascii", "replace").partition(PREFIX)[2] or "/"


async def _read_request(
    entry: Entry, operation: Operation, request: Request, path_fields: Mapping[str, str]
) -> ApiRequest:
    """Return what is asked for. Raise an ApiError that names the field with which something is wrong."""
    model = operation.request
    try:
        if not operation.has_json_body:
            return model.model_validate_strings(_all_fields(request, path_fields))
        _require_json(request.headers)
        body = await request.body()
        return await run_in_service_thread(entry.caller, lambda: model.model_validate_json(body, strict=True))
    except ValidationError as error:
        raise invalid_request(error) from None


def _all_fields(request: Request, path_fields: Mapping[str, str]) -> dict[str, str]:
    fields = dict(path_fields)
    for name, value in request.query_params.multi_items():
        if name in fields:
            raise InvalidRequest(f"「{name[:80]}」写了两次。", cure="每个参数只写一次。")
        fields[name] = value
    return fields


def _require_json(headers: Headers) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise ContentTypeRefused


async def _serve(entry: Entry, operation: Operation, asked: ApiRequest) -> bytes:
    assert operation.serve is not None
    deadline = Deadline(entry.app.settings.api.timeout)
    fields = {**asked.model_dump(), **({"deadline": deadline} if operation.takes_deadline else {})}
    work = partial(operation.serve, entry.app, entry.caller, **fields)
    try:
        return await run_in_service_thread(entry.caller, lambda: encode_json(work()))
    finally:
        deadline.cancel()  # nobody waits any more


def _max_body(app: App, scope: Scope) -> int:
    """Return how many bytes a request may have: an upload as many as a file of the document library."""
    is_upload = scope["method"] == "PUT"
    return (app.settings.documents.file_megabytes if is_upload else app.settings.api.body_megabytes) * 2**20


SERVICE = Door(serve_http, max_body=_max_body)
