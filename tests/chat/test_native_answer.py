"""The model searches by itself: the real ChatOpenAI against a server that speaks the Responses API."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from core.answer.events import Answer, Notice, RunEvent, RunFailed, SearchFinished, SearchStarted, TextDelta, Usage
from core.answer.message import Message, message_from_run
from core.app import App, build_app
from core.base.visitors import Visitor
from core.llm.model import Model, build_chat_model
from core.run.question import AnswerOptions
from core.search.types import AttemptOutcome, Source
from support import invented
from support.base import loaded
from support.fake_engines import FakeEngine, results
from support.openai_server import ANSWER, DISCONNECT, OpenAIServer, in_turn, openai_server
from support.responses import Cite, Failed, Open, Refuse, Remark, Search

Event = TypeVar("Event", bound=RunEvent)
SEARCH = AnswerOptions(search=True)
GOV, LAW, NEWS = "https://gov.example/a", "https://law.example/b?id=1", "https://www.news.example/c"


def link(url: str, host: str) -> str:
    mark = "&" if "?" in url else "?"
    return f"([{host}]({url}{mark}utm_source=openai))"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


@contextmanager
def app(server: OpenAIServer, *others: FakeEngine, **environ: str) -> Iterator[App]:
    """`native` first, then the others, as the page would have them."""
    settings = loaded(
        OPENAI_API_KEY="sk-test", OPENAI_BASE_URL=server.url, LLM_MODEL="openai:ok", NATIVE_MODELS="*", **environ
    )
    running = build_app(settings, engines=[FakeEngine("native"), *others])
    try:
        yield running
    finally:
        running.close()


def ask(running: App, options: AnswerOptions = SEARCH, question: str = "新规何时施行？") -> list[RunEvent]:
    return list(running.chat.stream(question, options=options))


def answered(server: OpenAIServer, *pieces: Any) -> list[RunEvent]:
    server.searching = in_turn(pieces)
    with app(server) as running:
        return ask(running)


def only(events: list[RunEvent], kind: type[Event]) -> Event:
    [event] = [event for event in events if isinstance(event, kind)]
    return event


def numbers_resolve_as_they_are_shown(events: list[RunEvent]) -> bool:
    """Every `[n]` was preceded by its source, and no number ever changed its page."""
    pages: dict[int, str] = {}
    for event in events:
        if isinstance(event, SearchFinished):
            for source in event.sources:
                assert pages.setdefault(source.number, source.url) == source.url
        if isinstance(event, TextDelta):
            assert all(f"[{number}]" not in event.text for number in range(len(pages) + 1, 50))
    return True


def kept(events: list[RunEvent]) -> Message:
    return message_from_run(events, seconds=1.0)


def test_the_answering_call_searches_and_its_citations_are_ours(server: OpenAIServer) -> None:
    server.searching = in_turn(
        [
            Search("新规 施行", [GOV, NEWS]),
            Open(LAW),
            "新规自三月起施行。",
            link(GOV, "gov.example"),
            Cite(GOV + "?utm_source=openai", "政府网", 20),
            " 细则另行公布。([law.exa",
            "mple](https://law.example/b?id=1&utm_source=openai))\n完",
            Cite(LAW + "&utm_source=openai", "法律网", 20, back=2),
        ]
    )
    with app(server, FakeEngine("other", results(3))) as running:
        events = ask(running)

    assert len(server.requests) == 1
    kinds = [event.type for event in events if not isinstance(event, TextDelta)]
    assert kinds == ["search_started", "search_finished", "search_finished", "checked", "answer", "usage"]
    assert events[0] == SearchStarted("新规 施行")
    assert isinstance(events[1], SearchFinished)
    assert [source.url for source in events[1].sources] == [GOV, NEWS, LAW]
    assert numbers_resolve_as_they_are_shown(events)
    assert only(events, Answer).text == "新规自三月起施行。[1] 细则另行公布。[3]\n完"
    assert [(source.number, source.title) for source in only(events, Answer).sources] == [(1, "政府网"), (3, "法律网")]
    assert only(events, Usage) == Usage(21, 9)
    streamed = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert streamed == only(events, Answer).text


def test_the_stored_message_has_one_search_with_all_that_became_known(server: OpenAIServer) -> None:
    message = kept(
        answered(server, Search("新规", [GOV]), "施行", link(GOV, "gov.example"), Cite(GOV, "政府网"), "。" * 9)
    )
    [search] = message.searches
    assert not search.amends
    assert search.response.provider == "native"
    assert search.response.query.text == "新规"
    assert [(attempt.engine, attempt.outcome) for attempt in search.response.attempts] == [
        ("native", AttemptOutcome.OK)
    ]
    assert [result.title for result in search.response.results] == ["政府网"]
    assert message.sources == message.cited == (Source(1, "政府网", GOV, "", "native"),)


def test_what_is_asked_of_the_service(server: OpenAIServer) -> None:
    server.searching = in_turn([Search("q"), "答"])
    with app(server) as running:
        ask(running)
        ask(running, AnswerOptions(search=True, skip_caches=True))
        ask(running, AnswerOptions(search=False))
    first, fresh, off = server.requests
    tool = {"type": "web_search", "user_location": {"type": "approximate", "country": "CN"}}
    assert (first["tools"], first["include"], first["store"]) == ([tool], ["web_search_call.action.sources"], False)
    assert "tool_choice" not in first
    assert fresh["tool_choice"] == "required"
    assert "web_search" in first["input"][0]["content"]
    assert first["input"][-1]["content"] == "新规何时施行？"
    assert "tools" not in off
    assert "messages" in off


def test_pages_that_only_the_annotations_name(server: OpenAIServer) -> None:
    events = answered(
        server,
        Search("新规"),
        "甲",
        link(GOV, "gov.example") + "乙",
        Cite(GOV + "?utm_source=openai", "政府网", 20, back=1),
        "丙[报道](https://law.example/b?id=1)。",
        Cite(LAW, "法律网", 20, back=1),
        "完" * 100,
    )
    assert only(events, Answer).text == "甲[1]乙丙报道[2]。" + "完" * 100
    assert numbers_resolve_as_they_are_shown(events)
    message = kept(events)
    assert len(message.searches) == 1
    assert [source.title for source in message.sources] == ["政府网", "法律网"]
    assert message.searches[0].response.total_results == 2


def test_a_citation_without_a_link_stands_where_the_text_ends_or_nowhere(server: OpenAIServer) -> None:
    events = answered(
        server,
        Search("q", [GOV, LAW]),
        "施行日期是三月一日",
        Cite(GOV, "政府网", 5),
        "。完",
        Cite(LAW, "法律网", 5, back=2),
    )
    assert only(events, Answer).text == "施行日期是三月一日[1]。完"
    message = kept(events)
    assert [source.title for source in message.cited] == ["政府网"]
    assert [source.title for source in message.sources] == ["政府网", "法律网"]


def test_two_spellings_of_one_page_are_one_source(server: OpenAIServer) -> None:
    message = kept(
        answered(
            server,
            Search("q", [NEWS, "https://news.example/c/?utm_source=openai", "javascript:alert(1)", "https://[bad"]),
            link(NEWS, "news.example"),
            Cite("http://news.example/c", "新闻", 3),
            "完",
        )
    )
    assert message.text == "[1]完"
    assert [source.url for source in message.sources] == [NEWS]


def test_links_to_other_pages_are_no_citations_and_made_up_numbers_neither(server: OpenAIServer) -> None:
    events = answered(server, Search("q", [GOV]), "甲[", "1]，`a[1]`，[乙](https://evil.example/x)。")
    message = kept(events)
    assert message.text == "甲，`a[1]`，[乙](https://evil.example/x)。"
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == message.text
    assert message.cited == ()


def test_several_searches_are_one_entry_and_numbers_go_on(server: OpenAIServer) -> None:
    events = answered(
        server,
        Search("甲", [GOV]),
        "先说", link(GOV, "gov.example"),
        Search("乙", [GOV, LAW]),
        "再说", link(LAW, "law.example"),
    )  # fmt: skip
    assert only(events, SearchStarted).query == "甲"
    assert numbers_resolve_as_they_are_shown(events)
    message = kept(events)
    assert message.text == "先说[1]再说[2]"
    assert [search.response.query.text for search in message.searches] == ["甲；乙"]


def test_the_model_decides_not_to_search(server: OpenAIServer) -> None:
    events = answered(server, "你好！", "2 + 2 = 4")
    assert not [event for event in events if isinstance(event, SearchStarted)]
    assert "没有联网" in only(events, Notice).text
    message = kept(events)
    assert message.text == "你好！2 + 2 = 4"
    assert message.sources == message.cited == ()
    [search] = message.searches
    assert search.response.provider == ""
    assert [attempt.outcome for attempt in search.response.attempts] == [AttemptOutcome.SKIPPED]


def test_a_search_without_sources_is_said_to_have_none(server: OpenAIServer) -> None:
    events = answered(server, Search("q"), "凭记忆回答")
    assert "没有给出来源" in only(events, Notice).text
    assert kept(events).searches[0].response.attempts[0].outcome is AttemptOutcome.EMPTY


def test_a_search_that_failed_is_no_search(server: OpenAIServer) -> None:
    events = answered(server, Search("q", status="failed"), "凭记忆回答")
    assert "没有成功" in only(events, Notice).text
    assert kept(events).searches[0].response.provider == ""


def test_deepseek(server: OpenAIServer) -> None:
    server.searching = in_turn(
        [
            Search("新规", queries=["新规", "施行", "ws_call_id=7"]),
            Remark("我再打开一个网页看看。"),
            Open(GOV + "#ws_call_id=call_9"),
            "自三月起施行。([gov.example](https://gov.example/a))",
        ]
    )
    there = {"OPENAI_API_KEY": "sk-test", "LLM_MODEL": "deepseek-v4-flash"}
    settings = loaded(OPENAI_BASE_URL="https://api.deepseek.com", **there)
    here = loaded(OPENAI_BASE_URL=server.url, **there).values
    model = Model(settings.values, build=lambda _: build_chat_model(here))
    running = build_app(settings, model=model, engines=[FakeEngine("native")])
    message = kept(ask(running))
    running.close()
    assert server.requests[0]["tools"] == [{"type": "web_search"}]
    assert "include" not in server.requests[0]
    assert message.text == "自三月起施行。[1]"
    assert [source.url for source in message.cited] == [GOV]
    assert message.searches[0].response.query.text == "新规；施行"


@pytest.mark.parametrize(
    "refusal",
    [Refuse(400), Refuse(404, "Not Found"), Refuse(405, ""), Refuse(422, "tools[0].type: expected 'function'")],
)
def test_a_service_without_native_search_gives_way_to_the_other_engines(server: OpenAIServer, refusal: Refuse) -> None:
    server.searching = in_turn([refusal])
    other = FakeEngine("other", results(3))
    with app(server, other, SEARCH_RATE_LIMIT="2") as running:
        events = ask(running)
        again = ask(running, question="另一个问题")
        state = running.search.engine_rests()["native"]

    assert only(events, SearchStarted).query == "新规何时施行？"
    response = only(events, SearchFinished).response
    assert response.provider == "other"
    assert [(attempt.engine, attempt.outcome) for attempt in response.attempts] == [
        ("native", AttemptOutcome.FAILED),
        ("other", AttemptOutcome.OK),
    ]
    assert "没有自带的联网搜索" in response.attempts[0].reason
    assert only(events, Answer).text == ANSWER
    assert state is not None
    assert state.kind == "misconfigured"
    assert "messages" in server.requests[-1], "asked once, then never again"
    assert len(server.requests) == 3
    assert only(again, SearchFinished).response.provider == "other", "the first question counted once"


def test_without_another_engine_the_answer_goes_on_without_search(server: OpenAIServer) -> None:
    server.searching = in_turn([Refuse(400)])
    with app(server) as running:
        events = ask(running)
    assert any("没有来源" in event.text for event in events if isinstance(event, Notice))
    assert [attempt.outcome for attempt in only(events, SearchFinished).response.attempts] == [AttemptOutcome.FAILED]
    assert only(events, Answer).sources == ()


@pytest.mark.parametrize(
    ("pieces", "kind"),
    [
        ([Refuse(401, "wrong key")], "model_auth"),
        ([Refuse(400, "context_length_exceeded")], "model_context"),
        ([Search("q", [GOV]), DISCONNECT], "model_disconnected"),
        ([Search("q", [GOV]), Failed()], "model"),
        ([Search("q", [GOV])], "model_empty"),
    ],
)
def test_other_failures_are_the_models(server: OpenAIServer, pieces: list[Any], kind: str) -> None:
    server.searching = in_turn(pieces)
    with app(server, FakeEngine("other", results(3))) as running:
        events = ask(running)
        assert running.search.engine_rests()["native"] is None
    failed = only(events, RunFailed)
    assert failed.kind == kind
    assert "sk-" not in failed.message
    assert len(kept(events).searches) == (len(pieces) > 0 and isinstance(pieces[0], Search))


def test_a_disconnect_in_mid_answer_keeps_text_and_sources(server: OpenAIServer) -> None:
    events = answered(
        server, Search("q", [GOV]), "甲", link(GOV, "gov.example"), Cite(GOV, "政府网"), "乙([law", 0.1, DISCONNECT
    )
    assert only(events, RunFailed).kind == "model_disconnected"
    message = kept(events)
    assert message.text == "甲[1]乙([law"
    assert [source.title for source in message.cited] == ["政府网"]
    assert message.sources == message.cited


def test_stopping_ends_the_request_and_keeps_what_was_shown(server: OpenAIServer) -> None:
    server.searching = in_turn([Search("q", [GOV]), "甲", link(GOV, "gov.example"), *["乙", 0.05] * 200])
    with app(server) as running:
        run = running.chat.start(running.chat.accept_question("问题", options=SEARCH))
        for _ in run.follow():
            if sum(isinstance(event, TextDelta) for event in run.events) > 4:
                run.cancel()
        deadline = time.monotonic() + 10
        while not server.broken_off and time.monotonic() < deadline:
            time.sleep(0.02)
    assert server.broken_off == 1
    message = kept(list(run.events))
    assert message.text.startswith("甲[1]乙")
    assert [source.url for source in message.cited] == [GOV]


def test_a_native_search_counts_towards_the_users_limit(server: OpenAIServer) -> None:
    server.searching = in_turn([Search("q", [GOV]), "答"])
    with app(server, FakeEngine("other", results(1)), SEARCH_RATE_LIMIT="1") as running:
        ask(running)
        events = ask(running)
        others = ask(running, AnswerOptions(search=True, visitor=Visitor("somebody else")))
    assert any("每分钟的上限" in event.text for event in events if isinstance(event, Notice))
    assert [event.type for event in others][:2] == ["search_started", "search_finished"]
    assert ["messages" in request for request in server.requests] == [False, True, False]


def test_native_is_only_used_so_when_it_comes_first(server: OpenAIServer) -> None:
    settings = loaded(OPENAI_API_KEY="k", OPENAI_BASE_URL=server.url, LLM_MODEL="openai:ok", NATIVE_MODELS="*")
    first = FakeEngine("first", results(2))
    running = build_app(settings, engines=[first, FakeEngine("native")])
    ask(running)
    running.close()
    assert first.queries
    assert "messages" in server.requests[0]


def test_the_configured_chain_begins_with_native(server: OpenAIServer) -> None:
    server.searching = in_turn([Search("q", [GOV]), "答", link(GOV, "gov.example")])
    settings = loaded(OPENAI_API_KEY="k", OPENAI_BASE_URL=server.url, LLM_MODEL="openai:ok", NATIVE_MODELS="ok")
    running = build_app(settings)
    message = kept(ask(running))
    running.close()
    assert message.text == "答[1]"


@pytest.mark.shared
def test_a_recorded_answer(server: OpenAIServer, shared: Path) -> None:
    path = shared / "data/payloads/openai/responses_web_search_vercel_stream.chunks.txt"
    recorded = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    events = answered(server, *recorded)
    message = kept(events)
    assert numbers_resolve_as_they_are_shown(events)
    assert "](http" not in message.text
    assert "utm_source" not in message.text
    assert len(message.cited) == 7
    assert all(source.title != "techcrunch.com" for source in message.cited)
    assert set(message.cited) < set(message.sources)
    assert len(message.sources) == 21
    assert only(events, Usage) == Usage(31073, 4416, reasoning=3712)


def test_articles_of_the_library_are_numbered_before_the_pages(server: OpenAIServer, tmp_path: Path) -> None:
    invented.library(tmp_path / "data", invented.lawrefbook(tmp_path / "laws"))
    server.searching = in_turn(
        [
            Search("灯塔", [GOV]),
            "日落前点灯([本地法规库](https://laws.invalid/1))。网上也说",
            link(GOV, "gov.example"),
            "。" * 9,
        ]
    )
    with app(server, DATA_DIR=str(tmp_path / "data")) as running:
        events = ask(running, question="灯塔法第三条")
    laws, web = (event for event in events if isinstance(event, SearchFinished) and not event.amends)
    assert laws.response.provider == "laws"
    assert [source.number for source in web.sources] == [len(laws.sources) + 1]
    assert "守塔人应当在日落前点灯" in json.dumps(server.requests[0], ensure_ascii=False)
    assert only(events, Answer).text.startswith("日落前点灯[1]。")
    assert only(events, Answer).sources == (laws.sources[0], *web.sources)
