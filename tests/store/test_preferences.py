"""What a visitor has chosen: kept for them alone, merged, read whatever is in the table."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from core.store import ConversationStore, Database, Outbox, PreferenceStore
from core.store.backends import SqliteFile
from core.store.errors import StoreError
from core.store.ids import digest
from support.base import loaded

pytestmark = pytest.mark.servers

MINE, YOURS = "m" * 32, "https://id.example 1"

Open = Callable[[], tuple[Database, PreferenceStore, Outbox]]


@pytest.fixture(params=["sqlite", "postgresql"])
def open_one(request: pytest.FixtureRequest) -> Iterator[Open]:
    """Opens the same database again and again, as so many servers would."""
    url = "" if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()
    opened: list[tuple[Database, PreferenceStore, Outbox]] = []

    def open_one() -> tuple[Database, PreferenceStore, Outbox]:
        database = Database.from_settings(loaded(DATABASE_URL=url).values)
        outbox = Outbox(ConversationStore(database))
        opened.append((database, PreferenceStore(database, outbox), outbox))
        return opened[-1]

    yield open_one
    for database, _, outbox in opened:
        outbox.close(1)
        database.close()


def rows(database: Database) -> list[tuple[str, str]]:
    with database.read() as connection:
        return [tuple(row) for row in connection.execute(text("SELECT visitor, document FROM preferences"))]


def test_what_is_chosen_is_there_after_a_restart_and_for_nobody_else(open_one: Open) -> None:
    _, mine, outbox = open_one()
    assert mine.load(MINE) == {}
    mine.change(MINE, {"mode": "agent", "search": True, "temperature": 0.4, "model": "openai:通义"})
    assert outbox.flush(10)
    database, again, _ = open_one()
    assert again.load(MINE) == {"mode": "agent", "search": True, "temperature": 0.4, "model": "openai:通义"}
    assert again.load(YOURS) == {}
    assert [visitor for visitor, _ in rows(database)] == [digest(MINE)], "the database does not know the cookie"


def test_two_tabs_change_what_they_name_and_nothing_else(open_one: Open) -> None:
    (_, one, first), (_, other, second) = open_one(), open_one()
    one.change(MINE, {"model": "a", "search": True})
    assert first.flush(10)
    other.change(MINE, {"search": False})
    assert second.flush(10)
    one.change(MINE, {"mode": "agent"})
    assert first.flush(10)
    assert other.load(MINE) == {"model": "a", "search": False, "mode": "agent"}


def test_many_first_choices_in_the_same_moment_are_all_kept(open_one: Open) -> None:
    servers = [open_one() for _ in range(4)]
    start = threading.Barrier(len(servers))

    def choose(number: int) -> None:
        start.wait()
        servers[number][1].change(MINE, {f"choice {number}": number})

    threads = [threading.Thread(target=choose, args=(number,)) for number in range(len(servers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(outbox.flush(20) for _, _, outbox in servers)
    assert servers[0][1].load(MINE) == {f"choice {number}": number for number in range(len(servers))}


def test_what_is_taken_back_leaves_nothing_behind(open_one: Open) -> None:
    database, mine, outbox = open_one()
    mine.change(MINE, {"model": "a", "language": "en"})
    mine.change(MINE, {"model": None})
    assert outbox.flush(10)
    assert mine.load(MINE) == {"language": "en"}
    mine.change(MINE, {"language": None, "prompt": None})
    assert outbox.flush(10)
    assert mine.load(MINE) == {}
    assert rows(database) == []


@pytest.mark.parametrize(
    "document",
    [
        "",
        "{",
        "[]",
        "null",
        '"version"',
        "[" * 100_000,
        '{"version": 2, "chosen": {"model": "b"}}',
        '{"version": 1}',
        '{"version": 1, "chosen": [1]}',
    ],
)
def test_a_document_that_cannot_be_read_is_none_and_is_replaced(open_one: Open, document: str) -> None:
    database, mine, outbox = open_one()
    with database.write() as connection:
        connection.execute(
            text("INSERT INTO preferences (visitor, document) VALUES (:visitor, :document)"),
            {"visitor": digest(MINE), "document": document},
        )
    assert mine.load(MINE) == {}
    assert outbox.flush(10)
    assert [row[:2] for row in rows(database)] == [(digest(MINE), document)], "to look at it changes nothing"
    mine.change(MINE, {"model": "a"})
    assert outbox.flush(10)
    assert mine.load(MINE) == {"model": "a"}


def test_what_a_newer_program_has_added_stays(open_one: Open) -> None:
    database, mine, outbox = open_one()
    with database.write() as connection:
        connection.execute(
            text("INSERT INTO preferences (visitor, document) VALUES (:visitor, :document)"),
            {"visitor": digest(MINE), "document": '{"version": 1, "chosen": {"theme": {"colour": "sepia"}}}'},
        )
    mine.change(MINE, {"model": "a"})
    assert outbox.flush(10)
    assert mine.load(MINE) == {"theme": {"colour": "sepia"}, "model": "a"}


# ── While the database is busy ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[tuple[PreferenceStore, Outbox, sqlite3.Connection]]:
    file = tmp_path / "database" / "wenyuan.sqlite3"
    database = Database(SqliteFile(file))
    outbox = Outbox(ConversationStore(database), limit=20)
    mine = PreferenceStore(database, outbox)
    assert mine.load(MINE) == {}
    with closing(sqlite3.connect(file, isolation_level=None)) as backup:
        backup.execute("BEGIN IMMEDIATE")
        yield mine, outbox, backup
    outbox.close(1)
    database.close()


def test_nobody_waits_and_a_switch_that_is_played_with_waits_once(
    busy: tuple[PreferenceStore, Outbox, sqlite3.Connection],
) -> None:
    mine, outbox, backup = busy
    began = time.monotonic()
    mine.change(MINE, {"language": "en"})
    for number in range(999):
        mine.change(MINE, {"search": bool(number % 2), "round": number})
    assert time.monotonic() - began < 10
    assert len(outbox._pending) <= 2, "the one that is being tried, and all that came after it"
    backup.execute("ROLLBACK")
    assert outbox.flush(20)
    assert mine.load(MINE) == {"language": "en", "search": False, "round": 998}


def test_choices_leave_room_for_what_is_asked(busy: tuple[PreferenceStore, Outbox, sqlite3.Connection]) -> None:
    mine, outbox, backup = busy
    for number in range(50):
        mine.change(f"visitor {number}", {"search": True})
    assert len(outbox._pending) == 10
    backup.execute("ROLLBACK")
    assert outbox.flush(20)
    assert mine.load("visitor 0") == {"search": True}
    assert mine.load("visitor 49") == {}


def test_a_database_that_is_away_is_an_error_for_whoever_reads() -> None:
    database = Database.from_settings(loaded(DATABASE_URL="postgresql+psycopg://nobody@127.0.0.1:1/none").values)
    with pytest.raises(StoreError):
        PreferenceStore(database, Outbox(ConversationStore(database))).load(MINE)
