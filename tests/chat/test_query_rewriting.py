"""Chat mode searches for what a follow-up means, and says what it searched for and what was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from core.answer.events import Answer, RunEvent, RunFailed, SearchFinished, SearchStarted, Usage
from core.answer.message import Message
from core.app import App, build_app
from core.run.choices import Choices
from core.run.query_rewriting import Rewriter
from core.run.question import AnswerOptions
from core.search.types import SearchResult
from support.agents import of
from support.base import loaded
from support.fake_engines import FakeEngine, results
from support.openai_server import HANG, Fail, OpenAIServer, Thinks, in_turn, openai_server
from support.responses import Search

SEARCH = AnswerOptions(search=True)
FOLLOW_UP = "那第二种呢？"
RULE = "劳动合同解除 方式 第二种"
QUERY = "员工单方解除劳动合同的条件"
HISTORY = (
    Message("user", "劳动合同解除有几种方式？"),
    Message("assistant", "1. 协商解除[1]\n2. 员工单方解除[2]"),
)


def is_rewriting(asked: dict[str, Any]) -> bool:
    return "最后一个问题：" in str(asked.get("messages"))


def rewriting(*pieces: Any) -> Callable[[dict[str, Any]], Sequence[Any]]:
    """These are said to whoever asks for a query; an answer is written all the same."""
    return lambda asked: pieces if is_rewriting(asked) else ["答案[1]。"]


@contextmanager
def chatting(server: OpenAIServer | None = None, **environ: str) -> Iterator[tuple[App, FakeEngine]]:
    engine = FakeEngine("fake", results(3))
    environ |= {"SEARCH_CACHE_TTL": "0"}
    if server is not None:
        environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url, "LLM_MODEL": "openai:reply"} | environ
    app = build_app(loaded(**environ), engines=[engine])
    app.chat.rewriter = Rewriter(seconds=20)
    try:
        yield app, engine
    finally:
        app.close()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


def searched(events: Sequence[RunEvent], engine: FakeEngine) -> tuple[str, str]:
    """The query and the own words, the same wherever they are told."""
    (started,), (finished,) = of(events, SearchStarted), of(events, SearchFinished)
    assert not of(events, RunFailed)
    assert finished.response.query.text == started.query == engine.queries[-1].text
    assert finished.asked == started.asked
    return started.query, started.asked


def test_the_first_question_is_searched_in_its_own_words(server: OpenAIServer) -> None:
    server.reply = rewriting(QUERY)
    with chatting(server) as (app, engine):
        assert searched(list(app.chat.stream(FOLLOW_UP, options=SEARCH)), engine) == (FOLLOW_UP, "")
        notes = (Message("note", "已切换到 Chat 模式"),)
        assert searched(list(app.chat.stream(FOLLOW_UP, notes, SEARCH)), engine) == (FOLLOW_UP, "")
    assert not any(map(is_rewriting, server.requests))


def test_a_follow_up_is_searched_as_what_it_means(server: OpenAIServer) -> None:
    server.reply = rewriting(QUERY)
    with chatting(server) as (app, engine):
        events = list(app.chat.stream(FOLLOW_UP, HISTORY, SEARCH))
    assert searched(events, engine) == (QUERY, FOLLOW_UP)
    asked = server.requests[-1]["messages"]
    assert asked[-1]["content"].endswith(f"问题：{FOLLOW_UP}")
    assert "max_completion_tokens" not in server.requests[-1]
    (usage,) = of(events, Usage)
    assert (usage.input, usage.output, usage.estimated) == (22, 14, False)
    started, finished = (event.to_json() for event in events[:2])
    assert started == {"type": "search_started", "query": QUERY, "asked": FOLLOW_UP}
    assert (finished["query"], finished["asked"]) == (QUERY, FOLLOW_UP)


def test_without_other_words_the_public_events_are_as_before(server: OpenAIServer) -> None:
    with chatting(server) as (app, _):
        started, finished = (event.to_json() for event in list(app.chat.stream("问题", options=SEARCH))[:2])
    assert started == {"type": "search_started", "query": "问题"}
    assert "asked" not in finished


@pytest.mark.parametrize(
    "pieces",
    [
        ["好的，第二种是员工单方解除。"],
        [""],
        [Fail(500)],
        [Thinks("想" * 300)],
        [f"{QUERY} site:evil.example"],
    ],
)
def test_where_the_model_is_of_no_help_the_rule_is(server: OpenAIServer, pieces: list[Any]) -> None:
    server.reply = rewriting(*pieces)
    with chatting(server) as (app, engine):
        events = list(app.chat.stream(FOLLOW_UP, HISTORY, SEARCH))
    assert searched(events, engine) == (RULE, FOLLOW_UP)
    assert of(events, Answer)


def test_a_model_that_hangs_delays_nobody_and_is_not_asked_again(server: OpenAIServer) -> None:
    server.reply = rewriting(HANG)
    with chatting(server) as (app, engine):
        app.chat.rewriter = Rewriter(seconds=0.3)
        for _ in range(2):
            events = list(app.chat.stream(FOLLOW_UP, HISTORY, SEARCH))
            assert searched(events, engine) == (RULE, FOLLOW_UP)
        assert of(events, Usage)[0].input == 11, "the second time it costs nothing"


def test_what_stands_alone_is_told_once(server: OpenAIServer) -> None:
    question = "离婚冷静期是多久"
    server.reply = rewriting(question)
    with chatting(server) as (app, engine):
        assert searched(list(app.chat.stream(question, HISTORY, SEARCH)), engine) == (question, "")


def test_a_switch_keeps_the_own_words_for_all(server: OpenAIServer) -> None:
    server.reply = rewriting(QUERY)
    own = replace(SEARCH, choices=Choices(standalone_queries=False))
    with chatting(server) as (app, engine):
        assert searched(list(app.chat.stream(FOLLOW_UP, HISTORY, own)), engine) == (FOLLOW_UP, "")
    with chatting(server, CHAT_STANDALONE_QUERIES="off") as (app, engine):
        assert searched(list(app.chat.stream(FOLLOW_UP, HISTORY, SEARCH)), engine) == (FOLLOW_UP, "")
        theirs = replace(SEARCH, choices=Choices(standalone_queries=True))
        assert searched(list(app.chat.stream(FOLLOW_UP, HISTORY, theirs)), engine) == (QUERY, FOLLOW_UP)
    assert sum(map(is_rewriting, server.requests)) == 1


def test_what_the_reader_wants_to_be_searched_for_is(server: OpenAIServer) -> None:
    server.reply = rewriting(QUERY)
    with chatting(server) as (app, engine):
        for history in ((), HISTORY):
            edited = replace(SEARCH, query=" 辞职\n提前通知 ")
            assert searched(list(app.chat.stream(FOLLOW_UP, history, edited)), engine) == ("辞职 提前通知", FOLLOW_UP)
        own = replace(SEARCH, query=FOLLOW_UP)
        assert searched(list(app.chat.stream(FOLLOW_UP, HISTORY, own)), engine) == (FOLLOW_UP, "")
    assert not any(map(is_rewriting, server.requests))


def test_without_search_nothing_is_rewritten(server: OpenAIServer) -> None:
    server.reply = rewriting(QUERY)
    with chatting(server) as (app, _):
        list(app.chat.stream(FOLLOW_UP, HISTORY))
    assert len(server.requests) == 1


def test_the_embedded_model_searches_by_the_rule_and_quotes_what_was_meant() -> None:
    page = SearchResult("解除", "https://a.example/", "劳动合同解除的第二种方式是员工单方解除。天气晴。", "a.example")
    with chatting() as (app, engine):
        engine.answer = [page]
        events = list(app.chat.stream(FOLLOW_UP, HISTORY, SEARCH))
    assert searched(events, engine) == (RULE, FOLLOW_UP)
    (answer,) = of(events, Answer)
    assert "第二种方式是员工单方解除。[1]" in answer.text


def test_what_only_earlier_words_have_found_is_not_said_to_be_about_the_question() -> None:
    app = build_app(loaded(SEARCH_PROVIDER_PRIORITY="bundled"))
    try:
        asked = "怎么打开联网搜索？"
        events = list(app.chat.stream(asked, (), SEARCH))
        assert of(events, Answer)[0].text.startswith("来源中与这个问题直接有关的原文如下：")
        history = (Message("user", asked), Message("assistant", of(events, Answer)[0].text))
        (answer,) = of(list(app.chat.stream("今天天气怎么样？", history, SEARCH)), Answer)
    finally:
        app.close()
    assert "直接有关" not in answer.text
    assert answer.text.startswith("来源没有直接提到这个问题；与搜索用词有关的原文如下：")


def test_the_passages_speak_about_what_was_meant(server: OpenAIServer) -> None:
    filler = "这里讲的是完全不相干的别的事情，与工资和考勤有关。" * 12
    text = f"{filler}\n员工单方解除劳动合同的条件是提前三十日书面通知。\n{filler}"
    server.reply = rewriting(QUERY)
    with chatting(server, CHAT_SOURCE_TOKENS="400") as (app, engine):
        engine.answer = [SearchResult("题", "https://a.example/", "摘要", "a.example", text=text)]
        list(app.chat.stream(FOLLOW_UP, HISTORY, SEARCH))
    assert "提前三十日书面通知" in server.requests[-1]["messages"][-1]["content"]


def test_a_model_that_searches_by_itself_has_the_history(server: OpenAIServer) -> None:
    server.searching = in_turn([Search("员工单方解除", ["https://a.example/"]), "好"])
    settings = loaded(OPENAI_API_KEY="k", OPENAI_BASE_URL=server.url, LLM_MODEL="openai:reply", NATIVE_MODELS="reply")
    app = build_app(settings, engines=[FakeEngine("native", results(2)), engine := FakeEngine("fake", results(2))])
    try:
        (started,) = of(list(app.chat.stream(FOLLOW_UP, HISTORY, SEARCH)), SearchStarted)
        assert (started.query, started.asked) == ("员工单方解除", "")
        (request,) = server.requests
        assert "劳动合同解除有几种方式" in str(request["input"])
        assert engine.queries == []
    finally:
        app.close()
