"""Every scenario of seed 003: web search with Google through a headless Chrome. The site on loopback plays Google."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from core.answer.events import SearchFinished, ToolFinished, ToolStarted
from core.base.http import Deadline
from core.base.settings import SearchSettings, Settings
from core.search import chrome as browser_module
from core.search.engine import SearchEngine
from core.search.engines.google import GoogleEngine
from core.search.errors import AllEnginesFailed, QueryError
from core.search.query import effective_query
from core.search.registry import ENGINES, build_chain
from core.search.results import EngineResults
from core.search.service import SearchService
from core.search.types import AttemptOutcome, SearchQuery, SearchResponse
from support.agents import agent, answer, final, of, search_step
from support.base import ROOT, loaded
from support.chrome import NO_CHROME, Watched, watched
from support.fake_engines import ScriptedEngine
from support.google_site import GoogleSite, google_site
from support.waiting import until

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


class Lent(SearchEngine):
    """To an App, which closes its own engines when it ends."""

    name, label = GoogleEngine.name, GoogleEngine.label

    def __init__(self, engine: GoogleEngine) -> None:
        self._engine = engine

    def search(self, query: SearchQuery, num_results: int, *, deadline: Deadline | None = None) -> EngineResults:
        return self._engine.search(query, num_results, deadline=deadline)


def room(*engines: SearchEngine, timeout: float = 20.0) -> SearchService:
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
    """Agent 执行基本搜索 (its time is measured by `make bench`)"""
    patient = {"SEARCH_TIMEOUT": "20"}
    with agent(search_step("人工智能"), final("好[1]。"), engines=[Lent(engine)], environ=patient) as world:
        events = world.ask()
    (called,) = of(events, ToolStarted)
    assert (called.tool, called.input) == ("web_search", "人工智能")
    (found,) = of(events, SearchFinished)
    assert found.response.total_results >= 10
    for result in found.response.to_json()["results"]:
        assert all((result["title"], result["url"], result["snippet"], result["source"]))
    assert [source.title for source in answer(events).sources] == ["结果 1"]


@needs_chrome
def test_chinese_query(engine: GoogleEngine, site: GoogleSite) -> None:
    """处理中文搜索查询"""
    words = 'about 劳动合同 "解除" +补偿 & 赔偿金 👍'
    response = search(engine, words)
    asked = site.searches[-1]
    assert asked["q"] == words
    assert asked["hl"] == "zh-CN"
    assert site.requests[-1][0].isascii()
    assert {result.title for result in response.results} == {f"中文：{words}"}
    assert search(engine, "about labour law").results[0].title == "English：about labour law"


@needs_chrome
@pytest.mark.parametrize(
    ("trouble", "reason"),
    [("hangup", "中断了连接"), ("silent", "搜索超时：2 秒内"), ("captcha", "验证码"), ("broken", "内部出错（500）")],
    ids=["hangup", "silent", "captcha", "broken"],
)
def test_engine_cannot_be_reached(engine: GoogleEngine, trouble: str, reason: str) -> None:
    """搜索引擎不可达"""
    says = (search_step(f"{trouble} 查询"), final("没有查到。"), search_step("下一次"), final("好。"))
    seconds = "2" if trouble == "silent" else "20"
    with agent(*says, engines=[Lent(engine)], environ={"SEARCH_TIMEOUT": seconds}) as world:
        events = world.ask()
        told = world.prompts[1]
        assert answer(world.ask("另一个问题")).text == "好。", "the session goes on"
    (step,) = of(events, ToolFinished)
    assert not step.ok
    assert reason in step.summary
    assert f"工具没有成功：{step.summary}" in told
    assert answer(events).text == "没有查到。"
    assert search(engine, "下一次").total_results == 10, "a new session's search is not affected"


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
    service = room(engine, ScriptedEngine("next"))
    before = len(site.searches)
    response = service.search(SearchQuery(f"{wall} 查询"))
    first = response.attempts[0]
    assert first.outcome is AttemptOutcome.FAILED
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
    assert isinstance(ScriptedEngine("any"), SearchEngine)


def test_a_new_engine_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """添加新搜索引擎: a class and a line in the registry; which one is used is a matter of settings."""
    monkeypatch.setitem(ENGINES, "baidu", f"{__name__}:NewEngine")
    chain = build_chain(loaded(SEARCH_PROVIDER_PRIORITY="baidu,bundled").values)
    assert [engine.name for engine in chain.engines] == ["baidu", "bundled"]
    assert room(*chain.engines).search(SearchQuery("查询")).provider == "baidu"


class NewEngine(SearchEngine):
    name = "baidu"

    def search(self, query: SearchQuery, num_results: int, *, deadline: object = None) -> EngineResults:
        return EngineResults(ScriptedEngine("baidu").search(query, num_results))


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
    """清理浏览器资源: a program that has searched ends as programs end"""
    environ = {"GOOGLE_BASE_URL": site.url, "SEARCH_PROVIDER_PRIORITY": "google", "SEARCH_TIMEOUT": "30"}
    program = subprocess.run(
        [sys.executable, "-m", "core", "search", "人工智能", "--json"],
        cwd=ROOT,
        env={**os.environ, **environ},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert json.loads(program.stdout)["totalResults"] == 10, program.stderr.decode()
    until(lambda: not watch.processes())
    until(lambda: not os.listdir(watch.folder))


# ── 需求：错误处理和重试 ──────────────────────────────────────────────────────────────────────────────────────────────


@needs_chrome
def test_network_timeout(engine: GoogleEngine, site: GoogleSite) -> None:
    """网络超时"""
    began = time.monotonic()
    with pytest.raises(AllEnginesFailed) as caught:
        room(engine, timeout=5).search(SearchQuery("silent 查询"))
    assert time.monotonic() - began < 15
    assert caught.value.cause == "timeout"
    assert "超时" in str(caught.value)
    assert "5 秒" in str(caught.value)
    assert site.wait_until_given_up(), "the request has been cancelled"


@pytest.mark.parametrize("words", ["", "   ", "\u3000\n"])
def test_invalid_query(words: str) -> None:
    """无效的查询参数"""
    fake = ScriptedEngine("google")
    with pytest.raises(QueryError):
        search(fake, words)
    nothing = ["Thought: 查一下\nAction: web_search\nAction Input: " + json.dumps({"query": words})]
    with agent(nothing, final("请告诉我要查什么。"), engines=[fake]) as world:
        events = world.ask()
        assert f"（工具没有成功：{QueryError()}" in world.prompts[1], "the model is told"
    assert [(step.tool, step.ok) for step in of(events, ToolFinished)] == [("web_search", False)]
    assert answer(events).text == "请告诉我要查什么。"
    assert not fake.calls


def test_chrome_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chrome 未安装"""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(browser_module, "_USUAL_PLACES", {})
    chain = build_chain(loaded(SEARCH_PROVIDER_PRIORITY="google,bundled").values)
    assert [engine.name for engine in chain.engines] == ["bundled"]
    (entry,) = chain.unavailable
    assert "Chrome" in entry.reason
    assert "安装" in entry.cure
