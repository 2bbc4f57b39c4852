"""The library of laws on several app servers with one PostgreSQL: imported once, fetched by the others."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from core.base.embedding import Embedder
from core.base.errors import AppError
from core.legal.errors import ImportBusy
from core.legal.imports.import_run import law_import
from core.legal.library import shared_library
from core.legal.library.index import LegalLibrary
from core.legal.library.statutes import RegulationService
from core.store import Database, SharedFiles, StoreError
from support import invented
from support.base import ROOT, loaded
from support.postgres import Postgres
from support.tiny_embedder import write_model
from support.waiting import until

pytestmark = pytest.mark.xdist_group("postgres")

NewServer = Callable[..., LegalLibrary]
HOLD = """
import sys
from core.store import Database, SharedFiles
from support.base import loaded
with SharedFiles(Database.from_settings(loaded(DATABASE_URL=sys.argv[1], DATA_DIR=sys.argv[2]).values)).lock() as is_mine:
    print(is_mine, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.new_database()


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    made = Database.from_settings(loaded(DATABASE_URL=url).values)
    yield made
    made.close()


@pytest.fixture
def server(tmp_path: Path, url: str) -> Iterator[NewServer]:
    """App servers with a data folder each."""
    databases: list[Database] = []

    def server(name: str, embedder: Embedder | None = None) -> LegalLibrary:
        databases.append(Database.from_settings(loaded(DATABASE_URL=url).values))
        shared = SharedFiles(databases[-1])
        return LegalLibrary(tmp_path / name, lambda: invented.TODAY, embedder=embedder, shared=shared)

    yield server
    for database in databases:
        database.close()


@pytest.fixture
def laws(tmp_path: Path) -> Path:
    return invented.lawrefbook(tmp_path / "laws")


@pytest.fixture
def more(tmp_path: Path) -> Path:
    """One law more."""
    folder = invented.lawrefbook(tmp_path / "more")
    (folder / "经济法/浮桥法(2015-03-03).md").write_text(invented.BUOY.replace("浮标", "浮桥"), "utf-8")
    return folder


def names(library: LegalLibrary) -> list[str]:
    index = library.index()
    return sorted(law.name for law in index.laws()) if index else []


def published(database: Database) -> int:
    with database.read() as connection:
        return int(connection.execute(text("SELECT count(*) FROM shared_chunks")).scalar_one())


def test_what_one_server_imports_all_others_have(server: NewServer, laws: Path, tmp_path: Path) -> None:
    one, other = server("one"), server("other")
    other.refresh()
    assert not other.available
    law_import(one, str(laws))
    (tmp_path / "one").rename(tmp_path / "gone")
    other.refresh()
    assert "中华人民共和国灯塔法" in names(other)
    assert RegulationService(other).search("灯塔法第一条").results
    late = server("late")
    late.refresh()
    assert (late.version, names(late)) == (other.version, names(other))


def test_a_running_server_notices_a_newer_library_and_a_copy_that_is_gone(
    server: NewServer, laws: Path, more: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_library, "LOOK_SECONDS", 0)
    monkeypatch.setattr(shared_library, "MISSING_SECONDS", 0)
    one, other = server("one"), server("other")
    law_import(one, str(laws))
    until(lambda: names(other) == names(one))
    law_import(other, str(more))
    until(lambda: one.version == other.version)
    assert names(one) == names(other)
    until(lambda: [path.name for path in one.folder.iterdir() if path.is_dir()] == [one.version])
    shutil.rmtree(one.folder, ignore_errors=True)
    until(lambda: one.version == other.version and names(one) == names(other))


def test_an_import_begins_with_what_another_server_has_imported(server: NewServer, laws: Path, more: Path) -> None:
    one, other = server("one"), server("other")
    law_import(one, str(laws))
    law_import(other, str(more))
    assert set(names(one)) < set(names(other))


def test_two_servers_do_not_import_at_once(server: NewServer, laws: Path, url: str, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, url, str(tmp_path / "held")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
    ) as importing:
        assert importing.stdout
        assert importing.stdout.readline() == "True\n"
        with pytest.raises(ImportBusy):
            law_import(server("one"), str(laws))
        importing.kill()
        importing.wait()
    one = server("one")

    def is_imported() -> bool:
        """PostgreSQL needs a moment to notice that the other one is dead."""
        try:
            return bool(law_import(one, str(laws)).laws)
        except ImportBusy:
            return False

    until(is_imported)


def test_a_library_that_could_not_be_published_is_none(
    server: NewServer, laws: Path, more: Path, postgres: Postgres
) -> None:
    one = server("one")
    law_import(one, str(laws))
    before = one.version
    with pytest.raises(StoreError):
        law_import(
            one,
            str(more),
            on_progress=lambda progress: postgres.stop() if progress.stage == "建立索引" else None,
        )
    postgres.start()
    again = server("one")
    again.refresh()
    assert again.version == before
    assert "中华人民共和国灯塔法" in names(again)


def test_a_library_from_before_the_servers_shared_one_is_published(
    server: NewServer, laws: Path, tmp_path: Path, database: Database
) -> None:
    law_import(LegalLibrary(tmp_path / "one"), str(laws))
    one, other = server("one"), server("other")
    one.refresh()
    other.refresh()
    assert names(other) == names(one) != []
    count = published(database)
    law_import(other, str(laws))
    assert published(database) <= count + 2, "what is no longer used is deleted"


def test_vectors_are_computed_once(server: NewServer, laws: Path, tmp_path: Path) -> None:
    embedder = Embedder(str(write_model(tmp_path / "model", ("笛雾响吼", "登记册写"))))
    law_import(server("one", embedder), str(laws))
    other = server("other", embedder)
    other.refresh()
    found = RegulationService(other).search("谁吼").results
    assert found[0].citation() == "《中华人民共和国灯塔法》第三条之一"


@pytest.mark.parametrize("change", ["UPDATE shared_chunks SET body = 'other'", "DELETE FROM shared_chunks"])
def test_a_damaged_library_is_refused_and_the_copy_stays(
    server: NewServer, laws: Path, more: Path, database: Database, change: str
) -> None:
    one, other = server("one"), server("other")
    law_import(one, str(laws))
    other.refresh()
    before = names(other)
    law_import(one, str(more))
    with database.write() as connection:
        connection.execute(text(change))
    for library in (other, server("new")):
        with pytest.raises(AppError, match="已损坏"):
            library.refresh()
    assert names(other) == before != []


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "a/../../outside", "..", "a\\b"])
def test_a_file_stays_in_its_folder(
    server: NewServer, laws: Path, database: Database, name: str, tmp_path: Path
) -> None:
    law_import(server("one"), str(laws))
    with database.write() as connection:
        connection.execute(
            text("UPDATE shared_files SET name = :name WHERE name LIKE '%/laws.sqlite3'"), {"name": name}
        )
    with pytest.raises(AppError, match="已损坏"):
        server("other").refresh()
    assert not list(tmp_path.rglob("outside"))
    assert not server("other").available
