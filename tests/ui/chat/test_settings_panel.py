"""The settings panel of the sidebar, without a browser: what it shows, what it keeps, and for whom."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.events import SearchFinished
from core.app import App
from core.search.types import TimeRange
from core.ui import identity
from core.ui.session import ChatState
from support.openai_server import openai_server
from support.pages import ask, choose, costs, html, open_page, pick, rerun, reset, search, serving, shown
from support.waiting import until

SEARCH, ANSWERING = "搜索设置", "模型与 Agent"

ME = "m" * 32


@pytest.fixture(autouse=True)
def me(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page is opened by the same browser."""
    monkeypatch.setattr(identity, "visitor", lambda: ME)


@pytest.fixture
def app() -> Iterator[App]:
    with (
        openai_server() as server,
        serving(
            OPENAI_API_KEY="k", OPENAI_BASE_URL=server.url, LLM_MODEL="openai:ok", LLM_MODELS="openai:echo"
        ) as running,
    ):
        yield running


def panel(page: AppTest) -> list[str]:
    return [expander.label for expander in page.sidebar.expander]


def last_search(page: AppTest) -> SearchFinished:
    state: ChatState = page.session_state["chat"]
    return state.messages[-1].searches[-1]


def test_each_control_shows_the_administrators_value(app: App) -> None:
    page = open_page()
    assert panel(page) == [SEARCH, ANSWERING]
    assert shown(page) == {
        "result_count": "5 条",
        "language": "自动",
        "time_range": "不限",
        "snippet_length": "200 字",
        "standalone_queries": "补全后搜索",
        "model": "ok",
        "temperature": "模型自定",
        "max_iterations": "5 轮",
        "max_execution_time": "60 秒",
        "prompt": "自动",
    }
    labels = [widget.label for widget in (*page.sidebar.selectbox, *page.sidebar.select_slider)]
    assert all("默认 " in label for label in labels)
    assert page.sidebar.button(key=f"reset-{SEARCH}").disabled


def test_a_change_holds_for_the_next_question_and_is_counted_in_the_title(app: App) -> None:
    page = open_page()
    search(page, on=True)
    pick(page, "time_range", "最近一周")
    pick(page, "result_count", "3 条")
    assert panel(page) == [f"{SEARCH} · 已修改 2 项", ANSWERING]
    ask(page, "问题一")
    assert last_search(page).response.query.time_range is TimeRange.WEEK
    assert len(last_search(page).sources) == 3
    assert "最近一周" in html(page)
    reset(page, SEARCH)
    assert panel(page) == [SEARCH, ANSWERING]
    assert shown(page)["time_range"] == "不限"
    ask(page, "问题二")
    assert last_search(page).response.query.time_range is None
    assert len(last_search(page).sources) == 5


def test_the_answer_names_the_model_that_wrote_it(app: App) -> None:
    page = open_page()
    ask(page, "一")
    pick(page, "model", "echo")
    assert any(caption.value == "模型：echo" for caption in page.sidebar.caption)
    ask(page, "二")
    state: ChatState = page.session_state["chat"]
    assert [message.model for message in state.messages if message.role == "assistant"] == ["ok", "echo"]
    assert state.messages[-1].text == "二"
    assert [lines[-1] for lines in costs(page)] == ["ok", "echo"]

    def kept() -> list[str]:
        messages = app.store.load(state.conversation_id or "", visitor_id=ME).messages
        return [message.model for message in messages if message.role == "assistant"]

    until(lambda: kept() == ["ok", "echo"])


def test_reset_of_one_group_leaves_the_other_alone(app: App) -> None:
    page = pick(open_page(), "language", "英文")
    pick(page, "temperature", "0.4")
    reset(page, ANSWERING)
    assert panel(page) == [f"{SEARCH} · 已修改 1 项", ANSWERING]
    assert (shown(page)["language"], shown(page)["temperature"]) == ("英文", "模型自定")


def test_the_values_survive_a_new_conversation_and_another_mode(app: App) -> None:
    page = pick(open_page(), "max_iterations", "2 轮")
    choose(page, "agent")
    page.sidebar.button[0].click()
    rerun(page)
    assert shown(page)["max_iterations"] == "2 轮"


def test_sessions_do_not_share_their_values(app: App) -> None:
    mine, theirs = open_page(), open_page()
    before = app.settings
    pick(mine, "language", "英文")
    pick(mine, "model", "echo")
    rerun(theirs)
    assert (shown(theirs)["language"], shown(theirs)["model"]) == ("自动", "ok")
    ask(mine, "甲")
    ask(theirs, "甲")
    assert [page.session_state["chat"].messages[-1].model for page in (mine, theirs)] == ["echo", "ok"]
    assert app.settings is before
    assert app.model.label == "ok"


def test_only_what_the_administrator_allows_is_there() -> None:
    with serving(PANEL_ALLOW="language"):
        page = open_page()
        assert (panel(page), list(shown(page))) == ([SEARCH], ["language"])
    with serving(PANEL_ALLOW="none"):
        page = open_page()
        assert (panel(page), shown(page)) == ([], {})
        ask(page, "照常回答")
        assert page.session_state["chat"].messages[-1].text


def test_the_embedded_model_has_nothing_to_choose_and_no_temperature() -> None:
    with serving():
        page = open_page()
        assert "model" not in shown(page)
        assert "temperature" not in shown(page)
        assert any(caption.value == "温度：内置摘录模型没有这一项。" for caption in page.sidebar.caption)


def test_a_temperature_waits_while_a_model_without_one_is_chosen() -> None:
    with serving(OPENAI_API_KEY="k", LLM_MODELS="embedded"):
        page = pick(open_page(), "temperature", "0.4")
        pick(page, "model", "内置摘录模型")
        assert "temperature" not in shown(page)
        ask(page, "照常回答")
        assert page.session_state["chat"].messages[-1].model == "内置摘录模型"
        pick(page, "model", "gpt-5-mini")
        assert shown(page)["temperature"] == "0.4"
