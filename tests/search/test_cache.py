from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from core.search.cache import ResultCache, SessionCache
from core.search.cache_codec import decode, encode
from core.search.types import Attempt, AttemptOutcome, SearchQuery, SearchResponse, SearchResult, SearchType
from support.base import loaded
from support.fake_engines import results_of
from support.waiting import Clock

QUERY = SearchQuery("民法典")
RESPONSE = SearchResponse(
    QUERY, tuple(results_of()), (Attempt("fake", AttemptOutcome.OK),), "fake", skipped=2, notes=("注",)
)


class Memory:
    """A TtlCache without a disk."""

    warning = ""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.seconds: dict[str, float] = {}

    def get(self, key: str) -> str | None:
        return self.texts.get(key)

    def set(self, key: str, text: str, seconds: float) -> None:
        self.texts[key], self.seconds[key] = text, seconds

    def close(self) -> None: ...


# ── Codec ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_kept_comes_back_as_it_was_but_without_attempts() -> None:
    assert decode(encode(RESPONSE, saved_at=7.5), QUERY) == (7.5, replace(RESPONSE, attempts=()))


def test_every_field_of_a_result_survives() -> None:
    result = SearchResult("题", "https://a.example/", "摘", "a.example", "2024-01-01", "fake", 4)
    response = SearchResponse(QUERY, (result,))
    assert decode(encode(response, saved_at=0), QUERY)[1].results == (result,)


def test_a_lone_surrogate_does_not_reach_the_store() -> None:
    response = SearchResponse(QUERY, (SearchResult("\ud800题", "https://a.example/", "", ""),))
    encode(response, saved_at=0).encode()


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{}", '{"saved": 1}', "not json", "[" * 100_000, encode(RESPONSE, saved_at=1)[:-2],
             encode(RESPONSE, saved_at=1).replace('"https', '5, "x": "https'),
             encode(RESPONSE, saved_at=1).replace('"saved":1', '"saved":"1"')]
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        decode(text, QUERY)


# ── Session ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_session_remembers_twenty_and_forgets_the_least_recently_used() -> None:
    cache = SessionCache()
    for n in range(20):
        cache.put(str(n), RESPONSE)
    assert cache.get("0", QUERY) is not None
    cache.put("20", RESPONSE)
    assert len(cache) == 20
    assert cache.get("0", QUERY) is not None
    assert cache.get("1", QUERY) is None


def test_a_session_hit_says_so_and_its_age() -> None:
    clock = Clock()
    cache = SessionCache(clock=clock)
    cache.put("k", replace(RESPONSE, from_cache=True, cache_age=100.0))
    clock.pass_(5)
    hit = cache.get("k", SearchQuery("民法典 "))
    assert hit is not None
    assert (hit.from_cache, hit.cache_age, hit.attempts, hit.query.text) == (True, 105.0, (), "民法典 ")


def test_a_session_keeps_neither_nothing_nor_something_old() -> None:
    cache = SessionCache()
    cache.put("empty", SearchResponse(QUERY))
    cache.put("old", replace(RESPONSE, stale=True))
    assert len(cache) == 0


def test_a_session_cache_under_many_threads() -> None:
    cache = SessionCache(size=5)

    def hammer(seed: int) -> None:
        for n in range(300):
            cache.put(str((seed * n) % 11), RESPONSE)
            cache.get(str(n % 11), QUERY)

    threads = [threading.Thread(target=hammer, args=(seed,)) for seed in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache) == 5


# ── How long what stays good ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def clock() -> Clock:
    return Clock()


def result_cache(clock: Clock, store: Any = None) -> ResultCache:
    good_for = {
        SearchType.GENERAL: 100.0,
        SearchType.NEWS: 10.0,
        SearchType.REGULATION: 1000.0,
        SearchType.CASE: 500.0,
    }
    return ResultCache(store or Memory(), good_for=good_for, keep_stale=5000, clock=clock)


@pytest.mark.parametrize(("kind", "seconds"), [("general", 100), ("news", 10), ("regulation", 1000), ("case", 500)])
def test_each_type_has_its_time_and_is_kept_longer(kind: str, seconds: int, clock: Clock) -> None:
    store = Memory()
    cache = result_cache(clock, store)
    query = replace(QUERY, type=SearchType(kind))
    cache.put("k", replace(RESPONSE, query=query))
    clock.pass_(seconds - 1)
    hit = cache.get("k", query)
    assert hit is not None
    assert (hit.from_cache, hit.stale, hit.cache_age) == (True, False, seconds - 1)
    clock.pass_(1)
    assert cache.get("k", query) is None
    old = cache.get("k", query, even_stale=True)
    assert old is not None
    assert (old.from_cache, old.stale, old.cache_age) == (True, True, seconds)
    assert list(store.seconds.values()) == [seconds + 5000]


def test_the_settings_decide_the_times() -> None:
    cache = ResultCache.from_settings(loaded(SEARCH_CACHE_TTL="60").values)
    assert cache is not None
    assert cache._good_for == {"general": 60, "news": 3600, "regulation": 86400, "case": 21600}
    assert ResultCache.from_settings(loaded(SEARCH_CACHE_TTL="0").values) is None


def test_an_entry_from_the_future_is_not_good_but_can_serve_as_the_last_resort(clock: Clock) -> None:
    cache = result_cache(clock)
    cache.put("k", RESPONSE)
    clock.pass_(-86_400)
    assert cache.get("k", QUERY) is None
    old = cache.get("k", QUERY, even_stale=True)
    assert old is not None
    assert (old.stale, old.cache_age) == (True, 0.0)


def test_clocks_of_two_servers_may_differ_a_little(clock: Clock) -> None:
    cache = result_cache(clock)
    cache.put("k", RESPONSE)
    clock.pass_(-2)
    hit = cache.get("k", QUERY)
    assert hit is not None
    assert hit.cache_age == 0.0


def test_an_unreadable_entry_is_a_miss(clock: Clock) -> None:
    store = Memory()
    cache = result_cache(clock, store)
    cache.put("k", RESPONSE)
    store.texts = dict.fromkeys(store.texts, '{"saved": "x"}')
    assert cache.get("k", QUERY) is None


def test_stored_keys_do_not_show_what_was_searched(clock: Clock) -> None:
    store = Memory()
    result_cache(clock, store).put("|秘密|general", RESPONSE)
    assert "秘密" not in next(iter(store.texts))
