"""Keeps an answer while it is being written, so that a crash, a closed tab or a stopped server loses next to nothing."""

from __future__ import annotations

import asyncio
import logging

from core.answer.message import Message, message_from_run
from core.base.errors import AppError
from core.base.loop import LoopThread
from core.run.run import Run
from core.store import ConversationStore

log = logging.getLogger(__name__)

SAVE_EVERY = 1.0
LOOK_EVERY = 0.1


class Recorder:
    def __init__(self, store: ConversationStore, loop: LoopThread) -> None:
        self._store = store
        self._loop = loop

    def record(self, run: Run, conversation_id: str, *, owner: str | None, model: str) -> None:
        """Follows the run to its end, whether a page is looking or not."""
        self._loop.submit(self._record(run, conversation_id, owner, model))

    async def _record(self, run: Run, conversation_id: str, owner: str | None, model: str) -> None:
        saved, waited = 0, 0.0
        while True:
            done, said = run.done, len(run.events)
            if done or (said > saved and waited >= SAVE_EVERY):
                saved, waited = said, 0.0
                message = await asyncio.to_thread(_as_message, run, model)
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


def _as_message(run: Run, model: str) -> Message:
    return message_from_run(run.events, seconds=run.elapsed, id=run.id, model=model)
