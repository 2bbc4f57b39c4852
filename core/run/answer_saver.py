"""Saves an answer while it is being written, so that a crash, a closed tab or a stopped server loses hardly anything."""

from __future__ import annotations

import asyncio
from functools import partial

from core.base.threads import LoopThread
from core.reading import is_attachment
from core.run.run import Run
from core.store import Outbox, ReadPageStore

SAVE_EVERY_SECONDS = 1.0


class AnswerSaver:
    def __init__(self, outbox: Outbox, loop: LoopThread, pages: ReadPageStore | None = None) -> None:
        """`pages`: the store of pages that were read; None: they are not stored."""
        self._outbox = outbox
        self._pages = pages
        self._loop = loop

    def save_while_running(self, run: Run, conversation_id: str, *, visitor_id: str | None) -> None:
        """Follow the run to its end and save it, also without an open page."""
        self._loop.submit(self._save_until_end(run, conversation_id, visitor_id))

    async def _save_until_end(self, run: Run, conversation_id: str, visitor_id: str | None) -> None:
        ended, saved = asyncio.wrap_future(run.end_future), 0
        while True:
            await asyncio.wait([ended], timeout=SAVE_EVERY_SECONDS)
            done, count = run.done, run.event_count
            if done or count > saved:
                saved = count
                self._outbox.save_growing_message(
                    conversation_id, run.id, run.message, visitor_id=visitor_id, finished=done
                )
            if done:
                self._save_pages(run, conversation_id, visitor_id)
                return

    def _save_pages(self, run: Run, conversation_id: str, visitor_id: str | None) -> None:
        """Save the pages that were read, without attached files: those are stored with the question."""
        pages = {number: page for number, page in run.pages.items() if not is_attachment(page)}
        if self._pages is not None and pages:
            save = partial(self._pages.save, conversation_id, run.id, pages, visitor_id=visitor_id)
            self._outbox.add_write(conversation_id, save, visitor_id=visitor_id)
