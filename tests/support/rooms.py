"""Engines and clocks that do as they are told, for the tests of the engine room."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from core.base.http import Deadline
from core.search.engine import SearchEngine
from core.search.errors import EngineTimeout
from core.search.results import Found
from core.search.types import SearchQuery, SearchResult


class Clock:
    """Stands still until it is told to move."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def pass_(self, seconds: float) -> None:
        self.now += seconds


def results(engine: str = "fake", count: int = 3) -> Found:
    return Found(
        SearchResult(f"标题 {n}", f"https://example.org/{engine}/{n}", f"摘要 {n}", "example.org", None, engine, n)
        for n in range(1, count + 1)
    )


class Fake(SearchEngine):
    """Gives its answers one after the other, the last one for ever; an exception is raised, a function called."""

    def __init__(self, name: str, *script: Any) -> None:
        self.name = name
        self.script = script or (results(name),)
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


def hung_until_cancelled(query: SearchQuery, deadline: Deadline) -> Found:
    """As an engine behind `core.base.http.fetch` hangs: until its time is up, or somebody cuts it off."""
    while not deadline.cancelled and deadline.remaining():
        time.sleep(0.005)
    raise EngineTimeout


class Stuck:
    """As the system's resolver hangs: nothing ends it from outside."""

    def __init__(self) -> None:
        self.release = threading.Event()

    def __call__(self, query: SearchQuery, deadline: Deadline) -> Found:
        self.release.wait(30)
        return Found()


def threads_back_to(count: int, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if threading.active_count() <= count:
            return True
        time.sleep(0.01)
    return False
