"""The cache on disk, and what may be wrong with a disk."""

from __future__ import annotations

import os
import pickle
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import diskcache
import pytest

from core.base.cache import DiskTtlCache, TextDisk
from support.base import ROOT
from support.handles import open_files
from support.waiting import Clock


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def database(folder: Path) -> Path:
    return folder / "cache.db"


def test_text_is_kept_until_it_expires(folder: Path) -> None:
    cache = DiskTtlCache(folder)
    cache.set("k", "文本", 60)
    cache.set("short", "x", 0.01)
    time.sleep(0.02)
    assert cache.get("k") == "文本"
    assert cache.get("short") is None
    assert cache.get("other") is None
    cache.close()
    assert DiskTtlCache(folder).get("k") == "文本"


def test_only_the_owner_may_look(folder: Path) -> None:
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    DiskTtlCache(folder).set("k", "v", 60)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_large_text_stays_in_the_database(folder: Path) -> None:
    cache = DiskTtlCache(folder)
    cache.set("k", "长" * 200_000, 60)
    assert cache.get("k") == "长" * 200_000
    assert {path.suffix for path in folder.rglob("*") if path.is_file()} <= {".db", ".db-wal", ".db-shm"}


class Bomb:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("in_file", [False, True])
def test_a_planted_pickle_does_not_run(folder: Path, tmp_path: Path, in_file: bool) -> None:
    cache = DiskTtlCache(folder)
    cache.set("k", "v", 60)
    payload: bytes | None = pickle.dumps(Bomb(tmp_path / "pwned"))
    filename = None
    if in_file:
        (folder / "planted.val").write_bytes(payload or b"")
        payload, filename = None, "planted.val"
    with sqlite3.connect(database(folder)) as connection:
        connection.execute("UPDATE Cache SET mode = 4, value = ?, filename = ?", (payload, filename))
    connection.close()
    assert cache.get("k") is None
    assert not (tmp_path / "pwned").exists()
    cache.set("k", "again", 60)
    assert cache.get("k") == "again"
    assert cache.warning


def test_the_disk_refuses_everything_but_text(folder: Path) -> None:
    disk = TextDisk(str(folder))
    for refused in (
        lambda: disk.store({"a": 1}, False),
        lambda: disk.store(b"bytes", False),
        lambda: disk.put(("tuple",)),
        lambda: disk.get(pickle.dumps("k"), False),
        lambda: disk.fetch(diskcache.core.MODE_PICKLE, None, pickle.dumps("v"), False),
        lambda: disk.fetch(diskcache.core.MODE_TEXT, "../../../etc/passwd", None, False),
        lambda: disk.fetch(diskcache.core.MODE_BINARY, "../../../etc/passwd", None, False),
    ):
        with pytest.raises(TextDisk.Refused):
            refused()


@pytest.mark.parametrize(
    "content", [b"this is not a database" * 500, b"\0" * 4096, b"SQLite format 3\0" + b"\xff" * 9000]
)
def test_a_corrupt_file_is_set_aside_and_rebuilt(
    folder: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    folder.mkdir()
    database(folder).write_bytes(content)
    cache = DiskTtlCache(folder)
    assert cache.get("k") is None
    cache.set("k", "v", 60)
    assert cache.get("k") == "v"
    if cache.warning:  # SQLite takes some garbage for an empty database
        assert database(folder.with_name("cache.broken")).read_bytes() == content
        assert "set aside" in caplog.text or "moved to" in caplog.text


def test_a_file_that_rots_while_it_is_open_is_rebuilt(folder: Path) -> None:
    cache = DiskTtlCache(folder)
    for n in range(200):
        cache.set(str(n), "v" * 1000, 60)
    cache.close()
    raw = bytearray(database(folder).read_bytes())
    raw[4096:] = os.urandom(len(raw) - 4096)
    database(folder).write_bytes(raw)
    cache = DiskTtlCache(folder)
    for n in range(200):
        cache.get(str(n))
    cache.set("k", "v", 60)
    assert cache.get("k") == "v"
    assert "重建" in cache.warning


def test_a_deleted_folder_comes_back(folder: Path) -> None:
    import shutil

    cache = DiskTtlCache(folder)
    cache.set("k", "v", 60)
    shutil.rmtree(folder)
    for _ in range(5):
        cache.set("k", "v", 60)
    cache.close()
    cache = DiskTtlCache(folder)
    cache.set("k", "v", 60)
    assert cache.get("k") == "v"


def lock(folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(database(folder), isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN EXCLUSIVE")
    return connection


def test_a_locked_file_costs_little_and_is_rebuilt_when_it_stays_locked(folder: Path) -> None:
    clock = Clock()
    cache = DiskTtlCache(folder, clock=clock)
    cache.set("k", "v", 60)
    holder = lock(folder)
    began = time.monotonic()
    for _ in range(4):
        cache.set("k", "w", 60)
    assert time.monotonic() - began < 10
    assert not cache.warning, "it may be somebody else's long write, or a crowd"
    clock.pass_(10)
    cache.set("k", "w", 60)
    assert "重建" in cache.warning
    cache.set("k", "x", 60)
    assert cache.get("k") == "x"
    holder.close()


def test_a_file_locked_from_the_start(folder: Path) -> None:
    first = DiskTtlCache(folder)
    first.set("k", "v", 60)
    first.close()
    holder = lock(folder)
    began = time.monotonic()
    clock = Clock()
    cache = DiskTtlCache(folder, clock=clock)
    for _ in range(4):
        cache.set("k", "w", 60)
        clock.pass_(5)
    assert cache.get("k") == "w"
    assert time.monotonic() - began < 20
    holder.close()


def test_a_lock_that_goes_away_leaves_everything_as_it_was(folder: Path) -> None:
    cache = DiskTtlCache(folder)
    cache.set("k", "v", 60)
    for _ in range(5):
        holder = lock(folder)
        cache.set("k", "w", 60)
        holder.close()
        assert cache.get("k") == "v"
    assert not cache.warning


def test_a_full_disk_is_no_error_and_is_tried_again_later(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    cache = DiskTtlCache(folder, clock=clock)
    cache.set("k", "v", 60)

    def full(*_: Any, **__: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(diskcache.Cache, "set", full)
        cache.set("k", "w", 60)
        assert "空间" in cache.warning
        assert cache.get("k") == "v", "what was kept can still be read"
    cache.set("k", "w", 60)
    clock.pass_(61)
    assert cache.get("k") == "v"
    cache.set("k", "w", 60)
    assert cache.get("k") == "w"
    assert not cache.warning


def test_a_corrupt_file_that_cannot_be_moved_is_no_error_and_is_tried_again_later(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    folder.mkdir()
    database(folder).write_bytes(b"this is not a database" * 500)
    cache = DiskTtlCache(folder, clock=clock)

    def refused(*_: Any) -> None:
        raise PermissionError("the folder belongs to somebody else")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", refused)
        cache.set("k", "v", 60)
        assert cache.get("k") is None
        assert cache.warning
    clock.pass_(61)
    assert cache.get("k") is None
    cache.set("k", "v", 60)
    assert cache.get("k") == "v"


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = DiskTtlCache(tmp_path / "file" / "cache")
    cache.set("k", "v", 60)
    assert cache.get("k") is None
    assert cache.warning


def test_a_killed_writer_leaves_a_readable_cache(folder: Path) -> None:
    writer = """
import sys
from pathlib import Path
from core.base.cache import DiskTtlCache
cache = DiskTtlCache(Path(sys.argv[1]))
n = 0
while True:
    cache.set(str(n % 50), "v" * 2000, 600)
    n += 1
    if n == 50:
        print("writing", flush=True)
"""
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", writer, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        cache = DiskTtlCache(folder)
        assert all(cache.get(str(n)) == "v" * 2000 for n in range(50))
        assert not cache.warning
        cache.close()


def test_many_threads_on_one_file(folder: Path) -> None:
    cache = DiskTtlCache(folder)
    wrong: list[str] = []

    def hammer(seed: int) -> None:
        for n in range(20):
            cache.set(f"{seed}-{n}", f"text {seed} {n}", 60)
            if cache.get(f"{seed}-{n}") not in (f"text {seed} {n}", None):
                wrong.append(f"{seed}-{n}")

    threads = [threading.Thread(target=hammer, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert not cache.warning


def test_the_file_is_open_once_however_many_threads_use_it(folder: Path) -> None:
    cache = DiskTtlCache(folder)
    everybody, used = threading.Barrier(41), threading.Barrier(41)

    def use(n: int) -> None:
        everybody.wait()
        cache.set(str(n), "v", 60)
        used.wait()  # a thread takes what is its own with it
        used.wait()

    threads = [threading.Thread(target=use, args=(n,)) for n in range(40)]
    for thread in threads:
        thread.start()
    everybody.wait()
    used.wait()
    try:
        assert [Path(name).name for name in open_files(folder)] == ["cache.db", "cache.db-shm", "cache.db-wal"]
    finally:
        used.wait()
        for thread in threads:
            thread.join()
    cache.close()
    assert not open_files(folder)


def test_nobody_waits_for_all_who_wait_for_a_locked_file(folder: Path) -> None:
    cache = DiskTtlCache(folder)
    cache.set("k", "v", 60)
    holder = lock(folder)
    threads = [threading.Thread(target=cache.set, args=("k", "w", 60)) for _ in range(100)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.monotonic() - began < 10, "a hundred times a quarter of a second"
    holder.close()
    assert cache.get("k") == "v"


def test_a_closed_cache_is_an_empty_one(folder: Path) -> None:
    cache = DiskTtlCache(folder)
    cache.set("k", "v", 60)
    cache.close()
    cache.close()
    cache.set("k", "w", 60)
    assert cache.get("k") is None


def test_a_file_that_was_set_aside_is_not_held_open(folder: Path) -> None:
    clock = Clock()
    cache = DiskTtlCache(folder, clock=clock)
    cache.set("k", "v", 60)
    holder = lock(folder)
    cache.set("k", "w", 60)
    clock.pass_(10)
    cache.set("k", "w", 60)
    holder.close()
    assert "重建" in cache.warning
    assert not open_files(folder.with_name("cache.broken"))
