"""Upkeep of the database: what has had its time is deleted for good, every hour, a little at a time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, false, or_, select, text, tuple_, update

from core.base.errors import AppError
from core.base.settings import RetentionSettings
from core.store.conversations import UNDO_SECONDS, pack
from core.store.database import Database
from core.store.tables import conversations, messages, preferences, read_pages, token_uses, tokens, upkeep
from core.store.text_pairs import pairs_of

log = logging.getLogger(__name__)

DAY = 86_400
EVERY_SECONDS = 3_600.0
FIRST_SECONDS, LOOK_SECONDS = 60.0, 300.0
"""Time from the start of the program to its first look whether the work is due, and from one look to the next."""
ROWS_AT_ONCE = 100
EXPIRED_DAYS = 30
"""Days for which an expired token is still listed, so that its maker sees why a program is refused."""
PAUSE_SECONDS = 0.05
"""Pause between two steps, in which others can write."""

# In these words, because the index of such rows has the same.
_UNCOMPRESSED = text("substr(payload, 1, 1) = '{'")


class Upkeep:
    """Deletes what is older than the settings allow, compresses and indexes what older programs have left,
    and gives disk back.

    Of several processes on one database, one does it: whoever finds that an hour has passed."""

    def __init__(
        self,
        database: Database,
        settings: RetentionSettings,
        *,
        clock: Callable[[], float] = time.time,
        first: float = FIRST_SECONDS,
        others: Callable[[], None] = lambda: None,
    ) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock
        self._first = first
        self._others = others
        """Work of other parts of the program that is due at the same time."""
        self._closing = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread that looks whether the work is due, unless it runs."""
        with self._starting:
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._work, name="wenyuan-upkeep", daemon=True)
                self._thread.start()

    def close(self, seconds: float = 3.0) -> None:
        with self._starting:
            self._closing.set()
        if self._thread is not None:
            self._thread.join(seconds)

    def _work(self) -> None:
        pause = self._first
        while not self._closing.wait(pause):
            pause = LOOK_SECONDS
            try:
                self.run_if_due()
            except AppError as error:
                log.warning("old conversations could not be deleted: %s", error)
            except Exception:
                log.exception("the upkeep of the database met a bug and goes on")

    def run_if_due(self) -> bool:
        """Do the work if nobody has done it for an hour. Return whether it was due."""
        if not self._take_turn():
            return False
        now = self._clock()
        gone = [sum(self._repeat(self._delete, table, condition)) for table, condition in self._outdated(now)]
        compressed, indexed = sum(self._repeat(self._compress)), sum(self._repeat(self._index))
        if any((*gone, compressed, indexed)):
            done = "%d conversations, %d pages, %d visitors' choices, %d tokens and %d of their figures were deleted"
            log.info(f"{done}; %d messages were compressed, %d indexed", *gone, compressed, indexed)
        if not self._closing.is_set():
            self._others()
            self._database.tidy()
        return True

    def _take_turn(self) -> bool:
        now = self._clock()
        is_due = or_(upkeep.c.at <= now - EVERY_SECONDS, upkeep.c.at > now + EVERY_SECONDS)  # the clock was set back
        with self._database.write() as connection:
            return bool(connection.execute(update(upkeep).where(is_due).values(at=now)).rowcount)

    def _outdated(self, now: float) -> Iterator[tuple[Table, ColumnElement[bool]]]:
        """Yield what has had its time, by table. What belongs to a conversation goes with it."""
        days = self._settings
        is_alone = and_(
            conversations.c.share.is_(None), _is_older(conversations.c.updated, now, days.conversation_days)
        )
        of_browser = and_(
            conversations.c.share.is_(None),
            conversations.c.owner.is_(None),
            _is_older(conversations.c.updated, now, days.browser_days),
        )
        yield conversations, or_(conversations.c.deleted < now - UNDO_SECONDS, is_alone, of_browser)
        yield read_pages, _is_older(read_pages.c.fetched, now, days.page_days)
        yield preferences, _is_older(preferences.c.used, now, days.preference_days)
        yield tokens, _is_older(tokens.c.expires, now, EXPIRED_DAYS)
        yield token_uses, and_(token_uses.c.token_id != "", token_uses.c.token_id.not_in(select(tokens.c.id)))

    def _repeat(self, step: Callable[..., int], *arguments: object) -> Iterator[int]:
        """Take small steps until nothing is left, and yield how many rows each one met."""
        count = ROWS_AT_ONCE
        while count >= ROWS_AT_ONCE and not self._closing.is_set():
            with self._database.write() as connection:
                count = step(connection, *arguments)
            yield count
            self._closing.wait(PAUSE_SECONDS)

    @staticmethod
    def _delete(connection: Connection, table: Table, condition: ColumnElement[bool]) -> int:
        key = tuple_(*table.primary_key)
        some = select(*table.primary_key).where(condition).limit(ROWS_AT_ONCE)
        return connection.execute(delete(table).where(key.in_(some))).rowcount

    @staticmethod
    def _compress(connection: Connection) -> int:
        """Compress payloads that an older program has written."""
        c = messages.c
        rows = connection.execute(
            select(c.conversation_id, c.position, c.payload).where(_UNCOMPRESSED).limit(ROWS_AT_ONCE)
        )
        compressed = [(id, position, old, new) for id, position, old in rows if (new := pack(old)) != old]
        for id, position, old, new in compressed:
            same = and_(c.conversation_id == id, c.position == position, c.payload == old)
            connection.execute(update(messages).where(same).values(payload=new))
        return len(compressed)

    @staticmethod
    def _index(connection: Connection) -> int:
        """Add the pairs of messages that an older program has written, or a backup has brought."""
        c = messages.c
        wanted = select(c.conversation_id, c.position, c.text).where(c.pairs.is_(None), c.finished.is_(True))
        rows = connection.execute(wanted.limit(ROWS_AT_ONCE).with_for_update()).all()
        for id, position, said in rows:
            pairs = pairs_of(said if isinstance(said, str) else "")
            same = and_(c.conversation_id == id, c.position == position)
            connection.execute(update(messages).where(same).values(pairs=pairs))
        return len(rows)


def _is_older(at: ColumnElement[float], now: float, days: int) -> ColumnElement[bool]:
    """Return the condition that it has had its days. Without a limit nothing has."""
    return at < now - days * DAY if days else false()
