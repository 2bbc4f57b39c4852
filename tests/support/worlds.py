"""A whole App with a scripted model and scripted engines: what most tests above the services need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from core.app import App, build_app
from core.llm.model import Model
from core.search.engine import SearchEngine
from core.search.types import SearchQuery, SearchResult
from support.base import loaded
from support.scripted import ScriptedChatModel


class FakeEngine(SearchEngine):
    """Returns what it was given, raises it if it is an exception, and remembers the queries."""

    def __init__(self, name: str, answer: Sequence[SearchResult] | Exception = ()) -> None:
        self.name = name
        self.answer = answer
        self.queries: list[SearchQuery] = []

    def search(self, query: SearchQuery, num_results: int, *, deadline: Any = None) -> Sequence[SearchResult]:
        self.queries.append(query)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer[:num_results]


def results(count: int, host: str = "example.org") -> list[SearchResult]:
    return [
        SearchResult(f"标题{n}", f"https://{host}/{n}", f"第{n}条摘要", host, engine="fake", rank=n)
        for n in range(1, count + 1)
    ]


@contextmanager
def world(
    *, says: list[list[Any]], engines: Sequence[FakeEngine] | None = (), **environ: str
) -> Iterator[tuple[App, ScriptedChatModel]]:
    scripted = ScriptedChatModel(script=says)
    settings = loaded(**{"LLM_MODEL": "scripted:test", **environ})
    app = build_app(settings, model=Model(settings.values, build=lambda _: scripted), engines=engines)
    try:
        yield app, scripted
    finally:
        app.close()
