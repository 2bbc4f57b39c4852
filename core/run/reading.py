"""Reading what was found: the program decides which pages, all at once, under a deadline of their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

from core.answer.events import Notice, PageRead, ReadingStarted, RunEvent
from core.base.http import Cancelled, Deadline
from core.reading import Outcome, Reader
from core.run.evidence import Evidence
from core.search.results import is_web_address
from core.search.types import Source
from core.search.workers import in_a_thread

Told = tuple[str, Outcome]


def to_read(sources: Sequence[Source], count: int) -> tuple[Source, ...]:
    """Of the first so many, those that are pages and came without their text."""
    pages = [source for source in sources if source.read in {"snippet", "page"} and is_web_address(source.url)]
    return tuple(source for source in pages[:count] if source.read == "snippet")


async def reading(
    reader: Reader, evidence: Evidence, sources: Sequence[Source], *, within: Deadline | None = None
) -> AsyncIterator[RunEvent]:
    """Each page is told as soon as it is there. Whoever stops listening ends the reading."""
    if not sources:
        return
    yield ReadingStarted(tuple(sources))
    waiting = {source.url: source for source in sources}
    loop, told = asyncio.get_running_loop(), asyncio.Queue[Told]()
    deadline = within.within(reader.timeout) if within else Deadline(reader.timeout)

    def tell(address: str, outcome: Outcome) -> None:
        with suppress(RuntimeError):  # the loop has been closed
            loop.call_soon_threadsafe(told.put_nowait, (address, outcome))

    def read() -> None:
        addresses = list(waiting)
        with suppress(Cancelled):
            for address, outcome in zip(
                addresses, reader.read_all(addresses, deadline=deadline, on_outcome=tell), strict=True
            ):
                tell(address, outcome)  # once more: whoever was late has not been told of

    task = asyncio.create_task(in_a_thread(read, name="wenyuan-reading"))
    try:
        while waiting:
            address, outcome = await told.get()
            if source := waiting.pop(address, None):
                page = PageRead(evidence.settle(source, outcome), instructions=getattr(outcome, "instructions", 0))
                yield page
                if page.instructions:
                    yield _suspicious(page.source)
        await task
    finally:
        deadline.cancel()


def _suspicious(source: Source) -> Notice:
    return Notice("instructions", f"来源 [{source.number}]：该网页含疑似指令的文字，已作为普通资料处理。")
