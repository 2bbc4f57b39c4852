from __future__ import annotations

import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from secrets import token_hex

import pytest
from sqlalchemy import event, insert, text

from core.answer.events import DAMAGED, UNFINISHED, SearchFinished, TextDelta
from core.answer.message import Message, message_from_run
from core.answer.stored_message import DAMAGED_TEXT
from core.base.errors import InputError
from core.base.text import clean
from core.reading import Page
from core.store import UNDO_SECONDS, ChosenCollection, ConversationStore, Database, ReadPageStore, new_conversation_id
from core.store.backends import PostgresServer, SqliteFile
from core.store.errors import ConversationNotFound, ShareNotFound, StoreError, StoreRejected
from core.store.ids import digest
from core.store.migrations import MIGRATIONS
from core.store.tables import conversations, messages, visits
from support.base import ROOT, loaded
from support.messages import FULL
from support.postgres import Postgres
from support.waiting import Clock, patiently

pytestmark = pytest.mark.xdist_group("postgres")

ME = "me"
HOSTILE = "表情👩‍👧 \x00空\ud800\u202e反\r\n换行\t'; DROP TABLE messages; -- %s {} \\"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """DATABASE_URL of an empty database; blank means SQLite in DATA_DIR."""
    return "" if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()


@pytest.fixture
def open_store(url: str) -> Iterator[Callable[[], ConversationStore]]:
    """Opens the same database again and again, as so many processes would."""
    stores: list[ConversationStore] = []

    def open_one() -> ConversationStore:
        stores.append(ConversationStore.from_settings(loaded(DATABASE_URL=url).values))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


@pytest.fixture
def store(open_store: Callable[[], ConversationStore]) -> ConversationStore:
    return open_store()


def talk(store: ConversationStore, count: int, owner: str | None = None, *, who: str | None = None) -> str:
    """`owner` is an account, `who` a browser; mine, if neither is named."""
    who = who or (None if owner else ME)
    id = store.create(owner, visitor_id=who)
    for number in range(count):
        store.save(id, message(number), visitor_id=owner or who)
    return id


def message(number: int) -> Message:
    return Message("assistant" if number % 2 else "user", f"第 {number} 条", id=f"m{number}")


def texts(store: ConversationStore, id: str) -> list[str]:
    return [message.text for message in store.load(id, last=None, visitor_id=ME).messages]


# ── Keeping and opening ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_conversation_survives_a_restart(open_store: Callable[[], ConversationStore]) -> None:
    first = open_store()
    question = Message("user", "民法典第一千零七十七条说了什么？", id="q")
    id = first.create(mode="agent", visitor_id=ME)
    first.save(id, question, visitor_id=ME)
    first.save(id, FULL, visitor_id=ME)
    first.close()
    page = open_store().load(id, visitor_id=ME)
    assert page.messages == (question, FULL)
    assert [message.created for message in page.messages] == [question.created, FULL.created]
    assert (page.conversation.title, page.conversation.mode) == ("民法典第一千零七十七条说了什么？", "agent")
    assert not page.has_more


def test_ids_cannot_be_guessed(store: ConversationStore) -> None:
    ids = {store.create(visitor_id=ME) for _ in range(20)}
    assert len(ids) == 20
    assert all(re.fullmatch(r"[\w-]{24}", id) for id in ids)  # 24 characters of 6 bits


def test_pages_of_a_long_conversation(store: ConversationStore) -> None:
    id = talk(store, 45)
    seen: list[str] = []
    before = None
    for size, has_more in ((20, True), (20, True), (5, False)):
        page = store.load(id, last=20, before=before, visitor_id=ME)
        assert (len(page.messages), page.has_more) == (size, has_more)
        seen[:0] = [message.id for message in page.messages]
        before = seen[0]
    assert seen == [f"m{number}" for number in range(45)]
    assert store.load(id, before="m0", visitor_id=ME).messages == ()
    assert store.load(id, before="unknown", visitor_id=ME).messages == ()
    assert store.load(id, last=45, visitor_id=ME).has_more is False


def test_the_title_is_the_first_question_shortened(store: ConversationStore) -> None:
    id = store.create(visitor_id=ME)
    store.save(id, Message("user", "很长的\n问题 " * 30), visitor_id=ME)
    store.save(id, Message("user", "第二个问题"), visitor_id=ME)
    title = store.load(id, visitor_id=ME).conversation.title
    assert title.startswith("很长的 问题 很长的")
    assert len(title) in (39, 40)
    assert title.endswith("…")


def test_the_title_follows_a_first_question_that_is_asked_differently(store: ConversationStore) -> None:
    id = store.create(visitor_id=ME)
    store.save(id, Message("note", "已切换到 Agent 模式"), visitor_id=ME)
    for number in (1, 2):
        store.save(id, Message("user", f"第 {number} 个问题", id=f"q{number}"), visitor_id=ME)
    store.truncate_from(id, "q2", visitor_id=ME)
    assert store.load(id, visitor_id=ME).conversation.title == "第 1 个问题"
    store.truncate_from(id, "q1", visitor_id=ME)
    assert store.load(id, visitor_id=ME).conversation.title == ""
    store.save(id, Message("user", "改过的问题", id="q3"), visitor_id=ME)
    assert store.load(id, visitor_id=ME).conversation.title == "改过的问题"
    store.rename(id, "自己起的标题", visitor_id=ME)
    store.truncate_from(id, "q3", visitor_id=ME)
    assert store.load(id, visitor_id=ME).conversation.title == "自己起的标题"


def test_recent_conversations_the_latest_first(url: str) -> None:
    clock = Clock()
    store = ConversationStore(Database.from_settings(loaded(DATABASE_URL=url).values), clock=clock)
    ids = []
    for _ in range(4):
        clock.pass_(1)
        ids.append(talk(store, 1, "alice"))
    store.create("alice")  # nothing was said in it
    clock.pass_(1)
    store.save(ids[0], Message("user", "又问"), visitor_id="alice")
    assert [entry.id for entry in store.list_conversations("alice")] == [ids[0], ids[3], ids[2], ids[1]]
    assert [entry.id for entry in store.list_conversations("alice", limit=2)] == [ids[0], ids[3]]
    store.close()


def test_rename_mode_and_delete(store: ConversationStore) -> None:
    id = talk(store, 2, "alice")
    store.rename(id, "  新\n标题  ", visitor_id="alice")
    store.set_mode(id, "agent", visitor_id="alice")
    store.save(id, Message("user", "不改标题"), visitor_id="alice")
    found = store.load(id, visitor_id="alice").conversation
    assert (found.title, found.mode) == ("新 标题", "agent")
    with pytest.raises(InputError, match="标题"):
        store.rename(id, " \u200b ", visitor_id="alice")
    store.delete(id, visitor_id="alice")
    assert store.list_conversations("alice") == ()
    for act in (store.load, store.delete):
        with pytest.raises(ConversationNotFound):
            act(id, visitor_id="alice")
    with pytest.raises(ConversationNotFound):
        store.save(id, message(0), visitor_id="alice")


def test_the_chosen_collections_are_kept_and_nobody_elses_business(store: ConversationStore) -> None:
    id = talk(store, 2, "alice")
    chosen = (ChosenCollection("k", "合同"), ChosenCollection("n", '带"引号\ud800的'))
    store.set_collections(id, chosen, visitor_id="alice")
    kept = store.load(id, visitor_id="alice").conversation.collections
    assert [(one.id, one.name) for one in kept] == [("k", "合同"), ("n", clean('带"引号\ud800的'))]
    assert store.list_conversations("alice")[0].collections == kept
    share = store.share(id, visitor_id="alice")
    assert store.load(id, visitor_id="bob", share=share).conversation.collections == ()
    copy = store.copy(id, visitor_id="bob", share=share)
    assert store.load(copy, visitor_id="bob").conversation.collections == ()
    store.set_collections(id, (), visitor_id="alice")
    assert store.load(id, visitor_id="alice").conversation.collections == ()


def test_asking_again_removes_what_came_after(store: ConversationStore) -> None:
    id, other = talk(store, 6), talk(store, 6)
    store.truncate_from(id, "m3", visitor_id=ME)
    store.save(id, Message("user", "换个问法"), visitor_id=ME)
    assert texts(store, id) == ["第 0 条", "第 1 条", "第 2 条", "换个问法"]
    assert len(texts(store, other)) == 6
    store.truncate_from(id, "unknown", visitor_id=ME)
    assert len(texts(store, id)) == 4


# ── A growing answer ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_growing_answer_stays_one_message(store: ConversationStore) -> None:
    id = talk(store, 1)
    events = [TextDelta("一"), TextDelta("二"), TextDelta("三")]
    for count in (1, 2, 3):
        store.save(id, message_from_run(events[:count], seconds=count, id="run"), finished=False, visitor_id=ME)
    interrupted = store.load(id, visitor_id=ME).messages[-1]
    assert (interrupted.text, interrupted.seconds, interrupted.notices) == ("一二三", 3, (UNFINISHED,))
    store.save(id, replace(FULL, id="run"), visitor_id=ME)
    assert store.load(id, visitor_id=ME).messages[1:] == (replace(FULL, id="run"),)


def test_an_answer_that_was_cut_off_still_has_what_it_cites(store: ConversationStore) -> None:
    id = talk(store, 1)
    found = [event for event in FULL.events if isinstance(event, SearchFinished)]
    growing = message_from_run([*found, TextDelta("一[1]。二")], seconds=1, id="run", is_growing=True)
    assert growing.cited == ()
    store.save(id, growing, finished=False, visitor_id=ME)
    interrupted = store.load(id, visitor_id=ME).messages[-1]
    assert [source.number for source in interrupted.cited] == [1]


def test_a_save_that_comes_late_does_not_undo_the_finished_answer(store: ConversationStore) -> None:
    id = talk(store, 2)
    store.save(id, replace(message(1), text="半句"), finished=False, visitor_id=ME)
    assert texts(store, id) == ["第 0 条", "第 1 条"]
    store.save(id, replace(message(1), text="改过"), visitor_id=ME)
    assert texts(store, id) == ["第 0 条", "改过"]


# ── Whose it is ───────────────────────────────────────────────────────────────────────────────────────────────────


def every_way_in(store: ConversationStore, id: str, owner: str | None) -> Iterator[Callable[[], object]]:
    yield lambda: store.load(id, visitor_id=owner)
    yield lambda: store.save(id, message(9), visitor_id=owner)
    yield lambda: store.rename(id, "我的", visitor_id=owner)
    yield lambda: store.set_mode(id, "agent", visitor_id=owner)
    yield lambda: store.truncate_from(id, "m0", visitor_id=owner)
    yield lambda: store.delete(id, visitor_id=owner)
    yield lambda: store.share(id, visitor_id=owner)
    yield lambda: store.stop_sharing(id, visitor_id=owner)


@pytest.mark.parametrize("stranger", [None, "", "bob", "alice ", "ALICE", "alice\x00"])
def test_a_conversation_with_an_owner_is_closed_to_others(store: ConversationStore, stranger: str | None) -> None:
    id = talk(store, 2, "alice")
    unknown = "A" * 24
    for foreign, missing in zip(every_way_in(store, id, stranger), every_way_in(store, unknown, stranger), strict=True):
        with pytest.raises(ConversationNotFound) as refused:
            foreign()
        with pytest.raises(ConversationNotFound) as absent:
            missing()
        assert str(refused.value) == str(absent.value)
    assert store.list_conversations(stranger) == ()
    assert len(store.load(id, visitor_id="alice").messages) == 2
    assert [entry.id for entry in store.list_conversations("alice")] == [id]


def test_without_an_owner_it_is_the_browsers_that_began_it(store: ConversationStore) -> None:
    id = talk(store, 2, who="browser")
    mine = talk(store, 1, "alice")
    assert [entry.id for entry in store.list_conversations("browser")] == [id]
    assert [entry.id for entry in store.list_conversations("alice")] == [mine]
    assert store.list_conversations("another") == store.list_conversations("") == store.list_conversations(None) == ()
    assert store.load(id, visitor_id="browser").may_change


@pytest.mark.parametrize("reader", [None, "", "another", "alice", "browser ", "BROWSER", digest("browser")])
def test_who_did_not_begin_it_gets_in_by_no_way(store: ConversationStore, reader: str | None) -> None:
    id, unknown = talk(store, 2, who="browser"), "A" * 24
    store.save(id, Message("assistant", "还在写", id="run"), visitor_id="browser", finished=False)
    before = store.load(id, visitor_id="browser")
    growing = Message("assistant", "改了", id="run")
    theirs, missing = list(every_way_in(store, id, reader)), list(every_way_in(store, unknown, reader))
    for ways, other in ((theirs, id), (missing, unknown)):
        ways.append(partial(store.save, other, growing, visitor_id=reader, finished=False))
        ways.append(partial(store.copy, other, visitor_id=reader))
        ways.append(partial(store.newest_texts, other, visitor_id=reader))
        ways.append(partial(ReadPageStore(store._database).load, other, "run", visitor_id=reader))
    *theirs, pages = theirs
    *missing, _ = missing
    assert pages() == {}
    for act, miss in zip(theirs, missing, strict=True):
        with pytest.raises(ConversationNotFound, match="没有分享给你") as refused:
            act()
        with pytest.raises(ConversationNotFound) as absent:
            miss()
        assert str(refused.value) == str(absent.value)
    assert found(store, "第", reader or "") == []
    assert store.load(id, visitor_id="browser") == before


def test_what_is_in_nobodys_list_is_open_to_nobody(store: ConversationStore) -> None:
    """Begun without a name, or before there were lists: it had been open to whoever has its id."""
    id = store.create()
    for who in (None, "", "browser"):
        for act in every_way_in(store, id, who):
            with pytest.raises(ConversationNotFound):
                act()


def test_what_several_had_in_their_lists_stays_with_all_of_them(store: ConversationStore) -> None:
    """Until version 7 opening it was enough."""
    id = talk(store, 1, who="browser")
    with store._database.write() as connection:
        connection.execute(insert(visits).values(visitor=digest("another"), conversation_id=id))
    for who in ("browser", "another"):
        store.save(id, Message("user", "又问"), visitor_id=who)
        assert [entry.id for entry in store.list_conversations(who)] == [id]
    with pytest.raises(ConversationNotFound):
        store.rename(id, "我的", visitor_id="third")


def test_to_create_it_twice_lists_it_once(store: ConversationStore) -> None:
    id = new_conversation_id()
    for _ in range(2):
        store.create(visitor_id=HOSTILE, id=id)
    store.save(id, message(0), visitor_id=HOSTILE)
    assert [entry.id for entry in store.list_conversations(HOSTILE)] == [id]


@pytest.mark.parametrize(
    "id", ["", "x", "A" * 23, "A" * 25, "A" * 24 + "\n", "\x00" * 24, "\ud800" * 24, "Ａ" * 24, "' OR 1=1 --"]
)
def test_no_address_that_somebody_types_raises_anything_else(store: ConversationStore, id: str) -> None:
    for act in every_way_in(store, id, None):
        with pytest.raises(ConversationNotFound):
            act()


# ── Deleted and brought back ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def timed(url: str) -> Iterator[tuple[ConversationStore, Clock]]:
    clock = Clock()
    store = ConversationStore(Database.from_settings(loaded(DATABASE_URL=url).values), clock=clock)
    yield store, clock
    store.close()


def test_what_was_deleted_is_gone_for_everybody_and_comes_back_whole(timed: tuple[ConversationStore, Clock]) -> None:
    store, clock = timed
    id, other = talk(store, 3, who="browser"), talk(store, 1, who="browser")
    share = store.share(id, visitor_id="browser")
    before = store.load(id, visitor_id="browser")
    store.delete(id, visitor_id="browser")
    assert [entry.id for entry in store.list_conversations("browser")] == [other]
    for who in ("browser", "another"):
        for act in every_way_in(store, id, who):
            with pytest.raises(ConversationNotFound):
                act()
    with pytest.raises(ConversationNotFound):
        store.save(id, Message("user", "又问"), visitor_id="browser")
    with pytest.raises(ShareNotFound):
        store.find_shared(share)
    with pytest.raises(ConversationNotFound):
        store.copy(id, visitor_id="another", share=share)
    with pytest.raises(ConversationNotFound):
        store.restore(id, visitor_id="another")
    clock.pass_(UNDO_SECONDS - 1)
    store.restore(id, visitor_id="browser")
    assert store.load(id, visitor_id="browser") == before
    assert store.find_shared(share) == id


@pytest.mark.parametrize("sign", ["another is begun", "another is deleted"])
def test_after_half_an_hour_it_is_gone_for_good(timed: tuple[ConversationStore, Clock], sign: str) -> None:
    store, clock = timed
    id, other = talk(store, 3, who="browser"), talk(store, 1, who="browser")
    store.delete(id, visitor_id="browser")
    clock.pass_(UNDO_SECONDS + 1)
    if sign == "another is begun":
        store.create(visitor_id="browser")
    else:
        store.delete(other, visitor_id="browser")
    with pytest.raises(ConversationNotFound):
        store.restore(id, visitor_id="browser")
    with store._database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM messages")).scalar() == 1


def test_to_rename_does_not_move_it_in_the_list(timed: tuple[ConversationStore, Clock]) -> None:
    store, clock = timed
    first = talk(store, 1, who="browser")
    clock.pass_(1)
    second = talk(store, 1, who="browser")
    clock.pass_(1)
    store.rename(first, "新标题", visitor_id="browser")
    store.share(first, visitor_id="browser")
    store.delete(first, visitor_id="browser")
    store.restore(first, visitor_id="browser")
    assert [entry.id for entry in store.list_conversations("browser")] == [second, first]


# ── Shared and copied ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("owner", [None, "alice"])
def test_a_share_opens_it_for_reading_until_it_is_withdrawn(store: ConversationStore, owner: str | None) -> None:
    id, who = talk(store, 2, owner, who="browser"), owner or "browser"
    share = store.share(id, visitor_id=who)
    assert re.fullmatch(r"[\w-]{24}", share)
    assert share != id
    assert store.share(id, visitor_id=who) == share, "the same until it is withdrawn"
    assert [entry.share for entry in store.list_conversations(who)] == [share]
    assert store.find_shared(share) == id
    page = store.load(id, visitor_id="another", share=share)
    assert (len(page.messages), page.may_change) == (2, False)
    with pytest.raises(ConversationNotFound):
        store.save(id, message(5), visitor_id="another")
    store.stop_sharing(id, visitor_id=who)
    with pytest.raises(ShareNotFound, match="失效"):
        store.find_shared(share)
    with pytest.raises(ConversationNotFound):
        store.load(id, visitor_id="another", share=share)
    assert store.share(id, visitor_id=who) != share, "what was withdrawn never opens again"


@pytest.mark.parametrize("share", ["", "x", "A" * 24, "\x00" * 24, "\ud800" * 24, "%" * 24, "' OR 1=1 --"])
def test_an_invented_share_opens_nothing(store: ConversationStore, share: str) -> None:
    id = talk(store, 1, "alice")
    with pytest.raises(ShareNotFound):
        store.find_shared(share)
    with pytest.raises(ConversationNotFound):
        store.load(id, visitor_id="another", share=share)


@pytest.mark.parametrize("owner", [None, "bob"])
def test_a_copy_has_everything_and_is_the_readers_own(store: ConversationStore, owner: str | None) -> None:
    id, who = talk(store, 3, "alice"), owner or "browser"
    pages = ReadPageStore(store._database)
    read = Page("https://a.example/", "https://a.example/", "标题", "正文", None, "html", datetime.now(UTC), 0, False)
    pages.save(id, "m1", {1: read}, visitor_id="alice")
    with pytest.raises(ConversationNotFound):
        store.copy(id, visitor_id=who, owner=owner)
    copy = store.copy(id, visitor_id=who, owner=owner, share=store.share(id, visitor_id="alice"))
    store.save(copy, Message("user", "接着问"), visitor_id=who)
    assert [message.text for message in store.load(copy, visitor_id=who).messages] == [
        "第 0 条",
        "第 1 条",
        "第 2 条",
        "接着问",
    ]
    assert pages.load(copy, "m1", visitor_id=who)[1].text == "正文"
    assert [(entry.id, entry.title, entry.share) for entry in store.list_conversations(who)] == [(copy, "第 0 条", "")]
    assert len(store.load(id, visitor_id="alice").messages) == 3
    assert [entry.id for entry in store.list_conversations("alice")] == [id]


# ── Found again ───────────────────────────────────────────────────────────────────────────────────────────────────


def found(store: ConversationStore, words: str, who: str = "browser") -> list[str]:
    return sorted(entry.title for entry in store.list_conversations(who, words=words))


@pytest.fixture
def library(store: ConversationStore) -> ConversationStore:
    for question, answer in (
        ("离婚冷静期", "自收到申请之日起三十日内 [1]。"),
        ("固態電池", "能量密度約 400 Wh/kg，QuantumScape 量產時間未定。"),
        ("百分比", "增长 100%，下划线 a_b，反斜杠 c\\d，方括号 [x]，星号 *，问号？^尖"),
    ):
        id = store.create(visitor_id="browser")
        store.save(id, Message("user", question), visitor_id="browser")
        store.save(id, Message("assistant", answer), visitor_id="browser")
    other = store.create(visitor_id="another")
    store.save(other, Message("user", "离婚冷静期 别人的"), visitor_id="another")
    return store


@pytest.mark.parametrize(
    ("words", "title"),
    [
        *(("冷静期", "离婚冷静期"), ("三十日", "离婚冷静期"), ("離婚", "离婚冷静期"), ("离婚 申请", "离婚冷静期")),
        *(("固态电池", "固態電池"), ("固態", "固態電池"), ("密度约", "固態電池"), ("量产", "固態電池")),
        *(
            ("quantumscape", "固態電池"),
            ("QUANTUM", "固態電池"),
            ("ｑｕａｎｔｕｍ", "固態電池"),
            ("４００", "固態電池"),
        ),
        *(
            ("100%", "百分比"),
            ("a_b", "百分比"),
            ("c\\d", "百分比"),
            ("[x]", "百分比"),
            ("*", "百分比"),
            ("？^", "百分比"),
        ),
        *(("?", "百分比"), ("^", "百分比"), ("％", "百分比"), ("］，", "百分比"), ("  百分比\n", "百分比")),
    ],
)
def test_words_are_found_in_titles_and_in_what_was_said(library: ConversationStore, words: str, title: str) -> None:
    assert found(library, words) == [title]


@pytest.mark.parametrize(
    "words",
    ["没有", "离婚 电池", "%", "_", ".*", "a.b", "[a-z]", "\\", "' OR 1=1 --", "100_", "三十日*", HOSTILE, "长" * 9000],
)
def test_nothing_else_is_found_and_no_sign_is_a_pattern(library: ConversationStore, words: str) -> None:
    assert found(library, words) == (["百分比"] if words in {"%", "_", "\\"} else [])


def test_a_damaged_text_does_not_end_the_search(sqlite: ConversationStore) -> None:
    id = talk(sqlite, 3, who="browser")
    with closing(sqlite3.connect(database_file(), isolation_level=None)) as other:
        other.execute("UPDATE messages SET text = CAST(x'ff41' AS TEXT) WHERE id = 'm0'")
        other.execute("UPDATE messages SET text = x'00' WHERE id = 'm1'")
    assert [entry.id for entry in sqlite.list_conversations("browser", words="第 2")] == [id]


def test_the_list_is_one_query_and_a_thousand_are_searched_in_one(store: ConversationStore) -> None:
    with store._database.write() as connection:
        for number in range(1000):
            id = f"{number:024}"
            row = {"id": id, "title": f"对话 {number}", "mode": "chat", "created": number, "updated": number}
            connection.execute(insert(conversations).values(row))
            connection.execute(insert(visits).values(visitor=digest("browser"), conversation_id=id))
            said = {
                "role": "assistant",
                "payload": "{}",
                "finished": True,
                "created": 0,
                "text": f"{'字' * 500}{number}号",
            }
            connection.execute(insert(messages).values(conversation_id=id, position=1, id="a", **said))
    queries: list[str] = []
    event.listen(
        store._database._open_engine(), "before_cursor_execute", lambda *call: queries.append(str(call[2])), named=False
    )
    assert [entry.title for entry in store.list_conversations("browser", limit=16)][::15] == ["对话 999", "对话 984"]
    assert len(store.list_conversations("browser", limit=2000)) == 1000
    assert found(store, "字517号") == ["对话 517"]
    assert len([query for query in queries if "conversations" in query]) == 3


# ── Whatever is typed ─────────────────────────────────────────────────────────────────────────────────────────────


def test_hostile_text_is_cleaned_and_kept(store: ConversationStore) -> None:
    id = store.create(HOSTILE, mode=HOSTILE)
    sent = Message("user", HOSTILE, id=HOSTILE, model=HOSTILE)
    store.save(id, sent, visitor_id=HOSTILE)
    store.save(id, replace(sent, text=HOSTILE * 2), visitor_id=HOSTILE)
    store.rename(id, HOSTILE, visitor_id=HOSTILE)
    page = store.load(id, visitor_id=HOSTILE)
    assert [message.text for message in page.messages] == [clean(HOSTILE * 2)]
    assert "👩‍👧" in page.conversation.title
    store.truncate_from(id, HOSTILE, visitor_id=HOSTILE)
    assert store.load(id, visitor_id=HOSTILE).messages == ()


def test_a_megabyte_is_kept(store: ConversationStore) -> None:
    long = "长👍" * 500_000
    id = store.create(visitor_id=ME)
    store.save(id, Message("user", long), visitor_id=ME)
    assert texts(store, id) == [long]


# ── Speed ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def filled(store: ConversationStore, count: int) -> str:
    """Without a transaction for each message."""
    id = talk(store, 1)
    copy = "INSERT INTO messages SELECT conversation_id, :n, :id, role, text, payload, finished, created, pairs FROM messages"
    with store._database.write() as connection:
        for number in range(2, count + 1):
            connection.execute(
                text(f"{copy} WHERE conversation_id = :c AND position = 1"), {"n": number, "id": f"m{number}", "c": id}
            )
    return id


@pytest.mark.parametrize("page_of", ["newest", "older"])
def test_a_long_conversation_takes_as_many_queries_and_rows(store: ConversationStore, page_of: str) -> None:
    fetched: list[int] = []
    short, long = filled(store, 21), filled(store, 1000)

    @event.listens_for(store._database._open_engine(), "after_cursor_execute")
    def count(_connection: object, cursor: object, *_: object) -> None:
        fetched.append(getattr(cursor, "rowcount", -1))

    before = {short: "m21", long: "m1000"} if page_of == "older" else {}
    costs = []
    for id in (short, long):
        fetched.clear()
        assert len(store.load(id, before=before.get(id), visitor_id=ME).messages) == 20
        costs.append(list(fetched))
    assert len(costs[0]) == len(costs[1]) <= 4
    assert all(abs(one - other) <= 1 for one, other in zip(*costs, strict=True))


def test_sqlite_does_as_much_work_for_a_long_conversation() -> None:
    store = ConversationStore.from_settings(loaded().values)
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1

    def work(id: str) -> int:
        nonlocal steps
        store.load(id, visitor_id=ME)
        with store._database.read() as connection:
            connection.connection.driver_connection.set_progress_handler(step, 1)  # type: ignore[union-attr]
        steps = 0
        store.load(id, visitor_id=ME)
        return steps

    short, long = work(filled(store, 21)), work(filled(store, 1000))
    store.close()
    assert short > 100
    assert long <= short * 1.1


# ── Several at once ───────────────────────────────────────────────────────────────────────────────────────────────

WRITER = """
import sys
sys.path.insert(0, "tests")
from core.answer.message import Message
from core.base.settings import load_settings
from core.store import ConversationStore
from support.waiting import patiently
store = ConversationStore.from_settings(load_settings(sections=()).values)
name, count, id = sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else patiently(lambda: store.create(visitor_id="me"))
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    message = Message("user", f"{name} {number} " + "字" * 2000, id=f"{name}{number}")
    patiently(lambda: store.save(id, message, visitor_id="me"))
    print(number, flush=True)
"""


def writer(url: str, *arguments: object) -> subprocess.Popen[str]:
    environment = {"DATA_DIR": os.environ["DATA_DIR"], "DATABASE_URL": url, "PATH": os.environ["PATH"]}
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, *map(str, arguments)],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def told(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("go\n")
    process.stdin.flush()


def test_two_processes_write_to_one_conversation(store: ConversationStore, url: str) -> None:
    id = store.create(visitor_id=ME)
    writers = [writer(url, name, 40, id) for name in "ab"]
    for process in writers:
        assert told(process) == "ready"
    for process in writers:
        begin(process)
    for process in writers:
        errors = process.communicate(timeout=60)[1]
        assert process.returncode == 0, errors
    found = [message.id for message in store.load(id, last=None, visitor_id=ME).messages]
    for name in "ab":
        assert [id for id in found if id.startswith(name)] == [f"{name}{number}" for number in range(40)]
    assert len(found) == 80


def test_two_processes_start_on_an_empty_database(open_store: Callable[[], ConversationStore], url: str) -> None:
    starting = [writer(url, name, 1) for name in "ab"]
    for process in starting:
        out, errors = process.communicate("go\n", timeout=60)
        assert out == "ready\n0\n", errors
    with open_store()._database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM conversations")).scalar() == 2
        assert connection.execute(text("SELECT count(*) FROM schema_version")).scalar() == len(MIGRATIONS)


def test_many_threads_start_at_once(url: str) -> None:
    """Closer together than processes can be: every one has a Database of its own."""
    together = threading.Barrier(6)
    troubles: list[Exception] = []

    def start() -> None:
        store = ConversationStore.from_settings(loaded(DATABASE_URL=url).values)
        together.wait()
        try:
            patiently(lambda: talk(store, 2))
        except Exception as error:
            troubles.append(error)
        finally:
            store.close()

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == []


def test_threads_share_a_store(store: ConversationStore) -> None:
    id = store.create(visitor_id=ME)
    save = partial(store.save, id, visitor_id=ME)
    threads = [threading.Thread(target=save, args=(message(number),)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store._database.read() as connection:
        positions = connection.execute(text("SELECT position FROM messages ORDER BY position")).scalars().all()
    assert len(set(positions)) == 20


def test_a_killed_process_loses_at_most_what_it_was_writing(store: ConversationStore, url: str) -> None:
    id = store.create(visitor_id=ME)
    process = writer(url, "k", 100_000, id)
    assert told(process) == "ready"
    begin(process)
    while int(told(process)) < 30:
        pass
    process.send_signal(signal.SIGKILL)
    # Not communicate(): it passes over what readline has already taken into its buffer.
    assert process.stdout is not None
    acknowledged = 31 + len(process.stdout.read().split())
    process.wait(timeout=60)
    kept = [message.id for message in store.load(id, last=None, visitor_id=ME).messages]
    assert kept == [f"k{number}" for number in range(len(kept))]
    assert acknowledged <= len(kept) <= acknowledged + 1
    store.save(id, message(0), visitor_id=ME)
    assert texts(store, id)[-1] == "第 0 条"


# ── Trouble ───────────────────────────────────────────────────────────────────────────────────────────────────────


def database_file() -> Path:
    return Path(os.environ["DATA_DIR"]) / "database" / "wenyuan.sqlite3"


@pytest.fixture
def sqlite() -> Iterator[ConversationStore]:
    store = ConversationStore.from_settings(loaded().values)
    yield store
    store.close()


def test_only_this_user_can_read_the_file(sqlite: ConversationStore) -> None:
    previous = os.umask(0)
    try:
        talk(sqlite, 1)
    finally:
        os.umask(previous)
    files = list(database_file().parent.iterdir())
    assert {file.name for file in files} >= {"wenyuan.sqlite3", "wenyuan.sqlite3-wal"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(database_file().parent.stat().st_mode) == 0o700


def test_nothing_is_opened_before_it_is_needed() -> None:
    ConversationStore.from_settings(loaded().values).close()
    assert not database_file().exists()


@pytest.mark.parametrize("damage", ["garbage", "torn pages"])
def test_a_corrupt_file_is_set_aside(damage: str, sqlite: ConversationStore, caplog: pytest.LogCaptureFixture) -> None:
    filled(sqlite, 500)
    sqlite.close()
    whole = database_file().read_bytes()
    broken = b"not a database" * 1000 if damage == "garbage" else whole[:4096] + b"\xa5" * (len(whole) - 4096)
    database_file().write_bytes(broken)
    with pytest.raises(StoreError, match="损坏"):
        talk(sqlite, 1)
    aside = next(database_file().parent.glob("*.broken-*"))
    assert aside.read_bytes() == broken
    assert any(record.levelname == "ERROR" and str(aside) in record.message for record in caplog.records)
    assert len(texts(sqlite, talk(sqlite, 3))) == 3
    assert stat.S_IMODE(database_file().stat().st_mode) == 0o600
    assert aside.name in sqlite._database.damage_note
    assert ".recover" in sqlite._database.damage_note
    aside.rename(aside.with_name("moved-away"))
    sqlite.close()
    talk(sqlite, 1)
    assert sqlite._database.damage_note == ""


def test_a_corrupt_file_that_cannot_be_moved_is_left_and_said(
    sqlite: ConversationStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    talk(sqlite, 1)
    sqlite.close()
    broken = b"not a database" * 1000
    database_file().write_bytes(broken)

    def refused(*_: object) -> None:
        raise PermissionError("the folder belongs to somebody else")

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(StoreError) as caught:
        talk(sqlite, 1)
    assert "重新建立" not in str(caught.value)
    assert database_file().read_bytes() == broken
    assert "cannot be moved" in caplog.text


def test_what_the_database_itself_refuses_is_told_apart_from_trouble(
    sqlite: ConversationStore, caplog: pytest.LogCaptureFixture
) -> None:
    id = talk(sqlite, 1)
    with closing(sqlite3.connect(database_file(), isolation_level=None)) as other:
        other.execute("CREATE TRIGGER no BEFORE INSERT ON messages BEGIN SELECT RAISE(ABORT, 'no more'); END")
    with pytest.raises(StoreRejected):
        sqlite.save(id, Message("user", "不该进日志的话"), visitor_id=ME)
    assert "refuses what it was given" in caplog.text
    assert "不该进日志的话" not in caplog.text
    assert len(texts(sqlite, id)) == 1


def test_another_process_that_finds_the_same_corruption_leaves_the_new_file_alone(sqlite: ConversationStore) -> None:
    late = ConversationStore.from_settings(loaded().values)
    id = filled(sqlite, 500)
    late.load(id, visitor_id=ME)
    with closing(sqlite3.connect(database_file(), isolation_level=None)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with database_file().open("r+b") as file:
        file.write(b"\xa5" * database_file().stat().st_size)
    sqlite.close()
    with pytest.raises(StoreError, match="损坏"):
        sqlite.load(id, visitor_id=ME)
    kept = talk(sqlite, 2)
    with pytest.raises(StoreError, match="损坏"):
        late.load(id, last=None, visitor_id=ME)
    assert len(texts(late, kept)) == 2
    assert len(list(database_file().parent.glob("*.broken-*[0-9]"))) == 1
    late.close()


def test_a_locked_file_is_waited_for_a_second_and_no_longer(sqlite: ConversationStore) -> None:
    id = talk(sqlite, 1)
    with closing(sqlite3.connect(database_file(), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        with pytest.raises(StoreError, match="正忙"):
            sqlite.save(id, message(1), visitor_id=ME)
        assert 0.5 < time.monotonic() - started < 10
        assert len(texts(sqlite, id)) == 1, "reading goes on"
    sqlite.save(id, message(1), visitor_id=ME)
    assert len(texts(sqlite, id)) == 2


def test_a_file_that_another_process_is_just_preparing_can_be_opened(sqlite: ConversationStore) -> None:
    """Switching a file to WAL while another connection writes fails at once, whatever the timeout."""
    id = talk(sqlite, 1)
    sqlite.close()
    with closing(sqlite3.connect(database_file(), isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN IMMEDIATE")
        assert len(texts(sqlite, id)) == 1


def test_a_full_disk_is_one_store_error(sqlite: ConversationStore) -> None:
    id = talk(sqlite, 1)
    with sqlite._database.read() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    event.listen(
        sqlite._database._open_engine(),
        "checkout",
        lambda connection, *_: connection.execute(f"PRAGMA max_page_count = {pages + 2}"),
    )
    with pytest.raises(StoreError) as full:
        sqlite.save(id, Message("user", f"字{token_hex(50_000)}"), visitor_id=ME)  # what cannot be compressed
    assert str(full.value).startswith("保存对话的磁盘已满。")
    assert "请管理员检查数据目录的空间" in str(full.value)
    assert "字" not in str(full.value.__cause__), "what people write does not belong into logs"
    assert len(texts(sqlite, id)) == 1
    sqlite.save(id, message(1), visitor_id=ME)
    assert len(texts(sqlite, id)) == 2


def test_a_folder_that_cannot_be_made_is_one_store_error() -> None:
    Path(os.environ["DATA_DIR"], "database").write_text("a file where the folder should be")
    clock = Clock()
    database = Database(SqliteFile(database_file()), clock=clock)
    store = ConversationStore(database)
    for _ in range(2):
        with pytest.raises(StoreError):
            store.create(visitor_id=ME)
    Path(os.environ["DATA_DIR"], "database").unlink()
    with pytest.raises(StoreError):
        store.create(visitor_id=ME)  # not tried again so soon
    clock.pass_(database.PAUSE_SECONDS)
    talk(store, 1)
    store.close()


def test_a_damaged_row_is_a_readable_message(sqlite: ConversationStore) -> None:
    id = talk(sqlite, 3)
    with closing(sqlite3.connect(database_file(), isolation_level=None)) as other:
        other.execute("UPDATE messages SET payload = '{', text = CAST(x'ff41' AS TEXT) WHERE id = 'm0'")
        other.execute("UPDATE messages SET payload = x'00ff', text = x'00', created = 'then' WHERE id = 'm1'")
    page = sqlite.load(id, visitor_id=ME)
    assert [message.text for message in page.messages] == ["\ufffdA", DAMAGED_TEXT, "第 2 条"]
    assert page.messages[0].notices == page.messages[1].notices == (DAMAGED,)


@pytest.mark.parametrize("url", ["mysql://a/b", "postgresql+asyncpg://a/b", "nonsense", "sqlite:///x"])
def test_an_address_of_another_kind_is_said_and_the_embedded_database_serves(url: str) -> None:
    found = loaded(DATABASE_URL=url)
    assert [problem.key for problem in found.problems] == ["DATABASE_URL"]
    store = ConversationStore.from_settings(found.values)
    assert store.create(visitor_id=ME)
    store.close()


def test_a_server_that_goes_away_and_comes_back(postgres: Postgres) -> None:
    clock = Clock()
    database = Database(PostgresServer(postgres.new_database()), clock=clock)
    store = ConversationStore(database)
    id = talk(store, 1)
    postgres.stop()
    try:
        with pytest.raises(StoreError, match="对话数据库"):
            store.save(id, message(1), visitor_id=ME)
        started = time.monotonic()
        with pytest.raises(StoreError):
            store.load(id, visitor_id=ME)
        assert time.monotonic() - started < 10
    finally:
        postgres.start()
    clock.pass_(database.PAUSE_SECONDS)
    store.save(id, message(1), visitor_id=ME)
    assert len(texts(store, id)) == 2
    store.close()


def test_connections_that_the_server_has_cut_are_replaced(postgres: Postgres) -> None:
    store = ConversationStore(Database(PostgresServer(postgres.new_database())))
    id = talk(store, 1)
    postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'wenyuan'")
    store.save(id, message(1), visitor_id=ME)
    assert len(texts(store, id)) == 2
    store.close()


def test_a_locked_conversation_is_waited_for_a_second(postgres: Postgres) -> None:
    database = Database(PostgresServer(postgres.new_database()))
    store = ConversationStore(database)
    id = talk(store, 1)
    with database.write() as connection:
        connection.execute(text("SELECT 1 FROM conversations FOR UPDATE"))
        started = time.monotonic()
        with pytest.raises(StoreError, match="正忙"):
            store.save(id, message(1), visitor_id=ME)
        assert 0.5 < time.monotonic() - started < 10
    store.save(id, message(1), visitor_id=ME)
    store.close()


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_the_shorter_spellings_of_the_address_work(postgres: Postgres, scheme: str) -> None:
    url = postgres.new_database().replace("postgresql+psycopg", scheme)
    store = ConversationStore.from_settings(loaded(DATABASE_URL=url).values)
    assert len(texts(store, talk(store, 2))) == 2
    store.close()


def test_only_the_stores_know_the_database() -> None:
    users = {
        path.relative_to(ROOT).parts[:2]
        for path in (ROOT / "core").rglob("*.py")
        if re.search(r"^\s*(?:import|from) (?:sqlalchemy|psycopg)\b", path.read_text("utf-8"), re.MULTILINE)
    }
    assert users == {("core", "store"), ("core", "documents")}


def test_no_id_looks_like_an_option_of_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    made = iter(["-Kx", "--y", "a-b"])
    monkeypatch.setattr("secrets.token_urlsafe", lambda _: next(made))
    assert new_conversation_id() == "a-b"
