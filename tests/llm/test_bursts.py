from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from itertools import chain

import pytest

from core.llm import bursts
from core.llm.bursts import in_bursts
from core.llm.plain_chunks import join_chunks


async def script(*steps: str | float | Exception) -> AsyncIterator[str]:
    """Pauses in seconds, items, and what goes wrong. What nobody reads yet waits, as it does in a socket."""
    arrived: asyncio.Queue[str | Exception | None] = asyncio.Queue()

    async def write() -> None:
        for step in steps:
            if isinstance(step, float):
                await asyncio.sleep(step)
            else:
                arrived.put_nowait(step)
        arrived.put_nowait(None)

    writing = asyncio.create_task(write())
    try:
        while (item := await arrived.get()) is not None:
            if isinstance(item, Exception):
                raise item
            yield item
    finally:
        writing.cancel()


def collected(*steps: str | float | Exception, into: list[list[str]] | None = None) -> list[list[str]]:
    into = [] if into is None else into

    async def collect() -> None:
        async for burst in in_bursts(script(*steps)):
            into.append(burst)

    asyncio.run(collect())
    return into


def test_nothing_is_lost_and_nothing_changes_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bursts, "SHORTEST_PAUSE", 0.01)
    words = [str(number) for number in range(200)]
    steps: list[str | float] = [step for word in words for step in (word, 0.001)]
    found = collected(*steps)
    assert list(chain(*found)) == words
    assert 2 < len(found) < 100


def test_the_first_comes_at_once_and_what_came_in_the_pause_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bursts, "SHORTEST_PAUSE", 0.2)
    assert collected("一", 0.02, "二", 0.02, "三", 0.4, "四") == [["一"], ["二", "三"], ["四"]]


def test_a_stream_that_ends_at_once_is_not_waited_for() -> None:
    assert collected() == []
    assert collected("一", "二") == [["一", "二"]]


def test_what_came_before_a_failure_is_kept() -> None:
    found: list[list[str]] = []
    with pytest.raises(ValueError, match="gone"):
        collected("一", 0.01, "二", ValueError("gone"), into=found)
    assert list(chain(*found)) == ["一", "二"]


def test_whoever_stops_listening_ends_the_reading() -> None:
    closed = asyncio.Event()

    async def endless() -> AsyncIterator[str]:
        try:
            while True:
                yield "词"
                await asyncio.sleep(0.001)
        finally:
            closed.set()

    async def listen() -> int:
        items = endless()
        listening = in_bursts(items)
        await anext(listening)
        await listening.aclose()
        await items.aclose()  # type: ignore[attr-defined]
        assert closed.is_set()
        return bursts._streams

    assert asyncio.run(listen()) == 0


def test_a_time_limit_ends_a_silent_stream() -> None:
    async def listen() -> None:
        async with asyncio.timeout(0.05):
            async for _ in in_bursts(script(60.0)):
                pass

    started = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(listen())
    assert time.monotonic() - started < 10


def test_the_more_streams_the_longer_the_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = []
    for streams in (1, 12, 36, 100, 1_000):
        monkeypatch.setattr(bursts, "_streams", streams)
        pauses.append(bursts._pause())
    assert pauses == [0.08, 0.08, 0.24, 0.3, 0.3]


def test_only_neighbours_of_the_same_kind_are_joined() -> None:
    def chunk(**delta: object) -> dict[str, object]:
        return {"choices": [{"index": 0, "delta": {"role": "assistant", **delta}}]}

    calls = chunk(tool_calls=[{"index": 0}])
    both = chunk(content="甲", reasoning_content="乙")
    ending = {"choices": [{"index": 0, "delta": {"content": "尾"}, "finish_reason": "stop"}]}
    usage = {"choices": [], "usage": {"total_tokens": 1}}
    assert list(
        join_chunks(
            [
                chunk(reasoning_content="想"),
                chunk(reasoning_content="想"),
                chunk(content="说"),
                chunk(content="了", reasoning_content=None),
                chunk(content=""),
                calls,
                calls,
                both,
                chunk(content="完"),
                ending,
                usage,
                "no chunk",
            ]
        )
    ) == [
        chunk(reasoning_content="想想"),
        chunk(content="说了"),
        chunk(content=""),
        calls,
        calls,
        both,
        chunk(content="完"),
        ending,
        usage,
        "no chunk",
    ]
