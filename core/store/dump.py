"""The rows of all tables in a form that SQLite and PostgreSQL both give and take, for backups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import MetaData, Table, delete, func, insert, select

from core.answer.stored_message import DAMAGED_TEXT
from core.store.backends import SqliteFile, wait_without_limit
from core.store.database import Database
from core.store.migrations import MIGRATIONS
from core.store.tables import (
    answer_records,
    attached_files,
    attempt_records,
    collections,
    conversations,
    document_texts,
    documents,
    messages,
    preferences,
    read_pages,
    search_records,
    token_uses,
    tokens,
    visits,
)
from core.store.text_pairs import pairs_of

_TABLES = (
    conversations,
    messages,
    visits,
    read_pages,
    attached_files,
    collections,
    documents,
    document_texts,
    preferences,
    search_records,
    attempt_records,
    answer_records,
    tokens,
    token_uses,
)
"""Each after those that it refers to. What the page has saved is not among them: it is stored elsewhere with SQLite."""
TABLE_NAMES = tuple(table.name for table in _TABLES)
SCHEMA = len(MIGRATIONS)
_ROWS_AT_ONCE = 500
_LONG_ROWS = frozenset({attached_files.name, document_texts.name})
"""Tables whose rows hold megabytes: one at a time."""

Rows = Iterable[Mapping[str, Any]]


@contextmanager
def open_snapshot(database: Database) -> Iterator[Mapping[str, Rows]]:
    """Open all rows by the name of their table, as they were at one moment. The app goes on writing meanwhile."""
    with database.snapshot() as connection:
        wait_without_limit(connection)

        def rows(table: Table) -> Iterator[Mapping[str, Any]]:
            kept = (column for column in table.c if column is not messages.c.pairs)
            ordered = select(*kept).order_by(*table.primary_key)
            for row in connection.execution_options(yield_per=_rows_at_once(table.name)).execute(ordered).mappings():
                yield {name: _plain(value) for name, value in row.items()}

        yield {table.name: rows(table) for table in _TABLES}


def _plain(value: Any) -> Any:
    """Return what both databases take. Bytes are a damaged text: the others are text when they come from the database."""
    return DAMAGED_TEXT if isinstance(value, bytes) else value


def stage_rows(path: Path, schema: int, rows_by_table: Mapping[str, Rows]) -> Database:
    """Write rows from a backup into a new SQLite file as it was at that schema, and return it in the newest form. Raise
    StoreError or ValueError for rows that no database of ours can have."""
    database = Database(SqliteFile(path), migrations=MIGRATIONS[:schema])
    with database.write() as connection:
        for name, rows in rows_by_table.items():
            table = Table(name, MetaData(), autoload_with=connection)
            for batch in _batches(name, rows):
                if any(row.keys() - table.c.keys() for row in batch):
                    raise ValueError(f"{name} has columns that are unknown")
                connection.execute(insert(table), batch)
    database.close()
    return Database(SqliteFile(path))


def replace_rows(target: Database, source: Database) -> None:
    """Replace everything in one database by what is in the other, all at once or not at all."""
    with open_snapshot(source) as rows_by_table, target.write() as connection:
        wait_without_limit(connection)
        for table in reversed(_TABLES):
            connection.execute(delete(table))
        for table in _TABLES:
            for batch in _batches(table.name, rows_by_table[table.name]):
                connection.execute(insert(table), _indexed(batch) if table is messages else batch)


def _indexed(batch: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to messages what is no part of a backup: it is made from the texts."""
    return [{**row, "pairs": pairs_of(row["text"])} for row in batch]


def count_rows(database: Database) -> dict[str, int]:
    with database.read() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one() for table in _TABLES
        }


def _rows_at_once(name: str) -> int:
    return 1 if name in _LONG_ROWS else _ROWS_AT_ONCE


def _batches(name: str, rows: Rows) -> Iterator[list[dict[str, Any]]]:
    each, count = iter(rows), _rows_at_once(name)
    while batch := [dict(row) for row in islice(each, count)]:
        yield batch
