"""Read a stream in bursts. A model writes dozens of tokens a second, and no reader reads them one by one.

Between two bursts the socket is not read. All that arrives meanwhile costs one read, one message, one event and one
drawing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

SHORTEST_PAUSE, LONGEST_PAUSE = 0.08, 0.3
STREAMS_AT_SHORTEST_PAUSE = 12
"""The number of streams that are read at the shortest pause. With more, each is read less often."""
LAST_LOOK_SECONDS = 0.002
"""Seconds to wait after a pause, so that all bytes that arrived during the pause have been read."""

T = TypeVar("T")

_streams = 0


def _pause() -> float:
    return min(SHORTEST_PAUSE * max(1.0, _streams / STREAMS_AT_SHORTEST_PAUSE), LONGEST_PAUSE)


async def in_bursts(items: AsyncIterator[T]) -> AsyncGenerator[list[T]]:
    """Yield the items that have arrived since the last burst. The first item comes at once."""
    global _streams
    arrived: list[T] = []
    news = asyncio.Event()
    all_taken = False
    last_look: asyncio.TimerHandle | None = None

    async def read() -> None:
        nonlocal all_taken, last_look
        async for item in items:
            arrived.append(item)
            if all_taken:
                all_taken = False
                await asyncio.sleep(_pause())
                last_look = asyncio.get_running_loop().call_later(LAST_LOOK_SECONDS, news.set)
            else:
                news.set()

    reading = asyncio.create_task(read())
    reading.add_done_callback(lambda _: news.set())
    _streams += 1
    try:
        while not reading.done() or arrived:
            await news.wait()
            news.clear()
            if arrived:
                if last_look is not None:
                    last_look.cancel()
                burst = arrived.copy()
                arrived.clear()
                yield burst
                all_taken = not arrived
        reading.result()
    finally:
        _streams -= 1
        reading.cancel()
        await asyncio.wait([reading])
