"""The differences between SQLite and PostgreSQL."""

from __future__ import annotations

import logging
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, cast
from urllib.parse import quote

from sqlalchemy import (
    URL,
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Engine,
    Integer,
    Text,
    and_,
    case,
    create_engine,
    event,
    func,
    literal,
    make_url,
    or_,
    type_coerce,
)
from sqlalchemy import cast as cast_to
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, OperationalError, StatementError, TimeoutError
from sqlalchemy.pool import QueuePool

from core.base.compression import plain_text
from core.base.extras import POSTGRES
from core.store.errors import StoreError
from core.store.text_pairs import may_contain, places

log = logging.getLogger(__name__)

WAIT_SECONDS = 1.0
"""Longest wait for a locked row or a free connection."""
LOCK_SECONDS = 2.0
"""Longest wait for another process's lock on the whole SQLite file. Only background threads write."""
STATEMENT_SECONDS = 5.0
INCREMENTAL = 2
"""SQLite's number for a file that can be shortened in steps."""
WORTH_BYTES = 16 * 2**20
"""Unused disk below which nobody is made to wait for it."""
PAGES_AT_ONCE = 500
PAUSE_SECONDS = 0.05
"""Pause between two steps, in which others can write."""
WRITES = "writes"
"""Execution option of a connection whose transaction is going to change something."""


class Backend(Protocol):
    """A database: a SQLite file or a PostgreSQL server."""

    def open(self) -> Engine:
        """Return an engine. Raise StoreError, OSError or one of SQLAlchemy's errors."""

    def close_idle_connections(self, engine: Engine) -> None:
        """Close unused connections, if opening another costs next to nothing."""

    def lock_schema(self, connection: Connection) -> None:
        """Let only one process at a time migrate. The lock is released with the transaction."""

    def repair(self, error: Exception) -> str:
        """Repair a database that is broken beyond use and return what was done; empty if it is not broken."""

    def damage_note(self) -> str:
        """Return what readers should know about damage that was repaired, or an empty string."""

    def contains(self, text: ColumnElement[str], spellings: Sequence[str]) -> ColumnElement[bool]:
        """Return the condition that the characters follow each other in the text, each in any of its spellings."""

    def may_contain(self, pairs: ColumnElement[bytes], word: str) -> ColumnElement[bool]:
        """Return the condition that a text with these pairs may contain the word in any spelling."""

    snapshot_options: Mapping[str, Any]
    """Execution options of a connection that sees one moment only, however long it reads."""

    def tidy(self, engine: Engine) -> None:
        """Give unused disk back, and look again at what is where, if the database does not do so by itself."""

    def vacuum(self, engine: Engine, tables: Sequence[str]) -> None:
        """Let what was deleted from these tables be overwritten, if the database does not do so by itself at once."""

    def begin_erasing(self, connection: Connection) -> None:
        """Let what is deleted in this transaction be overwritten, if the database does not do so by itself."""

    def end_erasing(self, engine: Engine) -> None:
        """Remove what was deleted from the log of the database."""


def _create_engine(url: URL, **arguments: Any) -> Engine:
    # Parameters hold what people wrote: they belong neither into errors nor into logs.
    return create_engine(url, hide_parameters=True, pool_timeout=WAIT_SECONDS, **arguments)


# ── SQLite ────────────────────────────────────────────────────────────────────────────────────────────────────────


class SqliteFile:
    """A SQLite file in a folder that only this user can read."""

    snapshot_options: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened_inode = 0

    def open(self) -> Engine:
        """Open or create the file; read-only if it cannot be written."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError:
            if not self._path.is_file():
                raise
            return self._open_read_only()
        with suppress(OSError):  # file systems without permissions (FAT, some network shares)
            self._path.parent.chmod(0o700)
            self._path.chmod(0o600)  # SQLite gives the files beside it the same
        self._opened_inode = self._path.stat().st_ino
        engine = _create_engine(URL.create("sqlite", database=str(self._path)), connect_args={"timeout": LOCK_SECONDS})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine

    def _open_read_only(self) -> Engine:
        """Open a file on a disk that cannot be written, with the log beside it if SQLite can map that."""
        log.warning("the conversation database can only be read")
        address = f"file:{quote(str(self._path))}"
        for options in ({"mode": "ro"}, {"mode": "ro", "immutable": "1"}):
            engine = _create_engine(URL.create("sqlite", database=address, query={**options, "uri": "true"}))
            event.listen(engine, "connect", _prepare_reading)
            try:
                with engine.connect() as connection:
                    connection.exec_driver_sql("SELECT count(*) FROM sqlite_master")
                return engine
            except OperationalError as error:
                engine.dispose()
                problem = error
        raise problem

    def close_idle_connections(self, engine: Engine) -> None:
        """Close all connections if none is in use: SQLite releases no handle of a file while another one is used."""
        if isinstance(engine.pool, QueuePool) and not engine.pool.checkedout():
            engine.dispose()

    def lock_schema(self, connection: Connection) -> None:
        """Do nothing: BEGIN IMMEDIATE has locked the whole file already."""

    def repair(self, error: Exception) -> str:
        """Set a corrupt file aside; the next `open` begins a new one."""
        if _codes(error)[0] not in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            return ""
        try:
            if self._path.stat().st_ino == self._opened_inode:  # else another process was faster
                self._set_aside(error)
        except OSError as problem:
            log.error("the conversation database is corrupt (%s) and cannot be moved: %s", first_line(error), problem)
            return ""
        return "对话数据库的文件已损坏，已改名保留，并重新建立了一个空的数据库。"

    def damage_note(self) -> str:
        """Return what readers should know about a file that was set aside and still lies there."""
        aside = sorted(file.name for file in self._path.parent.glob(f"{self._path.name}.broken-*[0-9]"))
        if not aside:
            return ""
        return (
            f"对话数据库的文件损坏过，以前的对话可能不在列表里。损坏的文件已改名保留：{aside[-1]}。管理员可以用 "
            "sqlite3 的 .recover 找回其中的对话；找回之后，或者不再需要时，把这个文件移走，这条提示就会消失。"
        )

    def contains(self, text: ColumnElement[str], spellings: Sequence[str]) -> ColumnElement[bool]:
        """Return a GLOB condition. LIKE knows no sets of characters, and GLOB continues after a damaged text."""
        is_compressed = func.typeof(text) == "blob"
        plain = type_coerce(case((is_compressed, func.plain_text(text)), else_=text), Text)
        return plain.op("GLOB", is_comparison=True)(f"*{''.join(map(_glob_set, spellings))}*")

    def may_contain(self, pairs: ColumnElement[bytes], word: str) -> ColumnElement[bool]:
        return func.may_contain(pairs, word, type_=Boolean)

    def tidy(self, engine: Engine) -> None:
        """Give unused disk back in small steps, and let SQLite count its rows for the choice of indexes. A file from
        before such steps were possible is written anew once; others can read it meanwhile, and writes wait."""
        if "mode=ro" in str(engine.url):
            return
        pooled = engine.raw_connection()
        try:
            connection = cast(sqlite3.Connection, pooled.driver_connection)
            _give_disk_back(connection, self._path)
            _empty_log(connection)
            connection.executescript("PRAGMA analysis_limit = 400; PRAGMA optimize")
        except sqlite3.OperationalError as problem:  # locked, or no space: another time
            log.info("the conversation database was not tidied: %s", problem)
        finally:
            pooled.close()

    def vacuum(self, engine: Engine, tables: Sequence[str]) -> None:
        """Do nothing: SQLite uses the pages of what was deleted at once, and `tidy` gives them back."""

    def begin_erasing(self, connection: Connection) -> None:
        connection.exec_driver_sql("PRAGMA secure_delete = ON")

    def end_erasing(self, engine: Engine) -> None:
        """Empty the log beside the file. While others read or write it stays, until the upkeep empties it."""
        pooled = engine.raw_connection()
        try:
            connection = cast(sqlite3.Connection, pooled.driver_connection)
            connection.execute("PRAGMA secure_delete = OFF")
            _empty_log(connection)
        finally:
            pooled.close()

    def _set_aside(self, error: Exception) -> None:
        aside = Path(f"{self._path}.broken-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
        self._path.rename(aside)
        for ending in ("-wal", "-shm"):  # side by side, as `.recover` wants them
            with suppress(FileNotFoundError):
                Path(f"{self._path}{ending}").rename(f"{aside}{ending}")
        log.error(
            "the conversation database is corrupt (%s): moved to %s, a new one is begun. "
            "`sqlite3 FILE .recover` may bring back what it holds.",
            first_line(error),
            aside,
        )


def _give_disk_back(connection: sqlite3.Connection, path: Path) -> None:
    names = ("page_size", "page_count", "freelist_count", "auto_vacuum")
    size, pages, free, mode = (_pragma(connection, name) for name in names)
    if free * size < WORTH_BYTES or free * 4 < pages:
        return
    if mode == INCREMENTAL:
        while _pragma(connection, "freelist_count"):
            connection.executescript(f"PRAGMA incremental_vacuum({PAGES_AT_ONCE})")  # `execute` gives one page back
            time.sleep(PAUSE_SECONDS)
    elif shutil.disk_usage(path.parent).free > 2 * (pages - free) * size + WORTH_BYTES:
        connection.execute("VACUUM")
    log.info("the conversation database gave %d MB back", free * size // 2**20)


def _empty_log(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _glob_set(spellings: str) -> str:
    """Return a GLOB set. In it `]` is literal only in the first place, and `^` anywhere else."""
    if len(spellings) == 1 and spellings not in "*?[":
        return spellings
    return f"[{''.join(sorted(spellings, key=lambda each: (each != ']') + (each == '^')))}]"


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    _prepare_reading(connection)
    connection.isolation_level = None  # Python would begin transactions by itself, and too late
    with suppress(sqlite3.OperationalError):  # another process is switching it just now
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # of a new file, or one that is written anew
        connection.execute("PRAGMA journal_mode = WAL")
    # kill -9 loses nothing; a power cut, what the disk had not written
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA temp_store = MEMORY")  # what is sorted for the dashboard: a third faster than in a file


def _prepare_reading(connection: sqlite3.Connection, _record: object = None) -> None:
    connection.text_factory = _decode
    connection.create_function("plain_text", 1, plain_text, deterministic=True)
    connection.create_function("may_contain", 2, may_contain, deterministic=True)


def _decode(raw: bytes) -> str:
    """Decode text with replacements: one damaged text must not make all the others unreadable."""
    return raw.decode("utf-8", "replace")


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads first and writes later fails at once, without waiting, when another one is writing.
    writes = connection.get_execution_options().get(WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


# ── PostgreSQL ────────────────────────────────────────────────────────────────────────────────────────────────────


class PostgresServer:
    snapshot_options: Mapping[str, Any] = MappingProxyType({"isolation_level": "REPEATABLE READ"})
    SCHEMA_LOCK = 0x77656E7975616E  # "wenyuan": advisory locks are numbers
    CONNECT: dict[str, Any] = {  # noqa: RUF012
        "connect_timeout": 2,
        "tcp_user_timeout": 3000,  # a server that has vanished without a word, in milliseconds
        "application_name": "wenyuan",
        "prepare_threshold": None,  # PgBouncer hands each transaction to another connection
    }

    def __init__(self, url: str) -> None:
        self._url = url

    def open(self) -> Engine:
        if not POSTGRES.is_installed:
            raise StoreError(POSTGRES.missing, cure=POSTGRES.cure)
        url = make_url(self._url)
        if url.drivername in {"postgres", "postgresql"}:
            url = url.set(drivername="postgresql+psycopg")
        if url.drivername != "postgresql+psycopg":
            raise StoreError("数据库的地址无法使用。", cure="它应以 postgresql+psycopg:// 开头；留空则使用 SQLite。")
        wanted = {name: value for name, value in self.CONNECT.items() if name not in url.query}
        engine = _create_engine(url, pool_pre_ping=True, connect_args=wanted)
        event.listen(engine, "begin", _set_timeouts)
        return engine

    def close_idle_connections(self, engine: Engine) -> None:
        """Do nothing: they are few, and the next caller would wait for a new connection."""

    def lock_schema(self, connection: Connection) -> None:
        _set_timeouts(connection, lock=30.0, statement=0.0)  # another server may be at a long migration
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({self.SCHEMA_LOCK})")

    def damage_note(self) -> str:
        return ""

    def repair(self, error: Exception) -> str:
        return ""

    def begin_erasing(self, connection: Connection) -> None:
        """Do nothing: the server vacuums by itself."""

    def end_erasing(self, engine: Engine) -> None:
        """Do nothing: the server recycles its log by itself."""

    def tidy(self, engine: Engine) -> None:
        """Do nothing: autovacuum does."""

    def vacuum(self, engine: Engine, tables: Sequence[str]) -> None:
        """Vacuum now what autovacuum would leave until a fifth of the table is gone. A table that is being vacuumed is left out."""
        try:
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                for table in tables:
                    connection.exec_driver_sql(f"VACUUM (SKIP_LOCKED) {table}")
        except DBAPIError as problem:
            log.info("what was deleted is left to autovacuum: %s", first_line(problem))

    def contains(self, text: ColumnElement[str], spellings: Sequence[str]) -> ColumnElement[bool]:
        return text.regexp_match("".join(f"(?:{'|'.join(map(re.escape, each))})" for each in spellings))

    def may_contain(self, pairs: ColumnElement[bytes], word: str) -> ColumnElement[bool]:
        bits = func.octet_length(pairs) * 8
        has_bit = (func.get_bit(pairs, cast_to(place % bits, Integer)) == 1 for place in map(_big, places(word)))
        return or_(pairs.is_(None), and_(*has_bit))


def _big(place: int) -> ColumnElement[int]:
    return literal(place, BigInteger)


def _set_timeouts(connection: Connection, *, lock: float = WAIT_SECONDS, statement: float = STATEMENT_SECONDS) -> None:
    # For this transaction only: behind PgBouncer a setting of the session would become somebody else's.
    connection.exec_driver_sql(
        f"SELECT set_config('lock_timeout', '{lock * 1000:.0f}', true),"
        f" set_config('statement_timeout', '{statement * 1000:.0f}', true)"
    )


def wait_without_limit(connection: Connection) -> None:
    """Let this transaction take its time: a backup is not somebody's page."""
    if connection.dialect.name == "postgresql":
        _set_timeouts(connection, lock=30.0, statement=0.0)


def is_disk_full(error: Exception) -> bool:
    code, state = _codes(error)
    return code == sqlite3.SQLITE_FULL or state == "53100"


def is_only_readable(error: Exception) -> bool:
    code, state = _codes(error)
    return code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR} or state == "25006"


def _codes(error: Exception) -> tuple[int, str]:
    """Return SQLite's code and PostgreSQL's state."""
    original = getattr(error, "orig", None)
    return getattr(original, "sqlite_errorcode", 0) & 0xFF, getattr(original, "sqlstate", "")


def is_rejected(error: Exception) -> bool:
    """Return whether the database works but will never accept this statement."""
    is_malformed = isinstance(error, StatementError) and not isinstance(error, DBAPIError)
    return is_malformed or isinstance(error, DataError | IntegrityError)


def first_line(error: Exception) -> str:
    """Return the first line of an error. Later lines may quote user text."""
    return str(error).partition("\n")[0]


def is_busy(error: Exception) -> bool:
    """Return whether another transaction held the lock for too long. The database itself is fine."""
    original = error.orig if isinstance(error, DBAPIError) else None
    lock_not_available = "locked" in str(original) or getattr(original, "sqlstate", "") == "55P03"
    return lock_not_available or isinstance(error, TimeoutError)
