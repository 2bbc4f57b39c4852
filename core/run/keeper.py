"""Keeps an answer while it is being written, so that a crash, a closed tab or a stopped server loses next to nothing."""

from __future__ import annotations

import asyncio

from core.base.loop import LoopThread
from core.run.run import Run
from core.store import Outbox

SAVE_EVERY = 1.0


class Keeper:
    def __init__(self, outbox: Outbox, loop: LoopThread) -> None:
        self._outbox = outbox
        self._loop = loop

    def keep(self, run: Run, conversation_id: str, *, owner: str | None) -> None:
        """Follows the run to its end, whether a page is looking or not."""
        self._loop.submit(self._keep(run, conversation_id, owner))

    async def _keep(self, run: Run, conversation_id: str, owner: str | None) -> None:
        ended, saved = asyncio.wrap_future(run.ended), 0
        while True:
            await asyncio.wait([ended], timeout=SAVE_EVERY)
            done, said = run.done, run.told
            if done or said > saved:
                saved = said
                self._outbox.save_growing(conversation_id, run.id, run.message, owner=owner, finished=done)
            if done:
                return
