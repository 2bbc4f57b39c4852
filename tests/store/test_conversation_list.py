"""The list of conversations: what it holds, and that it does not read everybody's."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Select, and_, bindparam, delete, event, insert, or_, select, text

from core.store import ConversationStore, Database
from core.store.ids import digest
from core.store.tables import conversations, messages, visits
from support.base import loaded

pytestmark = pytest.mark.xdist_group("postgres")

READERS = ("alice", "bob", "browser 1", "browser 2", "nobody")
OLD_LIST: Select[Any] = (
    select(conversations)
    .where(
        or_(
            conversations.c.owner == bindparam("reader"),
            and_(
                conversations.c.owner.is_(None),
                conversations.c.id.in_(select(visits.c.conversation_id).where(visits.c.visitor == bindparam("reader"))),
            ),
        ),
        conversations.c.title != "",
        conversations.c.deleted.is_(None),
    )
    .order_by(conversations.c.updated.desc(), conversations.c.id)
    .limit(bindparam("most"))
)
"""What the list was defined by, when it still read every row."""


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    url = "" if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()
    database = Database.from_settings(loaded(DATABASE_URL=url).values)
    yield database
    database.close()


def conversation(chance: random.Random, number: int) -> dict[str, Any]:
    return {
        "id": f"{number:024}",
        "owner": digest(chance.choice((None, None, "alice", "bob"))),
        "title": chance.choice(("", "题", "题")),
        "mode": "chat",
        "share": chance.choice((None, f"share{number:019}")),
        "created": 0.0,
        "updated": float(chance.randrange(5)),
        "deleted": chance.choice((None, None, 1.0)),
    }


def visits_of(chance: random.Random, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Some are in several lists, some in none; those with an owner may also be in the list of a browser."""
    return [
        {"visitor": digest(reader), "conversation_id": row["id"]}
        for row in rows
        for reader in chance.sample(READERS[:4], chance.randrange(3))
    ]


@pytest.mark.parametrize("seed", range(4))
def test_the_list_is_what_it_always_was(database: Database, seed: int) -> None:
    chance = random.Random(seed)
    rows = [conversation(chance, number) for number in range(120)]
    store = ConversationStore(database)
    with database.write() as connection:
        connection.execute(insert(conversations), rows)
        connection.execute(insert(visits), visits_of(chance, rows))
    found = 0
    for reader in READERS:
        for most in (1, 7, 500):
            with database.read() as connection:
                wanted = [row.id for row in connection.execute(OLD_LIST, {"reader": digest(reader), "most": most})]
            assert [entry.id for entry in store.list_conversations(reader, limit=most)] == wanted
            assert [entry.id for entry in store.list_conversations(reader, words="题", limit=most)] == wanted
            assert store.list_conversations(reader, words="无", limit=most) == ()
            found += len(wanted)
    assert found > 60


def fill(database: Database, count: int) -> None:
    """Fill the database with others' conversations: half of accounts, half of browsers; and one of each reader's own."""
    rows = [
        {
            "id": f"{number:024}",
            "owner": digest(f"account {number % 500}") if number % 2 else None,
            "title": "题",
            "mode": "chat",
            "created": 0.0,
            "updated": float(number),
        }
        for number in range(count)
    ]
    rows[0]["owner"], rows[1]["owner"] = None, digest("alice")
    seen = [
        {"visitor": digest(f"browser {number}"), "conversation_id": row["id"]}
        for number, row in enumerate(rows)
        if row["owner"] is None
    ]
    said = {"position": 1, "id": "q", "role": "user", "text": "题", "payload": "{}", "finished": True, "created": 0.0}
    with database.write() as connection:
        connection.execute(insert(conversations), rows)
        connection.execute(insert(visits), seen)
        connection.execute(insert(messages), [{"conversation_id": row["id"], **said} for row in rows])


def plan(database: Database, act: Callable[[], object]) -> str:
    """Return how the database does what was last asked for."""
    asked: list[tuple[str, Any]] = []

    def notice(_connection: object, _cursor: object, statement: str, parameters: Any, *_: object) -> None:
        asked.append((statement, parameters))

    engine = database._open_engine()
    event.listen(engine, "before_cursor_execute", notice)
    act()
    event.remove(engine, "before_cursor_execute", notice)
    statement, parameters = next(one for one in reversed(asked) if "conversations" in one[0])
    with database.read() as connection:
        explain = "EXPLAIN QUERY PLAN" if connection.dialect.name == "sqlite" else "EXPLAIN"
        return "\n".join(str(tuple(row)) for row in connection.exec_driver_sql(f"{explain} {statement}", parameters))


@pytest.mark.parametrize("analyzed", [False, True])
def test_the_list_reads_the_readers_own_rows_and_nobody_elses(database: Database, analyzed: bool) -> None:
    fill(database, 20_000)
    store = ConversationStore(database)
    if database_is_postgres(database) or analyzed:  # autovacuum would do the same within a minute
        with database.write() as connection:
            connection.execute(text("ANALYZE"))
    for reader in ("alice", "browser 0", "somebody new"):
        steps = plan(database, partial(store.list_conversations, reader))
        assert "conversations_recent" in steps, steps
        assert "Seq Scan" not in steps, steps
        assert "SCAN conversations" not in steps, steps
        assert "SCAN visits" not in steps, steps
        assert "conversations_deleted" not in steps, steps
        assert "visits_recent" in steps, steps
        steps = plan(database, partial(store.list_conversations, reader, words="量子"))
        assert "Seq Scan" not in steps, steps
        assert "hashed SubPlan" not in steps, steps
        assert "SCAN messages" not in steps, steps
        if not database_is_postgres(database):
            assert "SEARCH messages USING INDEX messages_pairs" in steps, steps
    assert [entry.id for entry in store.list_conversations("alice")] == [f"{1:024}"]
    assert [entry.id for entry in store.list_conversations("browser 0")] == [f"{0:024}"]


def database_is_postgres(database: Database) -> bool:
    with database.read() as connection:
        return connection.dialect.name == "postgresql"


def test_what_was_deleted_long_ago_is_found_by_an_index(database: Database) -> None:
    fill(database, 2_000)
    with database.write() as connection:
        connection.execute(text("ANALYZE"))
        purge = delete(conversations).where(conversations.c.deleted < 5.0)

    def remove() -> None:
        with database.write() as connection:
            connection.execute(purge)

    assert "conversations_deleted" in plan(database, remove)
