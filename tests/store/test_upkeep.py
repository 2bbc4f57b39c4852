"""What has had its time goes for good, and nothing else does."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, insert, select, text, update

from core.answer.message import Message
from core.answer.stored_message import encode_message
from core.base.settings import RetentionSettings
from core.reading import Page
from core.store import (
    UNDO_SECONDS,
    ConversationStore,
    Database,
    Outbox,
    PreferenceStore,
    ReadPageStore,
    Upkeep,
)
from core.store.backends import SqliteFile
from core.store.errors import ConversationNotFound
from core.store.migrations import MIGRATIONS
from core.store.tables import attached_files, conversations, messages, preferences, read_pages, visits
from support.base import loaded
from support.messages import FULL
from support.waiting import Clock, until

pytestmark = pytest.mark.xdist_group("postgres")

DAY = 86_400.0


@pytest.fixture(params=["sqlite", "postgresql"])
def open_database(request: pytest.FixtureRequest) -> Iterator[Callable[[], Database]]:
    url = "" if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()
    opened: list[Database] = []

    def open_one() -> Database:
        opened.append(Database.from_settings(loaded(DATABASE_URL=url).values))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def database(open_database: Callable[[], Database]) -> Database:
    return open_database()


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    clock.pass_(2_000_000_000)
    return clock


class Installation:
    def __init__(self, database: Database, clock: Clock, **days: int) -> None:
        self.database, self.clock = database, clock
        self.store = ConversationStore(database, clock=clock)
        self.upkeep = Upkeep(database, RetentionSettings(**days), clock=clock)

    def talk(self, who: str = "browser", owner: str | None = None) -> str:
        id = self.store.create(owner, visitor_id=who)
        self.store.save(id, Message("user", "问", id="q"), visitor_id=owner or who)
        self.store.save(id, replace(FULL, id="a"), visitor_id=owner or who)
        page = Page("https://a.example", "https://a.example", "题", "文字", None, "text", self.now, 0, is_cut=False)
        files = ReadPageStore(self.database, max_file_bytes=10)
        files.save(id, "a", {1: page}, visitor_id=owner or who, bodies={1: b"bytes"})
        return id

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock(), UTC)

    def counts(self) -> dict[str, int]:
        with self.database.read() as connection:
            tables = (conversations, messages, visits, read_pages, attached_files, preferences)
            return {one.name: connection.execute(select(func.count()).select_from(one)).scalar_one() for one in tables}

    def exists(self, id: str) -> bool:
        with self.database.read() as connection:
            return connection.execute(select(conversations.c.id).where(conversations.c.id == id)).first() is not None


def test_by_default_everything_stays(database: Database, clock: Clock) -> None:
    here = Installation(database, clock)
    here.talk()
    before = here.counts()
    clock.pass_(10_000 * DAY)
    assert here.upkeep.run_if_due()
    assert here.counts() == before


def test_what_was_deleted_goes_for_good_though_nobody_begins_another(database: Database, clock: Clock) -> None:
    here = Installation(database, clock)
    gone, fresh, kept = here.talk(), here.talk(), here.talk()
    here.store.delete(gone, visitor_id="browser")
    clock.pass_(UNDO_SECONDS + 1)
    with database.write() as connection:  # as `delete` does, without its own cleaning
        connection.execute(update(conversations).where(conversations.c.id == fresh).values(deleted=clock()))
    assert here.upkeep.run_if_due()
    assert [here.exists(id) for id in (gone, fresh, kept)] == [False, True, True]
    assert here.counts() == {
        "conversations": 2,
        "messages": 4,
        "visits": 2,
        "read_pages": 2,
        "attached_files": 2,
        "preferences": 0,
    }
    here.store.restore(fresh, visitor_id="browser")


def test_a_conversation_goes_with_all_that_belongs_to_it(database: Database, clock: Clock) -> None:
    here = Installation(database, clock, conversation_days=30)
    old, of_account, shared = here.talk(), here.talk(owner="alice"), here.talk()
    share = here.store.share(shared, visitor_id="browser")
    clock.pass_(20 * DAY)
    fresh, continued = here.talk(), old
    here.upkeep.run_if_due()
    assert all(map(here.exists, (old, of_account, shared, fresh)))
    clock.pass_(11 * DAY)
    here.upkeep.run_if_due()
    assert [here.exists(id) for id in (continued, of_account, shared, fresh)] == [False, False, True, True]
    assert here.counts() == {
        "conversations": 2,
        "messages": 4,
        "visits": 2,
        "read_pages": 2,
        "attached_files": 2,
        "preferences": 0,
    }
    assert here.store.find_shared(share) == shared, "somebody may be about to open the link"
    here.store.stop_sharing(shared, visitor_id="browser")
    clock.pass_(2 * 3600)
    here.upkeep.run_if_due()
    assert not here.exists(shared)
    with pytest.raises(ConversationNotFound):
        here.store.load(shared, visitor_id="browser")


def test_a_conversation_that_goes_on_stays(database: Database, clock: Clock) -> None:
    here = Installation(database, clock, conversation_days=30)
    id = here.talk()
    for number in range(3):
        clock.pass_(20 * DAY)
        here.store.save(id, Message("user", "又问", id=f"q{number}"), visitor_id="browser")
        here.upkeep.run_if_due()
    assert here.exists(id)


def test_without_an_account_it_may_go_sooner_also_if_it_is_in_nobodys_list(database: Database, clock: Clock) -> None:
    here = Installation(database, clock, browser_days=7)
    of_browser, of_nobody, of_account = here.talk(), here.store.create(), here.talk(owner="alice")
    clock.pass_(8 * DAY)
    here.upkeep.run_if_due()
    assert [here.exists(id) for id in (of_browser, of_nobody, of_account)] == [False, False, True]


def test_the_texts_of_pages_go_and_the_answer_stays(database: Database, clock: Clock) -> None:
    here = Installation(database, clock, page_days=7)
    old = here.talk()
    clock.pass_(8 * DAY)
    fresh = here.talk()
    here.upkeep.run_if_due()
    pages = ReadPageStore(database)
    assert pages.load(old, "a", visitor_id="browser") == {}
    assert len(pages.load(fresh, "a", visitor_id="browser")) == 1
    assert here.store.load(old, visitor_id="browser").messages[1].text == FULL.text


def test_choices_that_are_used_stay_though_nobody_changes_them(database: Database, clock: Clock) -> None:
    here = Installation(database, clock, preference_days=30)
    outbox = Outbox(here.store)
    choices = PreferenceStore(database, outbox, clock=clock)
    for who in ("daily", "gone"):
        choices.change(who, {"search": True})
    assert outbox.flush(5)
    for _ in range(4):
        clock.pass_(10 * DAY)
        assert choices.load("daily") == {"search": True}
        assert outbox.flush(5)
        here.upkeep.run_if_due()
    assert choices.load("daily") == {"search": True}
    assert choices.load("gone") == {}
    outbox.close()


def test_choices_from_before_are_not_all_forgotten_at_once(open_database: Callable[[], Database]) -> None:
    database = open_database()
    database._migrations = MIGRATIONS[:10]
    with database.write() as connection:
        connection.execute(text("INSERT INTO preferences (visitor, document) VALUES ('v', '{}')"))
    database.close()
    database = open_database()
    Upkeep(database, RetentionSettings(preference_days=30)).run_if_due()
    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(preferences)).scalar() == 1


def test_one_process_does_it_once_an_hour(open_database: Callable[[], Database], clock: Clock) -> None:
    ups = [Upkeep(open_database(), RetentionSettings(), clock=clock) for _ in range(3)]
    done: list[bool] = []
    threads = [threading.Thread(target=lambda one=one: done.append(one.run_if_due())) for one in ups]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [False, False, True]
    clock.pass_(3599)
    assert not any(one.run_if_due() for one in ups)
    clock.pass_(2)
    assert [one.run_if_due() for one in ups] == [True, False, False]
    clock.pass_(-10 * DAY)
    assert [one.run_if_due() for one in ups] == [True, False, False], "the clock was set back"


def test_thousands_go_in_small_steps(database: Database, clock: Clock) -> None:
    here = Installation(database, clock, conversation_days=1)
    rows: list[dict[str, Any]] = [
        {"id": f"{number:024}", "title": "题", "mode": "chat", "created": 0.0, "updated": 0.0} for number in range(950)
    ]
    with database.write() as connection:
        connection.execute(insert(conversations), rows)
    here.upkeep.run_if_due()
    assert here.counts()["conversations"] == 0


def test_what_an_older_program_kept_is_compressed(database: Database, clock: Clock) -> None:
    here = Installation(database, clock)
    ids = [here.talk() for _ in range(3)]
    with database.write() as connection:
        connection.execute(update(messages).where(messages.c.id == "a").values(payload=encode_message(FULL)))
        connection.execute(update(messages).where(messages.c.id == "q").values(payload="{"))  # damaged
    here.upkeep.run_if_due()
    with database.read() as connection:
        assert not any(one.startswith("{") for one in connection.execute(select(messages.c.payload)).scalars())
    for id in ids:
        question, answer = here.store.load(id, visitor_id="browser").messages
        assert question.text == "问"
        assert answer == replace(FULL, id="a")


def test_the_app_does_it_by_itself(database: Database, clock: Clock) -> None:
    here = Installation(database, clock, conversation_days=30)
    id = here.talk()
    clock.pass_(31 * DAY)
    running = Upkeep(database, RetentionSettings(conversation_days=30), clock=clock, first=0.0)
    running.start()
    until(lambda: not here.exists(id))
    running.close()


# ── The SQLite file ───────────────────────────────────────────────────────────────────────────────────────────────


def file() -> Path:
    return Path(os.environ["DATA_DIR"]) / "database" / "wenyuan.sqlite3"


def fill(database: Database, megabytes: int) -> None:
    store = ConversationStore(database)
    id = store.create(visitor_id="browser")
    with database.write() as connection:
        long = "{" + "字" * 33_000  # a payload is compressed before it is written, and this one is not
        row = {"conversation_id": id, "role": "user", "payload": long, "finished": True, "created": 0.0}
        rows = [{**row, "position": n, "id": str(n), "text": str(n)} for n in range(megabytes * 10)]
        connection.execute(insert(messages), rows)


@pytest.mark.parametrize("is_old", [False, True])
def test_disk_is_given_back_while_others_read(is_old: bool) -> None:
    if is_old:  # from before files could be shortened in steps
        file().parent.mkdir(parents=True)
        with closing(sqlite3.connect(file())) as early:
            early.execute("PRAGMA journal_mode = WAL")
            early.execute("CREATE TABLE early (x)")
    database = Database(SqliteFile(file()))
    fill(database, 40)
    waits: list[float] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            began = time.monotonic()
            ConversationStore(database).list_conversations("browser")
            waits.append(time.monotonic() - began)
            time.sleep(0.01)

    with database.write() as connection:
        connection.execute(text("DELETE FROM conversations"))
    database.close()
    before = file().stat().st_size
    reader = threading.Thread(target=read)
    reader.start()
    Upkeep(database, RetentionSettings()).run_if_due()
    done.set()
    reader.join()
    database.close()
    assert before > 30e6
    assert file().stat().st_size < 2e6
    assert max(waits) < 2
    with closing(sqlite3.connect(file())) as after:
        assert after.execute("PRAGMA auto_vacuum").fetchone() == (2,)
        assert after.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_file_that_is_in_use_is_tidied_another_time() -> None:
    database = Database(SqliteFile(file()))
    fill(database, 30)
    with database.write() as connection:
        connection.execute(text("DELETE FROM conversations"))
    with closing(sqlite3.connect(file(), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        database.tidy()
        other.execute("ROLLBACK")
    database.tidy()
    database.close()
    assert file().stat().st_size < 2e6
