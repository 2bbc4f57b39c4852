"""Search of seed 002: the tool, limits, caches, providers, normalisation, environment. (Its legal tools: test_seed_002_legal.)"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest

from core.answer.events import Answer, Notice, SearchFinished
from core.app import App, build_app
from core.base import rate_limits
from core.base.http import Deadline
from core.base.visitors import Visitor
from core.run.question import AnswerOptions
from core.search.cache import ResultCache
from core.search.engines.exa import ExaSettings
from core.search.engines.perplexity import PerplexitySettings
from core.search.engines.tavily import TavilySettings
from core.search.errors import EngineTimeout, EngineUnavailable, RateLimited
from core.search.query import effective_query
from core.search.registry import EngineOrder, build_chain
from core.search.results import EngineResults
from core.search.service import SearchService
from core.search.types import AttemptOutcome, SearchQuery, SearchType
from core.ui.chat.actions import NO_ENGINE
from support.agents import agent, of, wired_agent
from support.base import loaded
from support.engines import ENGINE_SAMPLES, KEY, answer, scripted, through, usable, wire
from support.fake_engines import FakeEngine, ScriptedEngine, results, results_of
from support.faults import Server, json_answer, keep_alive, message
from support.openai_server import Call, in_turn, openai_server
from support.pages import agent_page, ask, choose, html, page_of, search, steps, values
from support.responses import Cite, Search
from support.scripted_app import scripted_app
from support.waiting import Clock

QUERY = SearchQuery("劳动合同 解除")


@pytest.fixture
def clock() -> Clock:
    return Clock()


def cache_with(clock: Clock, **environ: str) -> ResultCache:
    store = ResultCache.from_settings(loaded(**environ).values)
    assert store is not None
    store._clock = clock
    return store


@pytest.fixture
def cache(clock: Clock) -> Iterator[ResultCache]:
    with closing(cache_with(clock)) as store:
        yield store


def app_with(*engines: ScriptedEngine, **environ: str) -> App:
    return build_app(loaded(**environ), engines=engines)


# ── Web Search Tool ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_execute_general_search() -> None:
    """From a model that calls the tool to the words that SerpAPI is sent, and back."""
    call = Call("web_search", json.dumps({"query": "劳动合同 解除", "search_type": "news"}))
    found = ENGINE_SAMPLES["serpapi"].payload([("标题", "https://a.example/1", "摘要")])
    with Server(keep_alive(json_answer(found))) as api:
        with wired_agent(engines=[usable("serpapi", through(api))], strategy="tools") as world:
            world.server.reply = in_turn([call], ["好[1]。"])
            events = world.ask()
            read_by_the_model = world.server.requests[1]["messages"][-1]["content"]
        (request,) = api.requests
    asked = {name: value for name, (value,) in parse_qs(urlsplit(request.split()[1].decode()).query).items()}
    assert (asked["q"], asked["tbm"], asked["api_key"]) == ("劳动合同 解除", "nws", KEY)
    (search,) = of(events, SearchFinished)
    assert search.response.to_json()["type"] == "news"
    assert search.response.to_json()["results"] == [
        {"title": "标题", "url": "https://a.example/1", "snippet": "摘要", "source": "a.example"}
    ]
    assert "[1] 标题\nURL: https://a.example/1\n摘要: 摘要" in read_by_the_model


def test_search_result_structure(clock: Clock) -> None:
    """As SearXNG answers it, in a time that a clock has measured which only this test moves."""
    found = ENGINE_SAMPLES["searxng"].payload([(f"标题{n}", f"https://a.example/{n}", f"摘要{n}") for n in range(1, 4)])
    engine = usable("searxng", scripted(answer(found | {"number_of_results": 1234}), answer(found)))

    def take_time(query: SearchQuery, deadline: Deadline) -> EngineResults:
        clock.pass_(1.25)
        results: EngineResults = engine.search(query, 10, deadline=deadline)
        return results

    service = SearchService([ScriptedEngine("searxng", take_time)], clock=clock)
    document = service.search(QUERY).to_json()
    assert document["results"] == [
        {"title": f"标题{n}", "url": f"https://a.example/{n}", "snippet": f"摘要{n}", "source": "a.example"}
        for n in range(1, 4)
    ]
    assert document["totalResults"] == 1234, "what the engine says"
    assert document["searchTime"] == 1.25
    json.dumps(document)
    assert service.search(QUERY).to_json()["totalResults"] == 3, "what was found, where the engine says nothing"


@pytest.mark.parametrize(
    ("name", "news"),
    [
        ("native", "Only pages of the last month."),
        ("perplexity", "'search_recency_filter': 'month'"),
        ("exa", "'category': 'news'"),
        ("tavily", "'topic': 'news'"),
        ("tavily_keyless", "'topic': 'news'"),
        ("serpapi", "'tbm': 'nws'"),
        ("zhipu", "'search_recency_filter': 'oneMonth'"),
        ("bocha", "'freshness': 'oneMonth'"),
        ("searxng", "'categories': 'news'"),
    ],
)
def test_search_type_filtering(name: str, news: str) -> None:
    """Of every engine with an API: what it is sent for each type. Zhipu's filter takes one site, so it gets words only."""
    settings = loaded().values
    fetch = scripted(answer(ENGINE_SAMPLES[name].payload([("标题", "https://a.example/1", "摘要")])))
    engine = usable(name, fetch)
    for kind in SearchType:
        engine.search(effective_query(SearchQuery("解除劳动合同", type=kind), settings), 10)
    sent = dict(
        zip(SearchType, (f"{request.params} {request.body}" for request in map(wire, fetch.asked)), strict=True)
    )
    assert [kind for kind in SearchType if news in sent[kind]] == [SearchType.NEWS]
    for kind, word, site in ((SearchType.REGULATION, "法规", "gov.cn"), (SearchType.CASE, "案例", "court.gov.cn")):
        assert word in sent[kind]
        assert (site in sent[kind]) is (name != "zhipu")
        assert site not in sent[SearchType.GENERAL]


def test_search_error_handling() -> None:
    with scripted_app(says=[["照常回答"]], engines=[FakeEngine("fake", EngineTimeout())]) as (app, _):
        events = list(app.chat.stream("问题", options=AnswerOptions(search=True)))
    assert any(isinstance(event, Notice) and "超时" in event.text for event in events)
    assert any(isinstance(event, Answer) for event in events)


# ── Search Rate Limiting ─────────────────────────────────────────────────────────────────────────────────────────────


def test_rate_limit_per_user() -> None:
    app = app_with(ScriptedEngine("fake"), SEARCH_RATE_LIMIT="2")
    for n in range(2):
        app.search.search(SearchQuery(f"问题 {n}"), visitor=Visitor("a"))
    with pytest.raises(RateLimited) as caught:
        app.search.search(SearchQuery("问题 2"), visitor=Visitor("a"))
    assert 1 <= caught.value.retry_after <= 60
    assert "秒后重试" in str(caught.value)
    app.search.search(SearchQuery("问题 2"), visitor=Visitor("b"))
    app.close()


def test_global_rate_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past an engine's quota a search waits for its turn within the deadline; where that is too long, old results serve."""
    at: list[float] = []

    def note(*_: object) -> EngineResults:
        at.append(time.monotonic())
        return results_of("fake")

    app = app_with(ScriptedEngine("fake", note), SEARCH_ENGINE_QUOTA="1", SEARCH_TIMEOUT="5")
    with monkeypatch.context() as past:
        past.setattr(rate_limits, "time", SimpleNamespace(monotonic=lambda: time.monotonic() - 58.5))
        app.search.search(QUERY, visitor=None)
    queued = app.search.search(SearchQuery("另一个问题"), visitor=None)
    assert [attempt.outcome for attempt in queued.attempts] == [AttemptOutcome.OK]
    assert at[1] - at[0] > 1, "not before a minute was over"
    degraded = app.search.search(QUERY, visitor=None, skip_caches=True)
    assert degraded.from_cache
    assert degraded.search_time < 4, "nobody waits for a turn that would come too late"
    assert len(at) == 2
    app.close()


# ── Search Result Caching ────────────────────────────────────────────────────────────────────────────────────────────


def test_cache_hit(cache: ResultCache, clock: Clock) -> None:
    engine = ScriptedEngine("fake")
    service = SearchService([engine], cache=cache)
    service.search(QUERY)
    clock.pass_(60)
    hit = service.search(QUERY)
    assert hit.from_cache
    assert hit.to_json()["fromCache"] is True
    assert hit.to_json()["cacheAge"] == 60
    assert engine.calls == 1


def test_cache_hit_on_the_page() -> None:
    engine = FakeEngine("fake", results(3))
    with scripted_app(says=[["好[1]。"]], engines=[engine]) as (app, _), page_of(app) as page:
        search(page, on=True)
        for from_cache in (False, True):
            ask(page, QUERY.text)
            *_, line = steps(page)
            assert line.startswith(f"搜索「{QUERY.text}」 · fake · 3 条 · ")
            assert ("缓存 · " in line) is from_cache
    assert len(engine.queries) == 1


def test_cache_expiration(cache: ResultCache, clock: Clock) -> None:
    engine = ScriptedEngine("fake", results_of("old"), results_of("new"))
    service = SearchService([engine], cache=cache)
    service.search(QUERY)
    clock.pass_(3601)
    renewed = service.search(QUERY)
    assert not renewed.from_cache
    assert "new" in renewed.results[0].url
    assert "new" in service.search(QUERY).results[0].url
    assert engine.calls == 2


@pytest.mark.parametrize(
    ("kind", "environ", "seconds"),
    [
        (SearchType.NEWS, {}, 3600),
        (SearchType.REGULATION, {}, 24 * 3600),
        (SearchType.CASE, {}, 6 * 3600),
        (SearchType.GENERAL, {"SEARCH_CACHE_TTL": "60"}, 60),
        (SearchType.NEWS, {"CACHE_NEWS_TTL": "70"}, 70),
        (SearchType.REGULATION, {"CACHE_REGULATION_TTL": "80"}, 80),
        (SearchType.CASE, {"CACHE_CASE_TTL": "90"}, 90),
    ],
)
def test_cache_configuration(clock: Clock, kind: SearchType, environ: dict[str, str], seconds: int) -> None:
    with closing(cache_with(clock, **environ)) as cache:
        service = SearchService([ScriptedEngine("fake")], cache=cache)
        query = SearchQuery("问题", type=kind)
        service.search(query)
        clock.pass_(seconds - 1)
        assert service.search(query).from_cache
        clock.pass_(2)
        assert not service.search(query).from_cache


# ── Search Provider Selection ────────────────────────────────────────────────────────────────────────────────────────


def searches(server: Server) -> list[bytes]:
    """Without the check at the start."""
    return [request for request in server.requests if b"q=" in request.partition(b"\r\n")[0]]


def test_native_model_search_priority() -> None:
    """The answering call searches by itself: one call in all, and nobody else is asked. Beside an agent, which has tools,
    it would be a second paid call for each search."""
    page = "https://gov.example/a"
    found = ENGINE_SAMPLES["searxng"].payload([("标题", "https://a.example/1", "摘要")])
    with openai_server() as model, Server(keep_alive(json_answer(found))) as other:
        connected = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.url, "LLM_MODEL": "openai:reply"}
        patience = {"SEARCH_TIMEOUT": "50", "SEARCH_HEDGE_AFTER": "40"}
        settings = loaded(**connected, **patience, NATIVE_MODELS="reply", SEARXNG_URL=other.url, AGENT_STRATEGY="tools")
        model.reply = in_turn([Call("web_search", '{"query": "新规 施行"}')], ["好[1]。"])
        assert build_chain(settings.values).engines[0].name == "native", "by default"
        model.searching = in_turn(
            [Search("新规", [page]), "已经施行。", f"([gov.example]({page}))", Cite(page, "政府网")]
        )
        with closing(build_app(settings)) as app:
            events = list(app.chat.stream("新规何时施行？", options=AnswerOptions(search=True)))
        (call,) = model.requests
        assert [tool["type"] for tool in call["tools"]] == ["web_search"]
        assert [source.url for source in of(events, Answer)[0].sources] == [page]
        assert other.requests == []
        with closing(build_app(settings)) as app:
            list(app.agent.stream("新规何时施行？"))
        _, *calls = model.requests
        assert ["messages" in call for call in calls] == [True, True], "an agent searches with its tools"
        assert len(searches(other)) == 1, "which ask the next engine in the chain"
        without = build_chain(loaded(**connected).values)
    assert "native" in [entry.name for entry in without.unavailable]


@pytest.mark.parametrize(
    ("variable", "name"),
    [("PERPLEXITY_API_KEY", "perplexity"), ("EXA_API_KEY", "exa"), ("TAVILY_API_KEY", "tavily")],
)
def test_a_key_brings_its_provider_into_the_chain(variable: str, name: str) -> None:
    assert name in [engine.name for engine in build_chain(loaded(**{variable: "key"}).values).engines]
    left_out = {entry.name: entry for entry in build_chain(loaded().values).unavailable}
    assert "密钥" in left_out[name].reason
    assert variable in left_out[name].cure_for_administrators


def test_perplexity_search_integration() -> None:
    from core.search.engines.perplexity import PerplexityEngine

    engine = PerplexityEngine.from_settings(loaded(PERPLEXITY_API_KEY="k").values)
    engine._fetch = scripted(
        answer({"results": [{"title": "标题", "url": "https://a.example/1", "snippet": "摘要", "date": "2026-01-01"}]})
    )
    (found,) = engine.search("问题", 10)
    assert (found.title, found.url, found.source) == ("标题", "https://a.example/1", "a.example")


def test_exa_search_integration() -> None:
    from core.search.engines.exa import ExaEngine

    engine = ExaEngine.from_settings(loaded(EXA_API_KEY="k").values)
    engine._fetch = fetch = scripted(
        answer({"results": [{"title": "标题", "url": "https://a.example/1", "highlights": ["网页里的一段话"]}]})
    )
    (found,) = engine.search("问题", 10)
    assert "网页里的一段话" in found.snippet
    assert fetch.asked[0].json["contents"] == {"highlights": True}


def test_tavily_search_integration() -> None:
    """In reserve: it stands behind the others, and answers when they fail."""
    order = [engine.name for engine in build_chain(loaded(EXA_API_KEY="k", TAVILY_API_KEY="k").values).engines]
    assert order.index("exa") < order.index("tavily")
    found = ENGINE_SAMPLES["tavily"].payload([("标题", "https://a.example/1", "摘要")])
    broken = keep_alive(message(b"", status="500 Internal Server Error"))
    with Server(broken) as exa, Server(keep_alive(json_answer(found))) as tavily:
        engines = [usable("exa", through(exa)), usable("tavily", through(tavily))]
        response = SearchService(engines).search(QUERY)
    assert [(attempt.engine, attempt.outcome) for attempt in response.attempts] == [
        ("exa", AttemptOutcome.FAILED),
        ("tavily", AttemptOutcome.OK),
    ]
    assert [(result.title, result.url, result.snippet) for result in response.results] == [
        ("标题", "https://a.example/1", "摘要")
    ]
    head, body = tavily.requests[0].split(b"\r\n\r\n")
    assert f"Authorization: Bearer {KEY}".encode() in head
    assert json.loads(body)["query"] == QUERY.text


def test_provider_priority_configuration() -> None:
    assert loaded().values.section(EngineOrder).provider_priority[:4] == ("native", "perplexity", "exa", "tavily")
    chosen = loaded(SEARCH_PROVIDER_PRIORITY="tavily, bundled ,exa", TAVILY_API_KEY="k", EXA_API_KEY="k").values
    assert [engine.name for engine in build_chain(chosen).engines] == ["tavily", "bundled", "exa"]


def test_automatic_failover(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        response = SearchService([ScriptedEngine("first", EngineUnavailable()), ScriptedEngine("second")]).search(QUERY)
    assert response.provider == "second"
    assert [attempt.outcome for attempt in response.attempts] == [AttemptOutcome.FAILED, AttemptOutcome.OK]
    assert "first" in caplog.text


# ── Search Query Normalization ───────────────────────────────────────────────────────────────────────────────────────


def test_normalize_query_for_caching(cache: ResultCache) -> None:
    engine = ScriptedEngine("fake")
    service = SearchService([engine], cache=cache)
    service.search(SearchQuery("Python  Asyncio 教程"))
    assert service.search(SearchQuery(" ｐｙｔｈｏｎ asyncio　教程 ")).from_cache
    assert engine.asked[0].text == "Python  Asyncio 教程"
    words = SearchQuery("b a")
    assert words.key(sort_words=True) == SearchQuery("a b").key(sort_words=True)
    assert words.key() != SearchQuery("a b").key()


def test_query_enhancement() -> None:
    settings = loaded().values
    assert "法规" in effective_query(SearchQuery("试用期", type=SearchType.REGULATION), settings).text
    assert "案例" in effective_query(SearchQuery("试用期", type=SearchType.CASE), settings).text
    assert effective_query(SearchQuery("试用期"), settings).text == "试用期"


# ── Search Environment Configuration ─────────────────────────────────────────────────────────────────────────────────


def test_environment_variables() -> None:
    values = loaded(
        PERPLEXITY_API_KEY="a", EXA_API_KEY="b", TAVILY_API_KEY="c", SEARCH_CACHE_TTL="60", SEARCH_RATE_LIMIT="3"
    ).values
    assert (values.search.cache_ttl, values.search.rate_limit) == (60, 3)
    keys = [values.section(kind).api_key for kind in (PerplexitySettings, ExaSettings, TavilySettings)]
    assert [key.get_secret_value() for key in keys if key] == ["a", "b", "c"]


def test_graceful_degradation_without_any_engine() -> None:
    chain = build_chain(loaded(SEARCH_PROVIDER_PRIORITY="native,perplexity,exa,tavily").values)
    assert chain.engines == ()
    assert len(chain.unavailable) == 4
    with agent(["凭所知回答。"], engines=chain.engines) as world, agent_page(world) as page:
        ask(page, "今天有什么新闻？")
        assert "web_search - " not in world.prompts[0], "it is not among the tools"
        assert "没有可用的搜索引擎" in values(page.info)
        assert "这次回答没有联网搜索" in values(page.info)
        assert "根据搜索结果" not in values(page.info)
        assert "凭所知回答。" in html(page.chat_message[-1])
        choose(page, "chat")
        assert page.toggle[0].disabled
        assert page.toggle[0].value is False
        assert NO_ENGINE in values(page.caption)
        ask(page, "/search on")
        assert page.toggle[0].value is False
        assert not ask(page, "今天有什么新闻？").session_state["chat"].messages[-1].searches
