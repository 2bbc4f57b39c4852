"""MCP over streamable HTTP: any worker answers any request, as JSON or as a stream of events."""

from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from mcp.server.streamable_http import check_accept_headers
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from core.serve.access import Caller
from core.serve.disconnects import run_while_connected
from core.serve.door import Entry, entry_of
from core.serve.errors import MethodRefused
from core.serve.mcp.server import Context, build_server
from core.serve.routes import close_at_end

if TYPE_CHECKING:
    from core.app import App

logging.getLogger("mcp").setLevel(logging.WARNING)  # it logs every request


class BehindDoor:
    """The host of a server whose requests the door has let in."""

    def caller_of(self, context: Context) -> Caller:
        return self._entry_of(context).caller

    async def open_app(self, context: Context) -> App:
        return self._entry_of(context).app

    def _entry_of(self, context: Context) -> Entry:
        assert context.request is not None  # as this transport always has it
        return entry_of(context.request.scope)


class McpOverHttp:
    """ASGI application, which belongs behind the door: that judges Host, Origin and the size of a body, and the package
    `mcp` is told not to. What the application needs is started with its first request, and closed with the server."""

    def __init__(self) -> None:
        self._running: asyncio.Future[_Managers] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":  # would open a stream of what nobody sends, or end a session that there is not
            raise MethodRefused(["POST"])
        self._running = self._running or self._start()
        managers, request = await asyncio.shield(self._running), Request(scope, receive)
        _, accepts_stream = check_accept_headers(request)
        if accepts_stream:
            await managers.streams.handle_request(scope, receive, send)
        else:  # nothing there would notice that the client has gone
            body = await request.body()
            await run_while_connected(receive, managers.plain.handle_request(scope, _replay(body), send))

    def _start(self) -> asyncio.Future[_Managers]:
        managers, running = _Managers(), asyncio.get_running_loop().create_future()
        task = asyncio.create_task(managers.run(running))  # the task that enters their task groups has to leave them

        async def close() -> None:
            self._running = None
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

        close_at_end(close)
        return running


class _Managers:
    """Answers to clients that accept streams of events, and to those that accept JSON alone."""

    def __init__(self) -> None:
        server = build_server(BehindDoor())
        self.streams = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=sys.maxsize)
        self.plain = StreamableHTTPSessionManager(
            server, stateless=True, json_response=True, max_request_body_size=sys.maxsize
        )

    async def run(self, running: asyncio.Future[_Managers]) -> None:
        """Run until the task is cancelled. `running` is set once requests can be answered."""
        async with self.streams.run(), self.plain.run():
            running.set_result(self)
            await asyncio.get_running_loop().create_future()


def _replay(body: bytes) -> Receive:
    """Return what receives a request whose body has been received."""

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


SERVICE = McpOverHttp()
