"""Every scenario of seed 004: Agent mode, from the first thought to the steps on the page."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import re
import threading
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import langchain_openai  # noqa: F401 - its import takes seconds, which are not the measured run's
import pytest
from langchain_classic.agents import AgentExecutor
from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from core.agent import runner as runner_module
from core.agent.callback_handler import AgentCallbackHandler
from core.agent.classic import StreamlitCallbackHandler
from core.agent.react_parser import ReactParser
from core.agent.react_stream import ReactStream
from core.agent.tool_registry import TOOLS
from core.agent.tools import ToolContext, WebSearchTool
from core.answer.events import (
    RunEvent,
    RunStopped,
    Thought,
    ToolFinished,
    ToolStarted,
    Usage,
)
from core.base.http import Deadline
from core.llm import estimate_tokens
from core.llm.errors import ModelAuthError, ModelUnavailable
from core.reading.settings import ReadingSettings
from core.search.errors import EngineTimeout
from core.search.types import SearchQuery, SearchResult
from core.ui.chat.actions import AGENT_ON
from support.agents import (
    QUESTION,
    Meeting,
    RunningAgent,
    SlowEngine,
    agent,
    answer,
    chinese_instructions,
    english_instructions,
    failure,
    final,
    names,
    notice,
    of,
    search_step,
    short_instructions,
    thoughts,
    wired_agent,
)
from support.base import loaded
from support.fake_engines import FakeEngine, ScriptedEngine, results
from support.found_pages import found_pages
from support.openai_server import Call, in_turn
from support.pages import (
    ANSWER_TEXT,
    agent_page,
    announcement,
    ask,
    choose,
    costs,
    drawn_after,
    html,
    last_answer,
    open_page,
    references,
    rerun,
    states,
    step,
    steps,
    values,
)
from support.reading import kept_workers
from support.scripted import ScriptedChatModel
from support.waiting import until
from support.web_pages import STORY

__all__ = ["kept_workers"]

MANUAL = "怎么打开联网搜索？"
FOLDED = ("done", False)
ABOUT = SearchResult("英伟达", "https://a.example/", "英伟达的首席执行官是黄仁勋。", "a.example")


@pytest.fixture(autouse=True)
def _embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "bundled")


# ── Agent 模式 ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_agent_mode_is_chosen() -> None:
    """启用 Agent 模式"""
    page = choose(open_page(), "agent")
    assert page.session_state["mode"] == "agent"
    assert page.info[-1].value == AGENT_ON
    ask(page, MANUAL)
    assert page.session_state["chat"].messages[-1].mode == "agent"


def test_the_agent_decides_whether_to_search() -> None:
    """Agent 自主决策搜索"""
    with agent() as world:  # the embedded model
        searching, greeting = world.ask("标题1 是什么"), world.ask("你好")
    assert of(searching, ToolStarted)[0].input == "标题1"
    assert not of(greeting, ToolStarted)
    assert answer(greeting).text


def test_the_agent_searches_several_times() -> None:
    """Agent 多轮搜索"""
    says = (search_step("英伟达 CEO"), search_step("黄仁勋 出生年份"), final("是黄仁勋[1]，生于 1963 年[6]。"))
    engine = Growing("growing")
    with agent(*says, engines=[engine]) as world:
        events = world.ask()
        last = world.prompts[-1]
    assert [query.text for query in engine.queries] == ["英伟达 CEO", "黄仁勋 出生年份"]
    assert last.count("Observation: <sources>") == 2
    assert [source.number for source in answer(events).sources] == [1, 6]


def test_the_agent_reads_what_it_found() -> None:
    """Agent 多轮搜索, as users have it: a page that was found is opened, and the answer rests on its text"""
    reading = ["Thought: 摘要不够\nAction: read_page\nAction Input: 1"]
    says = (search_step("更换水表 费用"), reading, final("居民不需要付费[1]。"))
    with found_pages() as web:
        web.open.set()
        environ = {"READING_PAGES": str(ReadingSettings().pages), "READING_TIMEOUT": "30"}
        environ |= {"READING_ALLOW_HOSTS": web.address}
        found = SearchResult("供水量增加", f"http://{web.address}/news", "今年前三季度全市供水总量", "127.0.0.1")
        with agent(*says, engines=[FakeEngine("fake", [found])], environ=environ) as world, agent_page(world) as page:
            ask(page, "更换老旧水表要居民付费吗？")
            _, before, after = world.prompts
            search, read, *_ = steps(page)
            (cited,) = references(page)
    assert search.startswith("搜索「更换水表 费用」 · fake · 1 条")
    assert read == "阅读 [1] · 1 个已读全文"
    assert "正文节选: " not in before
    assert all(paragraph in after.partition("正文节选: ")[2] for paragraph in STORY)
    assert cited.about.startswith("2024-10-12 · 已读全文")


class Growing(FakeEngine):
    """Other pages for every query."""

    def search(self, query: SearchQuery, num_results: int, *, deadline: Any = None) -> Sequence[SearchResult]:
        self.answer = results(9, host=f"{len(self.queries)}.example")
        return super().search(query, num_results, deadline=deadline)


def test_the_whole_process_is_on_the_page() -> None:
    """Agent 执行过程可视化"""
    page = ask(choose(open_page(), "agent"), MANUAL)
    for _ in range(2):  # as it was drawn while it happened, and again
        search, thought, *_ = steps(page)
        assert re.match(r"搜索「打开联网搜索」 · 内置手册 · \d+ 条", search)
        assert announcement(page, 0).strip(), "the thought before it"
        assert re.match(r"(?:思考|已思考 \d+ 秒) · ", thought)
        assert last_answer(page).xpath(f"//*{ANSWER_TEXT}")
        rerun(page)


# ── ReAct 循环 ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_reasoning() -> None:
    """Reasoning 阶段"""
    with agent(search_step("x", thought="要先查"), final("好[1]。", thought="够了")) as world:
        events = world.ask()
    assert names(events)[:2] == ["thought", "tool_started"]
    assert names(events)[-5:] == ["thought", "text_delta", "checked", "answer", "usage"]
    page = drawn_after(events, over=True)
    assert [line for line in steps(page) if line.startswith("思考")] == ["思考 · 够了"]
    assert announcement(page, 0) == "要先查", "a short one before a call is the line above it"


def test_acting() -> None:
    """Acting 阶段"""
    engine = FakeEngine("fake", results(9))
    with agent(search_step("英伟达 CEO"), final("好。"), engines=[engine]) as world:
        events = world.ask()
    assert [(step.tool, step.input) for step in of(events, ToolStarted)] == [("web_search", "英伟达 CEO")]
    assert [query.text for query in engine.queries] == ["英伟达 CEO"]
    assert steps(drawn_after(events, over=True))[0].startswith("搜索「英伟达 CEO」 · fake · 9 条")


def test_observing() -> None:
    """Observing 阶段"""
    with agent(search_step("甲"), search_step("乙"), final("好。")) as world:
        events = world.ask()
        _, second, _ = world.prompts
    assert second.endswith("</sources>\nThought: "), "after the results it is the model's turn to think"
    assert [line[:16] for line in steps(drawn_after(events, over=True))[:2]] == [
        "搜索「甲」 · fake · 9",
        "搜索「乙」 · fake · 9",
    ]


def test_the_loop_ends_with_the_answer() -> None:
    """循环终止"""
    with agent(search_step("x"), final("是黄仁勋[1]。"), search_step("不会再搜")) as world, agent_page(world) as page:
        ask(page, QUESTION)
        assert len(world.prompts) == 2
        assert "是黄仁勋" in html(page.chat_message[-1])


class Curious(ScriptedChatModel):
    """Searches for something else whenever it may act, and answers when it is only asked for an answer."""

    def _pieces(self, messages: list[BaseMessage]) -> list[Any]:
        self.asked.append(messages)
        may_act = "Action Input:" in str(messages[0].content)
        return search_step(f"{'甲乙丙丁戊己庚辛'[len(self.asked)]}地") if may_act else ["综合所得：42[1]。"]


@pytest.mark.parametrize("limit", [5, 2])
def test_the_limit_of_iterations(limit: int) -> None:
    """最大迭代限制"""
    chosen = {"AGENT_MAX_ITERATIONS": str(limit)} if limit != 5 else {}
    with agent(chat=Curious(script=[]), environ=chosen) as world, agent_page(world) as page:
        ask(page, QUESTION)
        assert len(world.prompts) == limit + 1, "so many turns, and the answer"
        for _ in range(2):
            assert f"已达到 {limit} 次的迭代上限" in values(page.info)
            assert "综合所得：42" in html(page.chat_message[-1])
            rerun(page)
        message = page.session_state["chat"].messages[-1]
    assert message.tool_calls == limit
    assert message.ending == RunStopped("iterations")


# ── 搜索工具封装 ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_definition_of_the_tool() -> None:
    """工具定义"""
    with agent(final("好。")) as world:
        built = [factory(ToolContext(search=world.app.search)) for factory in TOOLS]
    tool = next(tool for tool in built if tool is not None and tool.name == "web_search")
    assert isinstance(tool, BaseTool)
    assert "当需要了解最新事件" in tool.description
    schema: Any = tool.args_schema
    assert schema.model_json_schema()["required"] == ["query"]
    assert schema.model_json_schema()["properties"]["query"]["type"] == "string"


def test_the_tool_is_called() -> None:
    """工具调用"""
    granted: list[float] = []

    def find(query: SearchQuery, deadline: Deadline) -> list[SearchResult]:
        granted.append(deadline.remaining())
        return results(9)

    with agent(search_step("英伟达 CEO"), final("好。"), engines=[ScriptedEngine("fake", find)]) as world:
        (step,) = of(world.ask(), ToolStarted)
        observed = world.prompts[1]
    assert step.input == "英伟达 CEO"
    assert [0 < seconds <= 5 for seconds in granted] == [True], "as long as a search may take in Chat mode"
    assert "[1] 标题1\nURL: https://example.org/1\n摘要: 第1条摘要" in observed


def failing() -> list[FakeEngine]:
    return [FakeEngine("fake", EngineTimeout())]


def test_errors_of_the_tool() -> None:
    """工具错误处理"""
    with agent(search_step("x"), final("凭所知：42。"), engines=failing()) as world:
        tool = WebSearchTool(context=ToolContext(search=world.app.search))
        assert "工具没有成功" in tool.run("直接调用")
        events = world.ask()
        assert "工具没有成功" in world.prompts[1]
    assert answer(events).text == "凭所知：42。"
    page = drawn_after(events, over=True)
    assert steps(page)[0].startswith("搜索「x」 · 失败：")
    assert states(page)[0] == ("failed", False)


def test_format_of_the_tools_results() -> None:
    """工具结果格式化"""
    engine = FakeEngine("fake", [SearchResult("题", "https://a.example/", "长" * 900, "a.example")])
    with agent(final("好。"), engines=[engine]) as world:
        said = WebSearchTool(context=ToolContext(search=world.app.search)).run("长")
    told = ["[1] 题", "URL: https://a.example/", f"摘要: {'长' * 199}…", "日期: 不详"]
    assert said.splitlines() == ["<sources>", *told, "</sources>"]


# ── Agent 配置 ───────────────────────────────────────────────────────────────────────────────────────────────────────


def agent_setting(name: str, **environ: str) -> tuple[Any, list[str]]:
    found = loaded(**environ)
    return getattr(found.values.agent, name), [problem.key for problem in found.problems]


def test_iterations_are_configured() -> None:
    """最大迭代次数配置"""
    assert agent_setting("max_iterations") == (5, [])
    for value in (1, 10):
        assert agent_setting("max_iterations", AGENT_MAX_ITERATIONS=str(value)) == (value, [])
    for wrong in ("0", "11", "many"):
        assert agent_setting("max_iterations", AGENT_MAX_ITERATIONS=wrong) == (5, ["AGENT_MAX_ITERATIONS"])


def test_time_is_configured() -> None:
    """最大执行时间配置"""
    assert agent_setting("max_execution_time") == (60, [])
    for value in (10, 300):
        assert agent_setting("max_execution_time", AGENT_MAX_EXECUTION_TIME=str(value)) == (value, [])
    for wrong in ("9", "301", "long"):
        assert agent_setting("max_execution_time", AGENT_MAX_EXECUTION_TIME=wrong) == (60, ["AGENT_MAX_EXECUTION_TIME"])


def test_time_is_up() -> None:
    """执行超时处理: a model that goes on for ever says something every fifth of a second. What it could say is counted,
    not how long the page took: on a busy machine it says less."""
    limit, beat = 3.0, 0.2
    thinks, answers = "Thought: ", "目前找到的内容还不能完整地回答这个问题，先把已经知道的写在下面："
    says = (search_step("英伟达"), *([begins, *["嗯", beat] * 200] for begins in (thinks, answers)))
    engines = [FakeEngine("fake", [ABOUT])]
    with agent(*says, engines=engines, max_execution_time=limit) as world, agent_page(world) as page:
        ask(page, QUESTION)
        assert "已达到 3 秒的时间上限" in values(page.info)
        message = page.session_state["chat"].messages[-1]
    assert message.ending == RunStopped("time")
    assert "英伟达的首席执行官是黄仁勋。[1]" in message.text
    assert (message.thought + message.text).count("嗯") * beat < 2 * limit


def test_verbose_logs(caplog: pytest.LogCaptureFixture) -> None:
    """详细日志配置"""
    assert agent_setting("verbose", AGENT_VERBOSE="true") == (True, [])
    says = (search_step("特别的词", thought="特别的想法"), final("特别的回答。"))
    with caplog.at_level(logging.INFO), agent(*says, environ={"AGENT_VERBOSE": "true"}) as world:
        world.ask()
    for words in (
        "特别的想法",
        "action: web_search, input: 特别的词",
        "observation of web_search",
        "标题1",
        "特别的回答",
    ):
        assert words in caplog.text


# ── Agent 执行过程展示 ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_thought_is_shown() -> None:
    """思考过程展示"""
    for written in ("先想", "先想一想"):
        page = drawn_after([Thought(character) for character in written])
        assert steps(page) == ["思考中"]
        assert states(page) == [("running", True)]
        assert f">{written}<" in step(page, 0)
    over = drawn_after([Thought("先想一想，" * 20), ToolStarted("web_search", "x", "1")])
    assert steps(over)[0].startswith("思考 · 先想一想，先想一想，")
    assert states(over)[0] == FOLDED


def test_a_call_is_shown() -> None:
    """工具调用展示"""
    started, done = ToolStarted("web_search", "英伟达 CEO", "1"), ToolFinished("web_search", True, "找到", "1")
    page = drawn_after([started])
    assert steps(page) == ["搜索「英伟达 CEO」 · 进行中"]
    assert "<b>查询</b> 英伟达 CEO" in step(page, 0)
    assert states(page)[0][0] == "running"
    page = drawn_after([started, done])
    assert (steps(page), states(page)) == (["搜索「英伟达 CEO」 · 完成"], [FOLDED])
    page = drawn_after([started, ToolFinished("web_search", False, "搜索超时。", "1")])
    assert (steps(page), states(page)) == (["搜索「英伟达 CEO」 · 失败：搜索超时。"], [("failed", False)])
    given = json.dumps({"query": "英伟达 CEO", "search_type": "news"}, ensure_ascii=False)
    with agent([f"Thought: 查新闻\nAction: web_search\nAction Input: {given}"], final("好。")) as world:
        events = world.ask()
    words = "搜索「英伟达 CEO」 · "  # without what the model chose besides
    assert steps(drawn_after(of(events, ToolStarted))) == [f"{words}进行中"]
    page = drawn_after(events, over=True)
    assert steps(page)[0].startswith(f"{words}fake · 9 条")
    assert "新闻" in step(page, 0)


def test_results_are_shown() -> None:
    """搜索结果展示"""
    with agent(search_step("x"), final("好。")) as world:
        page = drawn_after(world.ask(), over=True)
    assert steps(page)[0].startswith("搜索「x」 · fake · 9 条，取用 5 条 · ")
    assert states(page)[0] == FOLDED
    shown, rest = step(page, 0).split("<details><summary>其余 6 条</summary>")
    assert [f"标题{n}" in shown for n in range(1, 5)] == [True, True, True, False]
    assert "第3条摘要" in shown
    assert "第9条摘要" in rest


def test_the_answer_is_shown() -> None:
    """最终回答展示"""
    with agent(search_step("x"), final("是黄仁勋[1]。")) as world, agent_page(world) as page:
        ask(page, QUESTION)
        message = page.chat_message[-1]
        assert message.name == "assistant"
        bodies = [element.proto.body for element in message.get("html")]
        (shown,) = last_answer(page).xpath(f"//*{ANSWER_TEXT}")
        assert "是黄仁勋" in shown.text_content()
        assert not shown.xpath("ancestor::*[contains(@class, 'wy-')]"), "it stands by itself"
        assert not [body for body in bodies if "wy-step" in body and "是黄仁勋" in body], (
            "the answer is not inside a step"
        )
        assert len(steps(page)) == 2, "and the steps are still there"


def test_a_folded_step_has_everything_in_it() -> None:
    """执行步骤折叠"""
    thought = "很长的想法" * 30
    with agent(search_step("英伟达 CEO", thought=thought), final("好。")) as world, agent_page(world) as page:
        ask(page, QUESTION)
        for _ in range(2):
            assert states(page) == [FOLDED] * 3
            assert thought in step(page, 0)
            assert "英伟达 CEO" in step(page, 1)
            assert "标题9" in step(page, 1)
            rerun(page)


# ── Agent Prompt 模板 ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_system_prompt() -> None:
    """系统提示词定义, for models that write ReAct and for hosted ones that call tools"""
    for prompt in chinese_instructions():
        for part in ("你的目标是准确、完整地回答", "可以使用的工具", "web_search - ", "例子："):
            assert part in prompt
    for prompt in english_instructions():
        for part in ("Your goal is an accurate and complete answer", "web_search - ", "Example:"):
            assert part in prompt
    written, _ = chinese_instructions()
    assert "严格按下面的格式" in written
    for label in ("Question:", "Thought:", "Action:", "Action Input:", "Observation:", "Final Answer:"):
        assert f"\n{label}" in written


def test_the_prompt_tells_how_to_use_the_tool() -> None:
    """工具使用指导"""
    for prompt in chinese_instructions():
        for part in ("什么时候搜索：", "用哪个工具：", "怎样写搜索词：", "怎样读结果："):
            assert part in prompt
    for prompt in english_instructions():
        for part in ("When to search:", "Which tool:", "How to write a query:", "How to read results:"):
            assert part in prompt
    for prompt in short_instructions():
        assert "不知道或不确定就" in prompt


def test_the_prompt_tells_when_to_stop() -> None:
    """停止条件说明"""
    written, hosted = chinese_instructions()
    assert "什么时候停止：信息足以回答，或再搜也不会更多时，立即写 Final Answer，不要无休止地搜索。" in written
    assert "什么时候停止：信息足以回答，或再搜也不会更多时，立即回答，不要无休止地搜索。" in hosted
    for prompt in (written, hosted):
        assert "准确、完整、简洁" in prompt
        assert "在句末用方括号写出编号" in prompt
    for prompt in english_instructions():
        assert "When to stop: as soon as the information is enough" in prompt
    for prompt in short_instructions():
        assert "看到有用的结果就停止搜索、马上回答" in prompt


def test_the_prompt_can_be_changed(tmp_path: Path) -> None:
    """Prompt 优化"""
    own = tmp_path / "own.md"
    own.write_text("我的规则 $tools [$tool_names]\n---\n$history问：$question\n$steps", "utf-8")
    with agent(final("好。"), environ={"AGENT_PROMPT": str(own)}) as world:
        world.ask()
        assert world.prompts[0].startswith("我的规则")
    with agent(final("好。"), environ={"AGENT_PROMPT": "small"}) as world:
        world.ask()
        assert "每次只写下面两种格式" in world.prompts[0]
    with wired_agent(environ={"LLM_MODEL": "openai:qwen3:0.6b"}) as world:
        world.ask()
        assert "每次只写下面两种格式" in world.server.requests[0]["messages"][0]["content"]


# ── Agent 错误处理 ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_failed_call() -> None:
    """工具调用失败"""
    says = (search_step("甲公司"), search_step("乙城市"), final("没有查到，凭所知：42。"))
    with agent(*says, engines=failing()) as world, agent_page(world) as page:
        ask(page, QUESTION)
        assert "工具没有成功" in world.prompts[1]
        for _ in range(2):
            failed = [line for line, (state, _) in zip(steps(page), states(page), strict=True) if state == "failed"]
            assert [line.partition("：")[0] for line in failed] == ["搜索「甲公司」 · 失败", "搜索「乙城市」 · 失败"]
            assert "凭所知：42。" in html(page.chat_message[-1])
            rerun(page)


def test_errors_of_the_model() -> None:
    """LLM API 错误"""
    with agent([ModelUnavailable()], [ModelUnavailable()], final("好了。")) as world:
        assert answer(world.ask()).text == "好了。"
    with agent([ModelUnavailable()]) as world, agent_page(world) as page:
        ask(page, QUESTION)
        assert len(world.prompts) == world.app.settings.llm.attempts
        assert len(page.error) == 1
        assert "Chat 模式" in page.error[0].value
        assert "Traceback" not in page.error[0].value


def test_circles_are_recognised() -> None:
    """无限循环检测"""
    with agent(search_step("上海 人口"), *[search_step("人口 上海")] * 2, ["到此为止[1]。"]) as world:
        with agent_page(world) as page:
            ask(page, QUESTION)
            (told,) = [info.value for info in page.info if "重复" in info.value]
        assert len(world.prompts) == 4
    assert "换一种问法" in told
    assert "切换到 Chat 模式" in told
    assert page.session_state["chat"].messages[-1].ending == RunStopped("loop")


@pytest.mark.parametrize("found", [True, False])
def test_recovery(found: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """异常恢复"""
    calls: list[Any] = []

    def check(*given: Any) -> None:
        calls.append(given)
        if len(calls) > found:
            raise ZeroDivisionError

    monkeypatch.setattr("core.agent.guard.LoopGuard.check", check)
    with agent(search_step("英伟达"), search_step("别的"), engines=[FakeEngine("f", [ABOUT])]) as world:
        events = world.ask()
    assert "ZeroDivisionError" in caplog.text
    if found:
        assert "英伟达的首席执行官是黄仁勋。[1]" in answer(events).text
        assert "Chat 模式" in notice(events).text
    else:
        assert "Chat 模式" in failure(events).message


def test_recovery_after_the_model_is_gone() -> None:
    with agent(search_step("英伟达"), [ModelAuthError()], engines=[FakeEngine("f", [ABOUT])]) as world:
        events = world.ask()
    assert "英伟达的首席执行官是黄仁勋。[1]" in answer(events).text


# ── Agent 性能优化 ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_thoughts_and_answers_stream() -> None:
    """流式输出优化"""
    said = ["Thought: " + "想" * 30, 0.4, "\nFinal Answer: 开头已经写好了，", 0.4, "结尾。"]
    at: dict[str, float] = {}
    with agent(said) as world:
        for event in world.runner.stream(QUESTION):
            at.setdefault(event.type, time.monotonic())
    assert at["text_delta"] - at["thought"] > 0.3
    assert at["answer"] - at["text_delta"] > 0.3


def test_calls_run_at_the_same_time() -> None:
    """并发执行"""
    calls = [Call("web_search", json.dumps({"query": query})) for query in ("beijing", "shanghai", "guangzhou")]
    with wired_agent(engines=[Meeting()], environ=Meeting.patience, strategy="tools") as world:
        world.server.reply = in_turn(calls, ["好[1]。"])
        events = world.ask()
    assert [step.ok for step in of(events, ToolFinished)] == [True] * 3
    assert len(steps(drawn_after(events, over=True))) == 3


def reported(input: int, output: int) -> dict[str, int]:
    return {"input_tokens": input, "output_tokens": output, "total_tokens": input + output}


def test_tokens_are_counted() -> None:
    """Token 使用监控: of both calls, and each part for itself"""
    said = final("是黄仁勋[1]。")
    with agent([*search_step("x"), reported(1_000, 40)], [*said, reported(2_000, 60)]) as world:
        with agent_page(world) as page:
            ask(page, QUESTION)
            (usage,) = of(page.session_state["chat"].messages[-1].events, Usage)
            (total,) = last_answer(page).xpath("//*[@class='wy-cost']")
            (cost,) = costs(page)
        observed = world.prompts[1][world.prompts[1].rindex("<sources>") :].partition("\nThought:")[0]
    assert (usage.input, usage.output, usage.total, usage.estimated) == (3_000, 100, 3_100, False)
    tools, answering = estimate_tokens(observed), round(60 * len("是黄仁勋[1]。") / len("".join(said)))
    assert tools > 50
    assert answering > 10
    thinking = 3_100 - tools - answering
    assert usage.parts == {"thinking": thinking, "tools": tools, "answer": answering}
    assert total.text_content() == "3,100 tokens", "always in view"
    for part in ("3,100 tokens", f"思考 {thinking:,}、工具 {tools}、回答 {answering}", "2 轮", "1 次工具调用"):
        assert part in cost, "behind ⋯"


def test_the_same_search_is_not_made_again() -> None:
    """搜索结果缓存"""
    engine = FakeEngine("fake", results(9))
    says = (search_step("x"), final("一。"), search_step("x"), final("二。"))
    with agent(*says, engines=[engine], environ={"SEARCH_CACHE_TTL": "0"}) as world, agent_page(world) as page:
        ask(page, QUESTION)
        ask(page, "再说一次")
        assert len(engine.queries) == 1
        assert ["缓存" in line for line in steps(page) if line.startswith("搜索")] == [False, True]
        assert len(page.session_state["session_cache"]) == 1


# ── LangChain Agent 集成 ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_agent_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agent 初始化"""
    built: list[AgentExecutor] = []

    def build(**given: Any) -> AgentExecutor:
        built.append(AgentExecutor(**given))
        return built[-1]

    monkeypatch.setattr(runner_module, "AgentExecutor", build)
    with agent(final("好。"), environ={"AGENT_MAX_ITERATIONS": "7"}) as world:
        world.ask()
        assert "web_search" in world.prompts[0]
    (executor,) = built
    assert executor.max_iterations == 7
    assert "web_search" in [tool.name for tool in executor.tools]
    chain: Any = executor.agent.runnable  # type: ignore[union-attr]
    assert isinstance(chain.last, ReactParser), "what create_react_agent made"


def test_callbacks_become_steps() -> None:
    """Agent 回调: a model and a tool that know only LangChain tell the handler, it tells the run, and the page draws that"""
    told: list[RunEvent] = []
    handler = AgentCallbackHandler(told.append)
    assert isinstance(handler, StreamlitCallbackHandler)
    handler.new_stream = ReactStream
    with agent(final("好。")) as world:
        model = ScriptedChatModel(script=[search_step("英伟达 CEO", thought="要先查")])
        tool = WebSearchTool(context=ToolContext(search=world.app.search))

        async def act() -> None:
            await model.ainvoke(QUESTION, {"callbacks": [handler]})
            await tool.ainvoke("英伟达 CEO", {"callbacks": [handler]})

        world.app.loop.submit(act()).result(30)
    assert thoughts(told) == "要先查"
    assert names(told) == ["thought", "tool_started", "tool_finished"]
    assert (told[-2].input, told[-1].ok) == ("英伟达 CEO", True)  # type: ignore[union-attr]
    page = drawn_after(told)
    (call,) = steps(page)
    assert announcement(page, 0) == "要先查"
    assert call == "搜索「英伟达 CEO」 · 完成"
    assert states(page) == [FOLDED]


def test_the_handler_is_registered_with_the_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agent 回调: what the executor is given is LangChain's Streamlit handler, and all that the page draws comes from it"""
    registered: list[Any] = []

    class Executor(AgentExecutor):
        async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
            registered.extend(config["callbacks"])
            return await super().ainvoke(input, config, **kwargs)

    monkeypatch.setattr(runner_module, "AgentExecutor", Executor)
    with agent(search_step("英伟达 CEO"), final("好[1]。")) as world:
        events = world.ask()
    (handler,) = registered
    assert isinstance(handler, StreamlitCallbackHandler)
    assert steps(drawn_after(events, over=True))[0].startswith("搜索「英伟达 CEO」 · fake · 9 条")


def tasks(world: RunningAgent) -> int:
    async def count() -> int:
        return len(asyncio.all_tasks())

    return int(world.app.loop.submit(count()).result())


def test_the_agent_is_stopped() -> None:
    """Agent 停止"""
    engines = [SlowEngine(30.0, results(3))]
    with agent(search_step("x"), final("好。"), engines=engines, environ={"SEARCH_TIMEOUT": "60"}) as world:
        before = tasks(world)
        run = world.runner.start(world.runner.accept_question(QUESTION))
        until(lambda: bool(of(run.events, ToolStarted)))
        run.cancel()
        until(lambda: tasks(world) == before)
        until(lambda: not [thread for thread in threading.enumerate() if thread.name == "search"])
    assert run.events[-1] == RunStopped("user")
    page = drawn_after(run.events, over=True)
    assert states(page) == [("stopped", False)], "no step is open, and none is called failed"


def test_memory() -> None:
    """Agent 内存管理"""
    engine = FakeEngine("fake", results(9))
    says = (
        search_step("英伟达 CEO"),
        final("是黄仁勋[1]。"),
        search_step("英伟达 CEO"),
        final("1963 年[2]。"),
        final("好。"),
    )
    with agent(*says, engines=[engine], environ={"SEARCH_CACHE_TTL": "0"}) as world:
        world.app.model.chat_model()  # after building it, what there is stays for good
        with agent_page(world) as page:
            ask(page, QUESTION)
            ask(page, "他哪年出生？")
            asked_again = world.prompts[2]
            events = page.session_state["chat"].messages[-1].events
            gone = [weakref.ref(page.session_state[name]) for name in ("session_cache", "chat")]
            del page
        with agent_page(world) as another:
            ask(another, "他是谁？")
            asked_by_another = world.prompts[-1]
        gc.collect()
        assert [kept() for kept in gone] == [None, None]
    assert f"用户：{QUESTION}\n助手：是黄仁勋。（当时搜索过：「英伟达 CEO」找到 《标题1》" in asked_again
    assert len(engine.queries) == 1
    assert [source.number for source in answer(events).sources] == [2], "numbered anew"
    assert "此前的对话" not in asked_by_another
