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
from dataclasses import replace
from pathlib import Path
from typing import Any

import diskcache
import pytest

from core.search.cache import DiskTtlCache, ResultCache, SessionCache, TextDisk
from core.search.codec import decode, encode
from core.search.types import Attempt, Outcome, SearchQuery, SearchResponse, SearchResult, SearchType
from support.base import ROOT, loaded
from support.fake_engines import results_of
from support.handles import open_files
from support.waiting import Clock

QUERY = SearchQuery("民法典")
RESPONSE = SearchResponse(QUERY, tuple(results_of()), (Attempt("fake", Outcome.OK),), "fake", skipped=2, notes=("注",))


class Memory:
    """A TtlCache without a disk."""

    warning = ""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.seconds: dict[str, float] = {}

    def get(self, key: str) -> str | None:
        return self.texts.get(key)

    def set(self, key: str, text: str, seconds: float) -> None:
        self.texts[key], self.seconds[key] = text, seconds

    def close(self) -> None: ...


# ── Codec ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_kept_comes_back_as_it_was_but_without_attempts() -> None:
    kept = decode(encode(RESPONSE, saved=7.5), QUERY)
    assert kept.saved == 7.5
    assert kept.response == replace(RESPONSE, attempts=())


def test_every_field_of_a_result_survives() -> None:
    result = SearchResult("题", "https://a.example/", "摘", "a.example", "2024-01-01", "fake", 4)
    response = SearchResponse(QUERY, (result,))
    assert decode(encode(response, saved=0), QUERY).response.results == (result,)


def test_a_lone_surrogate_does_not_reach_the_store() -> None:
    response = SearchResponse(QUERY, (SearchResult("\ud800题", "https://a.example/", "", ""),))
    encode(response, saved=0).encode()


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{}", '{"saved": 1}', "not json", "[" * 100_000, encode(RESPONSE, saved=1)[:-2],
             encode(RESPONSE, saved=1).replace('"https', '5, "x": "https'),
             encode(RESPONSE, saved=1).replace('"saved":1', '"saved":"1"')]
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        decode(text, QUERY)


# ── Session ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_session_remembers_twenty_and_forgets_the_least_recently_used() -> None:
    cache = SessionCache()
    for n in range(20):
        cache.put(str(n), RESPONSE)
    assert cache.get("0", QUERY) is not None
    cache.put("20", RESPONSE)
    assert len(cache) == 20
    assert cache.get("0", QUERY) is not None
    assert cache.get("1", QUERY) is None


def test_a_session_hit_says_so_and_its_age() -> None:
    clock = Clock()
    cache = SessionCache(clock=clock)
    cache.put("k", replace(RESPONSE, from_cache=True, cache_age=100.0))
    clock.pass_(5)
    hit = cache.get("k", SearchQuery("民法典 "))
    assert hit is not None
    assert (hit.from_cache, hit.cache_age, hit.attempts, hit.query.text) == (True, 105.0, (), "民法典 ")


def test_a_session_keeps_neither_nothing_nor_something_old() -> None:
    cache = SessionCache()
    cache.put("empty", SearchResponse(QUERY))
    cache.put("old", replace(RESPONSE, stale=True))
    assert len(cache) == 0


def test_a_session_cache_under_many_threads() -> None:
    cache = SessionCache(size=5)

    def hammer(seed: int) -> None:
        for n in range(300):
            cache.put(str((seed * n) % 11), RESPONSE)
            cache.get(str(n % 11), QUERY)

    threads = [threading.Thread(target=hammer, args=(seed,)) for seed in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache) == 5


# ── How long what stays good ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def clock() -> Clock:
    return Clock()


def result_cache(clock: Clock, store: Any = None) -> ResultCache:
    good_for = {
        SearchType.GENERAL: 100.0,
        SearchType.NEWS: 10.0,
        SearchType.REGULATION: 1000.0,
        SearchType.CASE: 500.0,
    }
    return ResultCache(store or Memory(), good_for=good_for, keep_stale=5000, clock=clock)


@pytest.mark.parametrize(("kind", "seconds"), [("general", 100), ("news", 10), ("regulation", 1000), ("case", 500)])
def test_each_type_has_its_time_and_is_kept_longer(kind: str, seconds: int, clock: Clock) -> None:
    store = Memory()
    cache = result_cache(clock, store)
    query = replace(QUERY, type=SearchType(kind))
    cache.put("k", replace(RESPONSE, query=query))
    clock.pass_(seconds - 1)
    hit = cache.get("k", query)
    assert hit is not None
    assert (hit.from_cache, hit.stale, hit.cache_age) == (True, False, seconds - 1)
    clock.pass_(1)
    assert cache.get("k", query) is None
    old = cache.get("k", query, even_stale=True)
    assert old is not None
    assert (old.from_cache, old.stale, old.cache_age) == (True, True, seconds)
    assert list(store.seconds.values()) == [seconds + 5000]


def test_the_settings_decide_the_times() -> None:
    cache = ResultCache.from_settings(loaded(SEARCH_CACHE_TTL="60").values)
    assert cache is not None
    assert cache._good_for == {"general": 60, "news": 3600, "regulation": 86400, "case": 21600}
    assert ResultCache.from_settings(loaded(SEARCH_CACHE_TTL="0").values) is None


def test_an_entry_from_the_future_is_not_good_but_can_serve_as_the_last_resort(clock: Clock) -> None:
    cache = result_cache(clock)
    cache.put("k", RESPONSE)
    clock.pass_(-86_400)
    assert cache.get("k", QUERY) is None
    old = cache.get("k", QUERY, even_stale=True)
    assert old is not None
    assert (old.stale, old.cache_age) == (True, 0.0)


def test_clocks_of_two_servers_may_differ_a_little(clock: Clock) -> None:
    cache = result_cache(clock)
    cache.put("k", RESPONSE)
    clock.pass_(-2)
    hit = cache.get("k", QUERY)
    assert hit is not None
    assert hit.cache_age == 0.0


def test_an_unreadable_entry_is_a_miss(clock: Clock) -> None:
    store = Memory()
    cache = result_cache(clock, store)
    cache.put("k", RESPONSE)
    store.texts = dict.fromkeys(store.texts, '{"saved": "x"}')
    assert cache.get("k", QUERY) is None


def test_stored_keys_do_not_show_what_was_searched(clock: Clock) -> None:
    store = Memory()
    result_cache(clock, store).put("|秘密|general", RESPONSE)
    assert "秘密" not in next(iter(store.texts))


# ── On disk ───────────────────────────────────────────────────────────────────────────────────────────────────────


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
from core.search.cache import DiskTtlCache
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
