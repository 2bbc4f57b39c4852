"""The first screen without a browser: its cards, and what helps where the embedded model has nothing to say."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from core.app import App
from core.ui.chat.first_screen import STARTER_CARDS, StarterCard
from support.pages import ask, choose, open_page, put_back, rerun, serving


@pytest.fixture
def app() -> Iterator[App]:
    with serving(CHAT_SEARCH_DEFAULT="off") as running:
        yield running


def cards(page: AppTest) -> list[str]:
    return [button.label.partition("  \n")[0].strip("*") for button in page.main.button if "  \n" in button.label]


def click(page: AppTest, words: str) -> AppTest:
    next(button for button in page.main.button if words in button.label).click()
    return rerun(page)


@pytest.mark.parametrize("job", [job for job in STARTER_CARDS if job.question], ids=lambda job: job.name)
def test_a_job_fills_the_box_and_its_answer_has_sources(app: App, job: StarterCard) -> None:
    page = click(open_page(), job.title)
    assert not page.chat_message
    question = put_back(page)
    assert question == job.question
    ask(page, question)
    answer = page.session_state["chat"].messages[-1]
    assert answer.mode == job.mode.lower()
    assert answer.searches


def test_it_stays_until_something_is_asked(app: App) -> None:
    page = choose(open_page(), "agent")
    assert cards(page) == [job.title for job in STARTER_CARDS]
    assert cards(ask(page, "/help")) == [job.title for job in STARTER_CARDS]
    assert cards(ask(page, "你好")) == []


def test_a_page_that_is_not_public_has_no_card() -> None:
    with serving(PUBLIC_PAGES="settings"):
        assert cards(open_page()) == ["带来源的研究", "比较两种说法", "最近的新闻"]


def test_a_model_is_offered_where_the_reader_may_connect_one() -> None:
    with serving(PANEL_OWN_KEY="1", SETTINGS_EDIT_BY="nobody"):
        assert cards(open_page())[-1] == "连接模型"
    with serving(OPENAI_API_KEY="k"):
        assert "连接模型" not in cards(open_page())


def test_without_sources_the_embedded_model_offers_to_search_and_ask_again(app: App) -> None:
    page = ask(open_page(), "标题1 是什么")
    page = ask(page, "标题2 是什么")
    assert not page.session_state["chat"].messages[-1].searches
    click(page, "打开联网搜索并再问")
    messages = page.session_state["chat"].messages
    assert len(messages) == 4, "another answer in place of the one without sources"
    assert messages[-1].searches
    assert page.toggle[0].label == "联网 已启用"
