"""The embedded model end to end, and many runs at once on one process."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

from core.agent.runner import AgentRunner
from core.answer.events import Answer, SearchFinished, ToolFinished, ToolStarted, Usage
from core.app import build_app
from core.run.question import AnswerOptions
from core.search.cache import SessionCache
from support.agents import agent, answer, final, of, wired_agent
from support.base import loaded
from support.fake_engines import FakeEngine, results
from support.waiting import until


def bundled_runner() -> tuple[Any, AgentRunner]:
    app = build_app(loaded(SEARCH_PROVIDER_PRIORITY="bundled", SEARCH_RATE_LIMIT="1000"))
    return app, AgentRunner(app.latest_configured, loop=app.loop)


def test_a_fresh_clone_answers_from_its_own_manual() -> None:
    app, runner = bundled_runner()
    try:
        events = list(runner.stream("怎么打开联网搜索？"))
        greeting = list(runner.stream("你好"))
    finally:
        app.close()
    assert [step.ok for step in of(events, ToolFinished)] == [True]
    assert answer(events).sources
    assert "[1]" in answer(events).text
    (usage,) = of(events, Usage)
    assert usage.estimated
    assert not of(greeting, ToolStarted)
    assert answer(greeting).sources == ()


def test_the_embedded_model_searches_again_and_then_says_so() -> None:
    with agent(engines=[FakeEngine("fake", [])]) as world:
        events = world.ask("特斯拉股价走势")
    assert len(of(events, SearchFinished)) == 2
    assert "没有" in answer(events).text


def test_twenty_runs_at_once_keep_to_themselves() -> None:
    def reply(asked: dict[str, Any]) -> list[Any]:
        text = asked["messages"][-1]["content"]
        name = text.partition("Question: ")[2].split()[0]
        if "Observation: " not in text:
            return ["Thought: 查\n", 0.05, f"Action: web_search\nAction Input: {name}"]
        return [f"Final Answer: {name}", 0.05, "的回答[1]。"]

    engine = FakeEngine("fake", results(9))
    with wired_agent(engines=[engine], environ={"SEARCH_RATE_LIMIT": "1000"}) as world:
        world.server.reply = reply
        runs = {
            f"人物{n:02}": world.runner.start(
                world.runner.accept_question(f"人物{n:02} 是谁？", (), AnswerOptions(session_cache=SessionCache()))
            )
            for n in range(20)
        }
        events = {name: [event for batch in run.follow() for event in batch] for name, run in runs.items()}
    for name, told in events.items():
        assert answer(told).text == f"{name}的回答[1]。"
        assert [step.input for step in of(told, ToolStarted)] == [name]
        assert [source.number for source in answer(told).sources] == [1]


def test_nothing_is_left_after_many_runs() -> None:
    async def tasks() -> int:
        return len(asyncio.all_tasks())

    with agent(chat=None) as world:
        world.ask("标题1")
        threads, before = set(threading.enumerate()), world.app.loop.submit(tasks()).result()
        runs = [world.runner.start(world.runner.accept_question("标题1")) for _ in range(10)]
        for run in runs[::2]:
            run.cancel()
        for run in runs[1::2]:
            assert of([event for batch in run.follow() for event in batch], Answer)
        until(lambda: world.app.loop.submit(tasks()).result() == before)
        until(lambda: all("asyncio" in thread.name for thread in set(threading.enumerate()) - threads))


def test_a_run_that_nobody_follows_ends() -> None:
    with agent(final("好。"), [5.0]) as world:
        stream = world.runner.stream("你好吗")
        next(stream)
        stream.close()
        time.sleep(0.4)
        assert len(world.prompts) == 1
