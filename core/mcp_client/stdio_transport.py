"""A server that we start and speak to over its standard input and output, one message per line.

The library's own transport reads a line of any length, and joins what it has anew with each piece; it also inherits our
standard error. This one refuses long lines, keeps the last words of standard error, and leaves no process behind.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from core.mcp_client.message_filter import Pace

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

log = logging.getLogger(__name__)

MAX_MESSAGE = 4 * 2**20
"""Bytes of one message."""
BYTES_PER_SECOND = 2 * MAX_MESSAGE
LAST_WORDS = 2_000
"""Bytes of standard error that are kept."""
GRACE_SECONDS, KILL_SECONDS = 1.0, 0.5
POLL_SECONDS = 0.01

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectReceiveStream[SessionMessage]


class StdioTransport:
    """One process. `last_words` and `is_too_large` say why it ended."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._command = command
        self._environment = environment
        self._stderr = b""
        self._open_pipes = 2
        self._has_said_all = anyio.Event()
        self.is_too_large = False
        """True if it has sent a message that was too large."""

    @property
    def last_words(self) -> str:
        """The last line that it has written to standard error."""
        lines = self._stderr.decode("utf-8", "replace").splitlines()
        return next((line for line in reversed(lines) if line.strip()), "")

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[TransportStreams]:
        """Start the process. Raise OSError if it cannot be started."""
        transport, process = await self._start()
        send, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()
        outgoing, receive = anyio.create_memory_object_stream[SessionMessage]()
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._read, process, send)
                group.start_soon(_write, process, receive)
                group.start_soon(self._listen, process)
                try:
                    yield messages, outgoing
                finally:
                    messages.close()
                    outgoing.close()
                    with anyio.CancelScope(shield=True):
                        await _end(process)
                        with anyio.move_on_after(KILL_SECONDS):
                            await self._has_said_all.wait()
                    group.cancel_scope.cancel()
        finally:
            _kill_group(process)  # what it has started, too; and at once where the loop is being closed
            transport.close()

    async def _start(self) -> tuple[asyncio.SubprocessTransport, asyncio.subprocess.Process]:
        """Start the process as `asyncio.create_subprocess_exec` does, which keeps the transport to itself."""
        program = shutil.which(self._command[0], path=self._environment.get("PATH"))
        if program is None:
            raise FileNotFoundError(self._command[0])
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.subprocess_exec(
            lambda: asyncio.subprocess.SubprocessStreamProtocol(limit=MAX_MESSAGE, loop=loop),
            program,
            *self._command[1:],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment,
            start_new_session=True,
        )
        return transport, asyncio.subprocess.Process(transport, protocol, loop)

    async def _read(self, process: asyncio.subprocess.Process, send: Incoming) -> None:
        assert process.stdout
        async with send:
            await self._pass_on(process.stdout, send)
        while await process.stdout.read(2**16):
            pass  # a process that cannot write does not end, and an unread pipe is not closed
        self._note_end_of_pipe()

    async def _pass_on(self, stdout: asyncio.StreamReader, send: Incoming) -> None:
        """Send on what can be read, until the process or the client ends."""
        pace = Pace(BYTES_PER_SECOND)
        while True:
            try:
                line = await stdout.readline()
            except ValueError:
                self.is_too_large = True
                return
            if not line:
                return
            await pace.take(len(line))
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                continue  # a word of the program that was meant for people
            try:
                await send.send(SessionMessage(message))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr
        while piece := await process.stderr.read(LAST_WORDS):
            self._stderr = (self._stderr + piece)[-LAST_WORDS:]
        self._note_end_of_pipe()

    def _note_end_of_pipe(self) -> None:
        self._open_pipes -= 1
        if not self._open_pipes:
            self._has_said_all.set()


async def _write(process: asyncio.subprocess.Process, receive: Outgoing) -> None:
    assert process.stdin
    async with receive:
        with suppress(OSError, RuntimeError):  # it has ended
            async for item in receive:
                line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(f"{line}\n".encode())
                await process.stdin.drain()


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the process as the protocol says: close its input, wait, ask it to end, kill it."""
    assert process.stdin
    process.stdin.close()
    if await _has_ended(process, GRACE_SECONDS):
        return
    _signal_group(process, signal.SIGTERM)
    if not await _has_ended(process, KILL_SECONDS):
        _kill_group(process)
        if not await _has_ended(process, KILL_SECONDS):
            log.warning("the process %d of an MCP server could not be ended", process.pid)


async def _has_ended(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Return whether it ends in time. `wait` would also wait for pipes that its children have inherited."""
    end = anyio.current_time() + seconds
    while process.returncode is None and anyio.current_time() < end:  # noqa: ASYNC110 (nothing tells it alone)
        await anyio.sleep(POLL_SECONDS)
    return process.returncode is not None


def _kill_group(process: asyncio.subprocess.Process) -> None:
    _signal_group(process, getattr(signal, "SIGKILL", signal.SIGTERM))


def _signal_group(process: asyncio.subprocess.Process, number: int) -> None:
    """Send a signal to the process and all that it has started."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
