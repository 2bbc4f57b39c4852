"""The document library: search among 2,000 files with 100 MB of text, a PDF of 300 pages, and memory of idle collections.

Texts are invented: sentences of words whose frequencies are those of a language. Processor time is that of this process and of
those that take the files apart.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path

from bench.rows import Row

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from core.documents import Access, DocumentLibrary
from core.documents.folder_index import IDLE_SECONDS, FolderIndex
from core.reading import Reader, ReadingSettings
from core.store import Database
from support.base import loaded
from support.pdf_files import pdf_file

FILES, BYTES = 2_000, 100_000_000
PAGES = 300
QUERIES = 300
OWNER = Access("bench")
NOTE = (
    "Searches are whole: owner, index, texts, places and versions. The PDF's seconds are of a processor, from upload to the last page "
    "found, and to its first one in the line below. Idle memory is what a search of the 2,000 files leaves "
    "behind once its collection was released."
)


class Language:
    """Words with the frequencies of a language, and sentences of them."""

    def __init__(self, seed: int = 30) -> None:
        self._random = random.Random(seed)
        characters = [chr(code) for code in range(0x4E00, 0x4E00 + 3_000)]
        self._words = [
            "".join(self._random.choices(characters, k=self._random.choice((1, 2, 2, 2, 3, 4)))) for _ in range(40_000)
        ]
        self._weights = list(accumulate(1 / (rank + 10) for rank in range(len(self._words))))

    def words(self, count: int) -> list[str]:
        return self._random.choices(self._words, cum_weights=self._weights, k=count)

    def text(self, length: int) -> str:
        sentences: list[str] = []
        while length > 0:
            sentence = "".join(self.words(self._random.randint(8, 24))) + self._random.choice("。。。，；\n")
            sentences.append(sentence)
            length -= len(sentence)
        return "".join(sentences)

    def question(self) -> str:
        return "".join(self.words(self._random.randint(3, 7))) + "是多少？"


@contextmanager
def _open_library(folder: str) -> Iterator[DocumentLibrary]:
    values = loaded(DATA_DIR=folder).values
    database, reader = Database.from_settings(values), Reader(ReadingSettings())
    library = DocumentLibrary.from_settings(values, database, reader)
    try:
        yield library
    finally:
        library.close()
        reader.close()
        database.close()


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder, _open_library(folder) as library:
        yield from _of_a_pdf(library)
        yield from _of_many_files(library)


def _of_a_pdf(library: DocumentLibrary) -> Iterator[Row]:
    language = Language(1)
    pages = [[language.text(34)[:34].replace("\n", "") for _ in range(28)] for _ in range(PAGES)]
    pages[2][5], pages[-1][5] = "灯塔的第一个暗号是珊瑚。", "灯塔的最后一个暗号是海带。"
    id = library.create_collection("书", OWNER).id
    library.add_document(id, "热身.txt", "热身".encode(), OWNER)  # the processes that read are there
    library.wait_until_indexed(id, OWNER, seconds=60)
    body = pdf_file(*pages)
    spent = _processor_seconds()
    library.add_document(id, "书.pdf", body, OWNER)
    while not any("珊瑚" in hit.text for hit in library.search("第一个暗号", OWNER, collections=[id])):
        time.sleep(0.05)
    first = _processor_seconds() - spent
    library.wait_until_indexed(id, OWNER, seconds=600)
    seconds = _processor_seconds() - spent
    assert any("海带" in hit.text for hit in library.search("最后一个暗号", OWNER, collections=[id]))
    yield Row(
        f"PDF of {PAGES} pages ({len(body) // 1000:,} kB), until the last page is found",
        seconds,
        "s of a processor",
        15,
    )
    yield Row("the same, until the first page is found", first, "s of a processor", 3)


def _of_many_files(library: DocumentLibrary) -> Iterator[Row]:
    language = Language(2)
    id = library.create_collection("许多", OWNER).id
    spent = _processor_seconds()
    for number in range(FILES):
        library.add_document(id, f"文件 {number}.txt", language.text(BYTES // FILES // 3).encode(), OWNER)
    while not library.wait_until_indexed(id, OWNER, seconds=600):
        pass
    seconds = _processor_seconds() - spent
    size = sum(one.characters for one in library.list_documents(id, OWNER))
    yield Row(
        f"indexing {FILES:,} files, {size / 1e6:.0f} million characters",
        seconds / FILES * 1000,
        "ms of a processor per file",
    )
    questions = [language.question() for _ in range(QUERIES)]
    library.search(questions[0], OWNER, collections=[id])
    times = []
    for question in questions:
        began = time.thread_time()
        library.search(question, OWNER, collections=[id])
        times.append((time.thread_time() - began) * 1000)
    yield Row("search among them, median", sorted(times)[QUERIES // 2], "ms of a processor")
    yield Row("search among them, p95", sorted(times)[int(QUERIES * 0.95)], "ms of a processor", 20)
    yield from _of_idle_memory(library, id, questions)


def _of_idle_memory(library: DocumentLibrary, id: str, questions: list[str]) -> Iterator[Row]:
    index = library._index
    assert isinstance(index, FolderIndex)
    index.close()
    before = _resident_megabytes()
    for question in questions[:50]:
        library.search(question, OWNER, collections=[id])
    used = _resident_megabytes() - before
    index._clock = lambda: time.monotonic() + IDLE_SECONDS + 1
    index.close_idle()
    left = _resident_megabytes() - before
    yield Row("memory of the collection while it is searched", used, "MB", in_ratio=False)
    yield Row("memory of the collection when it is idle", left, "MB", 10, in_ratio=False)


def _processor_seconds() -> float:
    """Return the processor time of this process and of those that it started, also while they run."""
    ticks = os.sysconf("SC_CLK_TCK")
    children = 0.0
    for task in Path("/proc/self/task").iterdir():
        for child in (task / "children").read_text().split():
            fields = (Path("/proc") / child / "stat").read_text().rpartition(")")[2].split()
            children += (int(fields[11]) + int(fields[12])) / ticks
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children + ended.ru_utime + ended.ru_stime


def _resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
