"""What a visitor has chosen is there in their next session, and in nobody else's; and the offer to search."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from streamlit.testing.v1 import AppTest

from core.app import App
from core.search.engine import SearchEngine
from core.search.errors import EngineMisconfigured
from core.search.types import SearchQuery
from core.ui import identity, visitor_preferences
from core.ui.chat.composer import AGENT_TOGGLE
from core.ui.chat.search_offer import FIRST_OFFER, OFFER_AFTER_ANSWER
from core.ui.session import SEARCH_TOGGLE
from support.fake_engines import FakeEngine, results
from support.faults import Peer, Server
from support.openai_server import OpenAIServer, openai_server
from support.pages import ask, choose, open_page, pick, rerun, reset, search, serving, shown, values
from support.postgres import Postgres

pytestmark = pytest.mark.xdist_group("postgres")

MINE, YOURS = "m" * 32, "y" * 32
MODELS = {"OPENAI_API_KEY": "k", "LLM_MODEL": "openai:ok", "LLM_MODELS": "openai:echo"}

Arrive = Callable[[str | None], AppTest]


@pytest.fixture
def arrive(monkeypatch: pytest.MonkeyPatch) -> Arrive:
    """A new session of the visitor whose cookie this is."""

    def arrive(mark: str | None) -> AppTest:
        monkeypatch.setattr(identity, "visitor", lambda: mark)
        return open_page()

    return arrive


@pytest.fixture(scope="module")
def model_server() -> Iterator[OpenAIServer]:
    with openai_server() as server:
        yield server


@pytest.fixture
def app(model_server: OpenAIServer) -> Iterator[App]:
    with serving(OPENAI_BASE_URL=model_server.url, **MODELS) as running:
        yield running


def searching(page: AppTest) -> bool:
    return bool(page.toggle[0].value)


def mode(page: AppTest) -> Any:
    return "agent" if page.toggle(key=AGENT_TOGGLE).value else "chat"


def click(page: AppTest, words: str) -> AppTest:
    next(button for button in page.main.button if words in button.label).click()
    return rerun(page)


def kept(app: App, visitor: str = MINE) -> dict[str, Any]:
    assert app.outbox.flush(20)
    return app.preferences.load(visitor)


# ── Choices ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_choice_is_there_in_the_next_session(app: App, arrive: Arrive) -> None:
    page = arrive(MINE)
    before = shown(page)
    for name, words in (
        ("result_count", "3 条"),
        ("language", "英文"),
        ("time_range", "最近一周"),
        ("snippet_length", "400 字"),
        ("standalone_queries", "用原话搜索"),
        ("model", "echo"),
        ("temperature", "0.4"),
        ("max_iterations", "2 轮"),
        ("max_execution_time", "30 秒"),
        ("prompt", "短（小模型用）"),
    ):
        pick(page, name, words)
    search(page, on=True)
    choose(page, "agent")
    chosen = shown(page)
    assert not set(before.items()) & set(chosen.items())
    assert set(kept(app)) == {*chosen, "mode", "search"}

    again = arrive(MINE)
    assert (shown(again), mode(again)) == (chosen, "agent")
    assert searching(choose(again, "chat"))
    assert ask(again, "用选好的模型").session_state["chat"].messages[-1].model == "echo"

    stranger = arrive(YOURS)
    assert (shown(stranger), mode(stranger), searching(stranger)) == (before, "chat", False)
    assert kept(app, YOURS) == {}


def test_a_mode_that_was_stored_in_its_old_spelling_still_counts(app: App, arrive: Arrive) -> None:
    app.preferences.change(MINE, {"mode": "Agent"})
    assert kept(app) == {"mode": "Agent"}
    assert mode(arrive(MINE)) == "agent"


def test_a_visitor_without_a_mark_is_as_new_every_time(app: App, arrive: Arrive) -> None:
    search(pick(arrive(None), "model", "echo"), on=True)
    again = arrive(None)
    assert (shown(again)["model"], searching(again)) == ("ok", False)


def test_commands_and_suggestions_count_like_the_widgets(app: App, arrive: Arrive) -> None:
    ask(arrive(MINE), "/search on")
    assert kept(app) == {"search": True}
    ask(arrive(MINE), "/search off")
    assert kept(app) == {"search": False}
    ask(arrive(MINE), "/mode agent")
    assert kept(app) == {"search": False, "mode": "agent"}
    ask(arrive(MINE), "/mode chat")
    click(arrive(MINE), "最近的新闻")
    assert kept(app) == {"search": True, "mode": "chat"}


def test_what_is_taken_back_is_forgotten(app: App, arrive: Arrive) -> None:
    page = pick(pick(arrive(MINE), "language", "英文"), "model", "echo")
    reset(page, "搜索设置")
    assert kept(app) == {"model": "openai:echo"}
    pick(page, "model", "ok")
    assert kept(app) == {}


def test_an_opened_conversation_shows_its_own_mode_and_leaves_the_chosen_one(app: App, arrive: Arrive) -> None:
    choose(arrive(MINE), "agent")
    page = ask(choose(arrive(MINE), "chat"), "在 Chat 里问的")
    id = page.session_state["chat"].conversation_id
    choose(arrive(MINE), "agent")
    assert kept(app)["mode"] == "agent"
    page = arrive(MINE)
    page.query_params["c"] = id
    assert mode(rerun(page)) == "chat"
    assert kept(app)["mode"] == "agent"


def test_what_is_no_longer_offered_is_as_configured(model_server: OpenAIServer, arrive: Arrive) -> None:
    chosen = {
        "model": "openai:removed",
        "temperature": 9.9,
        "max_iterations": 99,
        "max_execution_time": "forever",
        "language": ["en"],
        "time_range": {"from": 1},
        "snippet_length": None,
        "prompt": "shout",
        "result_count": 4,
        "mode": "Root",
        "search": "yes",
        "unheard_of": True,
    }
    with serving(OPENAI_BASE_URL=model_server.url, PANEL_ALLOW="language,model,temperature,prompt", **MODELS) as app:
        before = shown(arrive(YOURS))
        app.preferences.change(MINE, chosen)
        assert app.outbox.flush(20)
        page = arrive(MINE)
        assert (shown(page), mode(page), searching(page)) == (before, "chat", False)
        assert "已修改" not in " ".join(expander.label for expander in page.sidebar.expander)
        assert ask(page, "照常回答").session_state["chat"].messages[-1].model == "ok"


def test_the_toggle_stays_off_where_no_engine_is_left(arrive: Arrive) -> None:
    with serving((), CHAT_SEARCH_DEFAULT="on") as app:
        app.preferences.change(MINE, {"search": True})
        assert app.outbox.flush(20)
        for visitor in (MINE, YOURS):
            page = arrive(visitor)
            assert page.toggle(key=SEARCH_TOGGLE).disabled
            assert not searching(page)
            assert "打开联网搜索" not in [button.label for button in page.main.button]


def test_a_temperature_waits_for_a_model_that_has_one(arrive: Arrive) -> None:
    with serving(OPENAI_API_KEY="k", LLM_MODELS="embedded"):
        pick(pick(arrive(MINE), "temperature", "0.4"), "model", "内置摘录模型")
        page = arrive(MINE)
        assert "temperature" not in shown(page)
        assert shown(pick(page, "model", "gpt-5-mini"))["temperature"] == "0.4"


def test_what_is_chosen_while_the_database_is_away_joins_what_was_chosen_before(
    arrive: Arrive, postgres: Postgres
) -> None:
    with serving(DATABASE_URL=postgres.new_database(), **MODELS) as app:
        pick(arrive(MINE), "model", "echo")
        assert kept(app) == {"model": "openai:echo"}
        app.database.close()
        postgres.stop()
        page = arrive(MINE)
        assert shown(page)["model"] == "ok"
        assert searching(search(page, on=True))
        postgres.start()
        assert kept(app) == {"model": "openai:echo", "search": True}


def _silence(peer: Peer) -> None:
    peer.wait()


def test_a_database_that_does_not_answer_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "visitor", lambda: MINE)
    with Server(_silence) as silent:
        port = silent.url.rpartition(":")[2].strip("/")
        with serving(DATABASE_URL=f"postgresql+psycopg://nobody@127.0.0.1:{port}/none?connect_timeout=6"):
            began = time.monotonic()
            assert visitor_preferences.load() == {}
            assert time.monotonic() - began < 4


def test_choices_are_read_once_when_a_session_begins(app: App, arrive: Arrive, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        reading = Mock(wraps=app.preferences.load)
        patch.setattr(app.preferences, "load", reading)
        ask(search(arrive(MINE), on=True), "问题")
    reading.assert_called_once_with(MINE)


# ── The first visit ───────────────────────────────────────────────────────────────────────────────────────────────────


class Resting(FakeEngine):
    def search(self, query: SearchQuery, num_results: int, *, deadline: Any = None) -> Any:
        raise EngineMisconfigured("没有密钥。", cure="")


class Manual(FakeEngine):
    reaches_web = False


@pytest.mark.parametrize(
    ("default", "engine", "on"),
    [
        ("off", FakeEngine("web", results(3)), False),
        ("on", FakeEngine("web", results(3)), True),
        ("on", Manual("manual", results(3)), True),
        ("auto", FakeEngine("web", results(3)), True),
        ("auto", Manual("manual", results(3)), False),
    ],
)
def test_the_administrator_decides_for_a_first_visit(
    default: str, engine: SearchEngine, on: bool, arrive: Arrive
) -> None:
    with serving([engine], CHAT_SEARCH_DEFAULT=default) as app:
        page = arrive(MINE)
        assert searching(page) is on
        assert (FIRST_OFFER in values(page.main.caption)) is not on
        assert kept(app) == {}, "a default is nobody's choice"
        search(page, on=not on)
        assert searching(arrive(MINE)) is not on


def test_auto_is_off_while_the_web_engines_rest(arrive: Arrive) -> None:
    with serving([Resting("web"), Manual("manual", results(3))], CHAT_SEARCH_DEFAULT="auto") as app:
        assert searching(arrive(MINE))
        app.search.search(SearchQuery("现在谁能搜索"))
        assert not app.search.is_web_ready
        assert not searching(arrive(YOURS))


def offered(page: AppTest) -> list[str]:
    return [caption.value for caption in page.main.caption if caption.value in (FIRST_OFFER, OFFER_AFTER_ANSWER)]


def test_one_click_on_the_first_screen_is_for_good(app: App, arrive: Arrive) -> None:
    page = arrive(MINE)
    assert offered(page) == [FIRST_OFFER]
    click(page, "打开联网搜索")
    assert searching(page)
    assert offered(page) == []
    assert "联网搜索已打开" in values(page.toast)
    again = arrive(MINE)
    assert searching(again)
    assert ask(again, "带来源的问题").session_state["chat"].messages[-1].searches
    assert offered(again) == []


def test_the_first_answer_without_sources_offers_them_once(app: App, arrive: Arrive) -> None:
    page = ask(arrive(MINE), "第一个问题")
    assert offered(page) == [OFFER_AFTER_ANSWER]
    assert offered(ask(page, "第二个问题")) == []
    page = ask(arrive(MINE), "另一个对话")
    assert offered(page) == [OFFER_AFTER_ANSWER]
    click(page, "打开联网搜索")
    assert offered(page) == []
    click(page, "重新回答")
    assert page.session_state["chat"].messages[-1].searches


@pytest.mark.parametrize(
    "decline", [lambda page: click(page, "先不用"), lambda page: search(search(page, on=True), on=False)]
)
def test_who_has_decided_is_not_asked_again(decline: Callable[[AppTest], AppTest], app: App, arrive: Arrive) -> None:
    page = decline(arrive(MINE))
    assert not searching(page)
    assert offered(page) == []
    assert offered(ask(page, "没有来源")) == []
    again = arrive(MINE)
    assert offered(again) == []
    assert offered(ask(again, "没有来源")) == []


def test_nothing_is_offered_in_agent_mode_or_for_an_answer_that_failed(
    model_server: OpenAIServer, arrive: Arrive
) -> None:
    with serving(OPENAI_BASE_URL=model_server.url, OPENAI_API_KEY="k", LLM_MODEL="openai:401") as app:
        page = arrive(MINE)
        assert offered(ask(page, "会失败")) == []
        assert offered(choose(arrive(YOURS), "agent")) == []
        assert kept(app) == {}
