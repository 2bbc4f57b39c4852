"""Every scenario of seed 001: search in Chat mode and in Agent mode, its tool, its switch, its cache, its citations."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator

import pytest
from langchain_core.tools import BaseTool

from core.agent.tools import Observation, ToolContext, WebSearchTool
from core.answer.events import Answer, SearchFinished, ToolStarted
from core.app import App, build_app
from core.run.question import AnswerOptions
from core.search.cache import SESSION_SIZE, SessionCache
from core.search.errors import EngineTimeout
from core.search.service import SearchService
from core.search.types import SearchResult
from core.ui.chat.actions import AGENT_DECIDES
from support.agents import (
    QUESTION,
    Meeting,
    agent,
    answer,
    chinese_instructions,
    english_instructions,
    final,
    of,
    search_step,
    short_instructions,
)
from support.base import loaded
from support.fake_engines import FakeEngine, results
from support.pages import agent_page, ask, choose, citations, html, open_page, references, rerun, values
from support.reading import kept_workers
from support.scripted_app import scripted_app

__all__ = ["kept_workers"]

FIRST = "[1] 标题1\nURL: https://example.org/1\n摘要: 第1条摘要"
MANUAL = "怎么打开联网搜索？"
NO_SHARED_CACHE = {"SEARCH_CACHE_TTL": "0"}


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine("fake", results(9))


@pytest.fixture
def app(engine: FakeEngine) -> Iterator[App]:
    app = build_app(loaded(**NO_SHARED_CACHE), engines=[engine])
    yield app
    app.close()


@pytest.fixture
def tool(app: App) -> WebSearchTool:
    return WebSearchTool(context=ToolContext(search=app.search))


@pytest.fixture(autouse=True)
def _embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "bundled")


# ── 搜索服务接口 ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_search_in_chat_mode(engine: FakeEngine) -> None:
    """Chat 模式搜索"""
    with scripted_app(says=[["是黄仁勋[1]。"]], engines=[engine]) as (app, model):
        events = list(app.chat.stream(QUESTION, options=AnswerOptions(search=True)))
    assert [query.text for query in engine.queries] == [QUESTION]
    assert FIRST in str(model.asked[0][-1].content)
    (said,) = of(events, Answer)
    assert [source.number for source in said.sources] == [1]


def test_search_as_a_tool_of_the_agent(engine: FakeEngine) -> None:
    """Agent 工具调用搜索"""
    with agent(search_step("英伟达 CEO 现任"), final("是黄仁勋[1]。"), engines=[engine]) as world:
        events = world.ask()
        before, after = world.prompts
    assert [query.text for query in engine.queries] == ["英伟达 CEO 现任"]
    assert of(events, SearchFinished)[0].response.total_results == 9
    assert "标题1" not in before
    assert f"Observation: <sources>\n{FIRST}" in after


def test_format_of_results(engine: FakeEngine, tool: WebSearchTool) -> None:
    """搜索结果格式化"""
    with scripted_app(says=[["好。"]], engines=[engine]) as (app, model):
        list(app.chat.stream(QUESTION, options=AnswerOptions(search=True)))
    injected, returned = str(model.asked[0][-1].content), tool.run("英伟达")
    for text in (injected, returned):
        for number in range(1, 6):
            assert f"[{number}] 标题{number}\nURL: https://example.org/{number}\n摘要: 第{number}条摘要" in text
    assert QUESTION in injected
    assert len(returned.splitlines()) == 5 * 4 + 2, "nothing but the results and their fence"


def test_the_query_is_made_for_searching() -> None:
    """搜索查询优化"""
    question = "请问一下，怎么打开联网搜索？"
    with agent(engines=None) as world:  # the embedded model decides
        (step, *_) = of(world.ask(question), ToolStarted)
    assert step.input != question
    assert len(step.input) < len(question)
    assert "联网搜索" in step.input
    for prompt in chinese_instructions():
        assert "怎样写搜索词：具体、简短，写关键词而不是整句话，写明对象、时间和地点。" in prompt
    for prompt in english_instructions():
        assert "How to write a query: specific and short, key words instead of a sentence" in prompt
    for prompt in short_instructions():
        assert "搜索词要具体" in prompt


# ── 搜索工具适配 ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_interface_of_the_tool(tool: WebSearchTool) -> None:
    """工具接口实现"""
    assert isinstance(tool, BaseTool)
    assert isinstance(tool.context.search, SearchService)
    assert (tool.name, bool(tool.description)) == ("web_search", True)
    assert tool.args_schema.model_json_schema()["required"] == ["query"]


def test_the_tool_called_synchronously(tool: WebSearchTool, engine: FakeEngine) -> None:
    """工具同步调用"""
    assert FIRST in tool.invoke({"query": "英伟达"})
    engine.answer = EngineTimeout()
    said = tool.run("别的")
    assert isinstance(said, Observation)
    assert not said.ok
    assert "没有成功" in said


def test_the_tool_called_asynchronously() -> None:
    """工具异步调用"""
    app = build_app(loaded(**Meeting.patience), engines=[Meeting()])
    tool = WebSearchTool(context=ToolContext(search=app.search))

    async def three() -> list[str]:
        return list(await asyncio.gather(*(tool.arun(query) for query in ("甲", "乙", "丙"))))

    try:
        assert [FIRST in said for said in asyncio.run(three())] == [True] * 3
    finally:
        app.close()


def test_limits_of_what_the_tool_returns(tool: WebSearchTool, engine: FakeEngine) -> None:
    """工具结果限制"""
    engine.answer = [
        SearchResult(f"第{n}条", f"https://a.example/{n}", "长" * 900, "a.example", rank=n) for n in range(1, 10)
    ]
    said = tool.run("长")
    assert re.findall(r"^\[\d+\] (.+)$", said, re.MULTILINE) == [f"第{n}条" for n in range(1, 6)]
    summaries = re.findall(r"^摘要: (.+)$", said, re.MULTILINE)
    assert [len(summary) for summary in summaries] == [200] * 5
    assert all(summary.endswith("…") for summary in summaries)


# ── 搜索开关控制 ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_switch_in_chat_mode() -> None:
    """Chat 模式搜索开关"""
    page = open_page()
    assert not page.toggle[0].disabled
    page.toggle[0].set_value(True)
    assert rerun(page).toggle[0].label == "联网 已启用"
    for typed, on in (("/search off", False), ("/search on", True)):
        assert ask(page, typed).toggle[0].value is on
    ask(page, MANUAL)
    assert page.session_state["chat"].messages[-1].searches[0].response.query.text == MANUAL


def test_the_switch_in_agent_mode() -> None:
    """Agent 模式搜索开关"""
    page = choose(open_page(), "agent")
    assert page.toggle[0].disabled
    assert AGENT_DECIDES == "Agent 模式下由 AI 自动决策搜索"
    assert AGENT_DECIDES in values(page.caption)
    ask(page, "/search off")
    assert page.toggle[0].disabled
    assert AGENT_DECIDES in page.info[-1].value


@pytest.mark.parametrize("on", [True, False])
def test_the_switch_when_the_mode_changes(on: bool) -> None:
    """模式切换时开关状态"""
    page = open_page()
    if on:
        page.toggle[0].set_value(True)
        rerun(page)
    assert choose(page, "agent").toggle[0].disabled
    ask(page, "你好")
    choose(page, "chat")
    assert not page.toggle[0].disabled
    assert page.toggle[0].value is on


# ── 搜索结果缓存 ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_results_are_kept_in_the_session() -> None:
    """缓存搜索结果"""
    page = ask(choose(open_page(), "agent"), MANUAL)
    cache: SessionCache = page.session_state["session_cache"]
    assert len(cache) == 1
    (search,) = page.session_state["chat"].messages[-1].searches
    (key,) = cache._entries
    assert search.response.query.text in key
    ask(page, "你好")
    assert page.session_state["session_cache"] is cache
    assert len(cache) == 1


def test_kept_results_are_used(engine: FakeEngine, caplog: pytest.LogCaptureFixture) -> None:
    """使用缓存结果"""
    session = AnswerOptions(session_cache=SessionCache())
    says = (search_step("英伟达 CEO"), final("一。"), search_step("英伟达  CEO"), final("二。"))
    with agent(*says, engines=[engine], environ=NO_SHARED_CACHE) as world, caplog.at_level(logging.INFO):
        (first,) = of(world.ask(options=session), SearchFinished)
        assert "cache hit" not in caplog.text
        (second,) = of(world.ask(options=session), SearchFinished)
    assert second.response.results == first.response.results
    assert second.response.from_cache
    assert len(engine.queries) == 1
    assert "session cache hit" in caplog.text


def test_another_session_begins_with_an_empty_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """缓存过期"""
    monkeypatch.setenv("SEARCH_CACHE_TTL", "0")
    for _ in range(2):  # a session each
        page = choose(open_page(), "agent")
        assert "session_cache" not in page.session_state
        ask(page, MANUAL)
        (search,) = page.session_state["chat"].messages[-1].searches
        assert not search.response.from_cache
        assert len(page.session_state["session_cache"]) == 1


def test_size_of_the_cache(app: App, engine: FakeEngine) -> None:
    """缓存大小限制"""
    cache = SessionCache()
    tool = WebSearchTool(context=ToolContext(search=app.search, session_cache=cache, visitor=None))
    for n in range(SESSION_SIZE):
        tool.run(f"查询{n}")
    tool.run("查询0")
    tool.run("多出来的查询")
    assert len(cache) == SESSION_SIZE == 20
    asked = len(engine.queries)
    tool.run("查询0")
    assert len(engine.queries) == asked, "used a moment ago, and still there"
    tool.run("查询1")
    assert len(engine.queries) == asked + 1, "not used for the longest time, and gone"


# ── 搜索工具描述 ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_name_of_the_tool(tool: WebSearchTool) -> None:
    """工具名称定义"""
    assert tool.name == "web_search"
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name)


def test_description_of_the_tool(tool: WebSearchTool) -> None:
    """工具描述定义"""
    said = "搜索互联网获取实时信息。当需要了解最新事件、实时数据、当前新闻或验证信息时使用此工具。"
    assert tool.description == said
    with agent(final("好。")) as world:
        world.ask()
        assert f"web_search - {said}" in world.prompts[0]


def test_input_of_the_tool(tool: WebSearchTool) -> None:
    """工具输入说明"""
    query = tool.args_schema.model_json_schema()["properties"]["query"]
    assert query["type"] == "string"
    assert query["description"] == "搜索查询关键词,应该具体、清晰、针对性强"
    assert query["examples"]


def test_the_prompt_shows_how_to_use_the_tool() -> None:
    """工具使用示例"""
    with agent(final("好。")) as world:
        world.ask()
        (prompt,) = world.prompts
    example = prompt[prompt.index("例子：") :]
    assert "Action: web_search\nAction Input: 珠穆朗玛峰 最新高程 官方公布\nObservation: " in example
    assert "Thought: [1] 给出了官方数据" in example
    assert re.search(r"Final Answer: .+\[1\]。", example)
    for prompt in chinese_instructions():
        assert "不好：「英伟达赚了多少钱你知道吗」" in prompt
        assert "来自结果的内容，在句末用方括号写出编号，如 [1] 或 [2][5]；只用结果中出现过的编号" in prompt
    hosted = chinese_instructions()[-1]
    example = hosted[hosted.index("例子：") :]
    assert "调用 web_search，query 写「珠穆朗玛峰 最新高程 官方公布」" in example
    assert re.search(r"回答：.+\[1\]。", example)
    for prompt in english_instructions():
        assert "After a sentence that rests on a result, write its number in brackets, like [1] or [2][5]." in prompt
    for prompt in short_instructions():
        assert re.search(r"句末写来源的?编号", prompt)


# ── 搜索结果引用 ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_results_are_numbered(app: App, engine: FakeEngine, tool: WebSearchTool) -> None:
    """结果编号分配"""
    first = tool.run("甲")
    engine.answer = [*results(1), *results(2, host="other.example")]
    second = tool.run("乙")
    assert re.findall(r"^\[(\d+)\]", first, re.MULTILINE) == ["1", "2", "3", "4", "5"]
    assert re.findall(r"^\[(\d+)\]", second, re.MULTILINE) == ["1", "6", "7"], "a page keeps its number"


def test_citations_of_the_agent_are_links() -> None:
    """Agent 引用结果"""
    with_agent, with_chat = choose(open_page(), "agent"), open_page()
    with_chat.toggle[0].set_value(True)
    rerun(with_chat)
    for page in (with_agent, with_chat):
        ask(page, MANUAL)
        assert re.search(r"\[\d+\]", page.session_state["chat"].messages[-1].text)
        first, *_ = re.findall(r'<sup class="cite[^>]*><a href="([^"]+)"', html(page.main))
        assert first == "/help?article=search-toggle"


def test_references_of_the_agent() -> None:
    """引用列表生成"""
    with agent(search_step("x"), final("是黄仁勋[4]，生于台南[2]。")) as world, agent_page(world) as page:
        ask(page, QUESTION)
        for _ in range(2):  # while it is answered, and drawn again
            assert [(entry.number, entry.title, entry.address, entry.summary) for entry in references(page)] == [
                (str(n), f"标题{n}", f"https://example.org/{n}", f"第{n}条摘要") for n in (2, 4)
            ], "of five that were found, those that are cited"
            rerun(page)


def test_an_answer_without_citations() -> None:
    """无引用处理"""
    page = ask(choose(open_page(), "agent"), "你好")
    for _ in range(2):
        message = page.session_state["chat"].messages[-1]
        assert message.text
        assert not message.searches
        assert "[" not in message.text
        assert (references(page), citations(page)) == ([], [])
        assert "没有查找任何资料，以下回答没有来源可以引用" in values(page.info)
        rerun(page)
    assert "不需要搜索" in message.thought
    with agent(search_step("x"), final("我知道，是 42。")) as world:
        assert answer(world.ask()).sources == ()
