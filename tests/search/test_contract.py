"""What every registered engine promises, whatever its server answers. A new engine is checked as soon as it is listed."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from core.base.http.errors import (
    HttpCancelled,
    HttpConnectError,
    HttpInvalidRequest,
    HttpProtocolError,
    HttpRedirect,
    HttpTimeout,
    HttpTooLarge,
)
from core.search.engine import SearchEngine
from core.search.errors import (
    EngineBlocked,
    EngineError,
    EngineMisconfigured,
    EngineParseError,
    EngineQuotaExceeded,
    EngineRefusedQuery,
    EngineThrottled,
    EngineTimeout,
    EngineUnavailable,
    NoEngine,
)
from core.search.query import effective_query
from core.search.registry import ENGINES, build_chain, engine_label, unsupported_filters
from core.search.types import SearchQuery, SearchResult, SearchType, TimeRange
from support.base import loaded
from support.engines import ENGINE_SAMPLES, KEY, answer, scripted, usable, wire

HTTP = sorted(ENGINE_SAMPLES)
TRICKY = '“引号” "a" +&#=%?/\\ 你好 👩‍👩‍👧 ２０２６'


def check(results: list[SearchResult]) -> None:
    for place, result in enumerate(results, 1):
        assert isinstance(result, SearchResult)
        assert result.url.startswith(("http://", "https://"))
        assert result.title
        assert result.source
        assert result.rank == place
        assert len(result.title) <= 200
        assert len(result.snippet) <= 1000
        json.dumps([result.title, result.url, result.snippet, result.published]).encode()
        "".join((result.title, result.url, result.snippet)).encode()  # no lone surrogates


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_is_built_under_its_own_name_or_says_why_not(name: str) -> None:
    chain = build_chain(loaded(SEARCH_PROVIDER_PRIORITY=name).values)
    for entry in chain.unavailable:
        assert entry.reason
        assert entry.cure, "the reader is told what to do"
    for engine in chain.engines:
        assert isinstance(engine, SearchEngine)
        assert engine.name == name


@pytest.mark.parametrize("name", HTTP)
def test_with_its_key_or_server_it_is_in_the_chain(name: str) -> None:
    chain = build_chain(loaded(SEARCH_PROVIDER_PRIORITY=name, **ENGINE_SAMPLES[name].environ).values)
    assert [engine.name for engine in chain.engines] == [name]
    assert chain.unavailable == ()


def test_engines_without_a_key_are_left_out_with_the_variable_to_set() -> None:
    chain = build_chain(loaded().values)
    reasons = {entry.name: f"{entry.reason}{entry.cure}" for entry in chain.unavailable}
    for name in ("perplexity", "exa", "tavily", "serpapi", "zhipu", "bocha"):
        assert f"还没有「{engine_label(name)}」的密钥。" in reasons[name]
    assert {"searxng", "tavily_keyless", "ddgs", "bundled"} <= {engine.name for engine in chain.engines}


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"SEARCH_PROVIDER_PRIORITY": "tavily"}, "「Tavily」的密钥"),
        ({"SEARCH_PROVIDER_PRIORITY": "searxng", "SEARXNG_URL": "localhost:8080"}, "SearXNG 的地址无法使用"),
    ],
)
def test_without_any_engine_the_cure_names_the_setting_that_is_missing(environ: dict[str, str], named: str) -> None:
    cure = build_chain(loaded(**environ).values).no_engine_error.cure
    assert named in cure
    assert "引擎的顺序" not in cure


def test_what_readers_are_told_of_engines_names_no_environment_variable() -> None:
    settings = loaded(SEARCH_PROVIDER_PRIORITY=",".join(ENGINE_SAMPLES)).values
    chain = build_chain(settings)
    told = [f"{entry.reason}{entry.cure}" for entry in chain.unavailable]
    told += [str(chain.no_engine_error), chain.no_web_engine, str(NoEngine()), str(EngineTimeout())]
    assert len(told) > 6
    assert [text for text in told if re.search("[A-Z]+_[A-Z_]+|环境变量", text)] == []


@pytest.mark.parametrize("name", HTTP)
def test_good_results_are_read_cleaned_and_limited(name: str) -> None:
    rows = [(f"标题 {n}", f"https://www.site{n}.example/{n}", f"摘要\n{n}") for n in range(30)]
    fetch = scripted(answer(ENGINE_SAMPLES[name].payload(rows)))
    found = usable(name, fetch).search(SearchQuery("问题"), 10)
    assert [result.title for result in found] == [f"标题 {n}" for n in range(10)]
    assert found[3].source == "site3.example"
    assert all(result.engine == name for result in found)
    check(found)


HOSTILE = [
    ("好的结果", "https://good.example/", "摘要"),
    (None, "https://no-title.example/", None),
    ("x" * 1_000_000, "https://long.example/", "y" * 10_000_000),
    ("lone \ud800 surrogate\u202e", "https://surrogate.example/\udfff", "\udc00\x00"),
    ("脚本", "javascript:alert(1)", ""),
    ("脚本", "javascript://host.example/%0aalert(1)", ""),
    ("文件", "file:///etc/passwd", ""),
    ("相对", "/relative", ""),
    ("数字", 5, 6),
    ([1], {"a": 1}, ["b"]),
    ("重复", "http://good.example", "第二次"),
]


@pytest.mark.parametrize("name", HTTP)
def test_hostile_fields_cost_only_themselves(name: str) -> None:
    found = usable(name, scripted(answer(ENGINE_SAMPLES[name].payload(HOSTILE)))).search(SearchQuery("问题"), 10)
    assert {"good.example", "no-title.example", "long.example"} <= {result.source for result in found}
    assert found.skipped >= 5
    check(found)


@pytest.mark.parametrize("name", HTTP)
def test_results_of_which_none_is_usable_are_a_failure_not_nothing(name: str) -> None:
    with pytest.raises(EngineParseError):
        usable(name, scripted(answer(ENGINE_SAMPLES[name].payload([("脚本", "javascript:x", "")])))).search("问题", 10)


@pytest.mark.parametrize("name", HTTP)
def test_nothing_found_is_an_empty_list(name: str) -> None:
    found = usable(name, scripted(answer(ENGINE_SAMPLES[name].payload([])))).search("问题", 10)
    assert found == []
    assert found is not None


ANSWERS: dict[str, Any] = {
    "empty": b"",
    "not json": b"<html>Bad gateway</html>",
    "not text": b"\xff\xfe\x00",
    "null": None,
    "number": 7,
    "string": "results",
    "list": [],
    "object": {},
    "deep": b"[" * 200_000,
    "deep object": b'{"results":' * 100_000,
    "error": {"error": {"message": KEY, "code": 1, "type": "x"}},
}


@pytest.mark.parametrize("name", HTTP)
@pytest.mark.parametrize("body", ANSWERS.values(), ids=ANSWERS)
def test_a_200_without_results_is_an_engine_error(name: str, body: Any) -> None:
    with pytest.raises(EngineError) as caught:
        usable(name, scripted(answer(body))).search("问题", 10)
    assert KEY not in str(caught.value)


WRONG: list[Any] = [None, 0, True, "x", [], [None], [1, "a", []], {}, {"x": 1}, [[]], [{"type": "url"}], 1e308]


@pytest.mark.parametrize("name", HTTP)
@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_a_wrong_type_anywhere_never_breaks_out(name: str, wrong: Any) -> None:
    """Every value of a good answer is replaced in turn."""
    payload = ENGINE_SAMPLES[name].payload([("标题", "https://a.example/", "摘要")])
    for damaged in _damaged(payload, wrong):
        try:
            found = usable(name, scripted(answer(damaged))).search("问题", 10)
        except EngineError:
            continue
        assert found is not None
        check(found)


def _damaged(value: Any, wrong: Any) -> Any:
    yield wrong
    if isinstance(value, dict):
        for key in value:
            yield {other: part for other, part in value.items() if other != key}
            for part in _damaged(value[key], wrong):
                yield {**value, key: part}
    elif isinstance(value, list):
        for place in range(len(value)):
            for part in _damaged(value[place], wrong):
                yield [*value[:place], part, *value[place + 1 :]]


BODIES = [b"", b"<html>no</html>", b"[" * 100_000, {"error": KEY}, {"error": {"code": []}}, 3]
KINDS: dict[int, tuple[type[EngineError], ...]] = {
    401: (EngineMisconfigured, EngineBlocked),
    402: (EngineQuotaExceeded,),
    429: (EngineThrottled,),
    500: (EngineUnavailable,),
    503: (EngineUnavailable,),
    504: (EngineTimeout,),
}


@pytest.mark.parametrize("name", HTTP)
@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 408, 418, 422, 429, 432, 500, 502, 503, 504, 599])
def test_no_status_breaks_out_or_is_taken_for_an_answer(name: str, status: int) -> None:
    for body in BODIES:
        with pytest.raises(KINDS.get(status, EngineError)) as caught:
            usable(name, scripted(answer(body, status))).search("问题", 10)
        error = caught.value
        assert error.message
        assert error.cure or status != 401
        assert "http" not in str(error)
        assert KEY not in str(error) + repr(error) + repr(error.__cause__)


@pytest.mark.parametrize("name", HTTP)
def test_a_wait_that_the_server_names_is_kept(name: str) -> None:
    with pytest.raises(EngineThrottled) as caught:
        usable(name, scripted(answer(b"", 429, Retry_After="120"))).search("问题", 10)
    assert caught.value.rest == 120


@pytest.mark.parametrize("name", HTTP)
@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (HttpTimeout(host="h"), EngineTimeout),
        (HttpCancelled(host="h"), EngineTimeout),
        (HttpConnectError(host="h", reason="dns"), EngineUnavailable),
        (HttpRedirect(host="h", target="t"), EngineRefusedQuery),
        (HttpTooLarge(host="h", limit=1), EngineParseError),
        (HttpProtocolError(host="h"), EngineUnavailable),
        (HttpInvalidRequest(), EngineMisconfigured),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_a_failed_exchange_becomes_a_reason_to_go_on(name: str, problem: Exception, kind: type[EngineError]) -> None:
    with pytest.raises(kind):
        usable(name, scripted(problem)).search("问题", 10)


@pytest.mark.parametrize("name", HTTP)
@pytest.mark.parametrize("kind", SearchType)
def test_every_kind_of_search_makes_a_request_that_survives_the_wire(name: str, kind: SearchType) -> None:
    settings = loaded().values
    for time_range in (None, *TimeRange):
        fetch = scripted(answer(ENGINE_SAMPLES[name].payload([])))
        usable(name, fetch).search(effective_query(SearchQuery(TRICKY, kind, time_range=time_range), settings), 10)
        (request,) = fetch.asked
        sent = wire(request)
        assert any(
            TRICKY in text for text in (*sent.params.values(), *(sent.body or {}).values()) if isinstance(text, str)
        )
        assert KEY not in str(sent.body)
        assert name == "serpapi" or KEY not in str(sent.params), "no other engine wants its key in the address"


@pytest.mark.parametrize("name", HTTP)
def test_a_site_filter_reaches_the_server(name: str) -> None:
    fetch = scripted(answer(ENGINE_SAMPLES[name].payload([])))
    usable(name, fetch).search(SearchQuery("问题", sites=("court.gov.cn",)), 10)
    sent = wire(fetch.asked[0])
    assert "court.gov.cn" in json.dumps([sent.params, sent.body])


@pytest.mark.parametrize("name", HTTP)
def test_one_engine_serves_many_searches(name: str) -> None:
    fetch = scripted(answer(b"", 500), answer(ENGINE_SAMPLES[name].payload([("标题", "https://a.example/", "")])))
    engine = usable(name, fetch)
    with pytest.raises(EngineUnavailable):
        engine.search("一", 10)
    assert len(engine.search("二", 10)) == 1
    assert len(engine.search("三", 10)) == 1


@pytest.mark.parametrize("name", HTTP)
@pytest.mark.parametrize(
    "limit", [{"time_range": each} for each in TimeRange] + [{"language": "en"}, {"language": "ja"}]
)
def test_a_limit_reaches_the_server_or_the_reader_is_told(name: str, limit: dict[str, Any]) -> None:
    plain, limited = SearchQuery("X", language="auto"), SearchQuery("X", **{"language": "auto", **limit})
    fetch = scripted(answer(ENGINE_SAMPLES[name].payload([])))
    engine = usable(name, fetch)
    engine.search(plain, 10)
    engine.search(limited, 10)
    asked, asked_with_limit = (json.dumps([wire(request).params, wire(request).body]) for request in fetch.asked)
    assert (asked == asked_with_limit) == bool(unsupported_filters(name, limited))
