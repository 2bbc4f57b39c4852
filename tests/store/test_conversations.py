from __future__ import annotations

import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event, text

from core.answer.archive import NO_TEXT
from core.answer.events import DAMAGED, TextDelta
from core.answer.message import Message, message_from_run
from core.base.errors import InputError
from core.base.text import clean
from core.store import ConversationStore, Database
from core.store.backends import PostgresServer, SqliteFile
from core.store.conversations import UNFINISHED
from core.store.errors import ConversationNotFound, StoreError, StoreRejected
from core.store.migrations import MIGRATIONS
from support.base import ROOT, loaded
from support.messages import FULL
from support.patience import patiently
from support.postgres import Postgres, running_postgres
from support.rooms import Clock

pytestmark = pytest.mark.xdist_group("postgres")

HOSTILE = "表情👩‍👧 \x00空\ud800\u202e反\r\n换行\t'; DROP TABLE messages; -- %s {} \\"


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """DATABASE_URL of an empty database; blank means SQLite in DATA_DIR."""
    return "" if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()


@pytest.fixture
def open_store(url: str) -> Iterator[Callable[[], ConversationStore]]:
    """Opens the same database again and again, as so many processes would."""
    stores: list[ConversationStore] = []

    def open_one() -> ConversationStore:
        stores.append(ConversationStore.from_settings(loaded(DATABASE_URL=url).values))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


@pytest.fixture
def store(open_store: Callable[[], ConversationStore]) -> ConversationStore:
    return open_store()


def talk(store: ConversationStore, count: int, owner: str | None = None) -> str:
    id = store.create(owner)
    for number in range(count):
        store.save(id, message(number), who=owner)
    return id


def message(number: int) -> Message:
    return Message("assistant" if number % 2 else "user", f"第 {number} 条", id=f"m{number}")


def texts(store: ConversationStore, id: str) -> list[str]:
    return [message.text for message in store.load(id, last=None).messages]


# ── Keeping and opening ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_conversation_survives_a_restart(open_store: Callable[[], ConversationStore]) -> None:
    first = open_store()
    question = Message("user", "民法典第一千零七十七条说了什么？", id="q")
    id = first.create(mode="agent")
    first.save(id, question)
    first.save(id, FULL)
    first.close()
    page = open_store().load(id)
    assert page.messages == (question, FULL)
    assert [message.created for message in page.messages] == [question.created, FULL.created]
    assert (page.conversation.title, page.conversation.mode) == ("民法典第一千零七十七条说了什么？", "agent")
    assert not page.has_more


def test_ids_cannot_be_guessed(store: ConversationStore) -> None:
    ids = {store.create() for _ in range(20)}
    assert len(ids) == 20
    assert all(re.fullmatch(r"[\w-]{24}", id) for id in ids)  # 24 characters of 6 bits


def test_pages_of_a_long_conversation(store: ConversationStore) -> None:
    id = talk(store, 45)
    seen: list[str] = []
    before = None
    for size, has_more in ((20, True), (20, True), (5, False)):
        page = store.load(id, last=20, before=before)
        assert (len(page.messages), page.has_more) == (size, has_more)
        seen[:0] = [message.id for message in page.messages]
        before = seen[0]
    assert seen == [f"m{number}" for number in range(45)]
    assert store.load(id, before="m0").messages == ()
    assert store.load(id, before="unknown").messages == ()
    assert store.load(id, last=45).has_more is False


def test_the_title_is_the_first_question_shortened(store: ConversationStore) -> None:
    id = store.create()
    store.save(id, Message("user", "很长的\n问题 " * 30))
    store.save(id, Message("user", "第二个问题"))
    title = store.load(id).conversation.title
    assert title.startswith("很长的 问题 很长的")
    assert len(title) in (39, 40)
    assert title.endswith("…")


def test_the_title_follows_a_first_question_that_is_asked_differently(store: ConversationStore) -> None:
    id = store.create()
    store.save(id, Message("note", "已切换到 Agent 模式"))
    for number in (1, 2):
        store.save(id, Message("user", f"第 {number} 个问题", id=f"q{number}"))
    store.truncate_from(id, "q2")
    assert store.load(id).conversation.title == "第 1 个问题"
    store.truncate_from(id, "q1")
    assert store.load(id).conversation.title == ""
    store.save(id, Message("user", "改过的问题", id="q3"))
    assert store.load(id).conversation.title == "改过的问题"
    store.rename(id, "自己起的标题")
    store.truncate_from(id, "q3")
    assert store.load(id).conversation.title == "自己起的标题"


def test_recent_conversations_the_latest_first(url: str) -> None:
    clock = Clock()
    store = ConversationStore(Database.from_settings(loaded(DATABASE_URL=url).values), clock=clock)
    ids = []
    for _ in range(4):
        clock.pass_(1)
        ids.append(talk(store, 1, "alice"))
    store.create("alice")  # nothing was said in it
    clock.pass_(1)
    store.save(ids[0], Message("user", "又问"), who="alice")
    assert [entry.id for entry in store.recent("alice")] == [ids[0], ids[3], ids[2], ids[1]]
    assert [entry.id for entry in store.recent("alice", limit=2)] == [ids[0], ids[3]]
    store.close()


def test_rename_mode_and_delete(store: ConversationStore) -> None:
    id = talk(store, 2, "alice")
    store.rename(id, "  新\n标题  ", who="alice")
    store.set_mode(id, "agent", who="alice")
    store.save(id, Message("user", "不改标题"), who="alice")
    found = store.load(id, who="alice").conversation
    assert (found.title, found.mode) == ("新 标题", "agent")
    with pytest.raises(InputError, match="标题"):
        store.rename(id, " \u200b ", who="alice")
    store.delete(id, who="alice")
    assert store.recent("alice") == ()
    with store._database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM messages")).scalar() == 0
    for act in (store.load, store.delete):
        with pytest.raises(ConversationNotFound):
            act(id, who="alice")
    with pytest.raises(ConversationNotFound):
        store.save(id, message(0), who="alice")


def test_asking_again_removes_what_came_after(store: ConversationStore) -> None:
    id, other = talk(store, 6), talk(store, 6)
    store.truncate_from(id, "m3")
    store.save(id, Message("user", "换个问法"))
    assert texts(store, id) == ["第 0 条", "第 1 条", "第 2 条", "换个问法"]
    assert len(texts(store, other)) == 6
    store.truncate_from(id, "unknown")
    assert len(texts(store, id)) == 4


# ── A growing answer ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_growing_answer_stays_one_message(store: ConversationStore) -> None:
    id = talk(store, 1)
    events = [TextDelta("一"), TextDelta("二"), TextDelta("三")]
    for count in (1, 2, 3):
        store.save(id, message_from_run(events[:count], seconds=count, id="run"), finished=False)
    interrupted = store.load(id).messages[-1]
    assert (interrupted.text, interrupted.seconds, interrupted.notices) == ("一二三", 3, (UNFINISHED,))
    store.save(id, replace(FULL, id="run"))
    assert store.load(id).messages[1:] == (replace(FULL, id="run"),)


def test_a_save_that_comes_late_does_not_undo_the_finished_answer(store: ConversationStore) -> None:
    id = talk(store, 2)
    store.save(id, replace(message(1), text="半句"), finished=False)
    assert texts(store, id) == ["第 0 条", "第 1 条"]
    store.save(id, replace(message(1), text="改过"))
    assert texts(store, id) == ["第 0 条", "改过"]


# ── Whose it is ───────────────────────────────────────────────────────────────────────────────────────────────────


def every_way_in(store: ConversationStore, id: str, owner: str | None) -> Iterator[Callable[[], object]]:
    yield lambda: store.load(id, who=owner)
    yield lambda: store.save(id, message(9), who=owner)
    yield lambda: store.rename(id, "我的", who=owner)
    yield lambda: store.set_mode(id, "agent", who=owner)
    yield lambda: store.truncate_from(id, "m0", who=owner)
    yield lambda: store.delete(id, who=owner)


@pytest.mark.parametrize("stranger", [None, "", "bob", "alice ", "ALICE", "alice\x00"])
def test_a_conversation_with_an_owner_is_closed_to_others(store: ConversationStore, stranger: str | None) -> None:
    id = talk(store, 2, "alice")
    unknown = "A" * 24
    for foreign, missing in zip(every_way_in(store, id, stranger), every_way_in(store, unknown, stranger), strict=True):
        with pytest.raises(ConversationNotFound) as refused:
            foreign()
        with pytest.raises(ConversationNotFound) as absent:
            missing()
        assert str(refused.value) == str(absent.value)
    store.remember("browser", id)
    assert store.recent(stranger, visitor="browser") == ()
    assert len(store.load(id, who="alice").messages) == 2
    assert [entry.id for entry in store.recent("alice")] == [id]


def test_without_an_owner_the_id_opens_it_but_nobody_can_list_it(store: ConversationStore) -> None:
    id, other = talk(store, 2), talk(store, 1)
    assert store.recent() == ()
    for _ in range(2):
        store.remember("browser", id)
    assert [entry.id for entry in store.recent(visitor="browser")] == [id]
    assert store.recent(visitor="another") == store.recent(visitor="") == ()
    for owner in (None, "alice"):
        assert len(store.load(id, who=owner).messages) == 2
    mine = talk(store, 1, "alice")
    store.remember("browser", other)
    assert {entry.id for entry in store.recent("alice", visitor="browser")} == {id, other, mine}
    store.delete(id)
    assert [entry.id for entry in store.recent(visitor="browser")] == [other]


def test_two_tabs_remember_the_same_conversation(store: ConversationStore) -> None:
    id = talk(store, 1)
    troubles: list[Exception] = []

    def remember() -> None:
        try:
            store.remember(HOSTILE, id)
        except Exception as error:
            troubles.append(error)

    threads = [threading.Thread(target=remember) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == []
    assert [entry.id for entry in store.recent(visitor=HOSTILE)] == [id]


@pytest.mark.parametrize(
    "id", ["", "x", "A" * 23, "A" * 25, "A" * 24 + "\n", "\x00" * 24, "\ud800" * 24, "Ａ" * 24, "' OR 1=1 --"]
)
def test_no_address_that_somebody_types_raises_anything_else(store: ConversationStore, id: str) -> None:
    ways: list[Callable[[], object]] = [*every_way_in(store, id, None), lambda: store.remember("browser", id)]
    for act in ways:
        with pytest.raises(ConversationNotFound):
            act()


# ── Whatever is typed ─────────────────────────────────────────────────────────────────────────────────────────────


def test_hostile_text_is_cleaned_and_kept(store: ConversationStore) -> None:
    id = store.create(HOSTILE, mode=HOSTILE)
    sent = Message("user", HOSTILE, id=HOSTILE, model=HOSTILE)
    store.save(id, sent, who=HOSTILE)
    store.save(id, replace(sent, text=HOSTILE * 2), who=HOSTILE)
    store.rename(id, HOSTILE, who=HOSTILE)
    page = store.load(id, who=HOSTILE)
    assert [message.text for message in page.messages] == [clean(HOSTILE * 2)]
    assert "👩‍👧" in page.conversation.title
    store.truncate_from(id, HOSTILE, who=HOSTILE)
    assert store.load(id, who=HOSTILE).messages == ()


def test_a_megabyte_is_kept(store: ConversationStore) -> None:
    long = "长👍" * 500_000
    id = store.create()
    store.save(id, Message("user", long))
    assert texts(store, id) == [long]


# ── Speed ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def filled(store: ConversationStore, count: int) -> str:
    """Without a transaction for each message."""
    id = talk(store, 1)
    copy = "INSERT INTO messages SELECT conversation_id, :n, :id, role, text, payload, finished, created FROM messages"
    with store._database.write() as connection:
        for number in range(2, count + 1):
            connection.execute(
                text(f"{copy} WHERE conversation_id = :c AND position = 1"), {"n": number, "id": f"m{number}", "c": id}
            )
    return id


@pytest.mark.parametrize("page_of", ["newest", "older"])
def test_a_long_conversation_takes_as_many_queries_and_rows(store: ConversationStore, page_of: str) -> None:
    fetched: list[int] = []
    short, long = filled(store, 21), filled(store, 1000)

    @event.listens_for(store._database._opened(), "after_cursor_execute")
    def count(_connection: object, cursor: object, *_: object) -> None:
        fetched.append(getattr(cursor, "rowcount", -1))

    before = {short: "m21", long: "m1000"} if page_of == "older" else {}
    costs = []
    for id in (short, long):
        fetched.clear()
        assert len(store.load(id, before=before.get(id)).messages) == 20
        costs.append(list(fetched))
    assert len(costs[0]) == len(costs[1]) <= 4
    assert all(abs(one - other) <= 1 for one, other in zip(*costs, strict=True))


def test_sqlite_does_as_much_work_for_a_long_conversation() -> None:
    store = ConversationStore.from_settings(loaded().values)
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1

    def work(id: str) -> int:
        nonlocal steps
        store.load(id)
        with store._database.read() as connection:
            connection.connection.driver_connection.set_progress_handler(step, 1)  # type: ignore[union-attr]
        steps = 0
        store.load(id)
        return steps

    short, long = work(filled(store, 21)), work(filled(store, 1000))
    store.close()
    assert short > 100
    assert long <= short * 1.1


# ── Several at once ───────────────────────────────────────────────────────────────────────────────────────────────

WRITER = """
import sys
sys.path.insert(0, "tests")
from core.answer.message import Message
from core.base.settings import load_settings
from core.store import ConversationStore
from support.patience import patiently
store = ConversationStore.from_settings(load_settings(sections=()).values)
name, count, id = sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else patiently(store.create)
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    message = Message("user", f"{name} {number} " + "字" * 2000, id=f"{name}{number}")
    patiently(lambda: store.save(id, message))
    print(number, flush=True)
"""


def writer(url: str, *arguments: object) -> subprocess.Popen[str]:
    environment = {"DATA_DIR": os.environ["DATA_DIR"], "DATABASE_URL": url, "PATH": os.environ["PATH"]}
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, *map(str, arguments)],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def told(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("go\n")
    process.stdin.flush()


def test_two_processes_write_to_one_conversation(store: ConversationStore, url: str) -> None:
    id = store.create()
    writers = [writer(url, name, 40, id) for name in "ab"]
    for process in writers:
        assert told(process) == "ready"
    for process in writers:
        begin(process)
    for process in writers:
        errors = process.communicate(timeout=60)[1]
        assert process.returncode == 0, errors
    found = [message.id for message in store.load(id, last=None).messages]
    for name in "ab":
        assert [id for id in found if id.startswith(name)] == [f"{name}{number}" for number in range(40)]
    assert len(found) == 80


def test_two_processes_start_on_an_empty_database(open_store: Callable[[], ConversationStore], url: str) -> None:
    starting = [writer(url, name, 1) for name in "ab"]
    for process in starting:
        out, errors = process.communicate("go\n", timeout=60)
        assert out == "ready\n0\n", errors
    with open_store()._database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM conversations")).scalar() == 2
        assert connection.execute(text("SELECT count(*) FROM schema_version")).scalar() == len(MIGRATIONS)


def test_many_threads_start_at_once(url: str) -> None:
    """Closer together than processes can be: every one has a Database of its own."""
    together = threading.Barrier(6)
    troubles: list[Exception] = []

    def start() -> None:
        store = ConversationStore.from_settings(loaded(DATABASE_URL=url).values)
        together.wait()
        try:
            patiently(lambda: talk(store, 2))
        except Exception as error:
            troubles.append(error)
        finally:
            store.close()

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == []


def test_threads_share_a_store(store: ConversationStore) -> None:
    id = store.create()
    threads = [threading.Thread(target=store.save, args=(id, message(number))) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store._database.read() as connection:
        positions = connection.execute(text("SELECT position FROM messages ORDER BY position")).scalars().all()
    assert positions == list(range(1, 21))


def test_a_killed_process_loses_at_most_what_it_was_writing(store: ConversationStore, url: str) -> None:
    id = store.create()
    process = writer(url, "k", 100_000, id)
    assert told(process) == "ready"
    begin(process)
    while int(told(process)) < 30:
        pass
    process.send_signal(signal.SIGKILL)
    # Not communicate(): it passes over what readline has already taken into its buffer.
    assert process.stdout is not None
    acknowledged = 31 + len(process.stdout.read().split())
    process.wait(timeout=60)
    kept = [message.id for message in store.load(id, last=None).messages]
    assert kept == [f"k{number}" for number in range(len(kept))]
    assert acknowledged <= len(kept) <= acknowledged + 1
    store.save(id, message(0))
    assert texts(store, id)[-1] == "第 0 条"


# ── Trouble ───────────────────────────────────────────────────────────────────────────────────────────────────────


def database_file() -> Path:
    return Path(os.environ["DATA_DIR"]) / "database" / "wenyuan.sqlite3"


@pytest.fixture
def sqlite() -> Iterator[ConversationStore]:
    store = ConversationStore.from_settings(loaded().values)
    yield store
    store.close()


def test_only_this_user_can_read_the_file(sqlite: ConversationStore) -> None:
    previous = os.umask(0)
    try:
        talk(sqlite, 1)
    finally:
        os.umask(previous)
    files = list(database_file().parent.iterdir())
    assert {file.name for file in files} >= {"wenyuan.sqlite3", "wenyuan.sqlite3-wal"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(database_file().parent.stat().st_mode) == 0o700


def test_nothing_is_opened_before_it_is_needed() -> None:
    ConversationStore.from_settings(loaded().values).close()
    assert not database_file().exists()


@pytest.mark.parametrize("damage", ["garbage", "torn pages"])
def test_a_corrupt_file_is_set_aside(damage: str, sqlite: ConversationStore, caplog: pytest.LogCaptureFixture) -> None:
    filled(sqlite, 500)
    sqlite.close()
    whole = database_file().read_bytes()
    broken = b"not a database" * 1000 if damage == "garbage" else whole[:4096] + b"\xa5" * (len(whole) - 4096)
    database_file().write_bytes(broken)
    with pytest.raises(StoreError, match="损坏"):
        talk(sqlite, 1)
    aside = next(database_file().parent.glob("*.broken-*"))
    assert aside.read_bytes() == broken
    assert any(record.levelname == "ERROR" and str(aside) in record.message for record in caplog.records)
    assert len(texts(sqlite, talk(sqlite, 3))) == 3
    assert stat.S_IMODE(database_file().stat().st_mode) == 0o600


def test_a_corrupt_file_that_cannot_be_moved_is_left_and_said(
    sqlite: ConversationStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    talk(sqlite, 1)
    sqlite.close()
    broken = b"not a database" * 1000
    database_file().write_bytes(broken)

    def refused(*_: object) -> None:
        raise PermissionError("the folder belongs to somebody else")

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(StoreError) as caught:
        talk(sqlite, 1)
    assert "重新建立" not in str(caught.value)
    assert database_file().read_bytes() == broken
    assert "cannot be moved" in caplog.text


def test_what_the_database_itself_refuses_is_told_apart_from_trouble(
    sqlite: ConversationStore, caplog: pytest.LogCaptureFixture
) -> None:
    id = talk(sqlite, 1)
    with closing(sqlite3.connect(database_file(), isolation_level=None)) as other:
        other.execute("CREATE TRIGGER no BEFORE INSERT ON messages BEGIN SELECT RAISE(ABORT, 'no more'); END")
    with pytest.raises(StoreRejected):
        sqlite.save(id, Message("user", "不该进日志的话"))
    assert "refuses what it was given" in caplog.text
    assert "不该进日志的话" not in caplog.text
    assert len(texts(sqlite, id)) == 1


def test_another_process_that_finds_the_same_corruption_leaves_the_new_file_alone(sqlite: ConversationStore) -> None:
    late = ConversationStore.from_settings(loaded().values)
    id = filled(sqlite, 500)
    late.load(id)
    with closing(sqlite3.connect(database_file(), isolation_level=None)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with database_file().open("r+b") as file:
        file.write(b"\xa5" * database_file().stat().st_size)
    sqlite.close()
    with pytest.raises(StoreError, match="损坏"):
        sqlite.load(id)
    kept = talk(sqlite, 2)
    with pytest.raises(StoreError, match="损坏"):
        late.load(id, last=None)
    assert len(texts(late, kept)) == 2
    assert len(list(database_file().parent.glob("*.broken-*[0-9]"))) == 1
    late.close()


def test_a_locked_file_is_waited_for_a_second_and_no_longer(sqlite: ConversationStore) -> None:
    id = talk(sqlite, 1)
    with closing(sqlite3.connect(database_file(), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        with pytest.raises(StoreError, match="正忙"):
            sqlite.save(id, message(1))
        assert 0.5 < time.monotonic() - started < 10
        assert len(texts(sqlite, id)) == 1, "reading goes on"
    sqlite.save(id, message(1))
    assert len(texts(sqlite, id)) == 2


def test_a_file_that_another_process_is_just_preparing_can_be_opened(sqlite: ConversationStore) -> None:
    """Switching a file to WAL while another connection writes fails at once, whatever the timeout."""
    id = talk(sqlite, 1)
    sqlite.close()
    with closing(sqlite3.connect(database_file(), isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN IMMEDIATE")
        assert len(texts(sqlite, id)) == 1


def test_a_full_disk_is_one_store_error(sqlite: ConversationStore) -> None:
    id = talk(sqlite, 1)
    with sqlite._database.read() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    event.listen(
        sqlite._database._opened(),
        "checkout",
        lambda connection, *_: connection.execute(f"PRAGMA max_page_count = {pages + 2}"),
    )
    with pytest.raises(StoreError) as full:
        sqlite.save(id, Message("user", "字" * 100_000))
    assert "DATA_DIR" in str(full.value)
    assert "字" not in str(full.value.__cause__), "what people write does not belong into logs"
    assert len(texts(sqlite, id)) == 1
    sqlite.save(id, message(1))
    assert len(texts(sqlite, id)) == 2


def test_a_folder_that_cannot_be_made_is_one_store_error() -> None:
    Path(os.environ["DATA_DIR"], "database").write_text("a file where the folder should be")
    clock = Clock()
    database = Database(SqliteFile(database_file()), clock=clock)
    store = ConversationStore(database)
    for _ in range(2):
        with pytest.raises(StoreError):
            store.create()
    Path(os.environ["DATA_DIR"], "database").unlink()
    with pytest.raises(StoreError):
        store.create()  # not tried again so soon
    clock.pass_(database.PAUSE_SECONDS)
    talk(store, 1)
    store.close()


def test_a_damaged_row_is_a_readable_message(sqlite: ConversationStore) -> None:
    id = talk(sqlite, 3)
    with closing(sqlite3.connect(database_file(), isolation_level=None)) as other:
        other.execute("UPDATE messages SET payload = '{', text = CAST(x'ff41' AS TEXT) WHERE id = 'm0'")
        other.execute("UPDATE messages SET payload = x'00ff', text = x'00', created = 'then' WHERE id = 'm1'")
    page = sqlite.load(id)
    assert [message.text for message in page.messages] == ["\ufffdA", NO_TEXT, "第 2 条"]
    assert page.messages[0].notices == page.messages[1].notices == (DAMAGED,)


@pytest.mark.parametrize("url", ["mysql://a/b", "postgresql+asyncpg://a/b", "nonsense", "sqlite:///x"])
def test_an_address_of_another_kind_is_said_and_the_embedded_database_serves(url: str) -> None:
    found = loaded(DATABASE_URL=url)
    assert [problem.key for problem in found.problems] == ["DATABASE_URL"]
    store = ConversationStore.from_settings(found.values)
    assert store.create()
    store.close()


def test_a_server_that_goes_away_and_comes_back(postgres: Postgres) -> None:
    clock = Clock()
    database = Database(PostgresServer(postgres.new_database()), clock=clock)
    store = ConversationStore(database)
    id = talk(store, 1)
    postgres.stop()
    try:
        with pytest.raises(StoreError, match="对话数据库"):
            store.save(id, message(1))
        started = time.monotonic()
        with pytest.raises(StoreError):
            store.load(id)
        assert time.monotonic() - started < 10
    finally:
        postgres.start()
    clock.pass_(database.PAUSE_SECONDS)
    store.save(id, message(1))
    assert len(texts(store, id)) == 2
    store.close()


def test_connections_that_the_server_has_cut_are_replaced(postgres: Postgres) -> None:
    store = ConversationStore(Database(PostgresServer(postgres.new_database())))
    id = talk(store, 1)
    postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'wenyuan'")
    store.save(id, message(1))
    assert len(texts(store, id)) == 2
    store.close()


def test_a_locked_conversation_is_waited_for_a_second(postgres: Postgres) -> None:
    database = Database(PostgresServer(postgres.new_database()))
    store = ConversationStore(database)
    id = talk(store, 1)
    with database.write() as connection:
        connection.execute(text("SELECT 1 FROM conversations FOR UPDATE"))
        started = time.monotonic()
        with pytest.raises(StoreError, match="正忙"):
            store.save(id, message(1))
        assert 0.5 < time.monotonic() - started < 10
    store.save(id, message(1))
    store.close()


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_the_shorter_spellings_of_the_address_work(postgres: Postgres, scheme: str) -> None:
    url = postgres.new_database().replace("postgresql+psycopg", scheme)
    store = ConversationStore.from_settings(loaded(DATABASE_URL=url).values)
    assert len(texts(store, talk(store, 2))) == 2
    store.close()


def test_only_the_store_knows_the_database() -> None:
    users = {
        path.relative_to(ROOT).parts[:2]
        for path in (ROOT / "core").rglob("*.py")
        if re.search(r"^\s*(?:import|from) (?:sqlalchemy|psycopg)\b", path.read_text("utf-8"), re.MULTILINE)
    }
    assert users == {("core", "store")}
