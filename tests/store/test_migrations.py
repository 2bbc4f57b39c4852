from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import insert, inspect, text

from core.base.errors import AppError
from core.store import ConversationStore, Database, MetricsStore
from core.store.backends import Backend, PostgresServer, SqliteFile
from core.store.errors import ConversationNotFound, StoreError, StoreTooNew
from core.store.ids import digest
from core.store.migrations import MIGRATIONS, Migration
from core.store.tables import metadata, visits
from support.base import loaded

pytestmark = pytest.mark.servers

# What version 1 left in people's databases. Never change it: it is what the next version will find.
VERSION_1 = """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied DOUBLE PRECISION NOT NULL);
CREATE TABLE conversations (id TEXT PRIMARY KEY, owner TEXT, title TEXT NOT NULL, mode TEXT NOT NULL,
    created DOUBLE PRECISION NOT NULL, updated DOUBLE PRECISION NOT NULL);
CREATE INDEX conversations_recent ON conversations (owner, updated);
CREATE TABLE messages (conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    position INTEGER NOT NULL, id TEXT NOT NULL, role TEXT NOT NULL, text TEXT NOT NULL, payload TEXT NOT NULL,
    finished BOOLEAN NOT NULL, created DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (conversation_id, position), UNIQUE (conversation_id, id));
INSERT INTO schema_version VALUES (1, 1763260000.0);
INSERT INTO conversations VALUES ('v1v1v1v1v1v1v1v1v1v1v1v1', NULL, '离婚需要什么条件', 'chat', 1763260001.0, 1763260009.0);
INSERT INTO messages VALUES ('v1v1v1v1v1v1v1v1v1v1v1v1', 1, 'q1', 'user', '离婚需要什么条件',
    '{"version":1,"events":[],"cited":[],"seconds":0.0,"model":""}', TRUE, 1763260001.0);
INSERT INTO messages VALUES ('v1v1v1v1v1v1v1v1v1v1v1v1', 2, 'a1', 'assistant', '感情确已破裂。[1]',
    '{"version":1,"events":[{"type":"search_started","query":"离婚需要什么条件"},{"type":"search_finished","response":{"query":{"text":"离婚需要什么条件","type":"general","limit":10,"language":"auto","time_range":null,"sites":[]},"results":[{"title":"民法典","url":"https://flk.npc.gov.cn/","snippet":"第一千零七十九条","source":"flk.npc.gov.cn","published":null,"engine":"bundled","rank":1}],"attempts":[{"engine":"bundled","outcome":"ok","seconds":0.1,"reason":"","kind":"","cure":""}],"provider":"bundled","from_cache":false,"cache_age":null,"stale":false,"search_time":0.1,"skipped":0,"notes":[]},"sources":[{"number":1,"title":"民法典","url":"https://flk.npc.gov.cn/","snippet":"第一千零七十九条","engine":"bundled"}]},{"type":"usage","input":10,"output":5,"estimated":false,"parts":{}}],"cited":[{"number":1,"title":"民法典","url":"https://flk.npc.gov.cn/","snippet":"第一千零七十九条","engine":"bundled"}],"seconds":2.5,"model":"gpt-5-mini"}', TRUE, 1763260009.0);
"""
ME = "me"
OLD = "v1v1v1v1v1v1v1v1v1v1v1v1"
ADDED: Migration = (
    "ALTER TABLE conversations ADD COLUMN pinned BOOLEAN NOT NULL DEFAULT FALSE",
    "UPDATE conversations SET pinned = TRUE WHERE title <> ''",
)
BROKEN: Migration = ("CREATE TABLE half (id INTEGER)", "ALTER TABLE nowhere ADD COLUMN x INTEGER")


@pytest.fixture(params=["sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest) -> Backend:
    if request.param == "postgresql":
        return PostgresServer(request.getfixturevalue("postgres").new_database())
    return SqliteFile(Path(os.environ["DATA_DIR"]) / "database" / "wenyuan.sqlite3")


@pytest.fixture
def version_1(backend: Backend) -> Backend:
    engine = backend.open()
    with engine.begin() as connection:
        for statement in VERSION_1.split(";\n"):
            if statement.strip():
                connection.exec_driver_sql(statement)
    engine.dispose()
    return backend


def claim(database: Database) -> None:
    """Make the conversation of version 1 mine: nobody was noted then."""
    with database.write() as connection:
        connection.execute(insert(visits), {"visitor": digest(ME), "conversation_id": OLD})


def versions(database: Database) -> list[int]:
    with database.read() as connection:
        return list(connection.execute(text("SELECT version FROM schema_version ORDER BY version")).scalars())


def test_what_version_1_kept_can_still_be_read_and_continued(version_1: Backend) -> None:
    database = Database(version_1)
    store = ConversationStore(database)
    with pytest.raises(ConversationNotFound):
        store.load(OLD, visitor_id=ME)
    claim(database)
    page = store.load(OLD, visitor_id=ME)
    assert page.conversation.title == "离婚需要什么条件"
    question, answer = page.messages
    assert (question.role, question.text) == ("user", "离婚需要什么条件")
    assert (answer.text, answer.model, answer.seconds) == ("感情确已破裂。[1]", "gpt-5-mini", 2.5)
    assert [source.title for source in answer.cited] == ["民法典"]
    assert len(answer.events) == 3
    assert answer.notices == ()
    store.save(OLD, question, visitor_id=ME)
    store.rename(OLD, "改名", visitor_id=ME)
    store.delete(OLD, visitor_id=ME)
    assert versions(database) == list(range(1, len(MIGRATIONS) + 1))
    database.close()


def test_records_of_version_8_still_count_and_its_sums_are_gone(backend: Backend) -> None:
    attempts = [
        {"engine": "a", "outcome": "failed", "seconds": 2.04, "kind": "timeout"},
        {"engine": "b", "outcome": "ok", "seconds": 0.5, "kind": ""},
    ]
    old = Database(backend, migrations=MIGRATIONS[:8])
    with old.write() as connection:
        record = "INSERT INTO search_records VALUES (:at, 'news', 'b', 'ok', '', '', NULL, 2.6, :attempts, '问')"
        connection.execute(text(record), {"at": 1000.0, "attempts": json.dumps(attempts)})
        connection.execute(text(record), {"at": 2000.0, "attempts": "[]"})
        connection.execute(text("INSERT INTO metric_sums VALUES ('day', 0, 'search', '[]', 0, 2, 0.0)"))
    old.close()
    database = Database(backend)
    store = MetricsStore(database)
    counts = store.counts((0, 3600))
    assert counts.searches == [(0, "news", "b", "ok", "", "", 2)]
    assert sorted(counts.attempts) == [("a", "failed", "timeout", 0, 2.0, 1), ("b", "ok", "", 1, 0.5, 1)]
    assert [row["query"] for row in store.latest_searches(0, 9)] == ["问", "问"]
    with database.read() as connection:
        assert not inspect(connection).has_table("metric_sums")
    database.close()


def test_the_newest_tables_are_those_that_the_queries_use(backend: Backend) -> None:
    database = Database(backend)
    with database.read() as connection:
        found = inspect(connection)
        tables = {name: {column["name"] for column in found.get_columns(name)} for name in metadata.tables}
        keys = {name: found.get_pk_constraint(name)["constrained_columns"] for name in metadata.tables}
    assert tables == {name: set(table.c.keys()) for name, table in metadata.tables.items()}
    assert keys == {name: [column.name for column in table.primary_key] for name, table in metadata.tables.items()}
    database.close()


def test_steps_are_applied_once_in_order_and_keep_the_data(version_1: Backend) -> None:
    newer = (*MIGRATIONS, ADDED)
    for time in range(2):
        database = Database(version_1, migrations=newer)
        if not time:
            claim(database)
        assert versions(database) == list(range(1, len(newer) + 1))
        with database.read() as connection:
            assert connection.execute(text("SELECT pinned FROM conversations")).scalars().all() in ([True], [1])
        assert len(ConversationStore(database).load(OLD, visitor_id=ME).messages) == 2
        database.close()


def test_a_step_that_fails_leaves_everything_as_it_was(version_1: Backend) -> None:
    database = Database(version_1, migrations=(*MIGRATIONS, ADDED, BROKEN))
    with pytest.raises(StoreError):
        versions(database)
    database.close()
    database = Database(version_1)
    assert versions(database) == list(range(1, len(MIGRATIONS) + 1))
    with database.read() as connection:
        assert not inspect(connection).has_table("half")
        assert "pinned" not in {column["name"] for column in inspect(connection).get_columns("conversations")}
    database.close()


def test_a_database_of_a_newer_program_is_refused_and_left_alone(version_1: Backend) -> None:
    newer = Database(version_1, migrations=(*MIGRATIONS, ADDED))
    assert versions(newer)[-1] == len(MIGRATIONS) + 1
    claim(newer)
    store = ConversationStore(Database(version_1))
    for act in (store.create, lambda: store.load(OLD, visitor_id=ME), lambda: store.list_conversations("browser")):
        with pytest.raises(StoreTooNew, match="更新版本的程序") as refused:
            act()
        assert isinstance(refused.value, AppError)
        assert "请升级本程序" in str(refused.value)
    assert len(ConversationStore(newer).load(OLD, visitor_id=ME).messages) == 2
    newer.close()


def test_a_program_that_is_running_does_not_mind_an_upgrade(version_1: Backend) -> None:
    """Two app servers are not updated in the same second."""
    database = Database(version_1)
    claim(database)
    old = ConversationStore(database)
    assert len(old.load(OLD, visitor_id=ME).messages) == 2
    new = Database(version_1, migrations=(*MIGRATIONS, ADDED))
    assert versions(new)[-1] == len(MIGRATIONS) + 1
    old.rename(OLD, "还能用", visitor_id=ME)
    assert old.load(OLD, visitor_id=ME).conversation.title == "还能用"
    new.close()
    old.close()


def test_an_empty_file_is_an_empty_database() -> None:
    folder = Path(os.environ["DATA_DIR"]) / "database"
    folder.mkdir()
    (folder / "wenyuan.sqlite3").touch()
    store = ConversationStore.from_settings(loaded().values)
    store.create(visitor_id=ME)
    store.close()
    with closing(sqlite3.connect(folder / "wenyuan.sqlite3")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
