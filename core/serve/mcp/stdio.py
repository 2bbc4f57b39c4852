"""MCP over standard input and output, for a program that starts this one and ends it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from mcp.server.stdio import stdio_server

from core.serve.access import OPERATOR, Caller
from core.serve.mcp.server import Context, build_server

if TYPE_CHECKING:
    from core.app import App

_MAX_WAITING = 64
"""Lines of input that are read ahead."""

_HEAD_START = 0.5
"""Seconds that are left to the first requests, which need no App, before one is built."""


def serve_stdio() -> int:
    """Answer requests from standard input until it ends, or until a signal comes. Return the exit status."""
    host = OwnApp()
    try:
        return asyncio.run(_serve(host))
    finally:
        host.close()


async def _serve(host: OwnApp) -> int:
    server, status = build_server(host), 0

    async def answer() -> None:
        lines: Any = InputLines(_take_standard_input())  # no file, but all that is asked of one
        async with stdio_server(stdin=lines) as (requests, responses):
            asyncio.get_running_loop().call_later(_HEAD_START, host.start_opening)
            await server.run(requests, responses, server.create_initialization_options())

    def stop(number: int) -> None:
        nonlocal status
        status = 128 + number
        loop.remove_signal_handler(number)  # a second one ends the program at once
        answering.cancel()

    loop, answering = asyncio.get_running_loop(), asyncio.create_task(answer())
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, stop, number)
    try:
        await answering
    except* (BrokenPipeError, ConnectionResetError):  # the client has gone without a word
        pass
    except* asyncio.CancelledError:
        pass
    return status


class OwnApp:
    """The host of a server that belongs to whoever has started it. Its App is built in a thread, soon after the start or
    when a request needs it: a list of tools does not, and comes first."""

    def __init__(self) -> None:
        self._opening: Future[App] | None = None

    def caller_of(self, context: Context) -> Caller:
        return OPERATOR

    async def open_app(self, context: Context) -> App:
        return await asyncio.wrap_future(self.start_opening())

    def start_opening(self) -> Future[App]:
        """Build the App in a thread unless that was begun, and return its future."""
        if self._opening is None:
            self._opening = Future()
            self._opening.set_running_or_notify_cancel()  # a request that is cancelled leaves it alone
            threading.Thread(target=self._open, args=(self._opening,), name="wenyuan-app", daemon=True).start()
        return self._opening

    def close(self) -> None:
        """Close the App. One that is not there yet ends with the process."""
        if self._opening and self._opening.done() and not self._opening.exception():
            self._opening.result().close()

    @staticmethod
    def _open(opening: Future[App]) -> None:
        try:
            opening.set_result(_build_app())
        except BaseException as error:
            opening.set_exception(error)


def _build_app() -> App:
    from core.app import build_app
    from core.serve.mcp import tool_calls  # noqa: F401 (the first call would have to wait for it)

    app = build_app(for_command=True)
    for problem in app.loaded_settings.problems:
        print(f"配置：{problem.for_operator()}", file=sys.stderr, flush=True)  # noqa: T201 (for whoever set it)
    app.begin_law_library()
    return app


def _take_standard_input() -> BinaryIO:
    """Return standard input; from then on this process and those that it starts find it empty."""
    taken = os.fdopen(os.dup(0), "rb", closefd=False)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return taken


class InputLines:
    """Lines of a stream for a coroutine. A thread reads them, which ends with the process: nothing else could interrupt it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue(_MAX_WAITING)
        threading.Thread(target=self._read, args=(stream,), name="mcp-input", daemon=True).start()

    def __aiter__(self) -> InputLines:
        return self

    async def __anext__(self) -> str:
        line = await self._lines.get()
        if line is None:
            raise StopAsyncIteration
        return line

    def _read(self, stream: BinaryIO) -> None:
        with suppress(RuntimeError):  # the loop has been closed
            with suppress(OSError):
                for line in stream:
                    self._put(_with_whole_characters(line.decode("utf-8", "replace")))
            self._put(None)

    def _put(self, line: str | None) -> None:
        asyncio.run_coroutine_threadsafe(self._lines.put(line), self._loop).result()


def _with_whole_characters(line: str) -> str:
    r"""Return a line of JSON without halves of a character (\ud83d alone). The package `mcp` would drop it unanswered."""
    if r"\ud" not in line.lower():
        return line
    with suppress(ValueError, RecursionError):
        return json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
    return line
