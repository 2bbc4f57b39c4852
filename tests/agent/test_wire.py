"""Through the real ChatOpenAI and a real socket: both strategies, and every way in which a server can misbehave."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import langchain_openai  # noqa: F401 - its import takes seconds, which are not the measured run's
import pytest

from core.agent.strategy import NATIVE, REACT, REACT_WITHOUT_STOP, StrategyMemory
from core.answer.events import Notice, RunStopped, SearchFinished, TextDelta, Thought, ToolFinished, ToolStarted, Usage
from core.answer.message import message_from_run
from core.base.settings import ModelChoice
from support.agents import (
    QUESTION,
    Meeting,
    SlowEngine,
    answer,
    failure,
    names,
    notice,
    of,
    streamed,
    thoughts,
    wired_agent,
)
from support.fake_engines import results
from support.openai_server import DISCONNECT, HANG, Call, Fail, in_turn
from support.waiting import until


def step(query: str) -> list[Any]:
    return [*"Thought: 要查\n", "Action: web_", f"search\nAction Input: {query}\n"]


def final(text: str) -> list[Any]:
    return ["Thought: 好\nFinal", " Answer", ": ", *text]


def call(query: str) -> Call:
    return Call("web_search", json.dumps({"query": query}, ensure_ascii=False))


TOOLS: dict[str, Any] = {"strategy": "tools"}
A_LONG_PAUSE = 1.5
"""Of the model's, in seconds: what stands before it is told before what comes after, also on a busy machine."""


def test_react_streams_thoughts_and_answer() -> None:
    with wired_agent() as world:
        world.server.reply = in_turn(step("英伟达 CEO"), [*final("是黄仁"), A_LONG_PAUSE, *"勋[1]。"])
        events = world.ask()
        first, second = world.server.requests
    assert thoughts(events) == "要查好"
    assert answer(events).text == streamed(events) == "是黄仁勋[1]。"
    assert len(of(events, TextDelta)) > 1
    assert not any(delta.may_be_thought for delta in of(events, TextDelta)), "its label says that it is the answer"
    assert first["stop"] == ["\nObservation", "\n观察"]
    assert "tools" not in first
    assert "Observation: <sources>" in second["messages"][-1]["content"]
    (usage,) = of(events, Usage)
    assert (usage.input, usage.output, usage.estimated) == (22, 14, False)


def test_native_tool_calling() -> None:
    with wired_agent(**TOOLS) as world:
        world.server.reply = in_turn(["我先查一下。", call("英伟达 CEO")], [*"是黄仁勋[2]。"])
        events = world.ask()
        first, second = world.server.requests
    assert names(events) == [
        "thought",
        "tool_started",
        "search_started",
        "search_finished",
        "tool_finished",
        "text_delta",
        "checked",
        "answer",
        "usage",
    ]
    assert thoughts(events) == "我先查一下。"
    assert [source.number for source in answer(events).sources] == [2]
    assert first["tools"][0]["function"]["name"] == "web_search"
    assert "搜索查询关键词" in json.dumps(first["tools"], ensure_ascii=False)
    assert second["messages"][-1]["role"] == "tool"
    assert "[1] 标题1" in second["messages"][-1]["content"]


def test_numbers_without_a_source_are_nowhere_in_the_events() -> None:
    with wired_agent(**TOOLS) as world:
        world.server.reply = in_turn([call("英伟达 CEO")], ["是黄仁勋[", "2]，又见[", "4", "2]、【9", "7】。`x[42]`"])
        searched = world.ask()
        world.server.reply = in_turn(["你好[", "1]。"])
        unsearched = world.ask("你好")
    assert answer(searched).text == streamed(searched) == "是黄仁勋[2]，又见。`x[42]`"
    assert answer(unsearched).text == streamed(unsearched) == "你好。"


def test_a_long_native_answer_streams_while_it_is_written() -> None:
    with wired_agent(**TOOLS) as world:
        world.server.reply = in_turn([*["字" * 30] * 5, A_LONG_PAUSE, *["字" * 30] * 5])
        events = world.ask()
    assert len(of(events, TextDelta)) > 1
    assert answer(events).text == "字" * 300


def test_a_long_announcement_is_taken_back_when_a_call_follows() -> None:
    with wired_agent(**TOOLS) as world:
        world.server.reply = in_turn(["我" * 200, call("x")], ["好[1]。"])
        events = world.ask()
    assert answer(events).text == "好[1]。"
    assert "我" * 200 in thoughts(events)
    assert all(delta.may_be_thought for delta in of(events, TextDelta))
    stopped = events[: events.index(of(events, ToolFinished)[0])]
    assert message_from_run(stopped, seconds=1).text == "", "an announcement is not half an answer"


def test_without_any_tool_the_model_just_answers() -> None:
    with wired_agent(engines=[], environ={"READING_PAGES": "0"}) as world:
        world.runner.tools = ()
        world.server.reply = in_turn(["四十二。"])
        events = world.ask("六乘七")
    assert answer(events).text == streamed(events) == "四十二。"
    assert [told.kind for told in of(events, Notice)] == ["no_engine"]
    assert len(world.server.requests) == 1
    assert "Final Answer" not in json.dumps(world.server.requests[0])


def test_three_calls_in_one_turn_run_together() -> None:
    with wired_agent(engines=[Meeting()], environ=Meeting.patience, **TOOLS) as world:
        world.server.reply = in_turn([call("甲"), call("乙"), call("丙")], ["好[1]。"])
        events = world.ask()
    kinds = [event.type for event in events if event.type.startswith("tool")]
    assert kinds == ["tool_started"] * 3 + ["tool_finished"] * 3
    assert len({step.call_id for step in of(events, ToolStarted)}) == 3
    assert {step.call_id for step in of(events, ToolStarted)} == {step.call_id for step in of(events, ToolFinished)}
    numbers = [source.number for search in of(events, SearchFinished) for source in search.sources]
    assert set(numbers) == {1, 2, 3, 4, 5}, "the same pages keep their numbers"


def test_a_server_that_refuses_tools_is_not_asked_again() -> None:
    def reply(asked: dict[str, Any]) -> list[Any]:
        return [Fail(400)] if "tools" in asked else final("好。")

    with wired_agent(**TOOLS) as world:
        world.server.reply = reply
        assert answer(world.ask()).text == "好。"
        assert answer(world.ask()).text == "好。"
        assert ["tools" in request for request in world.server.requests] == [True, False, False]


def test_a_model_that_refuses_stop_words_is_asked_without_them() -> None:
    def reply(asked: dict[str, Any]) -> list[Any]:
        return [Fail(400)] if "stop" in asked else final("好。")

    with wired_agent(strategy="react") as world:
        world.server.reply = reply
        world.ask()
        world.ask()
        assert ["stop" in request for request in world.server.requests] == [True, False, False]


def test_a_request_that_is_refused_in_every_way_is_explained_and_nothing_is_concluded() -> None:
    with wired_agent(**TOOLS) as world:
        world.server.reply = in_turn([Fail(400)])
        assert failure(world.ask()).kind == "model_refused"
        world.server.reply = in_turn([*"好。"])
        world.ask()
        assert "tools" in world.server.requests[-1]


def test_without_stop_words_what_the_model_invents_is_cut_off() -> None:
    with wired_agent() as world:
        world.server.reply = in_turn(
            [*step("x"), "Observation: 编的\n", "Final Answer: 编的"], [*final("真的。"), "\nQuestion: 下一个？"]
        )
        events = world.ask()
    assert answer(events).text == streamed(events) == "真的。"
    assert len(of(events, ToolStarted)) == 1


def test_no_usage_from_the_server_means_an_estimate() -> None:
    with wired_agent() as world:
        world.server.reports_usage = False
        world.server.reply = in_turn(final("好。"))
        (usage,) = of(world.ask(), Usage)
    assert usage.estimated
    assert usage.input > 100


def test_think_tags_over_the_wire() -> None:
    with wired_agent() as world:
        world.server.reply = in_turn(["<thi", "nk>想", "</think>\n", "Final Answer: 好。"])
        events = world.ask()
    assert thoughts(events) == "想"
    assert answer(events).text == "好。"


@pytest.mark.parametrize("trouble", [[Fail(500)], [Fail(429)], [Fail(503)]])
def test_passing_trouble_before_the_first_token_is_retried(trouble: list[Any]) -> None:
    with wired_agent() as world:
        world.server.reply = in_turn(trouble, trouble, final("好。"))
        assert answer(world.ask()).text == "好。"


@pytest.mark.parametrize(("status", "kind"), [(500, "model_fault"), (401, "model_auth"), (429, "model_overloaded")])
def test_lasting_trouble_is_explained(status: int, kind: str) -> None:
    with wired_agent() as world:
        world.server.reply = in_turn([Fail(status)])
        failed = failure(world.ask())
    assert failed.kind == kind
    assert "sk-verysecret" not in failed.message


def test_a_connection_lost_in_a_thought_returns_what_was_found() -> None:
    with wired_agent() as world:
        world.server.reply = in_turn(step("标题"), ["Thought: 我在想", DISCONNECT])
        events = world.ask("标题1")
    assert thoughts(events) == "要查我在想"
    assert notice(events).kind == "model_disconnected"
    assert answer(events).sources


def test_a_connection_lost_in_the_answer_keeps_what_was_written() -> None:
    with wired_agent() as world:
        world.server.reply = in_turn(["Final Answer: 前半句话已经写出来了，", DISCONNECT])
        events = world.ask()
    assert failure(events).kind == "model_disconnected"
    assert streamed(events).startswith("前半句话")


@pytest.mark.parametrize("strategy", ["react", "tools"])
def test_an_empty_reply(strategy: str) -> None:
    with wired_agent(strategy=strategy) as world:
        world.server.reply = in_turn([""])
        events = world.ask("标题1")
    assert "第1条摘要[1]" in answer(events).text
    assert {event.kind for event in of(events, Notice)} == {"agent_output", "model_empty"}


def test_arguments_that_are_no_json_do_not_break_the_run() -> None:
    with wired_agent(**TOOLS) as world:
        world.server.reply = in_turn([Call("web_search", '{"query": ')], ["好。"])
        assert answer(world.ask()).text == "好。"


def test_a_call_of_an_unknown_tool_is_refused() -> None:
    with wired_agent(**TOOLS) as world:
        world.server.reply = in_turn([Call("shell", '{"command": "rm -rf /"}')], ["不行。"])
        events = world.ask()
    assert [(step.tool, step.ok) for step in of(events, ToolFinished)] == [("shell", False)]
    assert answer(events).text == "不行。"


# ── Deadlines, measured ───────────────────────────────────────────────────────────────────────────────────────────────


def timed(world: Any, question: str = QUESTION) -> tuple[list[Any], float]:
    started = time.monotonic()
    events = world.ask(question)
    return events, time.monotonic() - started


@pytest.mark.parametrize("behaviour", [[HANG], ["Thought: 想", HANG], ["想", 0.2] * 100])
def test_a_model_that_hangs_or_trickles_is_left_at_the_deadline(behaviour: list[Any]) -> None:
    with wired_agent(max_execution_time=2.0) as world:
        world.server.reply = in_turn(step("标题"), behaviour)
        events, seconds = timed(world, "标题1")
    assert 1.5 <= seconds < 10
    assert of(events, RunStopped) == [RunStopped("time")]
    assert "2 秒的时间上限" in notice(events).text
    assert answer(events).sources, "what was found is quoted"


def test_a_hanging_model_with_nothing_found() -> None:
    with wired_agent(max_execution_time=1.0) as world:
        world.server.reply = in_turn([HANG])
        events, seconds = timed(world)
    assert 0.5 <= seconds < 10
    assert "没有找到" in answer(events).text


def test_a_hanging_tool_leaves_time_for_the_last_answer() -> None:
    engine = SlowEngine(20.0, results(3))
    with wired_agent(engines=[engine], environ={"SEARCH_TIMEOUT": "60"}, max_execution_time=3.0) as world:
        world.server.reply = in_turn(step("x"), ["没有查到，凭所知：42。"])
        events, seconds = timed(world)
    assert 2.2 <= seconds < 15
    assert of(events, RunStopped) == [RunStopped("time")]
    assert [step.ok for step in of(events, ToolFinished)] == [False], "no step stays open"
    assert answer(events).text == "没有查到，凭所知：42。"


def test_an_answer_that_has_begun_may_use_the_reserve() -> None:
    with wired_agent(max_execution_time=12.0) as world:  # nine of them for acting
        world.server.reply = in_turn(["Final Answer: 开头写得很早，", 9.2, "后来写完了。"])
        events, seconds = timed(world)
    assert 9.2 <= seconds < 12
    assert not of(events, RunStopped)
    assert answer(events).text == "开头写得很早，后来写完了。"


def test_an_answer_that_never_ends_is_cut_at_the_deadline() -> None:
    with wired_agent(max_execution_time=1.5) as world:
        world.server.reply = in_turn(["Final Answer: 开头写得很早，", *["慢", 0.2] * 50])
        events, seconds = timed(world)
    assert 1.0 <= seconds < 8
    assert "没有写完" in notice(events).text
    assert answer(events).text == streamed(events)
    assert answer(events).text.startswith("开头写得很早，慢")


# ── Stopping ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_stopping_lets_go_of_a_hanging_model_at_once() -> None:
    with wired_agent() as world:
        world.server.reply = in_turn(["Thought: " + "想" * 30, *["想" * 10, 0.05] * 400])
        run = world.runner.start(world.runner.accept_question(QUESTION))
        until(lambda: bool(of(run.events, Thought)))
        run.cancel()
        until(lambda: world.server.broken_off == 1)
    assert run.events[-1] == RunStopped("user")


def test_stopping_lets_go_of_a_hanging_tool_at_once() -> None:
    engine = SlowEngine(30.0, results(3))
    with wired_agent(engines=[engine], environ={"SEARCH_TIMEOUT": "60"}) as world:
        world.server.reply = in_turn(step("x"), final("好。"))
        before = _tasks(world)
        run = world.runner.start(world.runner.accept_question(QUESTION))
        until(lambda: bool(of(run.events, ToolStarted)))
        run.cancel()
        until(lambda: _tasks(world) == before)
        until(lambda: not [thread for thread in threading.enumerate() if thread.name == "search"])


def _tasks(world: Any) -> int:
    import asyncio

    async def count() -> int:
        return len(asyncio.all_tasks())

    return int(world.app.loop.submit(count()).result())


# ── Which strategy ────────────────────────────────────────────────────────────────────────────────────────────────────


class _Chat:
    def __init__(self, profile: dict[str, Any] | None) -> None:
        self.profile = profile


@pytest.mark.parametrize(
    ("wanted", "provider", "name", "profile", "native"),
    [
        ("auto", "openai", "gpt-5-mini", {"tool_calling": True}, True),
        ("auto", "openai", "gpt-3.5-turbo", {"tool_calling": False}, False),
        ("auto", "openai", "deepseek-chat", None, True),
        ("auto", "openai", "qwen-plus-latest", None, True),
        ("auto", "openai", "deepseek-ai/DeepSeek-V3.2", None, True),
        ("auto", "openai", "qwen3:8b", None, False),
        ("auto", "openai", "smollm2", None, False),
        ("tools", "openai", "smollm2", None, True),
        ("react", "openai", "gpt-5-mini", {"tool_calling": True}, False),
    ],
)
def test_what_is_tried_first(wanted: str, provider: str, name: str, profile: Any, native: bool) -> None:
    ways = StrategyMemory(wanted, ModelChoice(provider, name)).candidates(_Chat(profile), with_tools=True)  # type: ignore[arg-type]
    assert ways == ([NATIVE] if native else []) + [REACT, REACT_WITHOUT_STOP]


@pytest.mark.parametrize("strategy", ["react", "tools"])
def test_the_preview_is_what_the_model_gets(strategy: str) -> None:
    with wired_agent(environ={"AGENT_STRATEGY": strategy}) as world:
        world.server.reply = in_turn(final("好。") if strategy == "react" else ["好。"])
        world.ask()
        preview = world.runner.preview(QUESTION)
        (request,) = world.server.requests
    assert [text for _, text in preview.messages] == [message["content"] for message in request["messages"]]
    assert ("tools" in request) == (strategy == "tools")
