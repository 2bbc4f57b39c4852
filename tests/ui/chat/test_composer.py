"""What stands at the input, without a browser: the switches follow whoever switches, and a link only fills the box."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from core.app import App
from core.ui import identity
from core.ui.chat.actions import AGENT_DECIDES
from core.ui.chat.composer import FROM_LINK_NOTE
from support.base import ROOT
from support.pages import ask, choose, open_page, put_back, rerun, search, serving, values

MINE = "m" * 32


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    monkeypatch.setattr(identity, "visitor", lambda: MINE)
    with serving(CHAT_SEARCH_DEFAULT="off") as running:
        yield running


def switches(page: AppTest) -> list[str]:
    return [toggle.label for toggle in page.toggle]


def test_the_switches_say_their_state_and_follow_the_commands(app: App) -> None:
    page = open_page()
    assert switches(page) == ["联网 已禁用", "Agent 已禁用"]
    assert switches(ask(page, "/search on")) == ["联网 已启用", "Agent 已禁用"]
    assert switches(ask(page, "/mode agent")) == ["联网 自动", "Agent 已启用"]
    assert page.toggle[0].disabled
    assert AGENT_DECIDES in values(page.caption)
    assert switches(ask(page, "/mode chat")) == ["联网 已启用", "Agent 已禁用"]
    assert switches(search(page, on=False)) == ["联网 已禁用", "Agent 已禁用"]
    assert switches(choose(page, "agent")) == ["联网 自动", "Agent 已启用"]


def test_a_choice_of_models_stands_at_the_input_where_there_is_one(app: App) -> None:
    assert not open_page().menu_button
    with serving(OPENAI_API_KEY="k", LLM_MODEL="openai:ok", LLM_MODELS="openai:echo"):
        page = open_page()
        assert (page.menu_button[0].label, page.menu_button[0].options) == ("ok", ["ok", "echo"])
        assert "model" not in [widget.key for widget in page.sidebar.selectbox]


def opened(**query: str) -> AppTest:
    page = AppTest.from_file(str(ROOT / "Home.py"), default_timeout=30)
    for name, value in query.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def test_a_question_in_the_address_fills_the_box_and_is_not_asked(app: App) -> None:
    page = opened(q="离婚冷静期是多久？", mode="agent", search="1")
    assert put_back(page) == "离婚冷静期是多久？"
    assert FROM_LINK_NOTE in values(page.caption)
    assert not page.chat_message
    assert switches(page) == ["联网 自动", "Agent 已启用"]
    assert not page.query_params, "a reload, or the conversation's own address, does not bring it back"
    assert put_back(rerun(page)) == ""
    assert switches(choose(page, "chat")) == ["联网 已启用", "Agent 已禁用"]

    assert app.outbox.flush(20)
    assert "search" not in app.preferences.load(MINE), "a link decides nothing for the next session"
    ask(page, "离婚冷静期是多久？")
    assert len(page.chat_message) == 2
    assert FROM_LINK_NOTE not in values(page.caption)


@pytest.mark.parametrize(
    "query", [{}, {"q": "  "}, {"mode": "root", "search": "yes"}, {"mode": "Agent"}], ids=lambda query: urlencode(query)
)
def test_an_address_that_says_nothing_changes_nothing(app: App, query: dict[str, str]) -> None:
    page = opened(**query)
    assert put_back(page) == ""
    assert FROM_LINK_NOTE not in values(page.caption)
    assert switches(page) == ["联网 已禁用", "Agent 已禁用"]


def test_a_link_cannot_switch_on_what_is_not_there() -> None:
    with serving(()):
        page = opened(q="问题", search="1")
        assert page.toggle[0].disabled
        assert not page.toggle[0].value
