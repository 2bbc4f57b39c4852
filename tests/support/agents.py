"""An AgentRunner with a scripted model, or a scripted server, and scripted engines."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

from langchain_core.language_models import BaseChatModel

from core.agent.runner import AgentRunner
from core.agent.tool_registry import TOOLS
from core.agent.tools import ToolFactory
from core.answer.events import Answer, Notice, RunEvent, RunFailed, TextDelta, Thought
from core.answer.message import Message
from core.app import App, build_app
from core.llm.call_limit import ModelCallLimit
from core.llm.model import Model, build_chat_model
from core.run.question import AnswerOptions
from core.search.engine import SearchEngine
from core.search.types import SearchQuery, SearchResult
from support.base import loaded
from support.fake_engines import FakeEngine, results
from support.openai_server import OpenAIServer, openai_server
from support.scripted import ScriptedChatModel

QUESTION = "英伟达的首席执行官是谁？"


def search_step(query: str, thought: str = "需要搜索") -> list[Any]:
    return [f"Thought: {thought}\n", f"Action: web_search\nAction Input: {query}"]


def final(answer: str, thought: str = "可以回答了") -> list[Any]:
    return [f"Thought: {thought}\nFinal ", "Answer: ", *answer]


class SlowEngine(FakeEngine):
    """Takes its time, whatever the deadline says."""

    def __init__(self, seconds: float, answer: Sequence[SearchResult]) -> None:
        super().__init__("slow", answer)
        self.seconds = seconds

    def search(self, query: SearchQuery, num_results: int, *, deadline: Any = None) -> Sequence[SearchResult]:
        time.sleep(self.seconds)
        return super().search(query, num_results, deadline=deadline)


class Meeting(FakeEngine):
    """Answers when three searches are there at the same time."""

    patience: ClassVar = {"SEARCH_HEDGE_AFTER": "40", "SEARCH_TIMEOUT": "50"}

    def __init__(self) -> None:
        super().__init__("meeting", results(9))
        self.together = threading.Barrier(3)

    def search(self, query: SearchQuery, num_results: int, *, deadline: Any = None) -> Sequence[SearchResult]:
        self.together.wait(30)
        return super().search(query, num_results, deadline=deadline)


@dataclass
class RunningAgent:
    app: App
    runner: AgentRunner
    chat: BaseChatModel | None = None

    def ask(
        self, question: str = QUESTION, history: Sequence[Message] = (), options: AnswerOptions | None = None
    ) -> list[RunEvent]:
        return list(self.runner.stream(question, history, options))

    @property
    def prompts(self) -> list[str]:
        assert isinstance(self.chat, ScriptedChatModel)
        return ["\n".join(str(message.text) for message in messages) for messages in self.chat.asked]


@dataclass(kw_only=True)
class WiredAgent(RunningAgent):
    server: OpenAIServer


async def no_patience(seconds: float) -> None:
    """Retries at once."""


def _runner(app: App, tools: Sequence[ToolFactory], changes: dict[str, Any]) -> AgentRunner:
    """`changes` to the agent's settings pass validation by: a test does not wait for ten seconds."""
    agent = app.settings.agent.model_copy(update=changes)
    changed = replace(app.loaded_settings, values=app.settings.model_copy(update={"agent": agent}))
    app.configured = replace(app.configured, loaded=changed)
    return AgentRunner(
        app.latest_configured,
        loop=app.loop,
        reader=app.reader,
        legal=app.legal,
        documents=app.documents,
        mcp=app.mcp,
        tools=tools,
        sleep=no_patience,
    )


@contextmanager
def agent(
    *says: list[Any],
    chat: BaseChatModel | None = None,
    engines: Sequence[SearchEngine] | None = None,
    tools: Sequence[ToolFactory] = TOOLS,
    environ: dict[str, str] | None = None,
    **changes: Any,
) -> Iterator[RunningAgent]:
    """Without a script there is no model: excerpts of the sources answer."""
    chat = chat or (ScriptedChatModel(script=list(says)) if says else None)
    settings = loaded(**({"LLM_MODEL": "scripted:test"} if chat else {}), **(environ or {}))
    build = (lambda _: chat) if chat else build_chat_model
    model = Model(settings.values, build=build, sleep=no_patience, limit=ModelCallLimit.from_settings(settings.values))
    engines = [FakeEngine("fake", results(9))] if engines is None else engines
    app = build_app(settings, model=model, engines=engines)
    try:
        yield RunningAgent(app, _runner(app, tools, changes), chat=chat)
    finally:
        app.close()


@contextmanager
def wired_agent(
    *, engines: Sequence[SearchEngine] | None = None, environ: dict[str, str] | None = None, **changes: Any
) -> Iterator[WiredAgent]:
    """Through the real ChatOpenAI, over a real socket."""
    with openai_server() as server:
        wiring = {"OPENAI_BASE_URL": server.url, "LLM_MODEL": "openai:reply", **(environ or {})}
        settings = loaded(**wiring)
        engines = [FakeEngine("fake", results(9))] if engines is None else engines
        app = build_app(settings, model=Model(settings.values, sleep=no_patience), engines=engines)
        app.model.chat_model()  # reads certificates for a while, which is not the run's time
        try:
            yield WiredAgent(app, _runner(app, TOOLS, changes), server=server)
        finally:
            app.close()


ENGLISH_QUESTION = "Who is the chief executive of NVIDIA?"


@cache
def instructions(model: str, question: str = QUESTION) -> str:
    """What a model with this name is told before its first turn, as its server receives it."""
    with wired_agent(environ={"LLM_MODEL": f"openai:{model}"}) as world:
        world.ask(question)
        asked = world.server.requests[0]
    assert bool(asked.get("tools")) is (model in HOSTED), "by default, hosted models call tools and others write ReAct"
    return str(asked["messages"][0]["content"])


HOSTED = HOSTED_LARGE, HOSTED_SMALL = "deepseek-chat", "hunyuan-4b-instruct"
LOCAL_LARGE, LOCAL_SMALL = "qwen3:8b", "qwen3:0.6b"


def chinese_instructions() -> list[str]:
    return [instructions(LOCAL_LARGE), instructions(HOSTED_LARGE)]


def english_instructions() -> list[str]:
    return [instructions(LOCAL_LARGE, ENGLISH_QUESTION), instructions(HOSTED_LARGE, ENGLISH_QUESTION)]


def short_instructions() -> list[str]:
    """For models that are too small for long ones."""
    return [instructions(LOCAL_SMALL), instructions(HOSTED_SMALL)]


def names(events: Sequence[RunEvent]) -> list[str]:
    """The types in order, a row of the same type as one."""
    kinds = [event.type for event in events]
    return [kind for n, kind in enumerate(kinds) if n == 0 or kinds[n - 1] != kind]


def of(events: Sequence[RunEvent], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def answer(events: Sequence[RunEvent]) -> Answer:
    (found,) = of(events, Answer)
    assert isinstance(found, Answer)
    assert events[-2] is found, "an answer is followed by the usage, and by nothing else"
    return found


def streamed(events: Sequence[RunEvent]) -> str:
    return "".join(event.text for event in of(events, TextDelta))


def thoughts(events: Sequence[RunEvent]) -> str:
    return "".join(event.text for event in of(events, Thought))


UNSOURCED = {"not_searched", "no_sources", "sources_unused"}


def notice(events: Sequence[RunEvent]) -> Notice:
    """Besides the one that an answer without any source has."""
    (found,) = (event for event in of(events, Notice) if event.kind not in UNSOURCED)
    assert isinstance(found, Notice)
    return found


def failure(events: Sequence[RunEvent]) -> RunFailed:
    (found,) = of(events, RunFailed)
    assert isinstance(found, RunFailed)
    assert events[-1] is found
    return found
