"""With a key and without: the same requests, other credentials, other limits."""

from __future__ import annotations

from typing import Any

import pytest

from core.search.errors import EngineBlocked, EngineError, EngineMisconfigured, EngineQuotaExceeded, EngineThrottled
from core.search.types import SearchQuery, SearchType, TimeRange
from support.engines import KEY, answer, scripted, usable, wire

PAYLOAD = {
    "query": "x",
    "answer": None,
    "images": [],
    "results": [
        {"title": "新闻", "url": "https://n.example/1", "content": "正文", "score": 0.9, "raw_content": None,
         "published_date": "Mon, 02 Nov 2026 08:00:00 GMT"},
        {"title": "网页", "url": "https://n.example/2", "content": "", "score": 0.8, "raw_content": None},
    ],
    "response_time": 0.9,
}  # fmt: skip


def asked(name: str, query: SearchQuery, count: int = 10) -> Any:
    fetch = scripted(answer(PAYLOAD))
    usable(name, fetch).search(query, count)
    return wire(fetch.asked[0])


@pytest.mark.parametrize("name", ["tavily", "tavily_keyless"])
def test_request_and_types(name: str) -> None:
    sent = asked(name, SearchQuery("问题", language="zh-CN", time_range=TimeRange.YEAR), 30)
    assert (sent.method, sent.address) == ("POST", "https://api.tavily.com/search")
    assert sent.body == {"query": "问题", "max_results": 20, "country": "china", "time_range": "year"}
    news = asked(name, SearchQuery("x", SearchType.NEWS, language="zh-CN")).body
    assert news == {"query": "x", "max_results": 10, "topic": "news"}, "a country is for general searches only"
    assert asked(name, SearchQuery("x", SearchType.CASE, sites=("a.cn", "b.cn"))).body["include_domains"] == [
        "a.cn",
        "b.cn",
    ]


def test_credentials() -> None:
    assert asked("tavily", SearchQuery("x")).headers["Authorization"] == f"Bearer {KEY}"
    keyless = asked("tavily_keyless", SearchQuery("x")).headers
    assert keyless["X-Tavily-Access-Mode"] == "keyless"
    assert "Authorization" not in keyless


def test_results() -> None:
    first, second = usable("tavily", scripted(answer(PAYLOAD))).search("x", 10)
    assert (first.snippet, first.published) == ("正文", "2026-11-02")
    assert second.snippet == ""


LIMIT = {"error": {"code": "keyless_limit", "message": "x", "window": "hour", "retry_after_seconds": 1800}}


@pytest.mark.parametrize(
    ("name", "status", "body", "kind"),
    [
        ("tavily", 401, {"detail": {"error": "Unauthorized: missing or invalid API key."}}, EngineMisconfigured),
        (
            "tavily",
            429,
            {"detail": {"error": "Your request has been blocked due to excessive requests."}},
            EngineThrottled,
        ),
        (
            "tavily",
            432,
            {"detail": {"error": "This request exceeds your plan's set usage limit."}},
            EngineQuotaExceeded,
        ),
        ("tavily", 433, {"detail": {"error": "x"}}, EngineQuotaExceeded),
        ("tavily_keyless", 429, LIMIT, EngineThrottled),
        ("tavily_keyless", 401, {}, EngineBlocked),
        ("tavily_keyless", 403, {}, EngineBlocked),
    ],
)
def test_errors(name: str, status: int, body: Any, kind: type[EngineError]) -> None:
    with pytest.raises(kind) as caught:
        usable(name, scripted(answer(body, status))).search("x", 10)
    assert caught.value.rest == (1800 if body is LIMIT else kind().rest)


@pytest.mark.parametrize("seconds", [None, "soon", [], -1, 10**400, True])
def test_a_senseless_wait_is_no_wait(seconds: Any) -> None:
    body = {"error": {"retry_after_seconds": seconds}}
    with pytest.raises(EngineError) as caught:
        usable("tavily_keyless", scripted(answer(body, 429))).search("x", 10)
    assert 1 <= caught.value.rest <= 3600
