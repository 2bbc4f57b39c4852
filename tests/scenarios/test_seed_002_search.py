"""Search of seed 002: the tool, limits, caches, providers, normalisation, environment. (Its legal tools: test_seed_002_legal.)"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.app import App, build_app
from core.base.visitors import Visitor
from core.search.cache import ResultCache
from core.search.engine import HttpEngine
from core.search.engines.exa import ExaSettings
from core.search.engines.perplexity import PerplexitySettings
from core.search.engines.tavily import TavilySettings
from core.search.errors import EngineTimeout, EngineUnavailable, NoEngine, RateLimited
from core.search.query import effective_query
from core.search.registry import EngineOrder, build_chain
from core.search.service import SearchService
from core.search.types import Outcome, SearchQuery, SearchType
from support.base import loaded
from support.engines import answer, scripted
from support.rooms import Clock, Fake, results

QUERY = SearchQuery("劳动合同 解除")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(tmp_path: Path, clock: Clock) -> Iterator[ResultCache]:
    store = ResultCache.from_settings(loaded(DATA_DIR=str(tmp_path)).values)
    assert store is not None
    store._clock = clock
    yield store
    store.close()


def app_with(*engines: Fake, **environ: str) -> App:
    return build_app(loaded(**environ), engines=engines)


# ── Web Search Tool ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_execute_general_search() -> None:
    engine = Fake("fake")
    response = SearchService([engine]).search(QUERY)
    assert engine.asked[0].type is SearchType.GENERAL
    assert response.total_results == 3


def test_search_result_structure() -> None:
    document = SearchService([Fake("fake")]).search(QUERY).to_json()
    assert {"results", "totalResults", "searchTime"} <= set(document)
    assert {"title", "url", "snippet"} <= set(document["results"][0])
    assert document["totalResults"] == 3
    assert document["searchTime"] >= 0
    json.dumps(document)


def test_search_type_filtering() -> None:
    settings = loaded(TAVILY_API_KEY="tvly-x").values
    fetch = scripted(answer({"results": []}))
    from core.search.engines.tavily import TavilyEngine

    engine: HttpEngine = TavilyEngine.from_settings(settings)
    engine._fetch = fetch
    for kind in (SearchType.NEWS, SearchType.REGULATION, SearchType.CASE):
        engine.search(effective_query(SearchQuery("解除劳动合同", type=kind), settings), 10)
    news, regulation, case = (request.json for request in fetch.asked)
    assert news["topic"] == "news"
    assert "flk.npc.gov.cn" in regulation["include_domains"]
    assert "wenshu.court.gov.cn" in case["include_domains"]


def test_search_error_handling() -> None:
    from core.answer.events import Answer, Notice
    from core.run.question import AnswerOptions
    from support.worlds import FakeEngine, world

    with world(says=[["照常回答"]], engines=[FakeEngine("fake", EngineTimeout())]) as (app, _):
        events = list(app.chat.stream("问题", options=AnswerOptions(search=True)))
    assert any(isinstance(event, Notice) and "超时" in event.text for event in events)
    assert any(isinstance(event, Answer) for event in events)


# ── Search Rate Limiting ─────────────────────────────────────────────────────────────────────────────────────────────


def test_rate_limit_per_user() -> None:
    app = app_with(Fake("fake"), SEARCH_RATE_LIMIT="2")
    for n in range(2):
        app.search.search(SearchQuery(f"问题 {n}"), user=Visitor("a"))
    with pytest.raises(RateLimited) as caught:
        app.search.search(SearchQuery("问题 2"), user=Visitor("a"))
    assert 1 <= caught.value.retry_after <= 60
    assert "秒后重试" in str(caught.value)
    app.search.search(SearchQuery("问题 2"), user=Visitor("b"))
    app.close()


def test_global_rate_limit() -> None:
    """Past an engine's quota a search waits for its turn within the deadline, and then takes what is kept from before."""
    engine = Fake("fake")
    app = app_with(engine, SEARCH_ENGINE_QUOTA="1", SEARCH_TIMEOUT="1")
    app.search.search(QUERY, user=None)
    degraded = app.search.search(QUERY, user=None, fresh=True)
    assert degraded.from_cache
    assert engine.calls == 1
    app.close()


# ── Search Result Caching ────────────────────────────────────────────────────────────────────────────────────────────


def test_cache_hit(cache: ResultCache, clock: Clock) -> None:
    engine = Fake("fake")
    service = SearchService([engine], cache=cache)
    service.search(QUERY)
    clock.pass_(60)
    hit = service.search(QUERY)
    assert hit.from_cache
    assert hit.to_json()["fromCache"] is True
    assert hit.to_json()["cacheAge"] == 60
    assert engine.calls == 1


def test_cache_expiration(cache: ResultCache, clock: Clock) -> None:
    engine = Fake("fake", results("old"), results("new"))
    service = SearchService([engine], cache=cache)
    service.search(QUERY)
    clock.pass_(3601)
    renewed = service.search(QUERY)
    assert not renewed.from_cache
    assert "new" in renewed.results[0].url
    assert "new" in service.search(QUERY).results[0].url
    assert engine.calls == 2


@pytest.mark.parametrize(("kind", "hours"), [(SearchType.NEWS, 1), (SearchType.REGULATION, 24), (SearchType.CASE, 6)])
def test_cache_configuration(cache: ResultCache, clock: Clock, kind: SearchType, hours: int) -> None:
    engine = Fake("fake")
    service = SearchService([engine], cache=cache)
    query = SearchQuery("问题", type=kind)
    service.search(query)
    clock.pass_(hours * 3600 - 1)
    assert service.search(query).from_cache
    clock.pass_(2)
    assert not service.search(query).from_cache


# ── Search Provider Selection ────────────────────────────────────────────────────────────────────────────────────────


def test_native_model_search_priority() -> None:
    chain = build_chain(loaded(OPENAI_API_KEY="k", LLM_MODEL="openai:gpt-5-mini", TAVILY_API_KEY="k").values)
    assert chain.engines[0].name == "native"
    without = build_chain(loaded(LLM_MODEL="qwen3:8b", OPENAI_BASE_URL="http://127.0.0.1:9/v1").values)
    assert "native" in [entry.name for entry in without.left_out]


@pytest.mark.parametrize(
    ("variable", "name"),
    [("PERPLEXITY_API_KEY", "perplexity"), ("EXA_API_KEY", "exa"), ("TAVILY_API_KEY", "tavily")],
)
def test_a_key_brings_its_provider_into_the_chain(variable: str, name: str) -> None:
    assert name in [engine.name for engine in build_chain(loaded(**{variable: "key"}).values).engines]
    left_out = {entry.name: entry for entry in build_chain(loaded().values).left_out}
    assert variable in left_out[name].reason
    assert variable in left_out[name].cure


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
    assert fetch.asked[0].json["contents"]


def test_tavily_search_integration() -> None:
    order = [engine.name for engine in build_chain(loaded(EXA_API_KEY="k", TAVILY_API_KEY="k").values).engines]
    assert order.index("exa") < order.index("tavily")


def test_provider_priority_configuration() -> None:
    assert loaded().values.section(EngineOrder).provider_priority[:4] == ("native", "perplexity", "exa", "tavily")
    chosen = loaded(SEARCH_PROVIDER_PRIORITY="tavily, bundled ,exa", TAVILY_API_KEY="k", EXA_API_KEY="k").values
    assert [engine.name for engine in build_chain(chosen).engines] == ["tavily", "bundled", "exa"]


def test_automatic_failover(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        response = SearchService([Fake("first", EngineUnavailable()), Fake("second")]).search(QUERY)
    assert response.provider == "second"
    assert [attempt.outcome for attempt in response.attempts] == [Outcome.FAILED, Outcome.OK]
    assert "first" in caplog.text


# ── Search Query Normalization ───────────────────────────────────────────────────────────────────────────────────────


def test_normalize_query_for_caching(cache: ResultCache) -> None:
    engine = Fake("fake")
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
    app = build_app(loaded(SEARCH_PROVIDER_PRIORITY="native,perplexity,exa,tavily"))
    assert not app.search.available
    assert len(app.chain.left_out) == 4
    with pytest.raises(NoEngine):
        app.search.search(QUERY)
    app.close()
