"""A model's words of statutes in Chat mode: they reach the library and not the web, in time or not at all, and never alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from core.answer.events import Answer, RunEvent, RunFailed, SearchFinished, SearchStarted, Usage
from core.answer.message import Message
from core.app import App, build_app
from core.run.choices import Choices
from core.run.question import AnswerOptions
from core.run.statute_wording import StatuteWorder
from core.search.types import SearchQuery, SearchResult
from support import everyday_laws, invented
from support.agents import of
from support.base import loaded
from support.fake_engines import FakeEngine, results
from support.openai_server import HANG, Fail, OpenAIServer, openai_server

SEARCH = AnswerOptions(search=True)
QUESTION = "老板周末喊我去干活，一分钱也不给，合法吗"
WORDING = "休息日安排劳动者工作 支付工资报酬\n《劳动法》第四十四条"
GOVERNING = "《中华人民共和国劳动法》第四十四条"


def is_wording(asked: dict[str, Any]) -> bool:
    return "条文会用的词句" in str(asked.get("messages"))


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("laws")
    invented.library(folder / "data", invented.jsonl(folder / "laws.jsonl", *everyday_laws.LAWS))
    return folder / "data"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


class WaitingEngine(FakeEngine):
    """Answers when it is told to."""

    def __init__(self, may_answer: Event) -> None:
        super().__init__("fake", results(3))
        self._may_answer = may_answer

    def search(self, query: SearchQuery, num_results: int, *, deadline: Any = None) -> Sequence[SearchResult]:
        assert self._may_answer.wait(60)
        return super().search(query, num_results)


@contextmanager
def chatting(
    data_dir: Path, server: OpenAIServer, said: Sequence[Any], engine: FakeEngine | None = None, **environ: str
) -> Iterator[App]:
    """With a model that says this when it is asked for words of statutes, and has a minute for it."""
    server.reply = lambda asked: said if is_wording(asked) else ["好[1]"]
    settings = {
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": server.url,
        "LLM_MODEL": "openai:reply",
        "SEARCH_CACHE_TTL": "0",
    }
    settings |= environ
    app = build_app(loaded(DATA_DIR=str(data_dir), **settings), engines=[engine or FakeEngine("fake", results(3))])
    app.chat.statute_worder = StatuteWorder(seconds=60, least_seconds=60)
    try:
        yield app
    finally:
        app.close()


def ask(app: App, question: str = QUESTION, options: AnswerOptions = SEARCH) -> list[RunEvent]:
    events = list(app.chat.stream(question, options=options))
    assert not of(events, RunFailed)
    assert of(events, Answer)
    return events


def searches(events: Sequence[RunEvent]) -> tuple[SearchFinished, SearchFinished]:
    laws, web = of(events, SearchFinished)
    return laws, web


def titles(found: SearchFinished) -> list[str]:
    return [source.title for source in found.sources]


def test_they_reach_the_library_and_not_the_web(data_dir: Path, server: OpenAIServer) -> None:
    engine = FakeEngine("fake", results(3))
    with chatting(data_dir, server, [WORDING], engine) as app:
        events = ask(app)
    laws, web = searches(events)
    assert titles(laws)[0] == GOVERNING
    assert [query.text for query in engine.queries] == [web.response.query.text] == [QUESTION]
    assert laws.response.query.text == QUESTION
    assert not laws.asked
    assert any("休息日安排劳动者工作" in note for note in laws.response.notes), "the ledger tells of it"
    assert [event.query for event in of(events, SearchStarted)] == [QUESTION, QUESTION]
    (usage,) = of(events, Usage)
    assert (usage.input, usage.output) == (22, 14), "both calls are counted"
    assert sum(map(is_wording, server.requests)) == 1


def test_a_slow_model_is_not_waited_for_beyond_the_web_search(data_dir: Path, server: OpenAIServer) -> None:
    """Who waited for it would have its words, after five seconds."""
    with chatting(data_dir, server, [5.0, WORDING]) as app:
        app.chat.statute_worder = StatuteWorder(seconds=60, least_seconds=0.01)
        events = ask(app, "公司延长工作时间不支付工资报酬，违法吗")
    laws, _ = searches(events)
    assert titles(laws)[0] == GOVERNING, "the reader's own words are searched all the same"
    assert "没有及时" in laws.response.notes[0]
    (usage,) = of(events, Usage)
    assert usage.estimated


def test_what_comes_while_the_web_is_searched_counts(data_dir: Path, server: OpenAIServer) -> None:
    """Without any time of its own: the web answers after the model."""
    searched = Event()
    with chatting(data_dir, server, [WORDING], WaitingEngine(searched)) as app:
        app.chat.statute_worder = StatuteWorder(seconds=60, least_seconds=0.0)
        found: list[SearchFinished] = []
        for event in app.chat.stream(QUESTION, options=SEARCH):
            if isinstance(event, SearchFinished) and not found:
                searched.set()
            if isinstance(event, SearchFinished):
                found.append(event)
    assert titles(found[0])[0] == GOVERNING


def test_a_model_that_was_slow_once_is_left_alone(data_dir: Path, server: OpenAIServer) -> None:
    asked = Event()
    with chatting(data_dir, server, [HANG], WaitingEngine(asked)) as app:
        server.reply = lambda request: asked.set() or [HANG] if is_wording(request) else ["好[1]"]  # type: ignore[func-returns-value]
        app.chat.statute_worder = StatuteWorder(seconds=60, least_seconds=0.0, clock=count(0, 40).__next__)
        notes = [searches(ask(app))[0].response.notes for _ in range(2)]
    assert [len(told) for told in notes] == [1, 0]
    assert sum(map(is_wording, server.requests)) == 1


@pytest.mark.parametrize("said", [[Fail(500)], [""], ["无"], ["「无」。"]])
def test_a_failure_is_told_in_the_ledger_alone(data_dir: Path, server: OpenAIServer, said: list[Any]) -> None:
    question = "公司延长工作时间不支付工资报酬，违法吗"
    with chatting(data_dir, server, said) as app:
        laws, _ = searches(ask(app, question))
    with chatting(data_dir, server, said, CHAT_STANDALONE_QUERIES="off") as app:
        own, _ = searches(ask(app, question))
    assert titles(laws) == titles(own)
    assert "只按原话查找" in laws.response.notes[0]
    assert not own.response.notes


LIES = """票据 汇票 承兑 背书 出票人 付款人 海难救助 船舶碰撞
《劳动法》第九百条 《月光法》第一条 《民法典》第一千零一十九条 《民法典》第一千二百五十四条 《消费者权益保护法》第二十五条"""


def test_a_lying_model_does_not_displace_what_the_readers_words_find(data_dir: Path, server: OpenAIServer) -> None:
    question = "公司延长工作时间不支付工资报酬，违法吗"
    with chatting(data_dir, server, [LIES]) as app:
        laws, _ = searches(ask(app, question))
    with chatting(data_dir, server, [LIES], CHAT_STANDALONE_QUERIES="off") as app:
        own, _ = searches(ask(app, question))
    assert set(titles(own)[:3]) <= set(titles(laws))
    assert not any("第九百条" in title or "月光法" in title for title in titles(laws))
    notes = "".join(laws.response.notes)
    assert "《劳动法》第九百条、《月光法》第一条，库中没有，没有采用。" in notes


@pytest.mark.parametrize(
    "question",
    ["你好", "今天天气怎么样", "Python 怎么排序", "红烧肉怎么做", "劳动法第四十四条", "《劳动法》第44条怎么说"],
)
def test_what_needs_no_words_of_statutes_makes_no_call(data_dir: Path, server: OpenAIServer, question: str) -> None:
    with chatting(data_dir, server, [WORDING]) as app:
        ask(app, question)
    assert not any(map(is_wording, server.requests))


@pytest.mark.parametrize(
    "options",
    [
        AnswerOptions(),
        replace(SEARCH, choices=Choices(standalone_queries=False)),
        replace(SEARCH, query="加班费"),
    ],
)
def test_who_wants_the_own_words_gets_them(data_dir: Path, server: OpenAIServer, options: AnswerOptions) -> None:
    with chatting(data_dir, server, [WORDING]) as app:
        ask(app, options=options)
    assert not any(map(is_wording, server.requests))


def test_a_small_model_is_not_asked(data_dir: Path, server: OpenAIServer) -> None:
    with chatting(data_dir, server, [WORDING], LLM_MODEL="openai:reply-1.5b") as app:
        ask(app)
    assert not any(map(is_wording, server.requests))


def test_a_question_that_only_may_be_legal_is_decided_by_the_model(data_dir: Path, server: OpenAIServer) -> None:
    """The gate is not sure of it. The reader sees that the library was asked, and found nothing."""
    question = "过年上班有几倍工资"
    with chatting(data_dir, server, ["无"]) as app:
        laws, _ = searches(ask(app, question))
    assert not laws.sources
    with chatting(data_dir, server, [WORDING]) as app:
        laws, _ = searches(ask(app, question))
    assert titles(laws)[0] == GOVERNING


def test_a_follow_up_is_worded_as_what_it_means(data_dir: Path, server: OpenAIServer) -> None:
    history = (Message("user", "休息日安排劳动者工作，支付多少工资报酬"), Message("assistant", "百分之二百。"))
    with chatting(data_dir, server, [WORDING]) as app:
        list(app.chat.stream("那延长工作时间呢？", history, SEARCH))
    (asked,) = filter(is_wording, server.requests)
    assert "休息日" in asked["messages"][-1]["content"].partition("问题：")[2]
