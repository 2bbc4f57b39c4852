"""The door of all services for other programs: who may call, from where, how much and how long."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from core.app import App, shared_app
from core.base.errors import AppError
from core.serve.access import OPERATOR, Caller
from core.serve.admittance import admit, count_request
from core.serve.errors import (
    ApiError,
    ApiOff,
    MethodRefused,
    NotFound,
    RequestTimedOut,
    error_json,
    headers_of,
    status_of,
)
from core.serve.exchange import Exchange

log = logging.getLogger(__name__)

_ENTRY = "wenyuan.entry"
_threads = CapacityLimiter(8)
"""Threads for the door alone: whoever is refused does not wait for those who are served."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a request was let in with."""

    app: App
    caller: Caller


def entry_of(scope: Scope) -> Entry:
    """Return what the door let this request in with."""
    entry: Entry = scope[_ENTRY]
    return entry


class Door:
    """ASGI application around a service: lets a request in, or answers with the reason why not. Errors of the service
    become JSON here, so the service lets them pass; after the beginning of a stream of events, they become the last of its
    events. `error_body` is the shape that its clients expect."""

    def __init__(
        self,
        service: ASGIApp,
        *,
        error_body: Callable[[AppError], dict[str, Any]] = error_json,
        max_body: Callable[[App, Scope], int] = lambda app, _: app.settings.api.body_megabytes * 2**20,
    ) -> None:
        self._service = service
        self._error_body = error_body
        self._max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # becomes a 403
            return
        exchange = Exchange(receive, send)
        try:
            await self._serve(scope, exchange)
        except ClientDisconnect:
            pass
        except Exception as caught:
            error = exchange.refusal or _expected_error(caught)
            _log_refusal(scope, error)
            await self._tell(error, scope, exchange)
        if entry := scope.get(_ENTRY):
            entry.app.metrics.record_request(entry.caller.token_id, exchange.outcome)

    async def _tell(self, error: AppError, scope: Scope, exchange: Exchange) -> None:
        """Answer with the error, or end a stream of events with it."""
        body, status = self._error_body(error), status_of(error)
        if not exchange.status:
            await JSONResponse(body, status, headers_of(error))(scope, exchange.receive, exchange.send_at_last)
        elif exchange.is_open_stream:
            event = f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode(errors="replace")
            await exchange.send_at_last({"type": "http.response.body", "body": event})
        exchange.status = status

    async def _serve(self, scope: Scope, exchange: Exchange) -> None:
        app = await run_sync(_enter, scope, limiter=_threads)
        exchange.limit_body(self._max_body(app, scope), Headers(scope=scope))
        try:
            async with asyncio.timeout(app.settings.api.timeout) as deadline:
                await self._service(scope, exchange.receive, exchange.send)
        except TimeoutError:
            if deadline.expired():
                raise RequestTimedOut from None
            raise
        if exchange.refusal:
            raise exchange.refusal


def _enter(scope: Scope) -> App:
    """Let the request in and count it. Raise an ApiError if nobody may call, or not from there, or not so often."""
    app = shared_app()
    token = admit(app, scope)
    scope[_ENTRY] = Entry(app, Caller.from_token(token) if token else OPERATOR)
    if token is not None:
        count_request(app, token)
    return app


def _expected_error(error: BaseException) -> AppError:
    """Return the error as one that the program expects. A bug is logged."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    match error:
        case AppError():
            return error
        case HTTPException(status_code=404):
            return NotFound()
        case HTTPException(status_code=405):
            return MethodRefused()
    log.error("a service failed with a bug", exc_info=error)
    return AppError(cure="细节已写入日志，请交给管理员。")


def _log_refusal(scope: Scope, error: AppError) -> None:
    if isinstance(error, ApiError) and not isinstance(error, ApiOff):
        client = scope.get("client")
        address = client[0] if client else "unknown"
        log.info("refused: %s %s from %s: %s", scope["method"], scope["path"][:200], address, error.kind)
