"""The database of an installation: opened and migrated on first use, and opened again after an error.

Synchronous and thread-safe. Call it from worker threads, never on the event loop.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from core.base.settings import Settings
from core.store import backends
from core.store.errors import StoreError, StoreRejected, StoreRepaired, StoreTooNew
from core.store.migrations import MIGRATIONS, VERSION_TABLE, Migration

log = logging.getLogger(__name__)

UNREACHABLE = "打不开对话数据库。"


class Database:
    """The connection to the database."""

    PAUSE_SECONDS = 5.0
    """Time for which an unreachable server is not tried again, so that no message waits for it."""

    def __init__(
        self,
        backend: backends.Backend,
        *,
        migrations: tuple[Migration, ...] = MIGRATIONS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._backend = backend
        self._migrations = migrations
        self._clock = clock
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._paused_until = 0.0
        self.damage_note = ""
        """What readers should know about damage that was repaired; empty if there was none."""

    @classmethod
    def from_settings(cls, settings: Settings) -> Database:
        url = settings.database.url
        if url:
            return cls(backends.PostgresServer(url.get_secret_value()))
        return cls(backends.SqliteFile(settings.data_dir / "database" / "wenyuan.sqlite3"))

    def read(self) -> AbstractContextManager[Connection]:
        return self._transaction(writes=False)

    def snapshot(self) -> AbstractContextManager[Connection]:
        """Open a transaction that sees everything as it is at its first query."""
        return self._transaction(writes=False, **self._backend.snapshot_options)

    def write(self) -> AbstractContextManager[Connection]:
        """Open one transaction: all of it is saved, or nothing."""
        return self._transaction(writes=True)

    @contextmanager
    def erase(self) -> Iterator[Connection]:
        """Open a transaction like `write`. What is deleted in it is gone from the disk afterwards, as far as the database does
        not see to that by itself."""
        with self.write() as connection:
            self._backend.begin_erasing(connection)
            yield connection
        try:
            self._backend.end_erasing(self._open_engine())
        except (SQLAlchemyError, OSError) as error:
            raise self._to_store_error(error) from error

    def answers(self) -> bool:
        """Return whether the database can be read now."""
        try:
            with self.read() as connection:
                connection.execute(select(1))
        except StoreError:
            return False
        return True

    def contains(self, text: ColumnElement[str], spellings: Sequence[str]) -> ColumnElement[bool]:
        """Return the condition that the characters follow each other in the text, each in any of its spellings."""
        return self._backend.contains(text, spellings)

    def may_contain(self, pairs: ColumnElement[bytes], word: str) -> ColumnElement[bool]:
        """Return the condition that a text with these pairs may contain the word in any spelling."""
        return self._backend.may_contain(pairs, word)

    def tidy(self) -> None:
        """Give unused disk back to the system, as far as the database does not do so by itself."""
        self._backend.tidy(self._open_engine())

    def vacuum(self, *tables: str) -> None:
        """Let what was deleted from these tables be overwritten, if the database does not do so by itself at once."""
        self._backend.vacuum(self._open_engine(), tables)

    def close_idle_connections(self) -> None:
        """Close connections that are not in use now."""
        if engine := self._engine:
            self._backend.close_idle_connections(engine)

    def close(self) -> None:
        with self._lock:
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.dispose()

    @contextmanager
    def _transaction(self, *, writes: bool, **options: Any) -> Iterator[Connection]:
        """Open a transaction. Every error of the database or the disk is handled and becomes one StoreError."""
        try:
            connection = self._open_engine().connect()
        except (SQLAlchemyError, OSError) as error:
            raise self._to_store_error(error, connecting=True) from error
        try:
            with connection.execution_options(**{backends.WRITES: writes}, **options), connection.begin():
                yield connection
        except SQLAlchemyError as error:
            raise self._to_store_error(error) from error

    def _open_engine(self) -> Engine:
        with self._lock:
            if self._clock() < self._paused_until:
                raise StoreError(UNREACHABLE)
            if self._engine is None:
                engine = self._backend.open()
                try:
                    self._migrate_if_needed(engine)
                except BaseException:
                    engine.dispose()
                    raise
                self._engine = engine
                self.damage_note = self._backend.damage_note()
            return self._engine

    def _migrate_if_needed(self, engine: Engine) -> None:
        with engine.connect() as connection, connection.begin():
            if _version(connection) == len(self._migrations):
                return
        with engine.execution_options(**{backends.WRITES: True}).begin() as connection:
            self._backend.lock_schema(connection)
            self._migrate(connection)

    def _migrate(self, connection: Connection) -> None:
        found, known = _version(connection), len(self._migrations)
        if found > known:
            log.error("the conversation database is at version %d, this program knows %d", found, known)
            raise StoreTooNew(found=found, known=known)
        if found == 0:
            connection.execute(text(VERSION_TABLE))
        for version in range(found + 1, known + 1):
            for statement in self._migrations[version - 1]:
                of_dialect = statement if isinstance(statement, str) else statement.get(connection.dialect.name)
                if of_dialect:
                    connection.execute(text(of_dialect))
            applied = text("INSERT INTO schema_version (version, applied) VALUES (:version, :now)")
            connection.execute(applied, {"version": version, "now": time.time()})
            log.info("the conversation database is now at version %d", version)

    def _to_store_error(self, error: Exception, *, connecting: bool = False) -> StoreError:
        if backends.is_busy(error):
            log.warning("the conversation database is busy")
            return StoreError("对话数据库正忙，这次没有保存或读取。", cure="程序会继续尝试，可以照常提问。")
        if backends.is_rejected(error):
            log.error("the conversation database refuses what it was given: %s", backends.first_line(error))
            return StoreRejected()
        with self._lock:
            repaired = self._backend.repair(error)
        if repaired:
            self.close()
            return StoreRepaired(repaired)
        log.warning("the conversation database cannot be used: %s", backends.first_line(error))
        if connecting:
            self._paused_until = self._clock() + self.PAUSE_SECONDS
        if backends.is_disk_full(error):
            return StoreError("保存对话的磁盘已满。")
        if backends.is_only_readable(error):
            self.close()  # opened again as far as it can be: perhaps only to be read
            return StoreError("保存对话的磁盘现在只能读取，或无法访问。")
        return StoreError(UNREACHABLE if connecting else "")


def _version(connection: Connection) -> int:
    if not inspect(connection).has_table("schema_version"):
        return 0
    return connection.execute(text("SELECT max(version) FROM schema_version")).scalar() or 0
