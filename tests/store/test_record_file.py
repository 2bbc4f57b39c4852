"""Records of commands wait in a file until a server takes them."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.store import Database, MetricsStore, RecordFile, StoreError
from core.store.backends import SqliteFile
from core.store.record_file import MAX_BYTES

ATTEMPT = {"at": 5.0, "place": 0, "engine": "exa", "outcome": "ok", "seconds": 0.5, "kind": ""}


def search(at: float) -> dict[str, object]:
    names = ("type", "engine", "outcome", "cache", "kind")
    return {"at": at, **dict.fromkeys(names, "x"), "cache_age": None, "seconds": 0.5, "query": None}


@pytest.fixture
def file(tmp_path: Path) -> RecordFile:
    return RecordFile(tmp_path / "database" / "records.jsonl")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MetricsStore]:
    database = Database(SqliteFile(tmp_path / "wenyuan.sqlite3"))
    yield MetricsStore(database)
    database.close()


def times(store: MetricsStore) -> list[float]:
    return sorted(record["at"] for record in store.latest_searches(0.0, 1000))


def test_what_several_commands_have_left_is_moved_once(file: RecordFile, store: MetricsStore, tmp_path: Path) -> None:
    file.move_to(store)
    assert times(store) == [], "nothing was left"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda at: file.add([search(at)], [ATTEMPT], []), map(float, range(1, 33))))
    assert stat.S_IMODE((tmp_path / "database" / "records.jsonl").stat().st_mode) == 0o600
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: file.move_to(store), range(4)))
    assert times(store) == [float(at) for at in range(1, 33)]
    assert store.counts((0, 60)).attempts[0].times == 32


def test_a_line_of_another_version_or_half_a_line_costs_only_itself(
    file: RecordFile, store: MetricsStore, tmp_path: Path
) -> None:
    file.add([search(1.0)], [], [])
    path = tmp_path / "database" / "records.jsonl"
    with path.open("a", encoding="utf-8") as lines:
        lines.write(f'{json.dumps(["0.0.0", [{"another": "column"}], [], []])}\n[1]\nnull\n{{"x": 1}}\n["0.1')
    file.move_to(store)
    assert times(store) == [1.0]
    assert not path.exists()


def test_what_the_database_does_not_take_stays(file: RecordFile, store: MetricsStore, tmp_path: Path) -> None:
    file.add([search(1.0)], [], [])
    (tmp_path / "no-folder").write_text("")
    with pytest.raises(StoreError):
        file.move_to(MetricsStore(Database(SqliteFile(tmp_path / "no-folder" / "wenyuan.sqlite3"))))
    file.move_to(store)
    assert times(store) == [1.0]


def test_where_nobody_takes_the_file_it_does_not_grow_for_ever(file: RecordFile, tmp_path: Path) -> None:
    path = tmp_path / "database" / "records.jsonl"
    file.add([], [], [])
    path.write_text("x" * (MAX_BYTES + 1))
    file.add([search(1.0)], [], [])
    assert path.stat().st_size < 1000


def test_a_folder_that_cannot_be_written_to_is_an_error_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError):
        RecordFile(tmp_path / "file" / "records.jsonl").add([], [], [])
