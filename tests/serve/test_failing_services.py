"""A service that fails behind the door: before it has begun to answer, in the middle of a stream, and after its end."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.base.errors import InputError
from core.serve.door import Door
from support.scripted_app import scripted_app
from support.shared import shared

REQUEST: dict[str, Any] = {
    "type": "http",
    "method": "GET",
    "path": "/",
    "headers": [(b"host", b"127.0.0.1")],
    "client": ("127.0.0.1", 1),
}


def answer_of(service: ASGIApp) -> list[Message]:
    got: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        got.append(message)

    with scripted_app(says=[["x"]], API_ENABLED="1", PUBLIC_URL="http://127.0.0.1:8501") as (app, _), shared(app):
        asyncio.run(Door(service)(REQUEST, receive, send))
    return got


def failing(error: Callable[[], Exception], *, kind: str = "", is_whole: bool = False) -> ASGIApp:
    """Return a service that fails; with `kind` after the beginning of a response."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if kind:
            headers = StreamingResponse(iter(()), media_type=kind).raw_headers
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"begun", "more_body": not is_whole})
        raise error()

    return serve


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (lambda: InputError("不行。"), 422, "input"),
        (lambda: HTTPException(404), 404, "not_found"),
        (lambda: HTTPException(405), 405, "method_not_allowed"),
        (lambda: ZeroDivisionError(), 500, "error"),
    ],
)
def test_an_error_before_the_answer_has_a_status(error: Callable[[], Exception], status: int, kind: str) -> None:
    start, body = answer_of(failing(error))
    assert start["status"] == status
    assert json.loads(body["body"])["error"]["kind"] == kind


def test_a_stream_of_events_ends_with_its_error() -> None:
    _, begun, last = answer_of(failing(lambda: InputError("不行。"), kind="text/event-stream"))
    assert begun["body"] == b"begun"
    assert last["body"] == 'data: {"error": {"kind": "input", "message": "不行。"}}\n\n'.encode()
    assert not last.get("more_body")


def test_a_bug_is_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        *_, last = answer_of(failing(lambda: ZeroDivisionError("secret"), kind="text/event-stream"))
    assert b"secret" not in last["body"]
    assert "secret" in caplog.text


@pytest.mark.parametrize(("kind", "is_whole"), [("text/event-stream", True), ("application/json", False)])
def test_nothing_is_added_to_what_has_ended_or_is_no_stream(kind: str, is_whole: bool) -> None:
    assert len(answer_of(failing(lambda: InputError("不行。"), kind=kind, is_whole=is_whole))) == 2


def test_a_client_that_goes_while_it_sends_is_no_bug(caplog: pytest.LogCaptureFixture) -> None:
    assert answer_of(failing(ClientDisconnect)) == []
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
