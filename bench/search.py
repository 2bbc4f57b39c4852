"""What the engine room costs, and what it saves, against servers on loopback: `python -m bench.search`.

The servers run in a process of their own and write each answer at once with TCP_NODELAY; otherwise delayed
acknowledgements would cost 40 ms a request and hide everything else.
"""

from __future__ import annotations

import json
import logging
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import requests

from bench.rows import Row, table
from core.base.cache import DiskTtlCache
from core.base.http import Deadline, Request, Response
from core.base.settings import SearchSettings
from core.base.visitors import Visitor
from core.search.cache import ResultCache, SessionCache
from core.search.engine import HttpEngine, SearchEngine
from core.search.errors import AllEnginesFailed, RateLimited
from core.search.results import EngineResults, RawResult
from core.search.search_limits import SearchLimits
from core.search.service import SearchService
from core.search.types import SearchQuery, SearchResult, SearchType

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 400
NO_LIMITS = SearchSettings(rate_limit=100_000, engine_quota=1_000_000)

NOTE = """Without a peer: a hit of the session's cache, which a dict would answer at once without limits, records and copies; counts; and
hung engines, for which LangChain's wrapper waits without end."""

SERVERS = """
import sys
sys.path[:0] = ["tests"]
from support.faults import Server, drip, head, json_answer, keep_alive, silence
results = [{"title": f"标题 {n}", "url": f"https://example.org/{n}", "content": "摘要" * 100, "engines": ["x"],
            "category": "general"} for n in range(10)]
behaviours = [keep_alive(json_answer({"results": results})), silence,
              drip(head("Content-Length: 99999999")), drip(b"HTTP/1.1 200 OK\\r\\nX-Slow: ")]
servers = [Server(behaviour).__enter__() for behaviour in behaviours]
print(" ".join(server.url for server in servers), flush=True)
sys.stdin.read()
"""


@contextmanager
def servers() -> Iterator[list[str]]:
    """Addresses: one that answers, one silent, one that drips its body, one that drips its headers."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVERS], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin
    assert process.stdout
    try:
        yield process.stdout.readline().split()
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


class PlainEngine(HttpEngine):
    """The least that an HTTP engine can be."""

    def __init__(self, url: str, name: str = "plain") -> None:
        super().__init__()
        self.url = url
        self.name = name

    def build_request(self, query: SearchQuery, num_results: int) -> Request:
        return Request("GET", self.url, params={"q": query.text, "format": "json"})

    def parse_response(self, response: Response) -> Iterable[RawResult]:
        return [RawResult(entry["title"], entry["url"], entry["content"]) for entry in response.json()["results"]]


def timed(do: Callable[[], Any]) -> float:
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


def medians(rounds: int, *contenders: Callable[[int], Any]) -> list[float]:
    """Median milliseconds of each, measured in turns so that a busy moment strikes all of them."""
    for contender in contenders:
        for n in range(20):
            contender(-n)
    times: list[list[float]] = [[] for _ in contenders]
    for n in range(rounds):
        for contender, series in zip(contenders, times, strict=True):
            series.append(timed(lambda contender=contender, n=n: contender(n)))  # type: ignore[misc]
    return [statistics.median(series) * 1000 for series in times]


def overhead(url: str) -> Iterator[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langchain_community.utilities import SearxSearchWrapper

        wrapper = SearxSearchWrapper(searx_host=url)
    session = requests.Session()
    limits = SearchLimits(per_visitor=100_000, per_engine=1_000_000)
    service = SearchService([PlainEngine(url)], settings=NO_LIMITS, limits=limits)
    bare, ours, peer = medians(
        ROUNDS,
        lambda n: session.get(url, params={"q": f"问题 {n}", "format": "json"}, timeout=5).json(),
        lambda n: service.search(SearchQuery(f"问题 {n}")),
        lambda n: wrapper.results(f"问题 {n}", num_results=10),
    )
    yield Row("search beyond a bare Session.get + json(), cache off", ours - bare, "ms", 0.5, "bare", bare)
    yield Row("search, cache off", ours, "ms", peer, "SearxSearchWrapper.results", peer)


def caches(url: str) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        cache = ResultCache(
            DiskTtlCache(Path(folder) / "cache"), good_for=dict.fromkeys(SearchType, 3600.0), keep_stale=3600
        )
        service = SearchService([PlainEngine(url)], settings=NO_LIMITS, cache=cache)
        session = SessionCache()
        query = SearchQuery("民法典")
        service.search(query, session_cache=session)

        def in_new_thread(n: int) -> None:
            thread = threading.Thread(target=service.search, args=(query,))
            thread.start()
            thread.join()

        with closing(sqlite3.connect(Path(folder) / "peer.sqlite3")) as peer:
            peer.execute("CREATE TABLE entry (key TEXT PRIMARY KEY, value TEXT)")
            peer.execute(
                "INSERT INTO entry VALUES ('民法典', ?)", (json.dumps(asdict(service.search(query).results[0])) * 10,)
            )
            shared, own, new_thread, row_read = medians(
                ROUNDS,
                lambda n: service.search(query),
                lambda n: service.search(query, session_cache=session),
                in_new_thread,
                lambda n: peer.execute("SELECT value FROM entry WHERE key = '民法典'").fetchone(),
            )
        service.close()
    row = ("a row of SQLite, as it is", row_read)
    yield Row("hit of the embedded TTL cache, p50", shared, "ms", 1.0, *row)
    yield Row("the same from a thread that never used it", new_thread, "ms", None, *row)
    yield Row("hit of the session's LRU cache, p50", own * 1000, "µs", 50.0)


def hung(good: str, silent: str, drips: Sequence[str]) -> Iterator[Row]:
    def first_hung() -> None:
        service = SearchService([PlainEngine(silent, "hung"), PlainEngine(good, "good")])
        assert service.search(SearchQuery("民法典")).provider == "good"

    def all_hung(urls: Sequence[str]) -> Callable[[], None]:
        def search() -> None:
            service = SearchService([PlainEngine(url, f"hung {n}") for n, url in enumerate(urls)])
            try:
                service.search(SearchQuery("民法典"))
            except AllEnginesFailed:
                return
            raise AssertionError("somebody answered")

        return search

    slowest = max(timed(first_hung) for _ in range(3))
    yield Row("first engine hung: answer of the second, slowest of 3", slowest, "s", 2.5)
    for name, urls in (("silent", [silent] * 3), ("dripping", [*drips, drips[0]])):
        slowest = max(timed(all_hung(urls)) for _ in range(2))
        yield Row(f"all engines {name}: clean failure, slower of 2", slowest, "s", 5.2)


class Moody(SearchEngine):
    """Answers in 20 ms, or one time in five not for some seconds."""

    def __init__(self, name: str, *, slow: bool) -> None:
        self.name = name
        self.slow = slow

    def search(self, query: SearchQuery, num_results: int, *, deadline: Deadline | None = None) -> EngineResults:
        assert deadline is not None
        dice = random.Random(query.text)
        end = time.monotonic() + (dice.uniform(4.0, 4.9) if self.slow and dice.random() < 0.2 else 0.02)
        while time.monotonic() < end and not deadline.cancelled:
            time.sleep(0.005)
        return EngineResults([SearchResult("标题", "https://example.org/", "", "example.org")])


def sequentially(engines: Sequence[SearchEngine], query: SearchQuery) -> None:
    deadline = Deadline(5.0)
    for engine in engines:
        if engine.search(query, 10, deadline=deadline):
            return


def tail(searches: int = 100, at_once: int = 10) -> Iterator[Row]:
    engines = [Moody("moody", slow=True), Moody("b", slow=False), Moody("c", slow=False)]

    def p95(do: Callable[[SearchQuery], Any]) -> float:
        times: list[float] = []
        numbers = iter(range(searches))

        def work() -> None:
            times.extend(timed(lambda n=n: do(SearchQuery(f"问题 {n}"))) for n in numbers)  # type: ignore[misc]

        in_threads([work] * at_once)
        return statistics.quantiles(times, n=20)[-1]

    ours = p95(SearchService(engines).search)
    sequential = p95(lambda query: sequentially(engines, query))
    yield Row("p95, one of three engines randomly slow", ours, "s", sequential / 3, "sequential failover", sequential)


def crowd(url: str, searches: int = 200, users: int = 50, limit: int = 3) -> Iterator[Row]:
    service = SearchService([PlainEngine(url)], limits=SearchLimits(per_visitor=limit, per_engine=1_000_000))
    before = threading.active_count()
    outcomes: list[str] = []

    def search(n: int) -> None:
        try:
            response = service.search(SearchQuery(f"问题 {n}"), visitor=Visitor(f"用户 {n % users}"))
            outcomes.append("answered" if response.total_results == 10 else "lost")
        except RateLimited:
            outcomes.append("refused")

    seconds = timed(lambda: in_threads([lambda n=n: search(n) for n in range(searches)]))  # type: ignore[misc]
    time.sleep(1.5)  # workers wait a second for more
    name = f"{searches} searches of {users} users at once"
    allowed = users * limit
    yield Row(f"{name}: seconds", seconds, "s")
    yield Row(
        f"{name}: neither answered nor refused",
        searches - outcomes.count("answered") - outcomes.count("refused"),
        "",
        0,
    )
    yield Row(
        f"{name}: answered beyond or below the limit of {allowed}", abs(outcomes.count("answered") - allowed), "", 0
    )
    yield Row(f"{name}: threads left over", max(0, threading.active_count() - before), "", 0)


def in_threads(jobs: Sequence[Callable[[], Any]]) -> None:
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def rows() -> Iterator[Row]:
    logging.getLogger("core").setLevel(logging.ERROR)
    os.environ["NO_PROXY"] = "127.0.0.1"
    with servers() as (good, silent, *drips):
        yield from overhead(good)
        yield from caches(good)
        yield from crowd(good)
        yield from hung(good, silent, drips)
    yield from tail()


if __name__ == "__main__":
    print(table(list(rows())))
