"""The queues of files that are to be read, and of those whose pages are to be recognized: each file is claimed by one process,
for as long as that lives."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, insert, select, update

from core.documents.document_rows import document_of
from core.documents.text_pieces import StoredPiece
from core.documents.types import Document, DocumentState
from core.store import Database
from core.store.tables import document_texts, documents

LEASE_SECONDS = 15.0
"""Time after which a file is taken from a process that no longer says it is at work."""
MAX_ATTEMPTS = 3
PAUSE_SECONDS = 30.0
"""Time before a file is tried again that was not read in time."""


class ClaimLost(Exception):
    """The file was deleted, or another process reads it now."""


class ReadingQueue:
    """The unfinished files in the database. One object for each process."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], float] = time.time,
        lease: float = LEASE_SECONDS,
        is_for_recognition: bool = False,
    ) -> None:
        self._database = database
        self._clock = clock
        self.lease = lease
        self.is_for_recognition = is_for_recognition
        """True for the files with pages to recognize. They have a queue of their own: nobody's text waits for pictures."""
        self._claim = secrets.token_hex(8)

    def for_recognition(self) -> ReadingQueue:
        """Return the queue of the files with pages to recognize."""
        return ReadingQueue(self._database, clock=self._clock, lease=self.lease, is_for_recognition=True)

    def claim(self) -> Document | None:
        """Return the file that has waited longest, and claim it; also one whose reader has died. What was read of it is
        forgotten. None if all are taken."""
        now, c = self._clock(), documents.c
        is_free = and_(c.state.in_({self.waiting_state, self._state}), c.claimed_until < now)
        oldest = select(documents).where(is_free).order_by(c.created, c.id).limit(1).with_for_update(skip_locked=True)
        with self._database.write() as connection:
            found = connection.execute(oldest).first()
            if found is None:
                return None
            claimed = {"claim": self._claim, "claimed_until": now + self.lease, "attempts": found.attempts + 1}
            reading = {"state": self._state, "pages_done": 0, "characters": 0, "reason": ""}
            if found.attempts >= MAX_ATTEMPTS:
                reading = {"state": DocumentState.UNREADABLE, "reason": "读取时程序几次中断，没有读完。可以再试一次。"}
            connection.execute(update(documents).where(c.id == found.id).values(**claimed, **reading))
            connection.execute(delete(document_texts).where(document_texts.c.document_id == found.id))
        return None if found.attempts >= MAX_ATTEMPTS else document_of(found)

    def extend(self, id: str) -> None:
        """Say that this process is still at work on a file."""
        with self._database.write() as connection:
            until = self._clock() + self.lease
            connection.execute(update(documents).where(self._is_mine(id)).values(claimed_until=until))

    def add_pieces(self, id: str, pieces: Sequence[StoredPiece], **values: Any) -> None:
        """Store what was read, and how far that is. Raise ClaimLost."""
        with self._database.write() as connection:
            if not connection.execute(update(documents).where(self._is_mine(id)).values(**values)).rowcount:
                raise ClaimLost
            rows = [{"document_id": id, **piece.stored()} for piece in pieces]
            if rows:
                connection.execute(insert(document_texts), rows)

    def pass_on(self, id: str) -> None:
        """End the claim, and queue the file for the recognition of its pages. Raise ClaimLost."""
        self.finish(id, DocumentState.RECOGNIZING, attempts=0, pages_done=0)

    def finish(self, id: str, state: DocumentState, **values: Any) -> None:
        """End the claim. Raise ClaimLost."""
        ended = update(documents).where(self._is_mine(id)).values(state=state, claim="", claimed_until=0, **values)
        with self._database.write() as connection:
            if not connection.execute(ended).rowcount:
                raise ClaimLost

    def try_again(self, id: str) -> bool:
        """End the claim, and let the file wait for a while. Return False if it was tried often enough, and is still claimed."""
        waiting = {"state": self.waiting_state, "claim": "", "claimed_until": self._clock() + PAUSE_SECONDS}
        again = update(documents).where(self._is_mine(id), documents.c.attempts < MAX_ATTEMPTS).values(**waiting)
        with self._database.write() as connection:
            return connection.execute(again).rowcount > 0

    def is_empty(self) -> bool:
        """Return whether no file of this queue is waiting or being read, in any process."""
        states = {self._state} if self.is_for_recognition else {DocumentState.WAITING, self._state}
        query = select(documents.c.id).where(documents.c.state.in_(states)).limit(1)
        with self._database.read() as connection:
            return connection.execute(query).first() is None

    @property
    def waiting_state(self) -> DocumentState:
        """The state of the files that nobody has claimed."""
        return DocumentState.RECOGNIZING if self.is_for_recognition else DocumentState.WAITING

    @property
    def _state(self) -> DocumentState:
        """The state of the files under way."""
        return DocumentState.RECOGNIZING if self.is_for_recognition else DocumentState.READING

    def _is_mine(self, id: str) -> ColumnElement[bool]:
        return and_(documents.c.id == id, documents.c.claim == self._claim)
