"""Nothing that was asked or shown is lost: locked files, full and read-only disks, databases that come and go, kill -9."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from core.answer.message import Message
from core.store import ConversationStore, Database, Outbox, new_conversation_id
from core.store.backends import PostgresServer, SqliteFile
from core.store.errors import StoreError, StoreRejected
from support.base import ROOT
from support.failing_disks import small_disk
from support.postgres import Postgres
from support.waiting import until

pytestmark = pytest.mark.xdist_group("postgres")

ME = "me"
Open = Callable[..., tuple[ConversationStore, Outbox]]


def said(number: int) -> Message:
    return Message("assistant" if number % 2 else "user", f"第 {number} 条", id=f"m{number}")


def texts(store: ConversationStore, id: str) -> list[str]:
    return [message.text for message in store.load(id, last=None, visitor_id=ME).messages]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "database" / "wenyuan.sqlite3"


@pytest.fixture
def open_outbox() -> Iterator[Open]:
    opened: list[tuple[ConversationStore, Outbox]] = []

    def open_one(file: Path, **options: int) -> tuple[ConversationStore, Outbox]:
        store = ConversationStore(Database(SqliteFile(file)))
        opened.append((store, Outbox(store, **options)))
        return opened[-1]

    yield open_one
    for store, outbox in opened:
        outbox.close(1)
        store.close()


def talk(outbox: Outbox, count: int) -> str:
    id = new_conversation_id()
    outbox.create(id, owner=None, visitor_id=ME, mode="chat")
    for number in range(count):
        outbox.save(id, said(number), visitor_id=ME)
    return id


def test_all_is_kept_in_order(file: Path, open_outbox: Open) -> None:
    store, outbox = open_outbox(file)
    id = talk(outbox, 100)
    assert outbox.flush(20)
    assert texts(store, id) == [f"第 {number} 条" for number in range(100)]
    assert (outbox.problem, outbox.unsaved_reason("m99")) == ("", "")


def test_a_backup_that_holds_the_lock_costs_nothing_but_time(file: Path, open_outbox: Open) -> None:
    store, outbox = open_outbox(file)
    first = talk(outbox, 1)
    assert outbox.flush(10)
    with closing(sqlite3.connect(file, isolation_level=None)) as backup:
        backup.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        outbox.save(first, said(1), visitor_id=ME)
        assert time.monotonic() - started < 1, "the page's thread does not wait"
        until(lambda: "正忙" in outbox.unsaved_reason("m1"), seconds=10)
        assert [message.id for message in outbox.pending_messages(first, visitor_id=ME)] == ["m1"]
        backup.execute("ROLLBACK")
    assert outbox.flush(10)
    assert outbox.unsaved_reason("m1") == ""
    assert texts(store, first) == ["第 0 条", "第 1 条"]


def test_a_growing_answer_waits_once(file: Path, open_outbox: Open) -> None:
    store, outbox = open_outbox(file)
    id = talk(outbox, 1)
    assert outbox.flush(10)
    text = ""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        outbox.save(id, said(2), visitor_id=ME)
        for _ in range(50):
            text += "字"
            growing = partial(Message, "assistant", text, id="run")
            outbox.save_growing_message(id, "run", growing, visitor_id=ME, finished=False)
        assert len(outbox._pending) == 2
        outbox.truncate_from(id, "run", visitor_id=ME)
        outbox.save(id, Message("assistant", "重新写的", id="run"), visitor_id=ME)
        assert len(outbox._pending) == 4, "not joined across what came between"
        other.execute("ROLLBACK")
    assert outbox.flush(10)
    assert texts(store, id) == ["第 0 条", "第 2 条", "重新写的"]


def test_a_full_disk_is_told_and_caught_up(tmp_path: Path, open_outbox: Open) -> None:
    with small_disk(tmp_path / "disk") as disk:
        store, outbox = open_outbox(disk.folder / "database" / "wenyuan.sqlite3")
        id = talk(outbox, 2)
        assert outbox.flush(10)
        disk.fill()
        for number in range(2, 12):
            outbox.save(id, Message("user", f"第 {number} 条" + "长" * 5_000, id=f"m{number}"), visitor_id=ME)
        until(lambda: "磁盘已满" in outbox.problem, seconds=10)
        until(lambda: "磁盘已满" in outbox.unsaved_reason("m11"), seconds=10)
        assert store.load(id, visitor_id=ME).messages[0].text == "第 0 条", "what is there can be read"
        assert "磁盘已满" in outbox.problem, "and reading does not clear the warning"
        disk.free()
        assert outbox.flush(20)
        assert [text[:6].rstrip("长") for text in texts(store, id)] == [f"第 {number} 条" for number in range(12)]
        assert outbox.unsaved_reason("m11") == ""
        store.close()


def test_a_disk_that_became_read_only_is_still_read(tmp_path: Path, open_outbox: Open) -> None:
    with small_disk(tmp_path / "disk") as disk:
        file = disk.folder / "database" / "wenyuan.sqlite3"
        store, outbox = open_outbox(file)
        id = talk(outbox, 3)
        assert outbox.flush(10)
        store.close()
        disk.remount("ro")
        later, refused = open_outbox(file)
        assert texts(later, id) == ["第 0 条", "第 1 条", "第 2 条"]
        refused.save(id, said(3), visitor_id=ME)
        until(lambda: "只能读取" in refused.problem, seconds=10)
        assert len(texts(later, id)) == 3
        disk.remount("rw")
        assert refused.flush(20), "and kept when the disk can be written again"
        assert len(texts(later, id)) == 4
        later.close()


def test_two_processes_on_one_file_lose_nothing(file: Path) -> None:
    code = """
import sys
ME = "me"
from pathlib import Path
from core.answer.message import Message
from core.store import ConversationStore, Database, Outbox, new_conversation_id
from core.store.backends import SqliteFile
store = ConversationStore(Database(SqliteFile(Path(sys.argv[1]))))
outbox = Outbox(store)
for number in range(48):
    id = new_conversation_id()
    outbox.create(id, owner=None, visitor_id=ME, mode="chat")
    outbox.save(id, Message("user", f"{sys.argv[2]} {number}"), visitor_id=ME)
    print(id, flush=True)
outbox.close(30)
"""
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(file), name], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for name in ("甲", "乙")
    ]
    ids = [id for process in running for id in process.communicate(timeout=60)[0].split()]
    assert len(ids) == 96
    with closing(sqlite3.connect(file)) as found:
        assert found.execute("SELECT count(*) FROM messages").fetchone() == (96,)
        assert found.execute("SELECT count(*) FROM conversations").fetchone() == (96,)


def test_kill_9_loses_only_what_was_not_handed_in(file: Path) -> None:
    code = """
import sys, time
ME = "me"
from pathlib import Path
from core.answer.message import Message
from core.store import ConversationStore, Database, Outbox, new_conversation_id
from core.store.backends import SqliteFile
outbox = Outbox(ConversationStore(Database(SqliteFile(Path(sys.argv[1])))))
id = new_conversation_id()
outbox.create(id, owner=None, visitor_id=ME, mode="chat")
for number in range(10**6):
    outbox.save(id, Message("user", str(number)), visitor_id=ME)
    print(number, flush=True)
    time.sleep(0.01)
"""
    with subprocess.Popen(
        [sys.executable, "-c", code, str(file)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        told = 0
        while told < 150:
            told = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        told = max([told, *map(int, process.stdout.read().split())])
    with closing(sqlite3.connect(file)) as found:
        (kept,) = found.execute("SELECT count(*) FROM messages").fetchone()
    assert kept >= told - 100, "at most the last second"


def test_a_server_that_went_away_gets_everything_when_it_is_back(postgres: Postgres) -> None:
    store = ConversationStore(Database(PostgresServer(postgres.new_database())))
    outbox = Outbox(store)
    id = talk(outbox, 2)
    assert outbox.flush(20)
    postgres.stop()
    try:
        started = time.monotonic()
        outbox.save(id, said(2), visitor_id=ME)
        outbox.truncate_from(id, "m1", visitor_id=ME)
        outbox.save(id, said(4), visitor_id=ME)
        assert time.monotonic() - started < 1
        until(lambda: outbox.unsaved_reason("m4") != "", seconds=15)
        with pytest.raises(StoreError):
            store.load(id, visitor_id=ME)
        assert [message.id for message in outbox.pending_messages(id, visitor_id=ME)] == ["m2", "m4"]
    finally:
        postgres.start()
    assert outbox.flush(30)
    assert texts(store, id) == ["第 0 条", "第 4 条"]
    outbox.close()
    store.close()


def test_what_the_database_refuses_does_not_hold_up_the_others(
    file: Path, open_outbox: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, outbox = open_outbox(file)
    id = talk(outbox, 1)
    assert outbox.flush(10)
    save = store.save

    def picky(conversation: str, message: Message, **options: object) -> None:
        if message.id == "m1":
            raise StoreRejected
        if message.id == "m2":
            raise KeyError("a bug")
        save(conversation, message, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "save", picky)
    for number in range(1, 5):
        outbox.save(id, said(number), visitor_id=ME)
    assert outbox.flush(10)
    assert texts(store, id) == ["第 0 条", "第 3 条", "第 4 条"]
    assert "没有保存" in outbox.unsaved_reason("m1")
    assert "没有保存" in outbox.unsaved_reason("m2")
    assert outbox.unsaved_reason("m3") == ""


def test_a_conversation_deleted_elsewhere_is_said(file: Path, open_outbox: Open) -> None:
    store, outbox = open_outbox(file)
    id = talk(outbox, 1)
    assert outbox.flush(10)
    store.delete(id, visitor_id=ME)
    outbox.save(id, said(1), visitor_id=ME)
    assert outbox.flush(10)
    assert "已经不存在" in outbox.unsaved_reason("m1")


def test_more_than_can_wait_is_refused_and_said(file: Path, open_outbox: Open) -> None:
    _, outbox = open_outbox(file, limit=5)
    id = talk(outbox, 1)
    assert outbox.flush(10)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for number in range(1, 10):
            outbox.save(id, said(number), visitor_id=ME)
        assert "太多" in outbox.unsaved_reason("m9")
        other.execute("ROLLBACK")


def test_somebody_elses_waiting_messages_are_not_shown(file: Path, open_outbox: Open) -> None:
    _, outbox = open_outbox(file)
    talk(outbox, 1)
    assert outbox.flush(10)
    id = new_conversation_id()
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        outbox.create(id, owner="甲", visitor_id="甲", mode="chat")
        outbox.save(id, said(1), visitor_id="甲")
        assert outbox.pending_messages(id, visitor_id="乙") == outbox.pending_messages(id, visitor_id=None) == ()
        assert len(outbox.pending_messages(id, visitor_id="甲")) == 1
        other.execute("ROLLBACK")
    assert outbox.flush(10)


def test_closing_writes_what_is_left(file: Path, open_outbox: Open) -> None:
    store, outbox = open_outbox(file)
    id = talk(outbox, 200)
    outbox.close(20)
    assert len(texts(store, id)) == 200
    assert not [thread for thread in threading.enumerate() if thread.name == "wenyuan-outbox"]


def test_closing_over_a_locked_database_is_soon_over_and_says_what_was_lost(
    file: Path, open_outbox: Open, caplog: pytest.LogCaptureFixture
) -> None:
    _, outbox = open_outbox(file)
    id = talk(outbox, 1)
    assert outbox.flush(10)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for number in range(1, 4):
            outbox.save(id, said(number), visitor_id=ME)
        began = time.monotonic()
        outbox.close(10)
        assert time.monotonic() - began < 10
        other.execute("ROLLBACK")
    assert "3 writes to the conversation database were lost" in caplog.text
    assert "第 1 条" not in caplog.text
