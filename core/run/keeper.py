"""Saves an answer while it is being written, so that a crash, a closed tab or a stopped server loses hardly anything."""

from __future__ import annotations

import asyncio
from functools import partial

from core.base.threads import LoopThread
from core.reading.files import is_file
from core.run.run import Run
from core.store import Outbox, ReadPages

SAVE_EVERY = 1.0


class Keeper:
    def __init__(self, outbox: Outbox, loop: LoopThread, pages: ReadPages | None = None) -> None:
        """`pages`: the store of pages that were read; None: they are not stored."""
        self._outbox = outbox
        self._pages = pages
        self._loop = loop

    def keep(self, run: Run, conversation_id: str, *, who: str | None) -> None:
        """Follow the run to its end and save it, also without an open page."""
        self._loop.submit(self._keep(run, conversation_id, who))

    async def _keep(self, run: Run, conversation_id: str, who: str | None) -> None:
        ended, saved = asyncio.wrap_future(run.ended), 0
        while True:
            await asyncio.wait([ended], timeout=SAVE_EVERY)
            done, said = run.done, run.told
            if done or said > saved:
                saved = said
                self._outbox.save_growing(conversation_id, run.id, run.message, who=who, finished=done)
            if done:
                self._keep_pages(run, conversation_id, who)
                return

    def _keep_pages(self, run: Run, conversation_id: str, who: str | None) -> None:
        """Save the pages that were read, without attached files: those are stored with the question."""
        pages = {number: page for number, page in run.pages.items() if not is_file(page)}
        if self._pages is not None and pages:
            save = partial(self._pages.save, conversation_id, run.id, pages, who=who)
            self._outbox.keep_with(conversation_id, save, who=who)
