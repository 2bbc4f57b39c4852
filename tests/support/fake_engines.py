"""Search engines that answer as a test says: `FakeEngine` always the same, `ScriptedEngine` one answer after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from core.base.http import Deadline
from core.search.engine import SearchEngine
from core.search.errors import EngineTimeout
from core.search.results import EngineResults
from core.search.types import SearchQuery, SearchResult


def results(count: int, host: str = "example.org") -> list[SearchResult]:
    return [
        SearchResult(f"标题{n}", f"https://{host}/{n}", f"第{n}条摘要", host, engine="fake", rank=n)
        for n in range(1, count + 1)
    ]


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


def results_of(engine: str = "fake", count: int = 3) -> EngineResults:
    return EngineResults(
        SearchResult(f"标题 {n}", f"https://example.org/{engine}/{n}", f"摘要 {n}", "example.org", None, engine, n)
        for n in range(1, count + 1)
    )


class ScriptedEngine(SearchEngine):
    """Gives its answers one after the other, the last one for ever; an exception is raised, a function called."""

    def __init__(self, name: str, *script: Any) -> None:
        self.name = name
        self.script = script or (results_of(name),)
        self.asked: list[SearchQuery] = []
        self.deadlines: list[Deadline | None] = []
        self.was_asked = threading.Event()
        self._lock = threading.Lock()

    @property
    def calls(self) -> int:
        return len(self.asked)

    def search(
        self, query: SearchQuery, num_results: int, *, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        with self._lock:
            turn = self.script[min(len(self.asked), len(self.script) - 1)]
            self.asked.append(query)
            self.deadlines.append(deadline)
        self.was_asked.set()
        if callable(turn):
            turn = turn(query, deadline)
        if isinstance(turn, BaseException):
            raise turn
        found: Sequence[SearchResult] = turn
        return found


def slow(seconds: float, answer: Any) -> Callable[..., Any]:
    def behave(query: SearchQuery, deadline: Deadline) -> Any:
        time.sleep(seconds)
        return answer

    return behave


def hung_until_cancelled(query: SearchQuery, deadline: Deadline) -> EngineResults:
    """As an engine behind `core.base.http.fetch` hangs: until its time is up, or somebody cuts it off."""
    while not deadline.cancelled and deadline.remaining():
        time.sleep(0.005)
    raise EngineTimeout


class Stuck:
    """As the system's resolver hangs: nothing ends it from outside."""

    def __init__(self) -> None:
        self.release = threading.Event()

    def __call__(self, query: SearchQuery, deadline: Deadline) -> EngineResults:
        self.release.wait(30)
        return EngineResults()
