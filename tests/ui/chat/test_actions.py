"""A question that is refused takes nothing away."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.app import shared_app
from support.pages import ask, open_page, rerun, values
from support.patience import until

REFUSED = "提问次数已达到每分钟的上限，这条消息没有发送。"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "bundled")
    monkeypatch.setenv("LIMITS_ANSWERS_PER_MINUTE", "1")
    return ask(open_page(), "你是谁？")


def kept(page: AppTest) -> list[str]:
    """What is on the page, as soon as the database has the same."""
    app, chat = shared_app(), page.session_state["chat"]
    shown = [message.text for message in chat.messages]
    until(lambda: [message.text for message in app.store.load(chat.conversation_id).messages] == shown)
    return shown


def assert_refused(page: AppTest, text: str, before: list[str]) -> None:
    assert REFUSED in values(page.warning)
    assert page.main.text_area[-1].value == text
    assert kept(page) == before


def test_one_question_too_many_stays_with_the_reader(page: AppTest) -> None:
    before = kept(page)
    assert len(before) == 2
    assert_refused(ask(page, "还有一个问题"), "还有一个问题", before)


def test_an_answer_stays_when_another_one_is_refused(page: AppTest) -> None:
    before = kept(page)
    next(button for button in page.main.button if button.label == "重新回答").click()
    assert_refused(rerun(page), "你是谁？", before)


@pytest.mark.parametrize("edited", ["改过的问题", "很长" * 20_000])
def test_a_question_stays_when_its_new_words_are_refused(page: AppTest, edited: str) -> None:
    before = kept(page)
    page.main.text_area[0].set_value(edited)
    next(button for button in page.main.button if button.label == "重新发送").click()
    page = rerun(page)
    assert "没有发送" in values(page.warning)
    assert page.main.text_area[-1].value == edited
    assert kept(page) == before
