"""Saves an answer while it is being written, so that a crash, a closed tab or a stopped server loses hardly anything."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from functools import partial

from core.answer.check_results import AnswerCheck
from core.answer.message import Message
from core.base.text import clean
from core.base.threads import LoopThread
from core.reading import is_attachment
from core.run.run import Run
from core.store import ConversationStore, Outbox, ReadPageStore

SAVE_EVERY_SECONDS = 1.0


class AnswerSaver:
    def __init__(
        self, outbox: Outbox, loop: LoopThread, store: ConversationStore, pages: ReadPageStore | None = None
    ) -> None:
        """`pages`: the store of pages that were read; None: they are not stored."""
        self._outbox = outbox
        self._store = store
        self._pages = pages
        self._loop = loop

    def save_while_running(
        self, run: Run, conversation_id: str, *, visitor_id: str | None, question_id: str = ""
    ) -> Future[None]:
        """Follow the run to its end and save it behind its question, also without an open page. Return the future of
        that work: when it is done, all is in the outbox."""
        return self._loop.submit(self._save_until_end(run, conversation_id, visitor_id, question_id))

    async def _save_until_end(self, run: Run, conversation_id: str, visitor_id: str | None, question_id: str) -> None:
        ended, saved = asyncio.wrap_future(run.end_future), 0
        while True:
            await asyncio.wait([ended], timeout=SAVE_EVERY_SECONDS)
            done, count = run.done, run.event_count
            if done or count > saved:
                saved = count
                self._outbox.save_growing_message(
                    conversation_id,
                    run.id,
                    run.message,
                    visitor_id=visitor_id,
                    finished=done,
                    question_id=question_id,
                )
            if done:
                self._save_pages(run, conversation_id, visitor_id)
                break
        review = asyncio.wrap_future(run.review_future)
        await asyncio.wait([review])
        if (later := review.result()) is not None:
            add = partial(self._add_review, run.message(), later.check, conversation_id, visitor_id)
            self._outbox.add_write(conversation_id, add, visitor_id=visitor_id)

    def _add_review(self, message: Message, check: AnswerCheck, conversation_id: str, visitor_id: str | None) -> None:
        """Add the check to the stored answer, unless that was deleted or rewritten meanwhile."""
        stored = self._store.load(conversation_id, visitor_id=visitor_id).messages
        entry = next((one for one in stored if one.id == message.id and one.text == clean(message.text)), None)
        if entry is not None:
            self._store.save(conversation_id, entry.with_check(check), visitor_id=visitor_id)

    def _save_pages(self, run: Run, conversation_id: str, visitor_id: str | None) -> None:
        """Save the pages that were read, without attached files: those are stored with the question."""
        pages = {number: page for number, page in run.pages.items() if not is_attachment(page)}
        if self._pages is not None and pages:
            save = partial(self._pages.save, conversation_id, run.id, pages, visitor_id=visitor_id)
            self._outbox.add_write(conversation_id, save, visitor_id=visitor_id)
