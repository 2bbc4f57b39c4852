"""The whole app while what it stands on gives way: disks, files and folders. It goes on answering.

What the parts do by themselves, and how Redis, PostgreSQL and Chrome are killed, is tested with the parts.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from core.answer.events import Usage
from core.answer.message import Message
from core.app import App, build_app
from core.run.question import AnswerOptions
from core.search.types import SearchQuery
from core.store import new_conversation_id
from support.base import loaded
from support.failing_disks import Disk, small_disk
from support.fake_engines import FakeEngine, results

Fault = Callable[[Path, ExitStack], None]


def full(folder: Path, _: ExitStack) -> None:
    Disk(folder).fill()


def swept(folder: Path, _: ExitStack) -> None:
    for entry in folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def garbage(folder: Path, _: ExitStack) -> None:
    for file in filter(Path.is_file, folder.rglob("*")):
        file.write_bytes(b"\x00garbage" * 100)


def folders_instead(folder: Path, _: ExitStack) -> None:
    for file in [*filter(Path.is_file, folder.rglob("*"))]:
        file.unlink(missing_ok=True)
        file.mkdir()


def locked(folder: Path, until: ExitStack) -> None:
    for file in folder.rglob("*.db"):
        connection = sqlite3.connect(file, isolation_level=None)
        until.callback(connection.close)
        connection.execute("BEGIN EXCLUSIVE")


FAULTS: dict[str, Fault] = {
    "full": full,
    "swept": swept,
    "garbage": garbage,
    "folders in place of files": folders_instead,
    "locked": locked,
}


@contextmanager
def running(folder: Path) -> Iterator[App]:
    app = build_app(loaded(DATA_DIR=str(folder)), engines=[FakeEngine("fake", results(3))])
    try:
        yield app
    finally:
        app.close()


def use(app: App, words: str) -> None:
    """What a reader does: search, ask in both modes, keep it, look at the list."""
    assert app.search.search(SearchQuery(words)).results
    for service in (app.chat, app.agent):
        assert isinstance(list(service.stream(words, options=AnswerOptions(search=True)))[-1], Usage)
    id = new_conversation_id()
    app.outbox.create(id, owner=None, visitor_id="me", mode="chat")
    app.outbox.save(id, Message("user", words), visitor_id="me")
    app.outbox.flush(0.5)
    assert app.check_statutes(f"{words}，见《民法典》第一条。") is not None


@pytest.mark.parametrize("when", ["from the start", "in between"])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_the_app_goes_on_answering(fault: Fault, when: str, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "8m") as disk, ExitStack() as until:
        if when == "from the start":
            with running(disk.folder) as before:
                use(before, "昨天")
            fault(disk.folder, until)
        with running(disk.folder) as app:
            if when == "in between":
                use(app, "早上")
                fault(disk.folder, until)
            use(app, "晚上")
            until.close()
