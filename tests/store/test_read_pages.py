"""What pages said when they were read, kept with the answer: in SQLite and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from core.answer.message import Message
from core.reading import Page
from core.store import ConversationStore, Database, ReadPageStore
from core.store.errors import ConversationNotFound
from core.store.ids import new_conversation_id
from support.base import loaded
from support.sectioned import sectioned_page

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


FILE = sectioned_page("年报.pdf", ["第一页", "第二页"], recognized=[2])
BODY = b"%PDF-1.7 \x00\xff" * 1_000


def attach(pages: ReadPageStore, id: str) -> None:
    pages.save(id, "q", {1: FILE, 2: page("无")}, visitor_id=ME, bodies={1: BODY})


def test_sections_and_uncertain_places_come_back(database: Database, answered: tuple[str, str]) -> None:
    pages, (id, answer) = ReadPageStore(database), answered
    pages.save(id, answer, {1: replace(FILE, uncertain=((1, 2),)), 2: page("无")}, visitor_id=ME)
    kept = pages.load(id, answer, visitor_id=ME)
    assert (kept[1].sections, kept[1].uncertain, kept[1].hash) == (FILE.sections, ((1, 2),), FILE.hash)
    assert kept[1].to_page().sections == FILE.sections
    assert (kept[2].sections, kept[2].uncertain) == ((), ())
    with database.write() as connection:
        connection.execute(text("UPDATE read_pages SET sections = 'bad' WHERE number = 1"))
    assert pages.load(id, answer, visitor_id=ME)[1].sections == ()


def test_the_bytes_of_a_file_are_for_those_who_may_read_its_text(database: Database, answered: tuple[str, str]) -> None:
    store, pages, (id, _) = ConversationStore(database), ReadPageStore(database, max_file_bytes=10**6), answered
    attach(pages, id)
    (first, second) = pages.load_attachments(id, visitor_id=ME)["q"]
    assert (first.has_file, second.has_file) == (True, False)
    assert pages.load_file(id, FILE.address, visitor_id=ME) == BODY
    assert pages.load_file(id, page("无").final_address, visitor_id=ME) is None
    for stranger in ("别人", "", None):
        assert pages.load_file(id, FILE.address, visitor_id=stranger) is None
        assert pages.load_file(id, FILE.address, visitor_id=stranger, share="A" * 24) is None
    share = store.share(id, visitor_id=ME)
    assert pages.load_file(id, FILE.address, visitor_id="别人", share=share) == BODY
    copy = store.copy(id, visitor_id="别人", share=share)
    store.stop_sharing(id, visitor_id=ME)
    assert pages.load_file(id, FILE.address, visitor_id="别人", share=share) is None
    assert pages.load_file(copy, FILE.address, visitor_id="别人") == BODY
    store.delete(id, visitor_id=ME)
    assert pages.load_file(id, FILE.address, visitor_id=ME) is None


def test_the_bytes_go_with_the_question_and_with_the_text(database: Database, answered: tuple[str, str]) -> None:
    store, pages, (id, _) = ConversationStore(database), ReadPageStore(database, max_file_bytes=10**6), answered

    def count() -> int:
        with database.read() as connection:
            return int(connection.execute(text("SELECT count(*) FROM attached_files")).scalar_one())

    attach(pages, id)
    assert count() == 1
    pages.save(id, "q", {1: page("另一个")}, visitor_id=ME)
    assert count() == 0
    attach(pages, id)
    store.truncate_from(id, "q", visitor_id=ME)
    assert count() == 0


def test_a_conversation_keeps_no_more_bytes_than_it_may(database: Database, answered: tuple[str, str]) -> None:
    store, pages, (id, _) = (
        ConversationStore(database),
        ReadPageStore(database, max_file_bytes=len(BODY) + 10),
        answered,
    )
    attach(pages, id)
    store.save(id, Message("user", "再问", id="q2"), visitor_id=ME)
    other = replace(FILE, final_address="attachment:f/另一个.pdf")
    pages.save(id, "q2", {1: other}, visitor_id=ME, bodies={1: BODY})
    assert pages.load_file(id, FILE.address, visitor_id=ME) == BODY
    assert pages.load_file(id, other.final_address, visitor_id=ME) is None
    assert [one.has_file for one in pages.load_attachments(id, visitor_id=ME)["q2"]] == [False]
    ReadPageStore(database).save(id, "q2", {1: other}, visitor_id=ME, bodies={1: b"x"})
    assert pages.load_file(id, other.final_address, visitor_id=ME) is None
