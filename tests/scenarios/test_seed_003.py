"""Every scenario of seed 003: web search with Google through a headless Chrome. The site on loopback plays Google."""

from __future__ import annotations

import inspect
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from core.base.http import Deadline
from core.base.settings import SearchSettings, Settings
from core.search import chrome as browser_module
from core.search.engine import SearchEngine
from core.search.engines.google import GoogleEngine
from core.search.errors import AllEnginesFailed, QueryError
from core.search.query import effective_query
from core.search.registry import ENGINES, build_chain
from core.search.results import Found
from core.search.service import SearchService
from core.search.types import Outcome, SearchQuery, SearchResponse
from support.base import loaded
from support.chrome import NO_CHROME, Watched, watched
from support.google_site import GoogleSite, google_site, wait_until
from support.rooms import Fake

needs_chrome = pytest.mark.skipif(bool(NO_CHROME), reason=NO_CHROME)


@pytest.fixture(scope="module")
def site() -> Iterator[GoogleSite]:
    with google_site() as site:
        yield site


def settings(site: GoogleSite, **environ: str) -> Settings:
    return loaded(SEARCH_PROVIDER_PRIORITY="google", GOOGLE_BASE_URL=site.url, **environ).values


@pytest.fixture(scope="module")
def engine(site: GoogleSite) -> Iterator[GoogleEngine]:
    """Chrome is running: its first start is a scenario of its own."""
    os.environ.setdefault("DATA_DIR", "data")
    engine = GoogleEngine.from_settings(settings(site))
    engine._browser.get_page(f"{site.url}/search?q=x", Deadline(30))
    yield engine
    engine.close()


def room(*engines: SearchEngine, timeout: float = 5.0) -> SearchService:
    prepared = loaded().values
    return SearchService(
        engines,
        settings=SearchSettings(timeout=timeout, hedge_after=60),
        prepare=lambda query: effective_query(query, prepared),
    )


def search(engine: SearchEngine, words: str, *others: SearchEngine) -> SearchResponse:
    return room(engine, *others).search(SearchQuery(words))


# ── 需求：执行网页搜索 ────────────────────────────────────────────────────────────────────────────────────────────────


@needs_chrome
def test_agent_runs_a_basic_search(engine: GoogleEngine) -> None:
    """Agent 执行基本搜索"""
    began = time.monotonic()
    response = search(engine, "人工智能")
    assert time.monotonic() - began < 5
    assert response.total_results >= 10
    for result in response.results:
        assert all((result.title, result.url, result.snippet, result.source))


@needs_chrome
def test_chinese_query(engine: GoogleEngine, site: GoogleSite) -> None:
    """处理中文搜索查询"""
    words = '劳动合同 "解除" +补偿 & 赔偿金 👍'
    response = search(engine, words)
    asked = site.searches[-1]
    assert asked["q"] == words
    assert asked["hl"] == "zh-CN"
    assert "lang_zh-CN" in asked["lr"]
    assert site.requests[-1][0].isascii()
    assert "结果" in response.results[0].title


@needs_chrome
@pytest.mark.parametrize("trouble", ["hangup", "silent", "captcha", "broken"])
def test_engine_cannot_be_reached(engine: GoogleEngine, trouble: str) -> None:
    """搜索引擎不可达"""
    with pytest.raises(AllEnginesFailed) as caught:
        room(engine, timeout=2.0).search(SearchQuery(f"{trouble} 查询"))
    assert str(caught.value)
    assert search(engine, "下一次").total_results == 10, "the next search is not affected"


# ── 需求：搜索结果结构化 ──────────────────────────────────────────────────────────────────────────────────────────────


@needs_chrome
def test_standard_result_format(engine: GoogleEngine) -> None:
    """标准搜索结果格式"""
    document = json.loads(json.dumps(search(engine, "人工智能").to_json()))
    assert document["query"] == "人工智能"
    for entry in document["results"]:
        assert set(entry) == {"title", "url", "snippet", "source"}
        assert entry["source"] == urlsplit(entry["url"]).hostname


@needs_chrome
def test_number_of_results_is_fixed(engine: GoogleEngine) -> None:
    """结果数量固定"""
    assert SearchQuery("人工智能").limit == 10
    assert search(engine, "人工智能").total_results == 10


# ── 需求：Google 搜索引擎支持 ─────────────────────────────────────────────────────────────────────────────────────────


@needs_chrome
def test_google_is_used(engine: GoogleEngine, site: GoogleSite) -> None:
    """使用 Google 搜索"""
    before = len(site.searches)
    response = search(engine, "人工智能")
    assert len(site.searches) == before + 1
    assert response.provider == "google"
    first = response.results[0]
    assert (first.title, first.url, first.snippet) == ("结果 1", "https://site1.example/page?a=1&b=1", "第 1 条摘要。")


@needs_chrome
@pytest.mark.parametrize("wall", ["captcha", "consent", "wall"])
def test_google_detects_a_robot(engine: GoogleEngine, site: GoogleSite, wall: str) -> None:
    """处理 Google 反爬虫"""
    service = room(engine, Fake("next"))
    before = len(site.searches)
    response = service.search(SearchQuery(f"{wall} 查询"))
    first = response.attempts[0]
    assert first.outcome is Outcome.FAILED
    assert first.kind == "blocked"
    assert "人工处理" in first.cure
    assert response.provider == "next"
    service.search(SearchQuery("另一个查询"))
    assert len(site.searches) == before + 1, "it rests, and is not asked again"


# ── 需求：可扩展的搜索引擎接口 ────────────────────────────────────────────────────────────────────────────────────────


def test_search_engine_interface() -> None:
    """搜索引擎接口定义"""
    for engine in (SearchEngine, GoogleEngine):
        assert list(inspect.signature(engine.search).parameters)[:3] == ["self", "query", "num_results"]
    assert isinstance(Fake("any"), SearchEngine)


def test_a_new_engine_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """添加新搜索引擎: a class and a line in the registry; which one is used is a matter of settings."""
    monkeypatch.setitem(ENGINES, "baidu", f"{__name__}:NewEngine")
    chain = build_chain(loaded(SEARCH_PROVIDER_PRIORITY="baidu,bundled").values)
    assert [engine.name for engine in chain.engines] == ["baidu", "bundled"]
    assert room(*chain.engines).search(SearchQuery("查询")).provider == "baidu"


class NewEngine(SearchEngine):
    name = "baidu"

    def search(self, query: SearchQuery, num_results: int, *, deadline: object = None) -> Found:
        return Found(Fake("baidu").search(query, num_results))


# ── 需求：浏览器实例管理 ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def watch() -> Iterator[Watched]:
    with watched() as watch:
        yield watch


@needs_chrome
def test_first_search_starts_the_browser(site: GoogleSite, watch: Watched) -> None:
    """首次搜索启动浏览器 (the three seconds are measured by `make bench`, on a machine that does nothing else)"""
    engine = GoogleEngine.from_settings(settings(site))
    assert not watch.processes()
    engine.search("人工智能", 10, deadline=Deadline(30))
    assert watch.chrome()
    engine.close()


@needs_chrome
def test_the_browser_is_used_again(site: GoogleSite, watch: Watched) -> None:
    """复用浏览器实例 (its time is measured by `make bench`)"""
    engine = GoogleEngine.from_settings(settings(site))
    chromes = set()
    for words in ("一", "二", "三"):
        engine.search(words, 10, deadline=Deadline(30))
        chromes.add(watch.chrome())
    assert len(chromes) == 1
    engine.close()


@needs_chrome
def test_the_browser_is_cleared_away(site: GoogleSite, watch: Watched) -> None:
    """清理浏览器资源"""
    engine = GoogleEngine.from_settings(settings(site))
    engine.search("人工智能", 10, deadline=Deadline(30))
    engine.close()
    assert wait_until(lambda: not watch.processes(), 2)
    assert not os.listdir(watch.folder)


# ── 需求：错误处理和重试 ──────────────────────────────────────────────────────────────────────────────────────────────


@needs_chrome
def test_network_timeout(engine: GoogleEngine, site: GoogleSite) -> None:
    """网络超时"""
    began = time.monotonic()
    with pytest.raises(AllEnginesFailed) as caught:
        search(engine, "silent 查询")
    assert time.monotonic() - began < 5.5
    assert caught.value.cause == "timeout"
    assert "超时" in str(caught.value)
    assert "5 秒" in str(caught.value)
    assert site.wait_until_given_up(), "the request has been cancelled"


@pytest.mark.parametrize("words", ["", "   ", "\u3000\n"])
def test_invalid_query(words: str) -> None:
    """无效的查询参数"""
    fake = Fake("google")
    with pytest.raises(QueryError):
        search(fake, words)
    assert not fake.calls


def test_chrome_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chrome 未安装"""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(browser_module, "_USUAL_PLACES", {})
    chain = build_chain(loaded(SEARCH_PROVIDER_PRIORITY="google,bundled").values)
    assert [engine.name for engine in chain.engines] == ["bundled"]
    (entry,) = chain.left_out
    assert "Chrome" in entry.reason
    assert "安装" in entry.cure
