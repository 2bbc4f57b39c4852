"""Pages that are not asked for twice: what is kept, for how long, and what is not taken for a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from core.app import build_app
from core.base.cache import DiskTtlCache, RedisTtlCache
from core.base.http import Deadline
from core.base.redis_link import RedisLink
from core.reading import Page, Reader, ReadingError, ReadingSettings
from core.reading.page_cache import CachedPage, PageCache
from support import web_pages as pages
from support.base import loaded
from support.faults import silence, unused_port
from support.pdf_files import pdf_file
from support.redis_server import RedisServer, needs_redis
from support.waiting import Clock
from support.web import Web

HTML = "Content-Type: text/html"
DAY = 86_400.0
ReaderWith = Callable[..., Reader]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "pages"


@pytest.fixture
def reader_with(reader: Reader, folder: Path) -> Iterator[ReaderWith]:
    """The processes of the tests' reader under other settings, and a cache."""
    caches: list[PageCache] = []

    def make(cache: PageCache | None = None, **settings: object) -> Reader:
        caches.append(cache or PageCache(DiskTtlCache(folder), good_for=DAY))
        made = Reader(ReadingSettings.model_validate(settings), cache=caches[-1])
        made._workers = reader._workers
        return made

    yield make
    for cache in caches:
        cache.close()


def test_the_second_reading_asks_nobody(reader_with: ReaderWith, web: Web, deadline: Deadline) -> None:
    web.redirect("a.example/", "http://news.example/1")
    web.page("news.example/1", pages.NEWS.encode(), HTML)
    reader = reader_with()
    first = reader.read("http://a.example/", deadline=deadline)
    asked = len(web.requests)
    assert reader.read("http://a.example/", deadline=deadline) == first, "and it says when it was really read"
    assert reader_with().read("http://a.example/", deadline=deadline) == first, "also after a restart"
    assert reader.read("HTTP://A.example", deadline=deadline) == replace(first, address="HTTP://A.example")
    assert len(web.requests) == asked
    assert first.final_address == "http://news.example/1"


def test_the_pages_of_a_file_are_kept(reader_with: ReaderWith, web: Web, deadline: Deadline) -> None:
    address = web.page("gov.example/a.pdf", pdf_file(["全年供水一亿立方米。"], ["水表在十一月更换。"]), HTML)
    first = reader_with().read(address, deadline=deadline)
    assert [section.number for section in first.sections if section.kind == "page"] == [1, 2]
    assert reader_with().read(address, deadline=deadline) == first
    assert len(web.requests) == 1


@pytest.mark.parametrize(
    "other", ["http://a.example/?x=1", "http://a.example/b", "https://a.example/", "http://b.example/"]
)
def test_another_address_is_another_page(reader_with: ReaderWith, web: Web, deadline: Deadline, other: str) -> None:
    reader = reader_with()
    reader.read(web.page("a.example/", pages.NEWS.encode(), HTML), deadline=deadline)
    with pytest.raises(ReadingError):
        reader.read(other, deadline=deadline)


def test_why_a_page_was_not_read_is_not_kept(reader_with: ReaderWith, web: Web, deadline: Deadline) -> None:
    reader = reader_with()
    for body, status in ((pages.LOGIN, "200 OK"), ("", "500 Oops")):
        with pytest.raises(ReadingError):
            reader.read(web.page("a.example/", body.encode(), HTML, status=status), deadline=deadline)
    with pytest.raises(ReadingError):
        reader.read(web.behave("a.example/", silence), deadline=Deadline(0.3))
    assert reader.read(web.page("a.example/", pages.NEWS.encode(), HTML), deadline=deadline).kind == "html"


def test_a_day_and_no_longer(reader_with: ReaderWith, web: Web, deadline: Deadline, folder: Path) -> None:
    clock = Clock(0.0)
    reader = reader_with(PageCache(DiskTtlCache(folder), good_for=DAY, clock=clock))
    address = web.page("news.example/", pages.NEWS.encode(), HTML)
    first = reader.read(address, deadline=deadline)
    fetched = first.fetched_at.timestamp()
    for age, good in ((0.0, True), (DAY - 1, True), (DAY, False), (-50.0, True), (-DAY, False)):
        clock.now = fetched + age
        assert (
            reader._cached_page(reader._downloader.target_for(address)) == replace(first, address=address)
        ) is good, age


def test_what_is_denied_by_now_is_denied(reader_with: ReaderWith, web: Web, deadline: Deadline) -> None:
    web.redirect("a.example/", "http://news.example/1")
    web.page("news.example/1", pages.NEWS.encode(), HTML)
    reader_with().read("http://a.example/", deadline=deadline)
    for denied in ("a.example", "news.example"):
        with pytest.raises(ReadingError) as caught:
            reader_with(deny_hosts=[denied]).read("http://a.example/", deadline=deadline)
        assert caught.value.reason == "denied"


def test_an_intranet_that_is_not_allowed_any_more(
    reader_with: ReaderWith, web: Web, deadline: Deadline, folder: Path
) -> None:
    """Nor where another server of the same Redis allows it."""
    web.names["wiki.intranet"] = iter([["10.0.0.8"]] * 9)
    cache = PageCache(DiskTtlCache(folder), good_for=DAY)
    page = Page.from_search_result(pages.found("http://wiki.intranet/"))
    cache.put("http://wiki.intranet/", CachedPage(page, is_public=False))
    assert reader_with(cache, allow_hosts=["wiki.intranet"]).read(page.address, deadline=deadline).text == page.text
    with pytest.raises(ReadingError) as caught:
        reader_with(cache).read(page.address, deadline=deadline)
    assert caught.value.reason == "private"


def test_it_is_small(reader_with: ReaderWith, web: Web, deadline: Deadline, folder: Path) -> None:
    body = pages.page(pages.paragraphs(*(f"第{n}段：{sentence}" for n in range(400) for sentence in pages.STORY)))
    page = reader_with().read(web.page("long.example/", body.encode(), HTML), deadline=deadline)
    assert len(page.text.encode()) > 200_000
    assert sum(file.stat().st_size for file in folder.iterdir() if file.suffix == ".db-wal") < 150_000


def test_it_does_not_grow_without_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DiskTtlCache, "SIZE_LIMIT", 1_000_000)
    cache = PageCache(DiskTtlCache(folder), good_for=DAY)
    for number in range(300):
        page = Page.from_search_result(pages.found(f"http://a.example/{number}", noise=8_000))
        cache.put(page.address, CachedPage(page, is_public=True))
    assert cache.get("http://a.example/299") is not None
    assert cache.get("http://a.example/0") is None
    assert (folder / "cache.db").stat().st_size < 2_000_000
    cache.close()


# ── Shared by several servers ─────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def running_redis(folder: Path) -> Iterator[RedisServer]:
    needs_redis()
    server = RedisServer(str(folder))
    server.start()
    try:
        yield server
    finally:
        server.kill()


def test_one_server_reads_for_all(tmp_path: Path) -> None:
    def through(url: str, name: str) -> PageCache:
        return PageCache(RedisTtlCache(RedisLink(url), fallback=DiskTtlCache(tmp_path / name)), good_for=DAY)

    address = "http://news.example/"
    with running_redis(tmp_path) as redis:
        one, other = through(redis.url, "one"), through(redis.url, "other")
        page = Page.from_search_result(pages.found(address))
        one.put(address, CachedPage(page, is_public=True))
        assert other.get(address) == CachedPage(page, is_public=True)
        redis.kill()
        assert other.get(address) is None
        other.put(address, CachedPage(page, is_public=True))
        assert other.get(address) is not None, "its own disk, while Redis is away"
        assert other.warning
        assert one.get(address) is None
        one.close()
        other.close()


# ── Settings ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_settings() -> None:
    cache = PageCache.from_settings(loaded(READING_PAGES="3").values)
    assert cache is not None
    assert cache._good_for == DAY
    cache = PageCache.from_settings(loaded(READING_PAGES="3", READING_CACHE_HOURS="0.5").values)
    assert cache is not None
    assert cache._good_for == 1800
    assert PageCache.from_settings(loaded(READING_PAGES="3", READING_CACHE_HOURS="0").values) is None
    assert PageCache.from_settings(loaded(READING_PAGES="0").values) is None
    assert loaded(READING_CACHE_HOURS="-1").problems


def test_a_cache_that_cannot_be_written_says_so_and_costs_no_page(
    reader_with: ReaderWith, web: Web, deadline: Deadline, folder: Path
) -> None:
    folder.write_text("a file where the folder should be")
    reader = reader_with(PageCache(DiskTtlCache(folder, name="网页缓存"), good_for=DAY))
    assert reader.read(web.page("news.example/", pages.NEWS.encode(), HTML), deadline=deadline).kind == "html"
    assert reader.warning.startswith("网页缓存")


def test_the_app_says_each_trouble_once() -> None:
    away = f"redis://127.0.0.1:{unused_port()}/0"
    app = build_app(loaded(READING_PAGES="3", CACHE_URL=away, SEARCH_PROVIDER_PRIORITY="bundled"))
    try:
        assert app.reader._cache is not None
        assert app.reader._cache.get("http://a.example/") is None
        assert len(app.cache_warnings) == 1
    finally:
        app.close()
