"""What our events and guards cost on top of LangChain's own loop, and how agent runs behave together."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
import urllib.request
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.rows import Row
from core.app import extra_sections
from core.base.settings import LoadedSettings, load_settings
from core.search.engine import SearchEngine
from core.search.types import SearchQuery, SearchResult

ROOT = Path(__file__).resolve().parent.parent

ROUNDS = 30
ITERATIONS = 4
"""Three searches and an answer."""
RUNS_AT_ONCE = 50

NOTE = """Without a peer: three tool calls take what one takes, or they do not; and counts."""

QUERIES = ("上海 常住人口", "北京 平均气温", "广州 地铁里程")
ANSWER = "三个城市的数据都已找到[1]。"


def rows() -> Iterator[Row]:
    sys.path.insert(0, str(ROOT / "tests"))
    warnings.simplefilter("ignore")
    yield from _per_iteration()
    yield from _together()


def _settings(**environ: str) -> LoadedSettings:
    environ |= {"SEARCH_RATE_LIMIT": "100000", "SEARCH_HEDGE_AFTER": "5", "LOG_LEVEL": "WARNING"}
    return load_settings(ROOT / "settings.yaml", {"DATA_DIR": tempfile.mkdtemp(), **environ}, sections=extra_sections())


def _results(count: int) -> list[SearchResult]:
    return [
        SearchResult(f"标题{n}", f"https://example.org/{n}", f"第{n}条摘要", "example.org", engine="bench", rank=n)
        for n in range(1, count + 1)
    ]


class _Engine(SearchEngine):
    name = "bench"

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds

    def search(self, query: SearchQuery, num_results: int, *, deadline: Any = None) -> list[SearchResult]:
        time.sleep(self._seconds)
        return _results(num_results)


# ── Framework time per iteration ──────────────────────────────────────────────────────────────────────────────────────


def _react_model() -> Any:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessageChunk
    from langchain_core.messages.ai import UsageMetadata
    from langchain_core.outputs import ChatGenerationChunk

    class ReactModel(BaseChatModel):
        """Answers at once, in pieces, with the step that the prompt has come to."""

        @property
        def _llm_type(self) -> str:
            return "bench"

        async def _astream(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
        ) -> AsyncIterator[ChatGenerationChunk]:
            step = str(messages[-1].text).count("\nObservation: <sources>")
            pieces = (
                ["Thought: ", "需要", "搜索", "。\nAction: web_search", f"\nAction Input: {QUERIES[step]}"]
                if step < len(QUERIES)
                else ["Thought: 好。", "\nFinal Answer: ", *(ANSWER[n : n + 4] for n in range(0, len(ANSWER), 4))]
            )
            for piece in pieces:
                yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
            usage = UsageMetadata(input_tokens=900, output_tokens=30, total_tokens=930)
            yield ChatGenerationChunk(message=AIMessageChunk(content="", usage_metadata=usage, chunk_position="last"))

        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

    return ReactModel()


def _calling_model() -> Any:
    from langchain_core.messages import AIMessageChunk, ToolMessage
    from langchain_core.outputs import ChatGenerationChunk

    base: Any = type(_react_model())

    class CallingModel(base):  # type: ignore[misc]
        """The same with native calls, for create_agent, which knows no other way."""

        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

        async def _astream(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
        ) -> AsyncIterator[ChatGenerationChunk]:
            step = sum(isinstance(message, ToolMessage) for message in messages)
            if step < len(QUERIES):
                call = {"name": "web_search", "args": f'{{"query": "{QUERIES[step]}"}}', "id": f"c{step}", "index": 0}
                yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[call]))
            else:
                for start in range(0, len(ANSWER), 4):
                    yield ChatGenerationChunk(message=AIMessageChunk(content=ANSWER[start : start + 4]))

        async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            from langchain_core.language_models.chat_models import agenerate_from_stream

            return await agenerate_from_stream(self._astream(messages))

    return CallingModel()


def _app(chat: Any) -> Any:
    from core.app import build_app
    from core.llm.model import Model

    settings = _settings(LLM_MODEL="bench:model")
    return build_app(settings, model=Model(settings.values, build=lambda _: chat), engines=[_Engine()])


def _instant_tool() -> Callable[[Any], Any]:
    """The same for everybody: a text of five sources, at once."""
    from core.agent.tools import AgentTool, Observation, ToolResult, WebSearchInput
    from core.run.run_sources import RunSources
    from core.search.prompt_format import sources_block

    sources = RunSources().add_results(_results(5))
    text = Observation(sources_block(sources, snippet_length=200), ok=True, summary="找到 5 条结果")

    class InstantSearch(AgentTool):
        name: str = "web_search"
        description: str = "搜索互联网"
        args_schema: Any = WebSearchInput

        async def ause(self, query: str, search_type: str | None = None) -> ToolResult:
            return text, {}

    return lambda context: InstantSearch(context=context)


def _contenders(app: Any) -> dict[str, Callable[[], Awaitable[Any]]]:
    from langchain.agents import create_agent
    from langchain_classic.agents import AgentExecutor, create_react_agent

    from core.agent.agent_prompt import build_agent_prompt, describe_tools
    from core.agent.runner import AgentRunner
    from core.agent.tools import ToolContext

    instant_tool = _instant_tool()
    tool = instant_tool(ToolContext(search=app.search))
    question = "三个城市的数据"
    prompt = build_agent_prompt("auto", strategy="react", question=question, model=app.model.choice, today="2026-01-01")
    agent = create_react_agent(app.model.chat_model(), [tool], prompt.messages, tools_renderer=describe_tools)
    executor = AgentExecutor(agent=agent, tools=[tool], max_iterations=9)
    graph: Any = create_agent(_calling_model(), [tool])
    runner = AgentRunner(app.latest_configured, loop=app.loop, tools=[instant_tool])

    async def ours() -> Any:
        events = [event async for event in runner.events(runner.accept_question(question))]
        assert events[-2].to_json()["text"] == ANSWER
        return events

    async def bare() -> Any:
        done = await executor.ainvoke({"input": question, "history": ""})
        assert done["output"] == ANSWER
        return done

    async def created() -> Any:
        done = await graph.ainvoke({"messages": [("human", question)]})
        assert done["messages"][-1].text == ANSWER
        return done

    return {"ours": ours, "bare": bare, "created": created}


def _per_iteration() -> Iterator[Row]:
    """Taken in turn, so that a busy moment of the machine hits all of them alike."""
    app = _app(_react_model())
    clocks = {"": time.perf_counter, ", processor time": time.process_time}
    taken: dict[tuple[str, str], list[float]] = {}

    async def measure() -> None:
        contenders = _contenders(app)
        for round_number in range(ROUNDS + 3):
            for name, run in contenders.items():
                started = {clock: now() for clock, now in clocks.items()}
                await run()
                for clock, now in clocks.items():
                    if round_number >= 3:
                        taken.setdefault((name, clock), []).append((now() - started[clock]) / ITERATIONS * 1000)

    app.loop.submit(measure()).result()
    app.close()
    for clock in clocks:
        ours, bare, created = (statistics.median(taken[name, clock]) for name in ("ours", "bare", "created"))
        title = f"agent, framework time per iteration{clock}"
        yield Row(title, ours, "ms", 1.25 * bare, "AgentExecutor.ainvoke", bare)
        yield Row(title, ours, "ms", None, "langchain create_agent", created)


# ── Together ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _together() -> Iterator[Row]:
    from support.openai_server import Call, in_turn, openai_server

    with openai_server() as server:
        app, runner = _wired(server.url, _Engine(seconds=1.0), strategy="tools")
        calls = [Call("web_search", f'{{"query": "{query}"}}') for query in QUERIES]
        server.reply = in_turn(["好。"])
        list(runner.stream("先热身"))
        server.reply = in_turn(calls, ["好。"])
        started = time.perf_counter()
        events = list(runner.stream("三个城市的数据"))
        app.close()
        assert sum(event.type == "tool_finished" for event in events) == len(QUERIES)
        yield Row("agent, three tool calls of 1 s in one turn", time.perf_counter() - started, "s", 1.3)

    with openai_server() as server:
        server.reply = _search_once
        yield from _fifty(server.url)


def _fifty(model_url: str) -> Iterator[Row]:
    """In the real server: does the page still get its turn?"""
    from support.app_server import app_server

    environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model_url, "LLM_MODEL": "openai:reply"}
    environ |= {"SEARCH_PROVIDER_PRIORITY": "bundled", "SEARCH_RATE_LIMIT": "100000", "AGENT_STRATEGY": "react"}
    with app_server("bench/apps/agents_at_once.py", **environ) as server, ThreadPoolExecutor(1) as asking:
        _fetch(f"{server.url}/answer-all?count=1")  # LangChain is imported
        working = asking.submit(_fetch, f"{server.url}/answer-all?count={RUNS_AT_ONCE}")
        waits = []
        while not working.done():
            started = time.perf_counter()
            _fetch(f"{server.url}/healthz")
            waits.append((time.perf_counter() - started) * 1000)
            time.sleep(0.02)
        done = working.result()
    yield Row("agent, 50 runs at once: answered", done["answered"], "runs", RUNS_AT_ONCE, at_least=True)
    yield Row("agent, 50 runs at once: all done after", done["seconds"], "s")
    yield Row("agent, 50 runs at once: /healthz meanwhile, median", statistics.median(waits), "ms", 100)
    yield Row("agent, 50 runs at once: /healthz meanwhile, slowest", max(waits), "ms", 100)


def _fetch(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as response:
        return json.load(response)


def _search_once(asked: dict[str, Any]) -> Sequence[Any]:
    text = asked["messages"][-1]["content"]
    if "Observation: " in text:
        return ["Final Answer: ", "人口数据已找到", "[1]。"]
    return ["Thought: 查\n", "Action: web_search\n", f"Action Input: {text.partition('Question: ')[2].split()[0]}"]


def _wired(url: str, engine: Any, *, strategy: str) -> tuple[Any, Any]:
    from core.agent.runner import AgentRunner
    from core.app import build_app

    app = build_app(_settings(OPENAI_BASE_URL=url, LLM_MODEL="openai:reply", AGENT_STRATEGY=strategy), engines=[engine])
    app.model.chat_model()
    return app, AgentRunner(app.latest_configured, loop=app.loop)
