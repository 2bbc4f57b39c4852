"""Reading of the pages that a search found: chosen by the program, opened all at once, under a deadline of their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import suppress

from core.answer import join_numbers
from core.answer.events import Notice, PageRead, ReadingStarted, RunEvent
from core.base.extras import OCR
from core.base.http import Cancelled, Deadline
from core.base.threads import run_in_thread
from core.base.web_addresses import is_web_url
from core.reading import MAX_SCANNED_PAGES, Page, Reader, ReadOutcome, is_recognition_installed
from core.run.run_sources import RunSources
from core.search.types import Source

START_SECONDS = 15.0
"""Longest wait for the reader's first process after the start of the program."""


def select_pages(sources: Sequence[Source], count: int) -> tuple[Source, ...]:
    """Return the pages among the first `count` sources that have no text yet."""
    pages = [source for source in sources if source.read in {"snippet", "page"} and is_web_url(source.url)]
    return tuple(source for source in pages[:count] if source.read == "snippet")


async def read_sources(
    reader: Reader,
    run_sources: RunSources,
    sources: Sequence[Source],
    *,
    outer_deadline: Deadline | None = None,
    call_id: str = "",
) -> AsyncGenerator[RunEvent]:
    """Read the sources' pages and yield an event as soon as each is there. Closing the generator ends the reading."""
    if not sources:
        return
    yield ReadingStarted(tuple(sources), call_id)
    waiting = {source.url: source for source in sources}
    loop, outcomes = asyncio.get_running_loop(), asyncio.Queue[tuple[str, ReadOutcome]]()
    await _wait_until_ready(reader, outer_deadline)
    deadline = _limited(outer_deadline, reader.timeout)

    def report(address: str, outcome: ReadOutcome) -> None:
        with suppress(RuntimeError):  # the loop has been closed
            loop.call_soon_threadsafe(outcomes.put_nowait, (address, outcome))

    def read() -> None:
        addresses = list(waiting)
        with suppress(Cancelled):
            ends = reader.read_all(addresses, deadline=deadline, on_outcome=report)
            for address, outcome in zip(addresses, ends, strict=True):
                report(address, outcome)  # again, for those after the deadline; `waiting` drops the repeated ones

    task = asyncio.create_task(run_in_thread(read, name="wenyuan-reading"))
    try:
        while waiting:
            address, outcome = await outcomes.get()
            if source := waiting.pop(address, None):
                suspicious = getattr(outcome, "instructions", 0)
                page = PageRead(run_sources.record_outcome(source, outcome), suspicious, call_id)
                yield page
                if page.instructions:
                    yield instructions_notice(page.source)
        await task
    finally:
        deadline.cancel()


async def _wait_until_ready(reader: Reader, outer_deadline: Deadline | None) -> None:
    """Wait for the reader's start, so that pages which only come first are read too."""
    if reader.is_ready:
        return
    starting = _limited(outer_deadline, START_SECONDS)
    try:
        await run_in_thread(lambda: reader.wait_until_ready(starting), name="wenyuan-reading")
    finally:
        starting.cancel()


def _limited(outer_deadline: Deadline | None, seconds: float) -> Deadline:
    return outer_deadline.with_limit(seconds) if outer_deadline else Deadline(seconds)


def attach_files(run_sources: RunSources, files: Sequence[Page]) -> Iterator[RunEvent]:
    """Add the files to the sources and yield their events. They were read before the question was sent."""
    for file, source in zip(files, run_sources.add_files(files), strict=True):
        yield PageRead(source, instructions=file.instructions)
        if file.instructions:
            yield instructions_notice(source)
        if file.unread_pages:
            yield _unread_notice(file)


def _unread_notice(file: Page) -> Notice:
    """Return the notice on the pages of a file that are pictures, and were not recognized."""
    pages = join_numbers(file.unread_pages, "、", "–")
    what = f"附件「{file.title}」第 {pages} 页只有图像，其中的文字没有识别，回答没有用到。"
    if not is_recognition_installed():
        what += f"管理员用 {OCR.command} 装上文字识别后可以读。"
    elif sum(section.is_recognized for section in file.sections) >= MAX_SCANNED_PAGES:
        what += f"每个附件最多识别 {MAX_SCANNED_PAGES} 页；更多的请放进「资料库」，在后台识别。"
    return Notice("unread_pages", what)


def instructions_notice(source: Source) -> Notice:
    what = "附件" if source.is_own_file else "结果" if source.tool else "网页"
    return Notice("instructions", f"来源 [{source.number}]：该{what}含疑似指令的文字，已作为普通资料处理。")
