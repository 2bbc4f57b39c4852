"""A question that is refused takes nothing away; an answer that was cut off goes on."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.app import shared_app
from core.ui import identity
from core.ui.chat.actions import CONTINUE_PROMPT
from support.openai_server import CutOff, in_turn, openai_server
from support.pages import ask, open_page, put_back, rerun, serving, values
from support.waiting import until

REFUSED = "提问次数已达到每分钟的上限，这条消息没有发送。"

ME = "m" * 32


@pytest.fixture(autouse=True)
def me(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page is opened by the same browser."""
    monkeypatch.setattr(identity, "visitor", lambda: ME)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "bundled")
    monkeypatch.setenv("LIMITS_ANSWERS_PER_MINUTE", "1")
    return ask(open_page(), "你是谁？")


def kept(page: AppTest) -> list[str]:
    """What is on the page, as soon as the database has the same."""
    app, chat = shared_app(), page.session_state["chat"]
    shown = [message.text for message in chat.messages]
    until(lambda: [message.text for message in app.store.load(chat.conversation_id, visitor_id=ME).messages] == shown)
    return shown


def assert_refused(page: AppTest, before: list[str]) -> None:
    assert REFUSED in values(page.warning)
    assert kept(page) == before


def test_one_question_too_many_stays_with_the_reader(page: AppTest) -> None:
    before = kept(page)
    assert len(before) == 2
    assert_refused(ask(page, "还有一个问题"), before)
    assert put_back(page) == "还有一个问题"
    assert "还在输入框里" in values(page.warning)


def test_an_answer_stays_when_another_one_is_refused(page: AppTest) -> None:
    before = kept(page)
    next(button for button in page.main.button if button.label == "重新回答").click()
    assert_refused(rerun(page), before)
    assert put_back(page) == "", "what the reader may be writing there stays"


@pytest.mark.parametrize("edited", ["改过的问题", "很长" * 20_000])
def test_a_question_stays_when_its_new_words_are_refused(page: AppTest, edited: str) -> None:
    before = kept(page)
    next(button for button in page.main.button if button.label == "修改问题").click()
    rerun(page)
    page.text_area[0].set_value(edited)
    next(button for button in page.button if button.label == "重新发送").click()
    page = rerun(page)
    assert "没有发送" in values(page.warning)
    assert kept(page) == before


def test_a_text_that_is_too_long_can_be_shortened_and_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "bundled")
    page = ask(open_page(), "长" * 100_000)
    assert "超过了 20\\,000 个字符的上限" in values(page.warning)
    assert put_back(page) == "长" * 100_000
    assert put_back(rerun(page)) == "", "once: then the reader may have changed it"
    page = ask(page, "短")
    assert not page.warning
    assert page.session_state["chat"].messages[0].text == "短"


def test_an_answer_that_was_cut_off_goes_on() -> None:
    with openai_server() as server:
        server.reply = in_turn(["前半句，", CutOff("length")], ["后半句。"])
        with serving(OPENAI_BASE_URL=server.url, LLM_MODEL="openai:reply", CHAT_FOLLOW_UPS="0"):
            page = ask(open_page(), "讲一讲")
            assert "没有写完" in values(page.warning)
            next(button for button in page.main.button if button.label == "继续").click()
            page = rerun(page)
        assert [message["content"] for message in server.requests[-1]["messages"][-3:]][1:] == [
            "前半句，",
            CONTINUE_PROMPT,
        ]
    assert page.session_state["chat"].messages[-1].text == "后半句。"
    assert "继续" not in [button.label for button in page.main.button], "it belongs to the last answer only"
