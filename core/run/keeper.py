"""Keeps an answer while it is being written, so that a crash, a closed tab or a stopped server loses next to nothing."""

from __future__ import annotations

import asyncio
import logging

from core.answer.message import Message
from core.base.errors import AppError
from core.base.loop import LoopThread
from core.run.run import Run
from core.store import ConversationStore

log = logging.getLogger(__name__)

SAVE_EVERY = 1.0
LOOK_EVERY = 0.1


class Keeper:
    def __init__(self, store: ConversationStore, loop: LoopThread) -> None:
        self._store = store
        self._loop = loop

    def keep(self, run: Run, conversation_id: str, *, owner: str | None) -> None:
        """Follows the run to its end, whether a page is looking or not."""
        self._loop.submit(self._keep(run, conversation_id, owner))

    async def _keep(self, run: Run, conversation_id: str, owner: str | None) -> None:
        saved, waited = 0, 0.0
        while True:
            done, said = run.done, run.told
            if done or (said > saved and waited >= SAVE_EVERY):
                saved, waited = said, 0.0
                message = await asyncio.to_thread(run.message)
                await asyncio.to_thread(self._save, conversation_id, owner, message, done)
            if done:
                return
            await asyncio.sleep(LOOK_EVERY)
            waited += LOOK_EVERY

    def _save(self, conversation_id: str, owner: str | None, message: Message, finished: bool) -> None:
        try:
            self._store.save(conversation_id, message, owner=owner, finished=finished)
        except AppError as error:
            log.warning("an answer could not be kept: %s", error)
