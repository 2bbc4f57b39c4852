"""A real, weak model writes whatever it likes, and every run must still end cleanly.

Start one with ../shared/tools/small-llm and point WENYUAN_SMALL_LLM_URL to it, e.g. http://127.0.0.1:8081/v1.
"""

from __future__ import annotations

import os
import time

import pytest

from core.agent.runner import AgentRunner
from core.answer.events import Answer, RunFailed, TextDelta, ToolFinished, ToolStarted, Usage
from core.app import build_app
from core.run.question import AnswerOptions
from support.agents import of
from support.base import loaded
from support.fake_engines import FakeEngine, results

URL = os.environ.get("WENYUAN_SMALL_LLM_URL", "")

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not URL, reason="WENYUAN_SMALL_LLM_URL names no running server"),
]


@pytest.mark.parametrize("strategy", ["react", "tools"])
@pytest.mark.parametrize(
    "question", ["What is the capital of France?", "珠穆朗玛峰有多高？", "Python 最新的稳定版本是多少？"]
)
def test_it_ends_with_an_answer_in_time(question: str, strategy: str) -> None:
    environ = {"OPENAI_BASE_URL": URL, "OPENAI_API_KEY": "none", "LLM_MODEL": "openai:smollm2"}
    environ |= {"AGENT_STRATEGY": strategy, "AGENT_MAX_EXECUTION_TIME": "45", "AGENT_MAX_ITERATIONS": "3"}
    app = build_app(loaded(**environ), engines=[FakeEngine("fake", results(9))])
    runner = AgentRunner(app.latest_configured, loop=app.loop)
    app.model.chat_model()
    started = time.monotonic()
    try:
        events = list(runner.stream(question))
    finally:
        app.close()
    assert time.monotonic() - started < 60
    assert not of(events, RunFailed)
    (answer,) = of(events, Answer)
    assert answer.text.strip()
    assert {step.call_id for step in of(events, ToolStarted)} == {step.call_id for step in of(events, ToolFinished)}
    assert isinstance(events[-1], Usage)


@pytest.mark.parametrize("question", ["珠穆朗玛峰有多高？", "用两句话介绍一下长城。"])
def test_chat_mode_streams_what_it_writes(question: str) -> None:
    environ = {"OPENAI_BASE_URL": URL, "OPENAI_API_KEY": "none", "LLM_MODEL": "openai:small", "CHAT_FOLLOW_UPS": "0"}
    app = build_app(loaded(**environ), engines=[FakeEngine("fake", results(5))])
    try:
        events = list(app.chat.stream(question, options=AnswerOptions(search=True)))
    finally:
        app.close()
    assert not of(events, RunFailed)
    (answer,) = of(events, Answer)
    assert "".join(event.text for event in of(events, TextDelta)) == answer.text != ""
    assert len(of(events, TextDelta)) > 5
    assert all(f"[{source.number}]" in answer.text for source in answer.sources)
    (usage,) = of(events, Usage)
    assert not usage.estimated
