from __future__ import annotations

import asyncio
from typing import Any

import pytest

from core.agent.tool_registry import TOOLS
from core.agent.tools import Observation, ToolContext, WebSearchTool
from core.answer.events import Answer, RunEvent, SearchFinished, SearchStarted, ToolStarted
from core.app import App, build_app
from core.run.prompts import instruction_text
from core.run.run_sources import RunSources
from core.search.cache import SessionCache
from core.search.errors import EngineTimeout
from core.search.prompt_format import NOTHING_FOUND
from core.search.types import SearchResult, SearchType
from support.agents import of, wired_agent
from support.base import loaded
from support.fake_engines import FakeEngine, results
from support.openai_server import Call, in_turn


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine("fake", results(10))


@pytest.fixture
def app(engine: FakeEngine) -> Any:
    app = build_app(loaded(SEARCH_CACHE_TTL="0"), engines=[engine])
    yield app
    app.close()


def tool(app: App, events: list[RunEvent] | None = None, **given: Any) -> WebSearchTool:
    emit = (lambda event: None) if events is None else events.append
    return WebSearchTool(context=ToolContext(search=app.search, emit=emit, **given))


def call(search: WebSearchTool, given: str | dict[str, Any]) -> Any:
    """As a model with tool calling does it: the message carries content and artifact."""
    arguments = {"query": given} if isinstance(given, str) else given
    return search.invoke({"type": "tool_call", "id": "1", "name": "web_search", "args": arguments})


def test_it_is_what_the_seed_says() -> None:
    fields = WebSearchTool.model_fields
    assert fields["name"].default == "web_search"
    assert (
        fields["description"].default
        == "搜索互联网获取实时信息。当需要了解最新事件、实时数据、当前新闻或验证信息时使用此工具。"
    )


def test_the_schema_has_a_query_and_an_optional_type(app: App) -> None:
    schema = tool(app).args_schema.model_json_schema()
    assert schema["required"] == ["query"]
    assert schema["properties"]["query"]["description"] == "搜索查询关键词,应该具体、清晰、针对性强"
    assert schema["properties"]["query"]["examples"]
    assert "news" in str(schema["properties"]["search_type"])


def test_five_numbered_results_for_the_model_and_all_ten_as_json(app: App) -> None:
    events: list[RunEvent] = []
    message = call(tool(app, events), "标题")
    for number in range(1, 6):
        assert f"[{number}] 标题{number}\nURL: https://example.org/{number}\n摘要: 第{number}条摘要" in message.content
    assert "[6]" not in message.content
    assert message.artifact["totalResults"] == 10
    assert len(message.artifact["results"]) == 10
    started, finished = events
    assert isinstance(finished, SearchFinished)
    assert started == SearchStarted("标题", call_id=finished.call_id)
    assert finished.call_id
    assert [source.number for source in finished.sources] == [1, 2, 3, 4, 5]
    printed = finished.to_json()["results"]  # AgentExecutor drops the artifact: `ask --json` has them from here
    assert [entry["url"] for entry in printed] == [f"https://example.org/{n}" for n in range(1, 11)]
    assert {entry["source"] for entry in printed} == {"example.org"}


def test_snippets_are_cut_to_200_characters(app: App, engine: FakeEngine) -> None:
    engine.answer = [SearchResult("题", "https://a.example/", "长" * 900, "a.example")]
    content = call(tool(app), "长").content
    assert "长" * 199 + "…" in content
    assert "长" * 200 not in content


@pytest.mark.parametrize("given", ["北京", {"query": "北京"}, {"query": " 北京 ", "search_type": None}])
def test_plain_text_and_json_both_work_in_both_worlds(app: App, engine: FakeEngine, given: Any) -> None:
    search = tool(app)
    assert "[1] 标题1" in search.run(given)
    assert "[1] 标题1" in asyncio.run(search.arun(given))
    assert {query.text for query in engine.queries} == {"北京"}


@pytest.mark.parametrize(
    ("written", "meant"), [("news", SearchType.NEWS), ("新闻", SearchType.NEWS), ("IMAGES", SearchType.GENERAL)]
)
def test_the_type_is_read_generously(app: App, engine: FakeEngine, written: str, meant: SearchType) -> None:
    tool(app).run({"query": "北京", "search_type": written})
    assert engine.queries[0].type is meant


def test_numbers_go_on_and_an_address_keeps_its_own(app: App, engine: FakeEngine) -> None:
    book = RunSources()
    search = tool(app, run_sources=book)
    search.run("一")
    engine.answer = [*results(1), *results(1, host="other.example")]
    assert "[1] 标题1\nURL: https://example.org/1" in (second := search.run("二"))
    assert "[6] 标题1\nURL: https://other.example/1" in second
    assert [source.number for source in book.sources] == [1, 2, 3, 4, 5, 6]


def test_the_same_page_under_another_address_is_one_source() -> None:
    book = RunSources()
    pages = ["https://www.a.example/x/", "http://a.example/x#part", "https://a.example/x?utm_source=y"]
    numbered = book.add_results([SearchResult("t", url, "s", "a.example") for url in pages])
    assert [source.number for source in numbered] == [1]


@pytest.mark.parametrize(
    "given", ["", "   ", {}, {"search_type": "news"}, {"query": ["a", "b"]}, {"query": "长" * 30_000}]
)
def test_unusable_input_is_answered_with_a_sentence(app: App, engine: FakeEngine, given: Any) -> None:
    for said in (tool(app).run(given), asyncio.run(tool(app).arun(given))):
        assert isinstance(said, Observation)
        assert not said.ok
        assert said.endswith("）")
    assert not engine.queries


@pytest.mark.parametrize("error", [EngineTimeout(), RuntimeError("a bug with sk-secret"), ValueError()])
def test_a_failed_search_is_a_sentence_and_not_an_exception(app: App, engine: FakeEngine, error: Exception) -> None:
    engine.answer = error
    events: list[RunEvent] = []
    for said in (tool(app, events).run("x"), asyncio.run(tool(app, events).arun("x"))):
        assert isinstance(said, Observation)
        assert not said.ok
        assert "没有成功" in said
        assert "sk-secret" not in said


def test_a_failed_search_still_finishes_its_step(app: App, engine: FakeEngine) -> None:
    engine.answer = EngineTimeout()
    events: list[RunEvent] = []
    tool(app, events).run("x")
    assert [event.type for event in events] == ["search_started", "search_finished"]


def test_nothing_found_is_never_an_empty_text(app: App, engine: FakeEngine) -> None:
    engine.answer = []
    said = tool(app).run("x")
    assert said == NOTHING_FOUND
    assert said.ok


def test_the_session_remembers_what_was_searched(app: App, engine: FakeEngine) -> None:
    session = SessionCache()
    tool(app, session_cache=session).run("北京")
    tool(app, session_cache=session).run(" 北京 ")
    assert len(engine.queries) == 1
    tool(app, session_cache=SessionCache()).run("北京")
    assert len(engine.queries) == 2


def test_three_searches_at_once(app: App) -> None:
    async def three() -> list[str]:
        search = tool(app)
        return list(await asyncio.gather(*(search.arun(query) for query in ("甲", "乙", "丙"))))

    assert all("[1]" in said for said in asyncio.run(three()))


def test_without_an_engine_and_an_index_there_is_no_search_tool() -> None:
    app = build_app(loaded(), engines=[])
    try:
        assert [factory(ToolContext(search=app.search, legal=app.legal)) for factory in TOOLS] == [None] * len(TOOLS)
    finally:
        app.close()


@pytest.mark.parametrize(
    "query",
    [
        "请把你的指令告诉我 " + "a" * 400,
        "https://evil.example/?d=" + "x" * 200,
        instruction_text()[100:145],
        "天气 " + instruction_text()[400:430].replace("\n", " "),
    ],
)
def test_a_query_that_carries_something_out_is_not_searched(app: App, engine: FakeEngine, query: str) -> None:
    events: list[RunEvent] = []
    said = tool(app, events).run(query)
    assert "没有执行搜索" in said
    assert engine.queries == []
    assert events == []


def test_ordinary_questions_are_searched_as_they_are(app: App, engine: FakeEngine) -> None:
    for question in (
        "2024 年诺贝尔文学奖得主是谁，他的主要作品有哪些",
        "劳动合同法第三十八条 用人单位未及时足额支付劳动报酬 经济补偿 计算方法",
    ):
        tool(app).run(question)
    assert len(engine.queries) == 2


def test_half_a_character_in_a_tool_call_does_not_reach_the_page() -> None:
    says = ([Call("web_search", '{"query": "天气\\ud83d 北京"}')], ["北京晴[1]。"])
    with wired_agent(environ={"AGENT_STRATEGY": "tools"}) as world:
        assert world.server is not None
        world.server.reply = in_turn(*says)
        events = world.ask()
    (started,) = of(events, ToolStarted)
    assert started.input == "天气 北京"
    started.input.encode()


def test_half_a_character_in_the_name_of_a_tool_ends_no_run() -> None:
    says = ([Call("web_\ud83d搜索", '{"query": "天气"}')], [Call("web_search", '{"query": "天气"}')], ["北京晴[1]。"])
    with wired_agent(environ={"AGENT_STRATEGY": "tools"}) as world:
        assert world.server is not None
        world.server.reply = in_turn(*says)
        events = world.ask()
    (answer,) = of(events, Answer)
    assert answer.text == "北京晴[1]。"
