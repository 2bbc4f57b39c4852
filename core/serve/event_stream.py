"""Server-sent events that begin with the first of them, so that an error before it has an HTTP status of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing

from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from core.serve.disconnects import run_while_connected

HEARTBEAT = 15.0
"""Seconds between the comments that keep proxies from closing a silent stream."""
SEND_TIMEOUT = 30.0
"""Seconds for a client to take an event. One that takes none would hold a place among the answers."""


class ServerSentEvents(EventSourceResponse):
    """A response of events, with comments in silence. A client that takes nothing counts as gone."""

    def __init__(self, events: AsyncIterable[bytes | ServerSentEvent]) -> None:
        super().__init__(events, sep="\n", ping=HEARTBEAT, send_timeout=SEND_TIMEOUT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            raise ClientDisconnect from None


class EventStream(Response):
    """A response whose events come from a generator, as bytes. Passes on what the first one raises, unless that takes so
    long that a comment is due."""

    def __init__(self, events: AsyncGenerator[bytes]) -> None:
        super().__init__()
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._events) as events:
            first = asyncio.ensure_future(anext(events))
            try:
                await run_while_connected(receive, _wait_for(first))
                await ServerSentEvents(_chain(first, events))(scope, receive, send)
            finally:
                first.cancel()
                await asyncio.wait({first})


async def _wait_for(first: asyncio.Future[bytes]) -> None:
    await asyncio.wait({first}, timeout=HEARTBEAT)
    if first.done():
        first.result()


async def _chain(first: asyncio.Future[bytes], others: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    yield await first
    async for event in others:
        yield event
