"""What pages said when they were read, kept with the answer: in SQLite and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from core.answer.message import Message
from core.reading import Page
from core.store import ConversationStore, Database, ReadPageStore
from core.store.conversations import new_conversation_id
from core.store.errors import ConversationNotFound
from support.base import loaded

pytestmark = pytest.mark.servers

READ_AT = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)

ME = "me"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    url = "" if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()
    database = Database.from_settings(loaded(DATABASE_URL=url).values)
    yield database
    database.close()


def page(text: str) -> Page:
    return Page("http://a.example/", "https://a.example/x", "标题", text, "2026-01-31", "html", READ_AT, 0, False)


@pytest.fixture
def answered(database: Database) -> tuple[str, str]:
    """A conversation with one answer."""
    store, id = ConversationStore(database), new_conversation_id()
    store.create(visitor_id=ME, id=id)
    store.save(id, Message("user", "问", id="q"), visitor_id=ME)
    store.save(id, Message("assistant", "答", id="a"), visitor_id=ME)
    return id, "a"


def test_the_text_comes_back_as_it_was(database: Database, answered: tuple[str, str]) -> None:
    pages = ReadPageStore(database)
    long = "第一段。\n" + "供水总量🙂" * 20_000
    pages.save(*answered, {1: page(long), 3: page("短")}, visitor_id=ME)
    kept = pages.load(*answered, visitor_id=ME)
    assert (kept[1].text, kept[3].text) == (long, "短")
    assert (kept[1].address, kept[1].title, kept[1].fetched) == ("https://a.example/x", "标题", READ_AT.timestamp())
    assert kept[1].hash == page(long).hash
    with database.read() as connection:
        assert connection.execute(text("SELECT max(length(text)) FROM read_pages")).scalar_one() < len(long) // 10


def test_saving_again_replaces_and_nothing_is_kept_for_a_message_that_is_gone(
    database: Database, answered: tuple[str, str]
) -> None:
    pages = ReadPageStore(database)
    pages.save(*answered, {1: page("旧"), 2: page("旧")}, visitor_id=ME)
    pages.save(*answered, {1: page("新")}, visitor_id=ME)
    assert {number: kept.text for number, kept in pages.load(*answered, visitor_id=ME).items()} == {1: "新"}
    pages.save(answered[0], "gone", {1: page("x")}, visitor_id=ME)
    assert pages.load(answered[0], "gone", visitor_id=ME) == {}


def test_the_texts_go_with_the_answer(database: Database, answered: tuple[str, str]) -> None:
    pages, (id, message) = ReadPageStore(database), answered
    pages.save(id, message, {1: page("字")}, visitor_id=ME)
    ConversationStore(database).truncate_from(id, message, visitor_id=ME)
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM read_pages")).scalar_one() == 0


def test_what_was_changed_in_the_database_is_not_shown(database: Database, answered: tuple[str, str]) -> None:
    pages = ReadPageStore(database)
    pages.save(*answered, {1: page("真"), 2: page("真"), 3: page("真")}, visitor_id=ME)
    with database.write() as connection:
        connection.execute(text("UPDATE read_pages SET hash = 'x' WHERE number = 1"))
        connection.execute(text("UPDATE read_pages SET text = '坏' WHERE number = 2"))
    assert set(pages.load(*answered, visitor_id=ME)) == {3}


def test_nobody_reads_what_belongs_to_somebody_else(database: Database) -> None:
    store, pages, id = ConversationStore(database), ReadPageStore(database), new_conversation_id()
    store.create("我", id=id)
    store.save(id, Message("assistant", "答", id="a"), visitor_id="我")
    pages.save(id, "a", {1: page("字")}, visitor_id="别人")
    assert pages.load(id, "a", visitor_id="我") == {}
    pages.save(id, "a", {1: page("字")}, visitor_id="我")
    assert set(pages.load(id, "a", visitor_id="我")) == {1}
    assert pages.load(id, "a", visitor_id="别人") == pages.load(id, "a", visitor_id=None) == {}
    with pytest.raises(ConversationNotFound):
        pages.load("no id", "a", visitor_id=None)


def test_what_was_attached_to_questions_is_found_with_them(database: Database, answered: tuple[str, str]) -> None:
    store, pages, (id, answer) = ConversationStore(database), ReadPageStore(database), answered
    store.save(id, Message("user", "再问", id="q2"), visitor_id=ME)
    pages.save(id, answer, {1: page("网页")}, visitor_id=ME)
    pages.save(id, "q2", {1: page("丙")}, visitor_id=ME)
    pages.save(id, "q", {2: page("乙"), 1: page("甲")}, visitor_id=ME)
    found = pages.load_attachments(id, visitor_id=ME)
    assert [(message, [one.text for one in each]) for message, each in found.items()] == [
        ("q", ["甲", "乙"]),
        ("q2", ["丙"]),
    ]
    assert found["q2"][0].to_page().text == "丙"
    copy = store.copy(id, visitor_id="另一人", share=store.share(id, visitor_id=ME))
    assert set(pages.load_attachments(copy, visitor_id="另一人")) == {"q", "q2"}
    store.truncate_from(id, "q2", visitor_id=ME)
    assert set(pages.load_attachments(id, visitor_id=ME)) == {"q"}


def test_nobody_sees_what_another_has_attached(database: Database) -> None:
    store, pages, id = ConversationStore(database), ReadPageStore(database), new_conversation_id()
    store.create("我", id=id)
    store.save(id, Message("user", "问", id="q"), visitor_id="我")
    pages.save(id, "q", {1: page("字")}, visitor_id="我")
    assert set(pages.load_attachments(id, visitor_id="我")) == {"q"}
    assert pages.load_attachments(id, visitor_id="别人") == pages.load_attachments(id, visitor_id=None) == {}
