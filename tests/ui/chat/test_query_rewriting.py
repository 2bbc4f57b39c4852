"""What was searched for and what was asked, side by side on the page; and searching again with other words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.events import SearchFinished, SearchStarted
from core.answer.export import as_html, as_json, as_markdown
from core.answer.message import Message
from core.app import App
from core.search.types import SearchQuery, SearchResponse
from core.ui import identity
from core.ui.session import ChatState
from support.fake_engines import FakeEngine, results
from support.pages import ask, choose, drawn_after, html, open_page, open_sources, pick, rerun, search, serving, steps
from support.waiting import until

FIRST, FOLLOW_UP, QUERY = "劳动合同解除有几种方式？", "那第二种呢？", "劳动合同解除 方式 第二种"

ME = "m" * 32


@pytest.fixture(autouse=True)
def me(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page is opened by the same browser."""
    monkeypatch.setattr(identity, "visitor", lambda: ME)


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine("fake", results(3))


@pytest.fixture
def app(engine: FakeEngine) -> Iterator[App]:
    with serving([engine]) as running:
        yield running


def conversation() -> AppTest:
    page = search(open_page(), on=True)
    ask(page, FIRST)
    return ask(page, FOLLOW_UP)


def messages(page: AppTest) -> list[Message]:
    state: ChatState = page.session_state["chat"]
    return state.messages


def searched(page: AppTest) -> tuple[str, str]:
    last = messages(page)[-1].searches[-1]
    return last.response.query.text, last.asked


def search_again(page: AppTest, words: str | None = None) -> AppTest:
    open_sources(page)
    if words is not None:
        page.main.text_input[-1].set_value(words)
    next(button for button in page.main.button if button.label == "重新搜索").click()
    return rerun(page)


def click(page: AppTest, words: str) -> AppTest:
    next(button for button in page.main.button if button.label == words).click()
    return rerun(page)


def test_the_ledger_shows_both_and_so_does_the_step(app: App, engine: FakeEngine) -> None:
    page = open_sources(conversation())
    assert [query.text for query in engine.queries] == [FIRST, QUERY]
    shown = html(page)
    assert f"<b>搜索词</b> {FIRST}" in shown
    assert shown.count(f'<b>搜索词</b> {QUERY}</div><div class="wy-line"><b>原话</b> {FOLLOW_UP}') == 2
    assert shown.count("<b>原话</b>") == 2
    (field,) = page.main.text_input
    assert (field.label, field.value) == ("搜索词", QUERY)


def test_a_running_search_says_both() -> None:
    page = drawn_after([SearchStarted(QUERY, FOLLOW_UP)])
    assert steps(page) == [f"搜索「{QUERY}」 · 原话：{FOLLOW_UP} · 进行中"]
    assert steps(drawn_after([SearchStarted(FIRST)])) == [f"搜索「{FIRST}」 · 进行中"]


def test_other_words_answer_the_same_question_again(app: App, engine: FakeEngine) -> None:
    page = search_again(conversation(), "员工 单方解除")
    assert searched(page) == ("员工 单方解除", FOLLOW_UP)
    assert [message.text for message in messages(page) if message.role == "user"] == [FIRST, FOLLOW_UP]
    assert len(messages(page)) == 4
    assert open_sources(page).main.text_input[-1].value == "员工 单方解除"
    click(page, "重新回答")
    assert searched(page) == ("员工 单方解除", FOLLOW_UP), "the reader's words stay"
    state: ChatState = page.session_state["chat"]

    def kept() -> list[str]:
        loaded = app.store.load(state.conversation_id or "", visitor_id=ME).messages
        return [event.asked for message in loaded for event in message.searches]

    until(lambda: kept() == ["", FOLLOW_UP])
    search_again(page, "  ")
    assert searched(page) == (FOLLOW_UP, "")
    search_again(page)
    assert len(engine.queries) == 5, "past the cache"


def test_the_first_question_can_be_searched_in_other_words_too(app: App) -> None:
    page = ask(search(open_page(), on=True), FIRST)
    assert searched(page) == (FIRST, "")
    assert searched(search_again(page, "劳动合同 解除")) == ("劳动合同 解除", FIRST)


def test_readers_may_keep_their_own_words(app: App) -> None:
    page = conversation()
    pick(page, "standalone_queries", "用原话搜索")
    click(page, "重新回答")
    assert searched(page) == (FOLLOW_UP, "")
    ask(page, "它的依据呢？")
    assert searched(page) == ("它的依据呢？", "")


def test_an_agent_makes_its_own_queries(app: App) -> None:
    page = choose(conversation(), "agent")
    assert not page.main.text_input
    ask(page, "怎么打开联网搜索？")
    assert not open_sources(page).main.text_input
    assert "重新搜索" in [button.label for button in page.main.button]


def test_exports_say_both() -> None:
    found = SearchFinished(SearchResponse(SearchQuery(QUERY), provider="fake"), asked=FOLLOW_UP)
    answer = Message("assistant", "答", (found,))
    plain = replace(answer, events=(replace(found, asked=""),))
    for write in (as_markdown, as_html):
        assert f"搜索「{QUERY}」（原话「{FOLLOW_UP}」）：" in write("题", [answer])
        assert "原话" not in write("题", [plain])
    assert f'"query": "{QUERY}",\n          "asked": "{FOLLOW_UP}"' in as_json("题", [answer])
    assert "asked" not in as_json("题", [plain])


def test_hostile_words_are_text() -> None:
    bad = "<img src=x onerror=alert(1)> ![x](https://evil.example/x.png)"
    shown = html(drawn_after([SearchStarted(bad, bad), SearchFinished(SearchResponse(SearchQuery(bad)), asked=bad)]))
    assert "<img" not in shown
    assert "&lt;img" in shown
