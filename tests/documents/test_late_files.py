"""A file that is not read in time, because the machine is busy, is tried again: it is not unreadable for that."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import select, update

from core.base.settings import Settings
from core.documents import Access, DocumentLibrary, DocumentState
from core.store import Database
from core.store.tables import documents
from support.waiting import until

OWNER = Access("owner")


@pytest.fixture
def database(values: Settings) -> Iterator[Database]:
    made = Database.from_settings(values)
    yield made
    made.close()


def tries(database: Database) -> list[tuple[str, int]]:
    with database.read() as connection:
        return [tuple(row) for row in connection.execute(select(documents.c.state, documents.c.attempts))]


def end_pause(database: Database) -> None:
    with database.write() as connection:
        connection.execute(update(documents).values(claimed_until=0))


def test_a_file_that_was_not_read_in_time_is_read_later(
    library: DocumentLibrary, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.reading.reader.FILE_TIMEOUT", 0.0)
    id = library.create_collection("合同", OWNER).id
    document = library.add_document(id, "合同.txt", "灯塔的租金是七元。".encode(), OWNER)
    until(lambda: tries(database) == [(DocumentState.WAITING, 1)])
    monkeypatch.undo()
    end_pause(database)
    assert library.wait_until_indexed(id, OWNER, seconds=120)
    assert library.open_document(document.id, OWNER).state is DocumentState.INDEXED
    assert [hit.text for hit in library.search("灯塔的租金", OWNER, collections=[id])] == ["灯塔的租金是七元。"]


def test_a_file_that_is_never_read_in_time_is_given_up_and_says_so(
    library: DocumentLibrary, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.reading.reader.FILE_TIMEOUT", 0.0)
    monkeypatch.setattr("core.documents.reading_queue.PAUSE_SECONDS", 0.0)
    id = library.create_collection("合同", OWNER).id
    document = library.add_document(id, "合同.txt", "灯塔".encode(), OWNER)
    assert library.wait_until_indexed(id, OWNER, seconds=120)
    given_up = library.open_document(document.id, OWNER)
    assert tries(database) == [(DocumentState.UNREADABLE, 3)]
    assert "没有在规定时间内读完" in given_up.reason
