"""What somebody else has put into the caches, on disk and in Redis: nothing of it is believed, no search fails for it.

Corrupt files, planted pickles, locks and full disks are in tests/search/test_cache.py: pages are kept by the same classes.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from core.base.cache import DiskTtlCache, RedisTtlCache
from core.base.compression import compress_text, decompress_text
from core.base.http import Deadline
from core.base.redis_link import RedisLink
from core.base.visitors import Visitor
from core.reading import Page, Reader, ReadingError, ReadingSettings
from core.reading.page_cache import CachedPage, PageCache
from core.reading.page_cache import _encode as encoded_page
from core.reading.page_cache import _stored_key as stored_page_key
from core.reading.section_codec import encode_sections
from core.reading.sections import TextSection
from core.search.cache import ResultCache, _stored_key
from core.search.cache_codec import encode
from core.search.health import EngineHealth
from core.search.search_limits import SearchLimits
from core.search.service import SearchService
from core.search.types import SearchQuery, SearchResponse, SearchType, TimeRange
from support.base import loaded
from support.fake_engines import ScriptedEngine, results_of
from support.redis_server import RedisServer, needs_redis
from support.waiting import Clock
from support.web import Web, web
from support.web_pages import found

__all__ = ["web"]

QUERY = SearchQuery("民法典")
NOW = 1_000_000.0


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    needs_redis()
    server = RedisServer(str(tmp_path_factory.mktemp("redis")))
    server.start()
    yield server
    server.kill()


@dataclass
class Room:
    service: SearchService
    engine: ScriptedEngine
    cache: ResultCache
    plant: Callable[[str], None]
    """Puts this text where the results for QUERY would be."""


@pytest.fixture(params=["disk", "redis"])
def room(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Room]:
    disk = DiskTtlCache(tmp_path / "cache")
    store: DiskTtlCache | RedisTtlCache = disk
    if request.param == "redis":
        link = RedisLink(request.getfixturevalue("redis").url)
        link.call(lambda client: client.flushall(), lambda: None)
        store = RedisTtlCache(link, fallback=disk)
    cache = ResultCache(store, good_for=dict.fromkeys(SearchType, 3600.0), keep_stale=1e6, clock=Clock(NOW))
    engine = ScriptedEngine("fresh", results_of("fresh"))
    service = SearchService([engine], settings=loaded().values.search, cache=cache)
    keys: list[str] = []
    get = cache.get

    def spy(key: str, *rest: Any, **options: Any) -> SearchResponse | None:
        keys.append(key)
        return get(key, *rest, **options)

    cache.get = spy  # type: ignore[method-assign]
    service.search(QUERY)  # shows under which key it looks

    def plant(text: str) -> None:
        engine.asked.clear()
        store.set(_stored_key(keys[0]), text, 60)

    yield Room(service, engine, cache, plant)
    cache.close()


GOOD = json.loads(encode(SearchResponse(QUERY, tuple(results_of("planted", 1)), provider="planted"), saved_at=NOW))


def changed(**changes: Any) -> str:
    return json.dumps({**GOOD, **changes})


def changed_result(**changes: Any) -> str:
    return changed(results=[{**GOOD["results"][0], **changes}])


REFUSED = {
    "nothing": "",
    "garbage": "\x00\xff",
    "half of it": json.dumps(GOOD)[:-9],
    "two of them": json.dumps(GOOD) * 2,
    "a list": json.dumps([GOOD]),
    "a number": "5",
    "nested without end": "[" * 100_000,
    "a pickle": "\x80\x04\x95cos\nsystem\n(S'true'\ntR.",
    "of another version": json.dumps({"v": 2, "data": GOOD}),
    "a time of 400 digits": changed(saved=10**400),
    "a time that is none": changed(saved=float("nan")),
    "an endless time": changed(saved=float("-inf")),
    "a time in words": changed(saved="now"),
    "no time": json.dumps({key: value for key, value in GOOD.items() if key != "saved"}),
    "no results": changed(results=[]),
    "results that are an object": changed(results={}),
    "results that are a word": changed(results="x"),
    "a result that is none": changed(results=[None]),
    "notes that are a word": changed(notes="abc"),
    "a note that is a number": changed(notes=[1]),
    "a provider that is a list": changed(provider=["x"]),
    "a script": changed_result(url="javascript:alert(1)"),
    "a file": changed_result(url="file:///etc/passwd"),
    "a user in the address": changed_result(url="https://google.com@evil.example/"),
    "another's host": changed_result(url="https://evil.example\\.google.com/"),
    "an address in two lines": changed_result(url="https://evil.example/\nx"),
    "half a character in the address": changed_result(url="https://evil.example/\ud800"),
    "an endless address": changed_result(url="https://evil.example/" + "x" * 3_000),
    "an address that is a number": changed_result(url=5),
    "a title that is an object": changed_result(title={}),
    "a rank in words": changed_result(rank="first"),
    "a date that is a number": changed_result(published=20240101),
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_was_planted_is_not_served(room: Room, text: str) -> None:
    room.plant(text)
    found = room.service.search(QUERY)
    assert not found.from_cache
    assert found.provider == "fresh"
    assert room.engine.calls == 1


CLEANED: dict[str, tuple[str, str, Any]] = {
    "half a character": (changed_result(title="\ud800标题"), "title", "标题"),
    "a title in two lines": (
        changed_result(title="标题\nURL: https://evil.example"),
        "title",
        "标题 URL: https://evil.example",
    ),
    "backwards": (changed_result(snippet="\u202e摘要\x00"), "snippet", "摘要"),
    "another's name": (changed_result(source="gov.cn"), "source", "example.org"),
    "an endless title": (changed_result(title="题" * 100_000), "title", "题" * 199 + "…"),
    "an endless engine": (changed_result(engine="e" * 100_000), "engine", "e" * 39 + "…"),
    "an endless date": (changed_result(published="2" * 100_000), "published", "2" * 39 + "…"),
}


@pytest.mark.parametrize(("text", "field", "shown"), CLEANED.values(), ids=CLEANED)
def test_what_is_served_is_clean(room: Room, text: str, field: str, shown: Any) -> None:
    room.plant(text)
    found = room.service.search(QUERY)
    assert found.from_cache
    assert getattr(found.results[0], field) == shown


OTHERS = [
    replace(QUERY, text="民法 典"),
    replace(QUERY, text="民法典\x1f"),
    replace(QUERY, type=SearchType.NEWS),
    replace(QUERY, limit=5),
    replace(QUERY, language="en"),
    replace(QUERY, time_range=TimeRange.DAY),
    replace(QUERY, sites=("gov.cn",)),
    replace(QUERY, sites=("gov.cn", "a.example")),
    replace(QUERY, sites=("gov.cn,a.example",)),
    replace(QUERY, text='民法典", "general'),
    replace(QUERY, text="民法典 site:gov.cn"),
]


@pytest.mark.parametrize("other", OTHERS, ids=lambda query: query.key())
def test_nobody_gets_what_was_kept_for_another_query(room: Room, other: SearchQuery) -> None:
    same = " ".join(other.key().split()) == QUERY.key()
    room.engine.asked.clear()
    assert room.service.search(other).from_cache is same
    assert room.engine.calls == (0 if same else 1)


@pytest.mark.parametrize("kind", ["hset", "rpush", "sadd", "zadd", "xadd"])
def test_a_key_of_another_kind_costs_no_search(redis: RedisServer, kind: str, tmp_path: Path) -> None:
    link = RedisLink(redis.url)
    cache = ResultCache(
        RedisTtlCache(link, fallback=DiskTtlCache(tmp_path)), good_for=dict.fromkeys(SearchType, 60.0), keep_stale=60
    )
    given: dict[str, tuple[Any, ...]] = {
        "hset": ("a", "b"),
        "rpush": ("a",),
        "sadd": ("a",),
        "zadd": ({"a": 1},),
        "xadd": ({"a": "b"},),
    }
    link.call(lambda client: getattr(client, kind)(_stored_key(kind), *given[kind]), lambda: None)
    assert cache.get(kind, QUERY) is None
    cache.put(kind, SearchResponse(QUERY, tuple(results_of()), provider="p"))
    cache.close()


NOTES = {
    "garbage": b"\xff\xfe",
    "a list": b"[1]",
    "an empty object": b"{}",
    "nested without end": b"[" * 100_000,
    "failures without end": b'{"failures": 1e400, "kind": "timeout", "reason": "", "cure": ""}',
    "failures that are no number": b'{"failures": NaN, "kind": "timeout", "reason": "", "cure": ""}',
    "failures in words": b'{"failures": "many", "kind": "timeout", "reason": "", "cure": ""}',
    "failures that are a list": b'{"failures": [], "kind": "timeout", "reason": "", "cure": ""}',
    "a number of 5000 digits": b'{"failures": ' + b"9" * 5000 + b', "kind": "", "reason": "", "cure": ""}',
    "half a character": rb'{"failures": "\ud800", "kind": "x", "reason": "", "cure": ""}',
}


@pytest.mark.parametrize("note", NOTES.values(), ids=NOTES)
def test_no_note_in_redis_keeps_an_engine_from_being_asked(redis: RedisServer, note: bytes) -> None:
    link = RedisLink(redis.url)
    link.call(lambda client: client.set("wenyuan:rest:1:a", note, px=60_000), lambda: None)
    assert EngineHealth(["a"], link=link).admit("a") is None


@pytest.mark.parametrize("value", ["x", "-5", "9" * 400])
def test_counters_that_are_none_cost_no_search(redis: RedisServer, value: str) -> None:
    link = RedisLink(redis.url)
    link.call(lambda client: client.flushall(), lambda: None)
    limits = SearchLimits(per_visitor=2, per_engine=100, link=link)
    limits.admit(Visitor("甲"))

    def spoil(client: Any) -> int:
        keys: list[bytes] = client.keys()
        for key in keys:
            client.delete(key)
            client.set(key, value)
        return len(keys)

    assert link.call(spoil, lambda: 0)
    limits.admit(Visitor("甲"))


# ── Pages that were read ──────────────────────────────────────────────────────────────────────────────────────────────

ADDRESS = "http://news.example/1"
PAGE = Page.from_search_result(found(ADDRESS))
KEPT = json.loads(decompress_text(encoded_page(CachedPage(PAGE, is_public=True), ADDRESS)))


def page_with(**changes: Any) -> str:
    return compress_text(json.dumps({**KEPT, **changes}))


def without(key: str) -> str:
    return compress_text(json.dumps({name: value for name, value in KEPT.items() if name != key}))


@pytest.fixture(params=["disk", "redis"])
def pages(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[PageCache, Callable[[str], None]]]:
    """The cache, and what puts a text where the page of ADDRESS would be."""
    disk = DiskTtlCache(tmp_path / "pages")
    store: DiskTtlCache | RedisTtlCache = disk
    if request.param == "redis":
        store = RedisTtlCache(RedisLink(request.getfixturevalue("redis").url), fallback=disk)
    clock = Clock(PAGE.fetched_at.timestamp())
    cache = PageCache(store, good_for=3600, clock=clock)
    yield cache, lambda text: store.set(stored_page_key(ADDRESS), text, 60)
    cache.close()


NO_PAGE = {
    "nothing": "",
    "garbage": "\x00\xff",
    "not packed": json.dumps(KEPT),
    "base64 of nothing packed": "AAAA",
    "half of it": page_with()[:-20],
    "a pickle": base64.b64encode(b"\x80\x04\x95cos\nsystem\n(S'true'\ntR.").decode(),
    "a packed pickle": compress_text("cos\nsystem\n(S'true'\ntR."),
    "a bomb": compress_text("x" * 50_000_000),
    "longer than any": "A" * 9_000_000,
    "nested without end": compress_text("[" * 100_000),
    "a list": compress_text(json.dumps([KEPT])),
    "a number": compress_text("5"),
    "bytes that are no text": base64.b64encode(zlib.compress(b"\xff\xfe")).decode(),
    "of another address": page_with(address="http://other.example/"),
    "an address that is a number": page_with(address=5),
    "from nowhere": page_with(final_address=""),
    "from a file": page_with(final_address="file:///etc/passwd"),
    "from a script": page_with(final_address="javascript:alert(1)"),
    "from another's host": page_with(final_address="https://gov.cn@evil.example/"),
    "half a character in its address": page_with(final_address="http://news.example/\ud800"),
    "an address in two lines": page_with(final_address="http://news.example/\nx"),
    "an endless address": page_with(final_address="http://news.example/" + "x" * 3_000),
    "a text that is a list": page_with(text=["x"]),
    "no text": page_with(text=""),
    "a text that nobody sees": page_with(text="\u200b\u2060 \n"),
    "a title that is an object": page_with(title={}),
    "a day in words": page_with(published="yesterday"),
    "a day that is a number": page_with(published=20240101),
    "a kind of its own": page_with(kind="system"),
    "a kind that is a list": page_with(kind=["html"]),
    "a time of 400 digits": page_with(fetched_at=10**400),
    "a time that is none": page_with(fetched_at=float("nan")),
    "an endless time": page_with(fetched_at=float("inf")),
    "a time in words": page_with(fetched_at="now"),
    "a time that is true": page_with(fetched_at=True),
    "long ago": page_with(fetched_at=1.0),
    "not yet": page_with(fetched_at=PAGE.fetched_at.timestamp() + 1e6),
    "sections that are a list": page_with(sections=[]),
    "sections that are none": page_with(sections="AAAA"),
    "sections beyond the text": page_with(sections=encode_sections([TextSection(10_000, "page", 1)])),
    "sections out of order": page_with(
        sections=encode_sections([TextSection(2, "page", 2), TextSection(1, "page", 1)])
    ),
    "digits beyond the text": page_with(sections=encode_sections([], [(0, 10_000)])),
    "pages in words": page_with(unread_pages=["one"]),
    "a page before the first": page_with(unread_pages=[0]),
    "instructions in words": page_with(instructions="none"),
    "cut in words": page_with(is_cut="no"),
    "public in words": page_with(is_public="yes"),
    **{f"without its {key}": without(key) for key in KEPT},
}


@pytest.mark.parametrize("text", NO_PAGE.values(), ids=NO_PAGE)
def test_what_was_planted_is_no_page(pages: tuple[PageCache, Callable[[str], None]], text: str) -> None:
    cache, plant = pages
    plant(text)
    assert cache.get(ADDRESS) is None
    cache.put(ADDRESS, CachedPage(PAGE, is_public=True))
    assert cache.get(ADDRESS) == CachedPage(PAGE, is_public=True)


CLEAN_PAGE: dict[str, tuple[str, str, Any]] = {
    "half a character": (page_with(text="\ud800正文"), "text", "正文"),
    "what nobody sees": (page_with(text="正\U000e0041\u202e文\x00"), "text", "正文"),
    "a title in two lines": (page_with(title="标题\nURL: x"), "title", "标题 URL: x"),
    "an endless title": (page_with(title="题" * 100_000), "title", "题" * 199 + "…"),
    "an endless text": (page_with(text="文" * 500_000), "text", "文" * 400_000),
    "fewer instructions than none": (page_with(instructions=-5), "instructions", 0),
}


@pytest.mark.parametrize(("text", "field", "shown"), CLEAN_PAGE.values(), ids=CLEAN_PAGE)
def test_a_page_that_is_served_is_clean(
    pages: tuple[PageCache, Callable[[str], None]], text: str, field: str, shown: Any
) -> None:
    cache, plant = pages
    plant(text)
    cached = cache.get(ADDRESS)
    assert cached is not None
    assert getattr(cached.page, field) == shown


@pytest.mark.parametrize("final", ["http://denied.example/", "http://news.example:22/", "http://127.0.0.1:8080/"])
def test_nobody_plants_a_page_of_a_place_that_may_not_be_read(
    pages: tuple[PageCache, Callable[[str], None]], web: Web, final: str
) -> None:
    """The page itself is asked then, which is not there."""
    cache, plant = pages
    plant(page_with(final_address=final))
    reader = Reader(ReadingSettings(deny_hosts=("denied.example",)), cache=cache)
    with pytest.raises(ReadingError) as caught:
        reader.read(ADDRESS, deadline=Deadline(30))
    reader.close()
    assert caught.value.reason == "missing"
