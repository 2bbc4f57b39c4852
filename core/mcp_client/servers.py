"""The MCP servers of the installation: connected when they are first used, kept while they are, left alone after failures.

Everything asynchronous here runs on the process-wide event loop.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from core.base.settings import McpServer, McpSettings
from core.base.threads import LoopThread
from core.mcp_client.errors import (
    McpCallRefused,
    McpEndedAtStart,
    McpError,
    McpRemoved,
    McpResting,
    McpSessionLost,
    McpTimeout,
)
from core.mcp_client.tool_listing import ForeignTool, ToolListing
from core.mcp_client.tool_results import ToolOutput, read_result
from core.search.types import Pause

if TYPE_CHECKING:
    from core.mcp_client.connection import ServerConnection

log = logging.getLogger(__name__)
T = TypeVar("T")

NO_TOOLS = ToolListing()
LISTING_SECONDS = 60.0
"""Seconds after which a server is asked again what tools it has."""
REST_SECONDS, MAX_REST_SECONDS = 30.0, 600.0
MAX_STRIKES = 3
"""Calls in a row that end without an answer, after which a server is left alone."""
CLOSE_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class ServerState:
    """One server, for the administrator."""

    server: McpServer
    is_connected: bool = False
    listing: ToolListing = NO_TOOLS
    """Its tools, as far as it was asked."""
    problem: str = ""
    """What its last use has failed with; empty if it has not."""
    pause: Pause | None = None
    """The time in which it is left alone."""


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """The tools that can be used now, and the errors of those servers that cannot."""

    tools: tuple[ForeignTool, ...] = ()
    errors: tuple[McpError, ...] = ()


class McpServers:
    def __init__(self, loop: LoopThread) -> None:
        self._loop = loop
        self._servers: dict[str, _Managed] = {}
        self._wait = 0.0
        self._closings = set[Future[None]]()

    def configure(self, settings: McpSettings) -> None:
        """Use the servers of these settings from now on. Those that are not among them any more are closed."""
        before, self._wait = self._servers, settings.wait
        wanted = {server.name: server for server in settings.all_servers if server.enabled}
        self._servers = {
            name: kept if (kept := before.get(name)) and kept.is_for(server, settings) else _Managed(server, settings)
            for name, server in wanted.items()
        }
        for managed in set(before.values()) - set(self._servers.values()):
            self._close_later(managed)

    def _close_later(self, managed: _Managed) -> None:
        if managed.was_used:
            closing = self._loop.submit(managed.close())
            self._closings.add(closing)
            closing.add_done_callback(self._closings.discard)

    @property
    def states(self) -> list[ServerState]:
        return [managed.state for managed in self._servers.values()]

    @property
    def known_tools(self) -> tuple[ForeignTool, ...]:
        """The tools of the servers that are connected."""
        return tuple(tool for state in self.states if state.is_connected for tool in state.listing.tools)

    async def offered_tools(self) -> OfferedTools:
        """Return the tools of all servers, after connecting those that are not connected, for a bounded time."""
        asked = {asyncio.create_task(managed.tools()): managed for managed in self._servers.values()}
        if not asked:
            return OfferedTools()
        await asyncio.wait(asked, timeout=self._wait)
        tools: list[ForeignTool] = []
        errors: list[McpError] = []
        for task, managed in asked.items():
            if not task.done():
                task.cancel()  # the connecting itself goes on
                errors.append(McpTimeout(managed.server.name, what="还没有连接好", cure="下一个问题可以再试。"))
            elif isinstance(error := task.exception(), McpError):
                errors.append(error)
            else:
                tools += task.result()
        return OfferedTools(tuple(tools), tuple(errors))

    async def call(self, tool: ForeignTool, arguments: dict[str, Any], *, seconds: float) -> ToolOutput:
        """Return the output of a tool. Raise an McpError. Cancelling the caller cancels the call."""
        managed = self._servers.get(tool.server)
        if managed is None:
            raise McpRemoved(tool.server)
        return await managed.call(tool.name, arguments, seconds)

    async def check(self, name: str) -> ServerState:
        """Ask one server for its tools, also if it is left alone now, and return its state."""
        managed = self._servers.get(name)
        if managed is None:
            raise McpRemoved(name)
        await managed.check()
        return managed.state

    def close(self) -> None:
        """Close all connections, with the processes that were started for them."""
        servers, self._servers = self._servers, {}
        for managed in servers.values():
            self._close_later(managed)
        for closing in list(self._closings):
            with suppress(Exception):
                closing.result(CLOSE_SECONDS)


class _Managed:
    """One server, with its connection and its failures."""

    def __init__(self, server: McpServer, settings: McpSettings) -> None:
        self.server = server
        self.was_used = False
        self._settings = settings
        self._connection: ServerConnection | None = None
        self._connecting: asyncio.Task[ServerConnection] | None = None
        self._dropping: asyncio.Task[None] | None = None
        self._is_older = False
        self._listing = NO_TOOLS
        self._problem = self._failed_what = ""
        self._failures = self._strikes = 0
        self._failed_at = self._rests_until = 0.0

    def is_for(self, server: McpServer, settings: McpSettings) -> bool:
        times = "connect_timeout", "call_timeout"
        same_times = all(getattr(settings, name) == getattr(self._settings, name) for name in times)
        return server == self.server and same_times

    @property
    def state(self) -> ServerState:
        is_resting = self._rests_until > time.time()
        pause = Pause(self._failed_at, self._rests_until) if is_resting else None
        return ServerState(self.server, self._is_connected, self._listing, self._problem, pause)

    @property
    def _is_connected(self) -> bool:
        return self._connection is not None and self._connection.is_open

    async def check(self) -> None:
        self._failures = self._strikes = 0
        self._rests_until = 0.0
        with suppress(McpError):
            await self.tools(newest=True)

    async def close(self) -> None:
        if self._connecting:
            self._connecting.cancel()
            await asyncio.wait({self._connecting})
        if connection := self._connection:
            self._connection = None
            await connection.close()

    # ── Used ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def tools(self, *, newest: bool = False) -> tuple[ForeignTool, ...]:
        connection = await self._connected()
        is_old = time.monotonic() - connection.listed_at > LISTING_SECONDS
        if newest or is_old or connection.tools_changed:
            try:
                await connection.refresh_listing()
            except McpError:  # it may have restarted
                await self.close()
                connection = await self._connected()
        self._listing = connection.listing
        return connection.listing.tools

    async def call(self, tool: str, arguments: dict[str, Any], seconds: float) -> ToolOutput:
        end = time.monotonic() + seconds
        try:
            return await self._call_once(tool, arguments, end)
        except McpSessionLost:
            await self.close()
            return await self._call_once(tool, arguments, end)

    async def _call_once(self, tool: str, arguments: dict[str, Any], end: float) -> ToolOutput:
        async def ask(left: float) -> ToolOutput:
            connection = await self._connected()
            result = await connection.call(tool, arguments, left)
            return await asyncio.to_thread(read_result, result)

        try:
            output = await _within(ask, end - time.monotonic(), McpTimeout(self.server.name))
        except McpCallRefused:
            self._strikes = 0
            raise
        except McpResting:
            raise
        except McpError as error:
            self._note_strike(error)
            raise
        self._strikes, self._problem = 0, ""
        return output

    async def _connected(self) -> ServerConnection:
        """Return an open connection. Raise an McpError, at once while the server is left alone."""
        if self._connection is not None and self._connection.is_open:
            return self._connection
        if self._rests_until > time.time():
            raise McpResting(self.server.name, what=f"刚才{self._failed_what}，暂时没有再试")
        if self._connecting is None:
            self._connecting = asyncio.create_task(self._connect())
            self._connecting.add_done_callback(_retrieve)
        connecting = self._connecting
        try:
            return await asyncio.shield(connecting)
        except asyncio.CancelledError:
            if connecting.cancelled():
                raise McpRemoved(self.server.name) from None
            raise

    async def _connect(self) -> ServerConnection:
        self.was_used = True
        try:
            if (old := self._connection) is not None:
                self._connection = None
                await old.close()
            connection = self._connection = await self._open()
        except McpError as error:
            self._note_failure(error)
            raise
        finally:
            self._connecting = None
        self._failures, self._problem = 0, ""
        self._listing = connection.listing
        return connection

    async def _open(self) -> ServerConnection:
        """Open a connection; of a server that ends at the first question, in the older way."""
        connection_class = await asyncio.to_thread(_load_connection)
        try:
            return await _opened(connection_class(self.server, self._settings, is_older=self._is_older))
        except McpEndedAtStart:
            if self._is_older:
                raise
        connection = await _opened(connection_class(self.server, self._settings, is_older=True))
        self._is_older = True
        return connection

    # ── Failures ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _note_strike(self, error: McpError) -> None:
        """Note a call without an answer. The first ones may have their own reasons."""
        self._problem = error.message
        self._strikes += 1
        if self._strikes >= MAX_STRIKES:
            self._note_failure(error)
            self._dropping = asyncio.create_task(self.close())

    def _note_failure(self, error: McpError) -> None:
        self._problem, self._failed_what = error.message, error.what
        self._failures += 1
        self._strikes = 0
        seconds = min(REST_SECONDS * 2.0 ** min(self._failures - 1, 10), MAX_REST_SECONDS)
        self._failed_at = time.time()
        self._rests_until = self._failed_at + seconds
        log.warning("MCP server %s is left alone for %.0f s (%s)", self.server.name, seconds, error.message)


def _load_connection() -> type[ServerConnection]:
    """Import the protocol, which takes half a second, where it does not hold up the loop."""
    from core.mcp_client.connection import ServerConnection

    return ServerConnection


async def _opened(connection: ServerConnection) -> ServerConnection:
    try:
        await connection.opened()
    except asyncio.CancelledError:
        await asyncio.shield(connection.close())
        raise
    return connection


async def _within(ask: Callable[[float], Awaitable[T]], seconds: float, late: McpError) -> T:
    """Return what is asked for, or raise `late`. The caller waits neither longer, nor for the end of what it cancels: the
    library tells the server that a call is cancelled, and a server that hangs does not listen."""
    task = asyncio.ensure_future(ask(seconds))
    task.add_done_callback(_retrieve)
    try:
        done, _ = await asyncio.wait({task}, timeout=max(seconds, 0))
        if not done:
            raise late
        return task.result()
    finally:
        task.cancel()


def _retrieve(task: asyncio.Future[Any]) -> None:
    """Retrieve an exception that nobody may wait for any more, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()
