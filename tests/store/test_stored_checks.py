"""Marks of a stored answer: shown only with the texts and by the checker that they were earned with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import delete, update

from core.answer.check_results import CHECKER_VERSION, AnswerCheck, Verdict
from core.answer.check_texts import source_texts, with_digests
from core.answer.events import Answer, Checked, SearchFinished
from core.answer.message import Message
from core.base.compression import compress_text
from core.checks import check_answer
from core.reading import Page
from core.search.types import SearchQuery, SearchResponse, Source
from core.store import ConversationStore, Database, ReadPageStore
from core.store.tables import read_pages
from support.base import loaded

pytestmark = pytest.mark.xdist_group("postgres")

SAID = "灯塔高三十米，建于一九二〇年[1]。守塔人应当在日落前点灯[2]。"
PAGE = "守塔人应当在日落前点灯，并在日出后熄灯。灯塔高三十米，建于一九二〇年。"
SOURCES = (
    Source(1, "灯塔", "https://a.example/", "灯塔", read="page"),
    Source(2, "规定.txt", "attachment:rules", "守塔人", read="file"),
)


def page(words: str, address: str = "https://a.example/", *, is_cut: bool = False) -> Page:
    return Page(address, address, "灯塔", words, None, "html", datetime.now(UTC), 0, is_cut=is_cut)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    url = "" if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()
    database = Database.from_settings(loaded(DATABASE_URL=url).values)
    yield database
    database.close()


def checked_answer(version: int = CHECKER_VERSION) -> Message:
    found = SearchFinished(SearchResponse(SearchQuery("灯塔"), provider="fake"), SOURCES)
    texts = source_texts(SOURCES, {1: page(PAGE), 2: page(PAGE)})
    check = replace(with_digests(check_answer(SAID, texts), texts), version=version)
    return Message("assistant", SAID, (found, Checked(check), Answer(SAID, SOURCES)), SOURCES, id="answer")


def keep(database: Database, message: Message) -> str:
    """Keep the answer to a question with an attached file."""
    store, pages = ConversationStore(database), ReadPageStore(database)
    id = store.create(visitor_id="browser")
    store.save(id, Message("user", "灯塔多高？", id="question"), visitor_id="browser")
    pages.save(id, "question", {1: page(PAGE, "attachment:rules")}, visitor_id="browser")
    store.save(id, message, visitor_id="browser")
    pages.save(id, message.id, {1: page(PAGE)}, visitor_id="browser")
    return id


def load(database: Database, id: str, **who: str) -> Message:
    return ConversationStore(database).load(id, **{"visitor_id": "browser", **who}).messages[-1]  # type: ignore[arg-type]


def marks(check: AnswerCheck | None) -> list[Verdict]:
    assert check is not None
    return [citation.check.verdict for statement in check.statements for citation in statement.citations]


def test_marks_come_back_with_their_passages_also_shared_and_copied(database: Database) -> None:
    message, store = checked_answer(), ConversationStore(database)
    assert marks(message.check) == [Verdict.SUPPORTED] * 2
    id = keep(database, message)
    assert load(database, id, visitor_id="browser") == message
    share = store.share(id, visitor_id="browser")
    assert load(database, id, visitor_id="another", share=share) == message
    assert load(database, store.copy(id, visitor_id="another", share=share), visitor_id="another") == message


def test_a_text_that_was_deleted_takes_its_marks_along(database: Database) -> None:
    id = keep(database, checked_answer())
    with database.write() as connection:
        connection.execute(delete(read_pages).where(read_pages.c.message_id == "answer"))
    found = load(database, id).check
    assert marks(found) == [Verdict.UNCHECKED, Verdict.SUPPORTED]
    assert found is not None
    assert "不再有效" in found.statements[0].citations[0].check.reason
    assert not found.statements[0].citations[0].check.evidence


def test_another_version_of_the_page_has_no_marks_and_a_damaged_one_neither(database: Database) -> None:
    id = keep(database, checked_answer())
    ReadPageStore(database).save(id, "answer", {1: page(f"更正：{PAGE}")}, visitor_id="browser")
    assert marks(load(database, id).check) == [Verdict.UNCHECKED, Verdict.SUPPORTED]
    with database.write() as connection:
        connection.execute(update(read_pages).values(text=compress_text("别的")))
    assert marks(load(database, id).check) == [Verdict.UNCHECKED] * 2


def test_marks_of_another_checker_are_not_shown_and_replaced_once(database: Database) -> None:
    store, old = ConversationStore(database), checked_answer(version=1)
    id = keep(database, old)
    before = store.load(id, visitor_id="browser")
    assert marks(before.messages[-1].check) == [Verdict.UNCHECKED] * 2
    new = before.messages[-1].with_check(checked_answer().check)
    for who in ("another", None):
        store.save_check(id, new, visitor_id=who)
        assert marks(load(database, id).check) == [Verdict.UNCHECKED] * 2
    store.save_check(id, replace(new, text="改写过的"), visitor_id="browser")
    assert marks(load(database, id).check) == [Verdict.UNCHECKED] * 2, "the check of another text"
    store.save_check(id, new, visitor_id="browser")
    after = store.load(id, visitor_id="browser")
    assert marks(after.messages[-1].check) == [Verdict.SUPPORTED] * 2
    assert after.conversation == before.conversation, "nobody has said anything"


def test_a_growing_answer_is_not_replaced_by_its_check(database: Database) -> None:
    store, id = ConversationStore(database), keep(database, Message("assistant", "早先", id="earlier"))
    store.save(id, Message("assistant", SAID, id="answer"), visitor_id="browser", finished=False)
    store.save_check(id, checked_answer(), visitor_id="browser")
    assert load(database, id).check is None


def test_a_page_that_was_cut_stays_one(database: Database) -> None:
    id, pages = keep(database, checked_answer()), ReadPageStore(database)
    assert not pages.load(id, "answer", visitor_id="browser")[1].is_cut
    pages.save(id, "answer", {1: page(PAGE, is_cut=True)}, visitor_id="browser")
    (stored,) = pages.load(id, "answer", visitor_id="browser").values()
    assert not source_texts(SOURCES[:1], {1: stored})[0].is_full
