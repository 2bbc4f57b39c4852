"""A process that dies while it reads leaves nothing half done: another one goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from core.base.settings import Settings
from core.documents import Access, DocumentLibrary, DocumentState
from core.documents.reading_queue import ReadingQueue
from core.store import Database
from support.base import ROOT
from support.pdf_files import pdf_file
from support.waiting import until

OWNER = Access("owner")
PAGES = 400
_READS = """
import sys
from core.documents import Access, DocumentLibrary
from core.reading import Reader, ReadingSettings
from core.store import Database
from support.base import loaded

if __name__ == "__main__":
    values = loaded(DATA_DIR=sys.argv[1], DATABASE_URL=sys.argv[2]).values
    library = DocumentLibrary.from_settings(values, Database.from_settings(values), Reader(ReadingSettings()))
    library.start()
    sys.stdin.read()
"""


def start_reading(settings: Settings, folder: Path) -> subprocess.Popen[bytes]:
    """Start a process that reads what waits, and does nothing else."""
    script = folder / "reads.py"
    script.write_text(_READS)
    url = settings.database.url.get_secret_value() if settings.database.url else ""
    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    command = [sys.executable, str(script), str(settings.data_dir), url]
    return subprocess.Popen(command, stdin=subprocess.PIPE, env=os.environ | paths)


def test_a_file_whose_reader_was_killed_is_read_by_the_next_one(
    open_library: Callable[[], DocumentLibrary], values: Settings, tmp_path: Path
) -> None:
    library = open_library()
    library.close()  # this process only looks on, until the other one is dead
    id = library.create_collection("合同", OWNER).id
    pages = [[f"第 {number} 条", f"灯塔 {number} 号的租金是 {number * 7} 元。"] for number in range(1, PAGES + 1)]
    document = library.add_document(id, "合同.pdf", pdf_file(*pages), OWNER)
    process = start_reading(values, tmp_path)
    try:
        until(lambda: 0 < library.open_document(document.id, OWNER).pages_done < PAGES, seconds=60)
        assert library.search("灯塔 7 号的租金", OWNER, collections=[id]), (
            "the first pages are found while others are read"
        )
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(20)
    assert library.open_document(document.id, OWNER).state is DocumentState.READING
    after = open_library()
    after.start()
    assert after.wait_until_indexed(id, OWNER, seconds=120)
    found = after.open_document(document.id, OWNER)
    assert (found.state, found.pages_done, found.reason) == ("indexed", PAGES, "")
    text = after.read_text(document.id, OWNER).text
    assert [text.count(f"灯塔 {number} 号的") for number in range(1, PAGES + 1)] == [1] * PAGES
    (best, *others) = after.search("灯塔 397 号的租金", OWNER, collections=[id])
    assert "2779" in best.text
    assert len({hit.start for hit in (best, *others)}) == 1 + len(others)


def test_a_file_that_always_ends_its_reader_is_given_up(
    open_library: Callable[[], DocumentLibrary], values: Settings
) -> None:
    library = open_library()
    library.close()
    id = library.create_collection("合同", OWNER).id
    document = library.add_document(id, "合同.txt", "灯塔".encode(), OWNER)
    now = [0.0]
    for _ in range(4):
        now[0] += 1_000_000_000.0
        database = Database.from_settings(values)
        claimed = ReadingQueue(database, clock=lambda: now[0]).claim()
        database.close()
    assert claimed is None
    given_up = library.open_document(document.id, OWNER)
    assert given_up.state is DocumentState.UNREADABLE
    assert "中断" in given_up.reason


def test_two_processes_read_and_write_one_folder(
    open_library: Callable[[], DocumentLibrary], values: Settings, tmp_path: Path
) -> None:
    library = open_library()
    id = library.create_collection("合同", OWNER).id
    process = start_reading(values, tmp_path)
    try:
        for number in range(60):
            library.add_document(id, f"{number}.txt", f"灯塔 {number} 号的租金是 {number * 7} 元。".encode(), OWNER)
        assert library.wait_until_indexed(id, OWNER, seconds=120)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(20)
    assert {one.state for one in library.list_documents(id, OWNER)} == {DocumentState.INDEXED}
    for number in range(60):
        (best, *_) = library.search(f"{number} 号的租金 {number * 7} 元", OWNER, collections=[id])
        assert best.document.name == f"{number}.txt"
