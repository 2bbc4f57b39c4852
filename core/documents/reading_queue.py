"""The queue of files that are to be read: each is claimed by one process, for as long as that lives."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, insert, or_, select, update

from core.documents.document_rows import document_of
from core.documents.text_pieces import StoredPiece
from core.documents.types import Document, DocumentState
from core.store import Database
from core.store.tables import document_texts, documents

LEASE_SECONDS = 15.0
"""Time after which a file is taken from a process that no longer says it is at work."""
MAX_ATTEMPTS = 3
_UNDER_WAY = (DocumentState.READING, DocumentState.RECOGNIZING)


class ClaimLost(Exception):
    """The file was deleted, or another process reads it now."""


class ReadingQueue:
    """The unfinished files in the database. One object for each process."""

    def __init__(
        self, database: Database, *, clock: Callable[[], float] = time.time, lease: float = LEASE_SECONDS
    ) -> None:
        self._database = database
        self._clock = clock
        self.lease = lease
        self._claim = secrets.token_hex(8)

    def claim(self) -> Document | None:
        """Return the file that has waited longest, and claim it; also one whose reader has died. What was read of it is
        forgotten. None if all are taken."""
        now, c = self._clock(), documents.c
        is_free = or_(c.state == DocumentState.WAITING, and_(c.state.in_(_UNDER_WAY), c.claimed_until < now))
        oldest = select(documents).where(is_free).order_by(c.created, c.id).limit(1).with_for_update(skip_locked=True)
        with self._database.write() as connection:
            found = connection.execute(oldest).first()
            if found is None:
                return None
            claimed = {"claim": self._claim, "claimed_until": now + self.lease, "attempts": found.attempts + 1}
            reading = {"state": DocumentState.READING, "pages_done": 0, "characters": 0, "reason": ""}
            if found.attempts >= MAX_ATTEMPTS:
                reading = {"state": DocumentState.UNREADABLE, "reason": "读取时程序几次中断，没有读完。可以再试一次。"}
            connection.execute(update(documents).where(c.id == found.id).values(**claimed, **reading))
            connection.execute(delete(document_texts).where(document_texts.c.document_id == found.id))
        return document_of(found)

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

    def finish(self, id: str, state: DocumentState, **values: Any) -> None:
        """End the claim. Raise ClaimLost."""
        ended = update(documents).where(self._is_mine(id)).values(state=state, claim="", claimed_until=0, **values)
        with self._database.write() as connection:
            if not connection.execute(ended).rowcount:
                raise ClaimLost

    def still_holds(self, id: str) -> bool:
        with self._database.read() as connection:
            return connection.execute(select(documents.c.id).where(self._is_mine(id))).first() is not None

    def is_empty(self) -> bool:
        """Return whether no file is waiting or being read, in any process."""
        query = select(documents.c.id).where(documents.c.state.in_((DocumentState.WAITING, *_UNDER_WAY))).limit(1)
        with self._database.read() as connection:
            return connection.execute(query).first() is None

    def _is_mine(self, id: str) -> ColumnElement[bool]:
        return and_(documents.c.id == id, documents.c.claim == self._claim)
