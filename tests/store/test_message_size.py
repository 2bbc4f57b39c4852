"""What an answer takes in the database."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from sqlalchemy import select, text, update

from bench.checks import written
from bench.load_world import answer
from core.answer import cited_sources
from core.answer.check_texts import source_texts, with_digests
from core.answer.events import DAMAGED, Answer, Checked, PageRead, ReadingStarted, SearchFinished, SearchStarted, Usage
from core.answer.message import Message
from core.answer.stored_message import DAMAGED_TEXT, encode_message
from core.base.compression import MAX_BYTES, compress_text
from core.checks import check_answer
from core.reading import Page
from core.search.types import Attempt, AttemptOutcome, SearchQuery, SearchResponse, SearchResult, Source
from core.store import ConversationStore, Database, ReadPageStore
from core.store.conversations import pack
from core.store.dump import replace_rows
from core.store.tables import messages
from support.base import loaded
from support.messages import FULL
from support.postgres import Postgres

pytestmark = pytest.mark.xdist_group("postgres")

QUESTION = "用人单位没有按时支付劳动报酬，劳动者可以怎么办？"
PAGE = "".join(f"第{n}段：用人单位没有按时足额支付劳动报酬的，劳动者可以向劳动监察部门投诉。\n" for n in range(120))


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    url = "" if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()
    database = Database.from_settings(loaded(DATABASE_URL=url).values)
    yield database
    database.close()


def bench_answer() -> Message:
    """An answer as `make load` has them: 8 kB of text, ten results, five of them sources, one page read, all checked."""
    said = "".join(answer("访客0001"))
    places = [f"http://127.0.0.1:40000/page/568274286/{number}" for number in range(1, 11)]
    snippet = f"关于{QUESTION}的说明。" * 5
    results = tuple(
        SearchResult(f"第 {n} 条结果", url, snippet, "127.0.0.1", None, "searxng", n) for n, url in enumerate(places, 1)
    )
    sources = tuple(Source(n, one.title, one.url, one.snippet, "searxng") for n, one in enumerate(results[:5], 1))
    attempts = (Attempt("searxng", AttemptOutcome.OK, 0.1234),)
    read = Source(1, sources[0].title, sources[0].url, snippet, "searxng", None, "page", len(PAGE))
    found = SearchResponse(SearchQuery(QUESTION), results, attempts, "searxng", search_time=0.1234)
    texts = source_texts((read, *sources[1:]), {1: page_of(PAGE)})
    events = (
        SearchStarted(QUESTION),
        SearchFinished(found, sources),
        ReadingStarted(sources[:1]),
        PageRead(read),
        Checked(with_digests(check_answer(said, texts), texts)),
        Answer(said, cited_sources(said, sources)),
        Usage(2_000, 600),
    )
    return Message("assistant", said, events, cited_sources(said, sources), 10.5, model="bench")


def page_of(text: str) -> Page:
    return Page("", "http://127.0.0.1/", "第 1 条结果", text, None, "html", datetime.now(UTC), 0, is_cut=False)


def keep(database: Database, message: Message) -> str:
    store = ConversationStore(database)
    id = store.create(visitor_id="browser")
    store.save(id, Message("user", QUESTION), visitor_id="browser")
    store.save(id, message, visitor_id="browser")
    ReadPageStore(database).save(id, message.id, {1: page_of(PAGE)}, visitor_id="browser")
    return id


def test_an_answer_takes_little_more_than_its_text(database: Database) -> None:
    message = bench_answer()
    assert 7_500 < len(message.text.encode()) < 9_000
    assert message.check
    assert len(message.check.statements) > 30
    id = keep(database, message)
    assert ConversationStore(database).load(id, visitor_id="browser").messages[1] == message
    with database.read() as connection:
        payload = connection.execute(select(messages.c.payload).where(messages.c.role == "assistant")).scalar_one()
    assert len(payload) <= 3_000, f"{len(payload)} bytes beside {len(message.text.encode())} of text"
    assert [one.id for one in ConversationStore(database).list_conversations("browser", words="期限 30 日")] == [id]


def test_forty_citations_over_ten_pages_take_less_than_four_kilobytes() -> None:
    said, texts = written(40, 10)
    check = with_digests(check_answer(said, texts), texts)
    assert sum(len(statement.citations) for statement in check.statements) >= 30
    bare = Message("assistant", said, (Answer(said),))
    size = len(pack(encode_message(bare.with_check(check)))) - len(pack(encode_message(bare)))
    assert size <= 4_000, f"{size} bytes"


def test_the_file_grows_by_less_than_ten_kilobytes_for_an_answer() -> None:
    database = Database.from_settings(loaded().values)
    sizes = []
    try:
        for count in (1, 20):
            for _ in range(count):
                keep(database, replace(bench_answer(), id=uuid4().hex))
            with database.read() as connection:
                pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
                sizes.append(pages * connection.exec_driver_sql("PRAGMA page_size").scalar_one())
    finally:
        database.close()
    assert sizes[1] - sizes[0] <= 20 * 10_000


def test_a_text_is_found_and_shown_compressed_or_not(database: Database) -> None:
    keep(database, bench_answer())
    other = keep(database, replace(FULL, text=f"三十日。{'问源' * 500}结束"))
    store = ConversationStore(database)
    assert [one.id for one in store.list_conversations("browser", words="结束")] == [other]
    with database.write() as connection:  # as an older program has written it
        if connection.dialect.name == "sqlite":
            (kind,) = connection.exec_driver_sql("SELECT DISTINCT typeof(text) FROM messages WHERE role = 'assistant'")
            assert kind == ("blob",)
        values = {"plain": "早先写下的原文" * 200, "id": other}
        connection.execute(text("UPDATE messages SET text = :plain WHERE conversation_id = :id"), values)
    assert [one.id for one in store.list_conversations("browser", words="写下")] == [other]
    assert store.load(other, visitor_id="browser").messages[1].text == "早先写下的原文" * 200


def test_a_damaged_text_is_told_hides_no_other_and_is_no_obstacle(postgres: Postgres) -> None:
    database = Database.from_settings(loaded().values)
    store = ConversationStore(database)
    id, other = keep(database, bench_answer()), keep(database, FULL)
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE messages SET text = x'789c0102' WHERE conversation_id = ?", (other,))
    assert [one.id for one in store.list_conversations("browser", words="期限")] == [id]

    def is_told(store: ConversationStore) -> bool:
        shown = store.load(other, visitor_id="browser").messages
        return [message.text for message in shown] == [DAMAGED_TEXT] * 2 and DAMAGED in shown[1].notices

    assert is_told(store)
    elsewhere = Database.from_settings(loaded(DATABASE_URL=postgres.new_database()).values)
    replace_rows(elsewhere, database)
    assert [message.text for message in ConversationStore(elsewhere).load(other, visitor_id="browser").messages] == [
        DAMAGED_TEXT
    ] * 2
    elsewhere.close()
    store.truncate_from(other, store.load(other, visitor_id="browser").messages[0].id, visitor_id="browser")
    assert store.load(other, visitor_id="browser").messages == ()
    database.close()


def test_what_an_older_program_kept_is_read_as_it_is(database: Database) -> None:
    id = keep(database, FULL)
    with database.write() as connection:
        plain = update(messages).where(messages.c.id == FULL.id).values(payload=encode_message(FULL))
        connection.execute(plain)
    assert ConversationStore(database).load(id, visitor_id="browser").messages[1] == FULL


def test_what_would_be_too_long_to_be_unpacked_is_kept_as_it_is(database: Database) -> None:
    long = replace(FULL, before="长" * (MAX_BYTES // 3))
    id = keep(database, long)
    assert ConversationStore(database).load(id, visitor_id="browser").messages[1] == long


def test_a_payload_that_expands_without_end_is_a_damaged_message(database: Database) -> None:
    id = keep(database, FULL)
    with database.write() as connection:
        bomb = compress_text(json.dumps({"events": " " * (MAX_BYTES + 1)}))
        connection.execute(text("UPDATE messages SET payload = :bomb"), {"bomb": bomb})
    _question, shown = ConversationStore(database).load(id, visitor_id="browser").messages
    assert shown.text == FULL.text
    assert [notice.kind for notice in shown.notices] == ["damaged"]
