"""The list of conversations, and conversations that are somebody else's."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.message import Message
from core.app import App
from core.store import Conversation, ConversationNotFound
from core.ui import conversation_list, conversation_sync, identity
from core.ui.chat import sidebar_conversations, transcript
from support.base import ROOT
from support.pages import ask, choose, put_back, rerun, serving, values
from support.waiting import until

MINE, YOURS = "m" * 32, "y" * 32
Arrive = Callable[..., AppTest]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    with serving(DATA_DIR=str(tmp_path)) as running:
        yield running


@pytest.fixture
def arrive(monkeypatch: pytest.MonkeyPatch) -> Arrive:
    """A new session of the visitor whose cookie this is."""

    def arrive(mark: str | None, **address: str) -> AppTest:
        monkeypatch.setattr(identity, "visitor", lambda: mark)
        page = AppTest.from_file(str(ROOT / "Home.py"), default_timeout=30)
        for name, value in address.items():
            page.query_params[name] = value
        page.run()
        assert not page.exception
        return page

    return arrive


def talk(app: App, question: str, who: str | None = MINE, *, owner: str | None = None) -> str:
    id = app.store.create(owner, visitor_id=who)
    app.store.save(id, Message("user", question, id="q"), visitor_id=owner or who)
    app.store.save(id, Message("assistant", f"关于{question}的回答", id="a"), visitor_id=owner or who)
    return id


def titles(page: AppTest) -> list[str]:
    return [button.label for button in page.sidebar.button if str(button.key).startswith("open-")]


def said(page: AppTest) -> list[str]:
    return [message.text for message in page.session_state["chat"].messages]


def buttons(page: AppTest) -> set[str]:
    return {button.label for button in page.main.button}


def deleted(app: App, page: AppTest, id: str, *, was_open: bool = False) -> AppTest:
    """As the menu does it, of which AppTest knows nothing."""
    entry = app.store.load(id, visitor_id=MINE).conversation
    app.store.delete(id, visitor_id=MINE)
    page.session_state[conversation_list.DELETED] = [
        conversation_list.DeletedConversation(entry, time.time(), was_open)
    ]
    return rerun(page)


# ── The list ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("hours", "name"),
    [
        (-1, "今天"),
        (0, "今天"),
        (9, "今天"),
        (10, "昨天"),
        (33, "昨天"),
        (34, "近 7 天"),
        (153, "近 7 天"),
        (154, "更早"),
    ],
)
def test_days_are_those_of_the_reader(hours: int, name: str) -> None:
    now = datetime(2026, 3, 5, 9, 30, tzinfo=timezone(timedelta(hours=8)))  # still the fourth in UTC
    then = (now - timedelta(hours=hours)).astimezone(UTC).timestamp()
    assert sidebar_conversations._age_group(now, Conversation("", "", "chat", then, then)) == name


def test_the_sixteenth_is_reachable_and_the_list_is_only_ones_own(app: App, arrive: Arrive) -> None:
    for number in range(16):
        talk(app, f"第 {number} 个")
    talk(app, "别人的", YOURS)
    page = arrive(MINE)
    assert len(titles(page)) == 15
    assert "今天" in values(page.sidebar.caption)
    page.sidebar.button(key="more-conversations").click()
    rerun(page)
    assert len(titles(page)) == 16
    assert not [button for button in page.sidebar.button if button.key == "more-conversations"]
    assert titles(arrive(YOURS)) == ["别人的"]
    assert titles(arrive(None)) == []


def test_what_was_begun_just_now_is_in_the_list_at_once(app: App, arrive: Arrive, tmp_path: Path) -> None:
    app.store.check()
    page = arrive(MINE)
    with closing(sqlite3.connect(tmp_path / "database" / "wenyuan.sqlite3", isolation_level=None)) as backup:
        backup.execute("BEGIN IMMEDIATE")
        ask(page, "刚问的")
        assert titles(page) == ["刚问的"]
        backup.execute("ROLLBACK")
    assert app.outbox.flush(10)
    assert titles(rerun(page)) == ["刚问的"]


def test_the_box_finds_words_in_answers_and_says_when_it_finds_none(app: App, arrive: Arrive) -> None:
    id = talk(app, "甲")
    talk(app, "乙")
    page = arrive(MINE)
    for words, found in (("关于甲的回答", ["甲"]), ("关于", ["乙", "甲"]), ("丙", []), ("", ["乙", "甲"])):
        page.sidebar.text_input(key=sidebar_conversations.SEARCH).set_value(words)
        rerun(page)
        assert titles(page) == found
        assert ("没有找到含有这些字的对话" in values(page.sidebar.caption)) is (not found)
    page.sidebar.button(key=f"open-{id}").click()
    assert said(rerun(page)) == ["甲", "关于甲的回答"]


def test_a_title_is_only_text(app: App, arrive: Arrive) -> None:
    talk(app, "![](http://evil.example/a.png) :red[x]")
    (title,) = titles(arrive(MINE))
    assert title == r"\!\[\]\(http\:" + "\u2060" + r"\/\/evil\.example\/a\.png\) \:red\[x\]"


# ── Deleted ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_one_click_brings_back_what_was_deleted(app: App, arrive: Arrive) -> None:
    id = talk(app, "甲")
    page = deleted(app, arrive(MINE), id)
    assert titles(page) == []
    assert "已删除「甲」" in values(page.sidebar.caption)
    page.sidebar.button(key="undo-deletion").click()
    rerun(page)
    assert titles(page) == ["甲"]
    assert "已删除" not in values(page.sidebar.caption)
    assert said(page) == []


def test_what_was_open_is_open_again(app: App, arrive: Arrive) -> None:
    id = talk(app, "甲")
    page = deleted(app, arrive(MINE), id, was_open=True)
    page.sidebar.button(key="undo-deletion").click()
    assert said(rerun(page)) == ["甲", "关于甲的回答"]


def test_what_cannot_be_brought_back_is_a_sentence(app: App, arrive: Arrive) -> None:
    page = deleted(app, arrive(MINE), talk(app, "甲"))
    with app.database.write() as connection:
        connection.exec_driver_sql("DELETE FROM conversations")
    page.sidebar.button(key="undo-deletion").click()
    assert "已经不存在" in values(rerun(page).toast)


# ── Somebody else's ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("who", [YOURS, None])
@pytest.mark.parametrize("is_theirs", [True, False])
def test_the_address_alone_opens_nothing_and_says_the_same_whether_it_exists(
    app: App, arrive: Arrive, who: str | None, is_theirs: bool
) -> None:
    id = talk(app, "只有我知道的事")
    share = app.store.share(id, visitor_id=MINE)
    page = arrive(who, c=id if is_theirs else "A" * 24, s="" if is_theirs else share)
    (note,) = said(page)
    told = note.removesuffix(conversation_sync.COOKIES_OFF)
    assert told == str(ConversationNotFound())
    assert (told != note) is (who is None)
    assert "只有我知道的事" not in f"{page.main} {page.sidebar}"
    assert titles(page) == []
    assert dict(page.query_params) == {}
    assert not buttons(page) & {"复制为我的对话", "导出", "分享"}
    assert said(ask(page, "我的问题"))[1] == "我的问题"
    assert app.outbox.flush(10)
    assert len(app.store.load(id, visitor_id=MINE).messages) == 2


def test_a_browser_without_cookies_keeps_its_conversation_until_it_is_reloaded(app: App, arrive: Arrive) -> None:
    page = ask(ask(arrive(None), "甲"), "乙")
    assert [message for message in said(page) if message in "甲乙"] == ["甲", "乙"]
    assert app.outbox.flush(10)
    assert titles(rerun(page)) == ["甲"]
    assert conversation_sync.COOKIES_OFF in said(arrive(None, c=page.query_params["c"][0]))[0]


def test_anothers_conversation_can_be_read_and_nothing_there_changes_it(app: App, arrive: Arrive) -> None:
    id = talk(app, "甲")
    before = app.store.load(id, visitor_id=MINE)
    share = app.store.share(id, visitor_id=MINE)
    before = app.store.load(id, visitor_id=MINE)
    page = choose(arrive(YOURS, s=share), "agent")
    assert said(page)[:2] == ["甲", "关于甲的回答"]
    assert transcript.READ_ONLY_NOTE in values(page.info)
    assert not buttons(page) & {"重新回答", "修改问题", "继续", "重新搜索", "分享"}
    assert "复制为我的对话" in buttons(page)
    assert titles(page) == []
    assert app.outbox.flush(10)
    assert app.store.load(id, visitor_id=MINE) == before


@pytest.mark.parametrize("account", ["https://id.example li", None])
def test_what_is_asked_there_goes_into_a_copy_of_ones_own(app: App, arrive: Arrive, account: str | None) -> None:
    id, owner = talk(app, "甲", owner=account), account or MINE
    page = ask(arrive(YOURS, s=app.store.share(id, visitor_id=owner)), "我的问题")
    assert said(page)[:3] == ["甲", "关于甲的回答", "我的问题"]
    assert app.outbox.flush(10)
    copy = page.session_state["chat"].conversation_id
    until(lambda: len(app.store.load(copy, visitor_id=YOURS).messages) == 4)
    assert len(app.store.load(id, visitor_id=owner).messages) == 2
    page = rerun(page)
    assert titles(page) == ["甲"]
    assert transcript.READ_ONLY_NOTE not in values(page.info)
    assert dict(page.query_params) == {"c": copy}


def test_it_can_be_copied_without_a_question(app: App, arrive: Arrive) -> None:
    id = talk(app, "甲")
    page = arrive(YOURS, s=app.store.share(id, visitor_id=MINE))
    page.button(key="own-conversation").click()
    rerun(page)
    assert titles(page) == ["甲"]
    assert "重新回答" in buttons(page)
    assert page.session_state["chat"].conversation_id != id


def test_a_question_that_cannot_go_into_a_copy_stays_with_the_reader(app: App, arrive: Arrive, tmp_path: Path) -> None:
    id = talk(app, "甲")
    page = arrive(YOURS, s=app.store.share(id, visitor_id=MINE))
    with closing(sqlite3.connect(tmp_path / "database" / "wenyuan.sqlite3", isolation_level=None)) as backup:
        backup.execute("BEGIN IMMEDIATE")
        ask(page, "我的问题")
        assert "正忙" in values(page.warning)
        assert put_back(page) == "我的问题"
        assert said(page) == ["甲", "关于甲的回答"]
        backup.execute("ROLLBACK")
    assert said(ask(page, "我的问题"))[:3] == ["甲", "关于甲的回答", "我的问题"]
    assert len(app.store.load(id, visitor_id=MINE).messages) == 2


def test_a_share_that_was_withdrawn_says_so(app: App, arrive: Arrive) -> None:
    id = talk(app, "甲")
    share = app.store.share(id, visitor_id=MINE)
    app.store.stop_sharing(id, visitor_id=MINE)
    for link in (share, "A" * 24, "../..", "<script>"):
        page = arrive(YOURS, s=link)
        assert "这个分享链接已经失效" in values(page.info)
        assert "甲" not in said(page)
        assert said(ask(page, "我的问题"))[-2] == "我的问题"


def test_ones_own_share_opens_ones_own_conversation(app: App, arrive: Arrive) -> None:
    id = talk(app, "甲")
    page = arrive(MINE, s=app.store.share(id, visitor_id=MINE))
    assert "重新回答" in buttons(page)
    assert dict(page.query_params) == {"c": id}


def test_who_logs_in_takes_along_what_they_copy(app: App, arrive: Arrive, monkeypatch: pytest.MonkeyPatch) -> None:
    id = talk(app, "登录之前的")
    account = "https://id.example 1"
    monkeypatch.setattr(identity, "owner", lambda: account)
    assert "没有分享给你" in said(arrive(account, c=id))[0], "in another browser"
    monkeypatch.setattr(identity, "browser", lambda: MINE)
    page = arrive(account, c=id)
    assert said(page) == ["登录之前的", "关于登录之前的的回答"]
    page.button(key="own-conversation").click()
    rerun(page)
    assert [entry.title for entry in app.store.list_conversations(account)] == ["登录之前的"]
    assert app.store.load(page.session_state["chat"].conversation_id, visitor_id=account).may_change
