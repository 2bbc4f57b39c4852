"""One connection to a server: opened, used by many and closed within a task of its own, as the library requires."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any

from mcp import Client, MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    CallToolResult,
    Implementation,
    Tool,
)
from pydantic import ValidationError

from core import __version__
from core.base.settings import McpServer, McpSettings, child_environment
from core.mcp_client.errors import (
    McpCallRefused,
    McpClosed,
    McpCompressed,
    McpEndedAtStart,
    McpError,
    McpNotStarted,
    McpRedirected,
    McpRefused,
    McpSessionLost,
    McpTimeout,
    McpTooLarge,
    McpUnreachable,
    McpUnreadable,
)
from core.mcp_client.http_transport import (
    COMPRESSED,
    ELSEWHERE,
    TOO_LARGE,
    TOO_SLOW,
    UNREACHABLE,
    HttpTransport,
    status_of,
)
from core.mcp_client.message_filter import MessageFilter
from core.mcp_client.stdio_transport import StdioTransport
from core.mcp_client.tool_listing import MAX_LISTED, ToolListing, read_listing

logging.getLogger("mcp.client").setLevel(
    logging.CRITICAL
)  # it logs what servers send; what matters becomes an McpError

IDLE_SECONDS = 600.0
"""Seconds after the last use until a connection is closed."""
CLOSE_SECONDS = 5.0
MAX_PAGES = 20
"""Pages of a list of tools that are asked for."""


_ERRORS: dict[int, type[McpError]] = {
    REQUEST_TIMEOUT: McpTimeout,
    TOO_SLOW: McpTimeout,
    UNREACHABLE: McpUnreachable,
    TOO_LARGE: McpTooLarge,
    ELSEWHERE: McpRedirected,
    COMPRESSED: McpCompressed,
    PARSE_ERROR: McpUnreadable,
}


class ServerConnection:
    """The connection to one server. All its methods belong to one event loop."""

    def __init__(self, server: McpServer, settings: McpSettings, *, is_older: bool = False) -> None:
        """`is_older`: begin with the handshake of the protocol before 2026, without asking for a newer one first."""
        self._server = server
        self._settings = settings
        self._is_older = is_older
        self._filter = MessageFilter()
        self._transport = self._new_transport()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing = asyncio.Event()
        self._client: Client | None = None
        self._running_calls = 0
        self._last_used = time.monotonic()
        self.listing = ToolListing()
        self.listed_at = 0.0
        self._task = asyncio.create_task(self._run())

    def _new_transport(self) -> StdioTransport | HttpTransport:
        if self._server.command:
            return StdioTransport(self._server.command, child_environment(self._server.env))
        return HttpTransport(self._server, seconds=self._settings.call_timeout)

    @property
    def is_open(self) -> bool:
        return self._client is not None and not self._filter.ended.is_set() and not self._closing.is_set()

    @property
    def tools_changed(self) -> bool:
        """True if the server has said that its tools are others now."""
        return self._filter.tools_changed

    async def opened(self) -> None:
        """Wait until it can be used. Raise the McpError for which it cannot."""
        await asyncio.shield(self._ready)

    async def close(self) -> None:
        """End it, with the process that it has started."""
        self._closing.set()
        if not self._ready.done():
            self._task.cancel()
        await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        self._task.cancel()
        await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)

    async def _run(self) -> None:
        """Open the connection, keep it while it is used, and close it."""
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self._settings.connect_timeout):
                    client = await stack.enter_async_context(self._new_client())
                    self._client = client
                    await self._refresh_listing()
                self._ready.set_result(None)
                await self._stay()
        except asyncio.CancelledError:
            self._fail(McpClosed(self._server.name))
            raise
        except BaseException as error:
            self._fail(self._translated(error))
        finally:
            self._client = None
            self._filter.ended.set()

    def _new_client(self) -> Client:
        return Client(
            self._filter.filtered(self._transport.open()),
            mode="legacy" if self._is_older else "auto",
            # A server that ignores the first question is asked in the older way.
            read_timeout_seconds=self._settings.connect_timeout / 3,
            client_info=Implementation(name="wenyuan", version=__version__),
            cache=None,
        )

    def _fail(self, error: McpError) -> None:
        if not self._ready.done():
            self._ready.set_exception(error)
            self._ready.exception()  # retrieved, so that asyncio does not log it where nobody waits any more

    async def _stay(self) -> None:
        """Wait until the connection is to be closed, has ended, or has not been used for long."""
        ended = asyncio.create_task(self._filter.ended.wait())
        closing = asyncio.create_task(self._closing.wait())
        try:
            while not (ended.done() or closing.done()):
                left = self._last_used + IDLE_SECONDS - time.monotonic()
                if left <= 0 and not self._running_calls:
                    return
                await asyncio.wait({ended, closing}, timeout=max(left, 1), return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()
            closing.cancel()

    # ── Requests ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def refresh_listing(self) -> None:
        """Ask for the tools again. Raise an McpError."""
        with self._in_use():
            try:
                async with asyncio.timeout(self._settings.connect_timeout):
                    await self._refresh_listing()
            except Exception as error:
                raise self._translated(error) from None

    async def _refresh_listing(self) -> None:
        assert self._client is not None
        self._filter.tools_changed = False
        self._filter.malformed.clear()
        tools: list[Tool] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None or len(tools) >= MAX_LISTED:
                break
        self.listing = await asyncio.to_thread(read_listing, self._server, tools, self._filter.malformed)
        self.listed_at = time.monotonic()

    async def call(self, tool: str, arguments: dict[str, Any], seconds: float) -> CallToolResult:
        """Return the result of a call. Raise an McpError."""
        with self._in_use():
            try:
                if self._client is None:
                    raise McpClosed(self._server.name)
                return await self._client.call_tool(tool, arguments, read_timeout_seconds=seconds)
            except Exception as error:
                raise self._translated(error) from None

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        self._running_calls += 1
        try:
            yield
        finally:
            self._running_calls -= 1
            self._last_used = time.monotonic()

    # ── Errors ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _translated(self, error: BaseException) -> McpError:
        """Return the McpError for what the library or the system raises."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        name, transport = self._server.name, self._transport
        if isinstance(error, McpError):
            return error
        if isinstance(transport, StdioTransport) and transport.is_too_large:
            return McpTooLarge(name)
        match error:
            case MCPError():
                return self._translated_answer(error)
            case TimeoutError():
                return McpTimeout(name)
            case FileNotFoundError():
                return McpNotStarted(name, what="没有启动，找不到命令", said=self._server.command[0])
            case OSError():
                return McpNotStarted(name, said=error.strerror or "")
            case ValidationError() | RuntimeError() | ValueError():
                return McpUnreadable(name)
        logging.getLogger(__name__).error("a connection to an MCP server failed with a bug", exc_info=error)
        return McpError(name)

    def _translated_answer(self, error: MCPError) -> McpError:
        name, code, transport = self._server.name, error.code, self._transport
        if isinstance(transport, HttpTransport):
            if code in (PARSE_ERROR, CONNECTION_CLOSED) and transport.problem is not None:
                code, transport.problem = transport.problem, None
            if (status := status_of(code)) is not None:
                return self._refused(status)
        if code == CONNECTION_CLOSED and not self.is_open:
            return self._closed()
        if code in _ERRORS:
            return _ERRORS[code](name)
        return McpCallRefused(name, said=error.message)

    def _closed(self) -> McpError:
        """Return the error for a connection that has ended, with the last words of a process."""
        said = self._transport.last_words if isinstance(self._transport, StdioTransport) else ""
        if self._server.command and not self._ready.done():
            return McpEndedAtStart(self._server.name, said=said)
        return McpClosed(self._server.name, said=said)

    def _refused(self, status: int) -> McpError:
        name = self._server.name
        if status in (401, 403):
            return McpRefused(name)
        if status == 404:
            return McpSessionLost(name) if self._ready.done() else McpUnreachable(name, what="的网址上没有 MCP 服务")
        return McpUnreachable(name, what=f"出错了（HTTP {status}）")
