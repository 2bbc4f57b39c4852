"""A document library in a folder of the test, with the real reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.base.settings import Settings
from core.documents import Access, DocumentLibrary
from core.reading import Reader, ReadingSettings
from core.store import Database
from support.base import loaded
from support.reading import kept_workers

__all__ = ["kept_workers"]

OWNER = Access("owner")


@pytest.fixture(params=["folder", pytest.param("postgresql", marks=pytest.mark.xdist_group("postgres"))])
def values(tmp_path: Path, request: pytest.FixtureRequest) -> Settings:
    """Settings with a data folder, or with a PostgreSQL."""
    url = request.getfixturevalue("postgres").new_database() if request.param == "postgresql" else ""
    return loaded(DATA_DIR=str(tmp_path / "data"), DATABASE_URL=url).values


@pytest.fixture
def open_library(values: Settings) -> Iterator[Callable[[], DocumentLibrary]]:
    """Open libraries on one data folder, or on one PostgreSQL, as several processes would."""
    opened: list[tuple[DocumentLibrary, Database]] = []
    reader = Reader(ReadingSettings())

    def open() -> DocumentLibrary:
        database = Database.from_settings(values)
        opened.append((DocumentLibrary.from_settings(values, database, reader), database))
        return opened[-1][0]

    yield open
    for library, database in opened:
        library.close()
        database.close()


@pytest.fixture
def library(open_library: Callable[[], DocumentLibrary]) -> DocumentLibrary:
    return open_library()
