"""The document library in PostgreSQL: search in 2,000 files, and how fast they come in."""

from __future__ import annotations

import random
import re
import sqlite3
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from sqlalchemy import text

from bench.rows import Row
from core.base.settings import Settings, load_settings
from core.documents import Access, DocumentLibrary
from core.documents.passage_cutting import cut_all
from core.documents.postgres_files import PostgresFiles
from core.documents.postgres_index import PostgresIndex
from core.documents.text_pieces import PieceCutter
from core.legal.imports.law_package import installed_law_package
from core.reading import Reader, ReadingSettings
from core.store import Database

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.postgres import Postgres, running_postgres  # noqa: E402

NEEDS = "PostgreSQL and the package with the law"
FILES, CHARACTERS = 2_000, 16_700
"""Files, and characters of each: 100 MB of text."""
IMPORTED = 100
QUERIES, TIMES = 100, 4
OWNER = Access("owner")
NOTE = f"""{FILES:,} files of {CHARACTERS:,} characters, put together from sentences of the laws, half of them with three characters of
chance inside; each file has half of its sentences from sixty of its own. {QUERIES} queries are 4 to 20 characters of such a sentence. Of
{TIMES} times each the best counts, connection and rows included. The server's own processor time is beside it."""


def rows() -> Iterator[Row]:
    if installed_law_package() is None:
        return
    with running_postgres() as postgres:
        settings = _settings(postgres)
        database = Database.from_settings(settings)
        try:
            yield from _import_rows(settings, database)
            yield from _search_rows(database)
        finally:
            database.close()


def _settings(postgres: Postgres) -> Settings:
    return load_settings(environ={"DATABASE_URL": postgres.new_database()}, sections=(ReadingSettings,)).values


def _import_rows(settings: Settings, database: Database) -> Iterator[Row]:
    reader = Reader(ReadingSettings())
    library = DocumentLibrary(database, PostgresIndex(database), PostgresFiles(database), reader)
    collection = library.create_collection("import", OWNER)
    bodies = [body.encode() for body in texts(IMPORTED)]
    began = time.perf_counter()
    for number, body in enumerate(bodies):
        library.add_document(collection.id, f"{number}.txt", body, OWNER)
    assert library.wait_until_indexed(collection.id, OWNER, seconds=3_600)
    seconds = time.perf_counter() - began
    library.close()
    reader.close()
    yield Row(
        "import: files a second",
        IMPORTED / seconds,
        "",
        peer="megabytes of text a second",
        peer_value=_megabytes(bodies) / seconds,
    )


def _megabytes(bodies: list[bytes]) -> float:
    return sum(map(len, bodies)) / 1e6


def _search_rows(database: Database) -> Iterator[Row]:
    index = PostgresIndex(database)
    began, passages = time.perf_counter(), 0
    for number, body in enumerate(texts(FILES)):
        cut = cut_all(list(PieceCutter().cut(body, ())), f"{number}.txt")
        passages += len(cut)
        index.add("c", f"d{number}", cut)
    yield Row("the index alone: passages a second", passages / (time.perf_counter() - began), "")
    with database.read() as connection:
        size = connection.execute(text("SELECT pg_total_relation_size('indexed_passages')")).scalar_one()
    yield Row(f"size of the index of {passages:,} passages", size / 1e6, "MB")
    backend = _Backend(database)
    walls, processor = [], []
    for query in queries():
        before, taken = backend.seconds(), []
        for _ in range(TIMES):
            start = time.perf_counter()
            index.search(query, ["c"], 30)
            taken.append(time.perf_counter() - start)
        walls.append(min(taken) * 1e3)
        processor.append((backend.seconds() - before) / TIMES * 1e3)
    yield Row(
        "search, median",
        statistics.median(walls),
        "ms",
        peer="the server's processor",
        peer_value=statistics.median(processor),
    )
    yield Row("the same, p95", _p95(walls), "ms", 50, "the server's processor", _p95(processor))


class _Backend:
    """The process of the server that serves this one's only connection."""

    def __init__(self, database: Database) -> None:
        with database.read() as connection:
            self._pid = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()

    def seconds(self) -> float:
        """Return the processor time that it has used, to a hundredth."""
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[18]


def sentences() -> list[str]:
    package = installed_law_package()
    assert package
    with closing(sqlite3.connect(f"file:{package.file}?mode=ro", uri=True)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found: dict[str, None] = {}
        for table in tables:
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    if isinstance(value, str):
                        found |= dict.fromkeys(re.findall(r"[\u4e00-\u9fff，、；：（）\d]{8,120}。", value))
    return list(found)


def texts(count: int) -> Iterator[str]:
    chance, pool = random.Random(1), sentences()
    letters = "".join(pool[:5_000])
    for _ in range(count):
        own, parts, length = chance.sample(pool, 60), [], 0
        while length < CHARACTERS:
            said = chance.choice(own if chance.random() < 0.5 else pool)
            if chance.random() < 0.5:
                place = chance.randrange(len(said))
                said = said[:place] + "".join(chance.choices(letters, k=3)) + said[place:]
            parts.append(said)
            length += len(said)
        yield "".join(parts)


def queries() -> Iterator[str]:
    chance, pool = random.Random(5), sentences()
    for _ in range(QUERIES):
        said, length = chance.choice(pool), chance.choice((4, 6, 8, 12, 16, 20))
        start = chance.randrange(max(1, len(said) - length))
        yield said[start : start + length]
