"""Processes that share a PostgreSQL: each file is read by one of them, and by another one if that dies."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from core.base.settings import Settings
from core.documents import Access, DocumentLibrary
from core.documents.postgres_files import PostgresFiles
from core.documents.postgres_index import PostgresIndex
from core.documents.reading_queue import ReadingQueue
from core.reading import Reader, ReadingSettings
from core.store import Database
from support.base import ROOT, loaded
from support.pdf_files import pdf_file
from support.postgres import Postgres
from support.waiting import until

pytestmark = pytest.mark.xdist_group("postgres")

OWNER = Access("owner")
LEASE_SECONDS = 1.0
PAGES = 60
SERVER = """
import sys
from test_postgres_servers import library_of, loaded
library = library_of(loaded(DATABASE_URL=sys.argv[1], DATA_DIR=sys.argv[2]).values)
library.start()
sys.stdin.read()
"""


def library_of(settings: Settings) -> DocumentLibrary:
    """The library of a server. Nobody waits long for one that is dead."""
    database = Database.from_settings(settings)
    queue = ReadingQueue(database, lease=LEASE_SECONDS)
    reader = Reader(ReadingSettings())
    return DocumentLibrary(database, PostgresIndex(database), PostgresFiles(database), reader, queue=queue)


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.new_database()


@pytest.fixture
def server(url: str) -> Iterator[Callable[[], DocumentLibrary]]:
    opened: list[DocumentLibrary] = []

    def server() -> DocumentLibrary:
        opened.append(library_of(loaded(DATABASE_URL=url).values))
        return opened[-1]

    yield server
    for library in opened:
        library.close()


def test_each_file_is_claimed_once(url: str) -> None:
    databases = [Database.from_settings(loaded(DATABASE_URL=url).values) for _ in range(4)]
    library = library_of(loaded(DATABASE_URL=url).values)
    library.close()  # it reads nothing
    collection = library.create_collection("合同", OWNER)
    added = {library.add_document(collection.id, f"{number}.txt", b"x", OWNER).id for number in range(60)}
    claimed: list[str] = []

    def claim(queue: ReadingQueue) -> None:
        while document := queue.claim():
            claimed.append(document.id)

    threads = [Thread(target=claim, args=(ReadingQueue(database),)) for database in databases for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(claimed) == sorted(added)
    for database in databases:
        database.close()


def test_a_file_whose_server_was_killed_is_read_by_another_one(
    server: Callable[[], DocumentLibrary], url: str, tmp_path: Path
) -> None:
    body = pdf_file(*([f"第 {number} 条", f"第 {number} 号灯塔由守塔人看管。"] for number in range(1, PAGES + 1)))
    here = server()
    here.close()  # it reads nothing
    collection = here.create_collection("合同", OWNER)
    document = here.add_document(collection.id, "lease.pdf", body, OWNER)
    command = [sys.executable, "-c", SERVER, url, str(tmp_path / "other")]
    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}:{Path(__file__).parent}"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=ROOT, env=paths) as other:
        until(lambda: here.open_document(document.id, OWNER).state == "reading")
        other.kill()
    assert here.open_document(document.id, OWNER).state == "reading"
    heir = server()
    heir.list_documents(collection.id, OWNER)  # as the page does that shows how far it is
    until(lambda: heir.open_document(document.id, OWNER).state == "indexed", 60)
    assert heir.open_document(document.id, OWNER).pages_done == PAGES
    found = heir.search(f"第 {PAGES} 号灯塔", OWNER, collections=[collection.id])
    assert [hit.place.page for hit in found[:1] if hit.place] == [PAGES]
    assert not (tmp_path / "other" / "documents").exists()


def test_what_one_server_deletes_no_other_finds(server: Callable[[], DocumentLibrary]) -> None:
    one, other = server(), server()
    collection = one.create_collection("合同", OWNER)
    document = one.add_document(collection.id, "a.txt", "灯塔由守塔人看管。".encode(), OWNER)
    assert one.wait_until_indexed(collection.id, OWNER, seconds=60)
    assert other.search("守塔人", OWNER, collections=[collection.id])
    other.delete_document(document.id, OWNER)
    assert one.search("守塔人", OWNER, collections=[collection.id]) == ()
    assert one.list_documents(collection.id, OWNER) == ()
