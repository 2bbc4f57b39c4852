"""The way to Redis without a Redis: refused, silent, and back again."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from redis.exceptions import ConnectionError as RedisAway

from core.app import build_app
from core.base.redis_link import RECHECK_SECONDS, RedisLink
from core.base.settings import SearchSettings
from core.search.cache import ResultCache
from core.search.health import EngineHealth
from core.search.search_limits import SearchLimits
from core.search.service import SearchService
from core.search.types import SearchQuery
from support.base import loaded
from support.fake_engines import ScriptedEngine
from support.faults import Server, ignore, unused_port
from support.waiting import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def link(clock: Clock) -> RedisLink:
    return RedisLink("redis://127.0.0.1:1/0", clock=clock)


def away(_: Any) -> str:
    raise RedisAway


def test_what_redis_says_counts_while_it_is_there(link: RedisLink) -> None:
    assert link.call(lambda _: "redis", lambda: "local") == "redis"
    assert link.warning == ""


def test_away_means_local_a_warning_once_and_no_further_tries_for_a_while(
    link: RedisLink, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(5):
        assert link.call(away, lambda: "local") == "local"
    assert "Redis" in link.warning
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1
    clock.pass_(RECHECK_SECONDS - 0.1)
    assert link.call(lambda _: "redis", lambda: "local") == "local"
    clock.pass_(0.2)
    assert link.call(lambda _: "redis", lambda: "local") == "redis"
    assert link.warning == ""


def test_only_one_caller_looks_whether_redis_is_back(link: RedisLink, clock: Clock) -> None:
    link.call(away, lambda: "local")
    clock.pass_(RECHECK_SECONDS + 1)
    looked: list[int] = []
    looking, go_on = threading.Event(), threading.Event()

    def slow_look(_: Any) -> str:
        looked.append(1)
        looking.set()
        go_on.wait(5)
        return "redis"

    thread = threading.Thread(target=lambda: link.call(slow_look, lambda: "local"))
    thread.start()
    looking.wait(5)
    assert link.call(slow_look, lambda: "local") == "local"
    go_on.set()
    thread.join()
    assert looked == [1]


def test_a_bug_is_not_taken_for_redis_away(link: RedisLink) -> None:
    def bug(_: Any) -> str:
        raise KeyError

    with pytest.raises(KeyError):
        link.call(bug, lambda: "local")


def room(url: str, engine: ScriptedEngine) -> SearchService:
    values = loaded(CACHE_URL=url).values
    link = RedisLink.from_settings(values)
    return SearchService(
        [engine],
        settings=SearchSettings(),
        cache=ResultCache.from_settings(values, link),
        limits=SearchLimits.from_settings(values, link),
        health=EngineHealth([engine.name], link=link),
    )


def test_a_refused_port_costs_nothing_noticeable_and_the_disk_serves() -> None:
    engine = ScriptedEngine("a")
    service = room(f"redis://127.0.0.1:{unused_port()}", engine)
    began = time.monotonic()
    assert not service.search(SearchQuery("民法典")).from_cache
    assert service.search(SearchQuery("民法典")).from_cache
    assert time.monotonic() - began < 10
    assert len(service.warnings) == 1


def test_a_silent_server_does_not_hold_a_search() -> None:
    with Server(ignore) as server:
        service = room(f"redis://{server.host}", ScriptedEngine("a"))
        began = time.monotonic()
        service.search(SearchQuery("民法典"))
        assert time.monotonic() - began < 10
        began = time.monotonic()
        service.search(SearchQuery("民法典"))
        assert time.monotonic() - began < 10
        assert service.warnings


def test_an_unusable_address_is_named_and_the_disk_serves() -> None:
    values = loaded(CACHE_URL="memcached://localhost")
    assert [problem.key for problem in values.problems] == ["CACHE_URL"]
    app = build_app(values, engines=[ScriptedEngine("a")])
    try:
        assert app.redis is None
        assert app.search.search(SearchQuery("民法典")).provider == "a"
    finally:
        app.close()
