"""App servers that share one real Redis, and lose it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.base.redis_link import RedisLink
from core.base.visitors import Visitor
from core.search.cache import ResultCache
from core.search.errors import EngineBlocked, RateLimited
from core.search.health import EngineHealth
from core.search.search_limits import SearchLimits
from core.search.service import SearchService
from core.search.types import SearchQuery, SearchResponse
from support.base import ROOT, loaded
from support.fake_engines import ScriptedEngine, results_of, slow
from support.redis_server import RedisServer, needs_redis
from support.waiting import Clock, until

QUERY = SearchQuery("民法典")


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    needs_redis()
    server = RedisServer(str(tmp_path))
    server.start()
    yield server
    server.kill()


def room(url: str, *engines: ScriptedEngine, clock: Any = time.monotonic, **environ: str) -> SearchService:
    values = loaded(CACHE_URL=url, **environ).values
    link = RedisLink(url, clock=clock)
    return SearchService(
        engines,
        settings=values.search,
        cache=ResultCache.from_settings(values, link),
        limits=SearchLimits.from_settings(values, link),
        health=EngineHealth((engine.name for engine in engines), link=link),
    )


OTHER_PROCESS = """
import json, sys
sys.path[:0] = ["tests"]
from core.app import build_app
from core.base.errors import AppError
from core.base.visitors import Visitor
from core.search.errors import EngineBlocked
from core.search.types import SearchQuery
from support.fake_engines import ScriptedEngine

app = build_app(engines=[ScriptedEngine("blocked", EngineBlocked("需要验证码。")), ScriptedEngine("good")])
for text in json.loads(sys.argv[1]):
    try:
        print(json.dumps(app.search.search(SearchQuery(text), visitor=Visitor("甲")).to_json()))
    except AppError as error:
        print(json.dumps({"error": error.kind}))
app.close()
"""


def in_another_process(url: str, folder: Path, *texts: str) -> list[dict[str, Any]]:
    environ = {**os.environ, "CACHE_URL": url, "DATA_DIR": str(folder), "SEARCH_RATE_LIMIT": "4"}
    process = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, json.dumps(texts)],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in process.stdout.splitlines()]


def test_two_processes_share_results_limits_and_resting_engines(redis: RedisServer, tmp_path: Path) -> None:
    first = in_another_process(redis.url, tmp_path / "one", "一", "二", "三")
    assert [response["fromCache"] for response in first] == [False] * 3
    assert first[0]["attempts"][0]["outcome"] == "failed"
    second = in_another_process(redis.url, tmp_path / "two", "一", "四", "五")
    assert second[0]["fromCache"]
    assert second[0]["provider"] == "good"
    assert second[1]["attempts"][0]["outcome"] == "skipped", "the other process has met the captcha"
    assert "需要验证码" in second[1]["attempts"][0]["reason"]
    assert second[2] == {"error": "rate_limited"}, "three there, one here: four is the limit"


def test_exactly_ten_of_sixty_at_once_over_two_servers(redis: RedisServer) -> None:
    servers = [SearchLimits(per_visitor=10, per_engine=100, link=RedisLink(redis.url)) for _ in range(2)]
    outcomes: list[bool] = []
    start = threading.Barrier(60)

    def admit(n: int) -> None:
        start.wait()
        try:
            servers[n % 2].admit(Visitor("甲"))
            outcomes.append(True)
        except RateLimited as error:
            outcomes.append(not 1 <= error.retry_after <= 60)

    threads = [threading.Thread(target=admit, args=(n,)) for n in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(True) == 10
    assert servers[0].warning == servers[1].warning == ""


def test_a_rest_is_told_and_its_end_too(redis: RedisServer) -> None:
    clock = Clock()
    one, two, three = (EngineHealth(["a"], link=RedisLink(redis.url), clock=clock) for _ in range(3))
    assert two.admit("a") is None
    one.record_failure("a", EngineBlocked("需要验证码。", cure="等。"))
    assert two.admit("a") is None, "word travels once a second"
    clock.pass_(1.1)
    rest = two.admit("a")
    assert rest is not None
    assert (rest.kind, rest.reason, rest.cure) == ("blocked", "需要验证码。", "等。")
    assert 3590 < rest.seconds <= 3600
    one.record_success("a")
    assert three.admit("a") is None


def test_a_strange_note_in_redis_is_ignored(redis: RedisServer) -> None:
    link = RedisLink(redis.url)
    link.call(lambda client: client.set("wenyuan:rest:1:a", "[1]", px=60_000), lambda: None)
    assert EngineHealth(["a"], link=link).admit("a") is None
    link.call(lambda client: client.lpush("wenyuan:rest:1:b", "x"), lambda: None)
    assert EngineHealth(["b"], link=link).admit("b") is None


def test_redis_killed_in_mid_load_fails_no_search_and_its_return_is_noticed(redis: RedisServer) -> None:
    clock = Clock()
    service = room(
        redis.url, ScriptedEngine("a", slow(0.005, results_of("a"))), clock=clock, SEARCH_RATE_LIMIT="100000"
    )
    outcomes: list[SearchResponse | Exception] = []
    slowest: list[float] = []
    stop = threading.Event()

    def load(n: int) -> None:
        count = 0
        while not stop.is_set():
            count += 1
            began = time.monotonic()
            try:
                outcomes.append(service.search(SearchQuery(f"问题 {n} {count % 7}"), visitor=Visitor(f"用户 {n}")))
            except Exception as error:
                outcomes.append(error)
            slowest.append(time.monotonic() - began)

    threads = [threading.Thread(target=load, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    until(lambda: len(outcomes) > 50)
    assert list(service.warnings) == []
    redis.kill()
    until(lambda: bool(service.warnings))
    without = len(outcomes)
    until(lambda: len(outcomes) > without + 50)
    stop.set()
    for thread in threads:
        thread.join()
    assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []
    assert max(slowest) < 10

    redis.start()
    clock.pass_(10)
    assert not service.search(SearchQuery("回来了")).from_cache
    assert service.search(SearchQuery("回来了")).from_cache
    assert list(service.warnings) == []


def test_a_redis_that_stops_answering_does_not_hold_searches(redis: RedisServer) -> None:
    service = room(redis.url, ScriptedEngine("a"))
    service.search(QUERY)
    redis.freeze()
    began = time.monotonic()
    assert service.search(SearchQuery("别的")).provider == "a"
    assert time.monotonic() - began < 10
    assert service.warnings


def test_a_full_redis_is_no_error(redis: RedisServer) -> None:
    RedisLink(redis.url).call(lambda client: client.config_set("maxmemory", "1"), lambda: None)
    service = room(redis.url, ScriptedEngine("a"))
    assert service.search(QUERY).provider == "a"
    assert service.search(QUERY).from_cache, "the disk serves"
    assert service.warnings
