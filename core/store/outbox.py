"""The outbox: all writes of conversations and choices wait here and are made in order, by one thread.

No page waits for the database. A write that fails because the database is busy, away, full or read-only is tried again.
One that the database will never accept is given up, and the page can show that.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from core.answer.message import Message
from core.store.conversations import ChosenCollection, ConversationStore
from core.store.errors import ConversationNotFound, StoreError, StoreRejected

log = logging.getLogger(__name__)

LIMIT = 2_000
"""Writes that may wait. A growing answer counts as one, however often it has grown."""
UNNOTICED_SECONDS = 1.0
"""Time for which a waiting write is not reported: it is about to be saved."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
REMEMBERED = 500

FULL_MESSAGE = "等待保存的内容太多，这条没有保存。请联系管理员检查数据库。"
BUG_MESSAGE = "保存时程序出错，这条没有保存，细节已写入日志。"

Write = Callable[[], object]


@dataclass(eq=False)
class _PendingWrite:
    """A write that waits for the database."""

    subject: str
    """Id of a conversation, or name of a visitor."""
    visitor_id: str | None
    write: Write
    message_id: str = ""
    message: Callable[[], Message] | None = None
    changes: dict[str, Any] = field(default_factory=dict)
    since: float = field(default_factory=time.monotonic)
    is_begun: bool = False


class Outbox:
    def __init__(self, store: ConversationStore, *, limit: int = LIMIT) -> None:
        self._store = store
        self._limit = limit
        self._changed = threading.Condition()
        self._pending: deque[_PendingWrite] = deque()
        self._given_up: dict[str, str] = {}
        self._thread: threading.Thread | None = None
        self._closing = False
        self.problem = ""
        """Reason why nothing can be saved now; empty if all is well."""

    # ── Adding writes ─────────────────────────────────────────────────────────────────────────────────────────────

    def create(self, id: str, *, owner: str | None, visitor_id: str | None, mode: str) -> None:
        create = partial(self._store.create, owner, visitor_id=visitor_id, mode=mode, id=id)
        self._put(_PendingWrite(id, visitor_id, create))

    def set_mode(self, id: str, mode: str, *, visitor_id: str | None) -> None:
        self._put(_PendingWrite(id, visitor_id, lambda: self._store.set_mode(id, mode, visitor_id=visitor_id)))

    def set_collections(self, id: str, chosen: Iterable[ChosenCollection], *, visitor_id: str | None) -> None:
        self._put(
            _PendingWrite(id, visitor_id, partial(self._store.set_collections, id, chosen, visitor_id=visitor_id))
        )

    def truncate_from(self, id: str, message_id: str, *, visitor_id: str | None) -> None:
        truncate = partial(self._store.truncate_from, id, message_id, visitor_id=visitor_id)
        self._put(_PendingWrite(id, visitor_id, truncate))

    def save(self, id: str, message: Message, *, visitor_id: str | None) -> None:
        self.save_growing_message(id, message.id, lambda: message, visitor_id=visitor_id, finished=True)

    def save_growing_message(
        self,
        id: str,
        message_id: str,
        message: Callable[[], Message],
        *,
        visitor_id: str | None,
        finished: bool,
        question_id: str = "",
    ) -> None:
        """Save a message that grows. `message` is called at the time of writing, when the answer may have grown."""

        def write() -> None:
            self._store.save(id, message(), visitor_id=visitor_id, finished=finished, question_id=question_id)

        self._put(_PendingWrite(id, visitor_id, write, message_id, message))

    def add_write(self, id: str, write: Write, *, visitor_id: str | None) -> None:
        """Add a write that belongs to something that was added before."""
        self._put(_PendingWrite(id, visitor_id, write))

    def merge_changes(
        self, subject: str, changes: Mapping[str, Any], write: Callable[[Mapping[str, Any]], object]
    ) -> None:
        """Write changes in the background. Changes that wait together are written together, the later over the earlier.
        While many writes wait, changes are dropped: questions and answers go first."""
        with self._changed:
            last = self._last(subject)
            if last is not None and not last.is_begun:
                last.changes.update(changes)
                return
            if len(self._pending) >= self._limit // 2:
                return
            waiting = dict(changes)
            self._put(_PendingWrite(subject, None, lambda: write(waiting), changes=waiting))

    def _put(self, write: _PendingWrite) -> None:
        with self._changed:
            if self._replaces_last(write):
                return
            if len(self._pending) >= self._limit or self._closing:
                log.error("%d writes are waiting for the conversation database: one more was refused", self._limit)
                self._give_up(write, FULL_MESSAGE)
                return
            self._given_up.pop(write.message_id, None)
            self._pending.append(write)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="wenyuan-outbox", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _replaces_last(self, write: _PendingWrite) -> bool:
        """Replace the waiting write of the same message, unless another came between. Return whether it was replaced."""
        last = self._last(write.subject) if write.message_id else None
        if last is None or last.is_begun or last.message_id != write.message_id:
            return False
        last.write, last.message = write.write, write.message
        return True

    def _last(self, subject: str) -> _PendingWrite | None:
        return next((other for other in reversed(self._pending) if other.subject == subject), None)

    # ── State of the writes ───────────────────────────────────────────────────────────────────────────────────────

    def unsaved_reason(self, message_id: str) -> str:
        """Return the reason why a message is not saved, for the reader; empty if it is saved, or about to be."""
        with self._changed:
            if message_id in self._given_up:
                return self._given_up[message_id]
            for write in self._pending:
                if write.message_id == message_id and time.monotonic() - write.since > UNNOTICED_SECONDS:
                    return self.problem or "数据库很忙，正在排队。"
        return ""

    def has_pending(self, conversation_id: str) -> bool:
        """Return whether the database does not have all of a conversation yet."""
        with self._changed:
            return self._last(conversation_id) is not None

    def pending_messages(self, conversation_id: str, *, visitor_id: str | None) -> tuple[Message, ...]:
        """Return this visitor's messages that the database does not have yet, the oldest first."""
        with self._changed:
            makers = {
                write.message_id: write.message
                for write in self._pending
                if write.subject == conversation_id and write.message and write.visitor_id == visitor_id
            }
        return tuple(make() for make in makers.values())

    def flush(self, seconds: float) -> bool:
        """Wait until all earlier writes are made or given up, for commands that must come after them."""
        with self._changed:
            last = self._pending[-1] if self._pending else None
            return self._changed.wait_for(lambda: last not in self._pending, seconds)

    def close(self, seconds: float = 3.0) -> None:
        """Write what is left, as far as the database accepts it."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(seconds)
        if self._pending:
            log.error("%d writes to the conversation database were lost: %s", len(self._pending), self.problem)

    # ── The thread ────────────────────────────────────────────────────────────────────────────────────────────────

    def _work(self) -> None:
        pause = FIRST_PAUSE
        while (write := self._next()) is not None:
            try:
                write.write()
            except (ConversationNotFound, StoreRejected) as error:  # deleted in another tab, say
                self._finish(write, str(error))
            except StoreError as error:
                if not self._pause(pause, str(error)):
                    return
                pause = min(pause * 2, LONGEST_PAUSE)
                continue
            except Exception:
                log.exception("a write to the conversation database met a bug")
                self._finish(write, BUG_MESSAGE)
            else:
                self._finish(write)
            pause = FIRST_PAUSE

    def _next(self) -> _PendingWrite | None:
        with self._changed:
            self._changed.wait_for(lambda: self._pending or self._closing)
            if not self._pending:
                return None
            self._pending[0].is_begun = True
            return self._pending[0]

    def _pause(self, pause: float, problem: str) -> bool:
        """Wait before the next try. Return False if the program is ending and there is no time for it."""
        with self._changed:
            self.problem = problem
            self._pending[0].is_begun = False
            self._changed.wait_for(lambda: self._closing, pause)
            return not self._closing

    def _finish(self, write: _PendingWrite, problem: str = "") -> None:
        with self._changed:
            self.problem = ""
            self._pending.popleft()
            if problem:
                self._give_up(write, problem)
            self._changed.notify_all()

    def _give_up(self, write: _PendingWrite, reason: str) -> None:
        if write.message_id:
            self._given_up[write.message_id] = reason
            while len(self._given_up) > REMEMBERED:
                del self._given_up[next(iter(self._given_up))]
