"""What an agent has read stays below what its model takes, step after step: seen from the model's server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from run.test_own_files import LONG, WEB

from core.agent.tools import PROMPT_FULL
from core.answer.events import Answer, Notice, RunFailed, ToolFinished
from core.app import App, build_app
from core.llm import estimate_tokens
from core.run.question import AnswerOptions
from core.search.types import SearchResult
from support import invented
from support.base import loaded
from support.fake_engines import FakeEngine
from support.guiding_cases import guiding_case
from support.openai_server import Call, OpenAIServer, openai_server

STEPS = 8
ANSWER = "守塔人应当在日落前点灯[1]。"
ARTICLE = "守塔人应当在日落前点灯，并在登记簿上写明时刻、风向和能见度，登记簿保存三十年。" * 40
CASE = "大雾之夜，某渔船驶近礁石，守塔人没有鸣笛，船长也没有减速。" * 150


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("laws")
    articles = [{"number": f"第{number}条", "text": f"{ARTICLE}编号{number}。"} for number in "一二三四五六七八九十"]
    laws = invented.jsonl(folder / "laws.jsonl", {"name": "中华人民共和国灯塔法", "articles": articles})
    cases = [guiding_case(number, summary=CASE, gist=CASE, verdict=CASE) for number in range(1, STEPS + 1)]
    invented.library(folder / "data", laws, invented.jsonl(folder / "cases.jsonl", *cases))
    return folder / "data"


@contextmanager
def asking(data_dir: Path, window: int) -> Iterator[tuple[App, OpenAIServer]]:
    with openai_server() as server:
        server.listing = (200, json.dumps({"data": [{"id": "reply", "max_model_len": window}]}).encode())
        environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url, "LLM_MODEL": "openai:reply"}
        environ |= {"DATA_DIR": str(data_dir), "AGENT_STRATEGY": "tools", "AGENT_MAX_ITERATIONS": str(STEPS)}
        results = [SearchResult("灯塔", f"https://{n}.example/", "灯塔", f"{n}.example", text=WEB) for n in range(3)]
        app = build_app(loaded(READING_PAGES="2", **environ), engines=[FakeEngine("fake", results)])
        try:
            yield app, server
        finally:
            app.close()


def asks(tool: str, given: dict[str, str]) -> list[Any]:
    return [Call(tool, json.dumps(given, ensure_ascii=False))]


CALLS: dict[str, Callable[[int], list[Any]]] = {
    "statutes": lambda n: asks("regulation_search", {"query": f"守塔人 日落前点灯 登记簿 能见度 编号{n}"}),
    "cases": lambda n: asks("case_search", {"query": f"大雾 渔船 鸣笛 塔主{n}"}),
    "one case by its number": lambda n: asks("case_search", {"query": f"指导性案例{n}号"}),
    "the web": lambda n: asks("web_search", {"query": f"铜纽扣 车间 {n}"}),
    "a file": lambda n: asks("read_page", {"sources": "1", "focus": f"陈列柜 {n}"}),
    "all at once": lambda n: [
        *asks("regulation_search", {"query": f"守塔人 登记簿 编号{n}"}),
        *asks("case_search", {"query": f"大雾 渔船 塔主{n}"}),
        *asks("read_page", {"sources": "1", "focus": f"陈列柜 {n}"}),
    ],
}
"""What the model calls in each of its steps."""


@pytest.mark.parametrize("window", [16_384, 32_768])
@pytest.mark.parametrize("what", CALLS)
def test_the_prompt_stays_below_the_context_length(data_dir: Path, what: str, window: int) -> None:
    with asking(data_dir, window) as (app, server):
        server.reply = lambda asked: CALLS[what](len(server.requests)) if asked.get("tools") else [ANSWER]
        events = list(app.agent.stream("守塔人应当怎么做？", options=AnswerOptions(files=(LONG,))))
        prompts = [tokens(asked) for asked in server.requests]
    assert not [event for event in events if isinstance(event, RunFailed)]
    assert not [event for event in events if isinstance(event, Notice) and event.kind == "context_exceeded"]
    assert [event for event in events if isinstance(event, Answer)]
    used = [event for event in events if isinstance(event, ToolFinished)]
    assert len(used) >= STEPS
    assert {event.summary for event in used if not event.ok} <= {PROMPT_FULL}
    assert max(prompts) < window * 0.9, "an answer is to be written too"
    assert prompts[STEPS - 1] > prompts[1] > prompts[0]


def tokens(asked: dict[str, Any]) -> int:
    return sum(estimate_tokens(str(message["content"])) for message in asked["messages"])
