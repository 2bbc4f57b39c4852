from __future__ import annotations

from typing import Any

import pytest

from core.search.errors import EngineError, EngineMisconfigured, EngineQuotaExceeded, EngineThrottled
from core.search.types import SearchQuery, SearchType, TimeRange
from support.engines import KEY, answer, scripted, usable, wire

PAYLOAD = {
    "id": "9f1c",
    "results": [
        {
            "title": "劳动合同法解读",
            "url": "https://law.example/38",
            "snippet": "用人单位未足额支付劳动报酬的，劳动者可以解除合同。",
            "date": "2026-03-01",
            "last_updated": "2026-04-01",
        },
        {"title": "第二条", "url": "https://law.example/2", "snippet": "内容"},
    ],
    "server_time": "2026-11-01T00:00:00Z",
}


def asked(query: SearchQuery, count: int = 10) -> Any:
    fetch = scripted(answer(PAYLOAD))
    usable("perplexity", fetch).search(query, count)
    return wire(fetch.asked[0])


def test_request() -> None:
    sent = asked(SearchQuery("问题 +&# “x” 👍", language="zh-CN", time_range=TimeRange.WEEK), 50)
    assert (sent.method, sent.address) == ("POST", "https://api.perplexity.ai/search")
    assert sent.headers["Authorization"] == f"Bearer {KEY}"
    assert sent.body == {
        "query": "问题 +&# “x” 👍",
        "max_results": 20,
        "search_language_filter": ["zh"],
        "search_recency_filter": "week",
    }


def test_types() -> None:
    assert asked(SearchQuery("x", SearchType.NEWS)).body["search_recency_filter"] == "month"
    sites = tuple(f"s{n}.example" for n in range(30))
    assert asked(SearchQuery("x", SearchType.CASE, sites=sites)).body["search_domain_filter"] == list(sites[:20])
    assert set(asked(SearchQuery("x")).body) == {"query", "max_results"}


def test_results() -> None:
    first, second = usable("perplexity", scripted(answer(PAYLOAD))).search("x", 10)
    assert (first.title, first.source, first.published) == ("劳动合同法解读", "law.example", "2026-03-01")
    assert second.published is None


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"error": {"message": "Invalid API key", "type": "invalid_api_key", "code": 401}}, EngineMisconfigured),
        (401, b"<html><center><h1>401 Authorization Required</h1></center><hr>openresty</html>", EngineMisconfigured),
        (401, {"error": {"message": "You have run out of credits"}}, EngineQuotaExceeded),
        (402, {}, EngineQuotaExceeded),
        (429, {"error": {"message": "Too many requests"}}, EngineThrottled),
    ],
)
def test_errors(status: int, body: Any, kind: type[EngineError]) -> None:
    with pytest.raises(kind) as caught:
        usable("perplexity", scripted(answer(body, status))).search("x", 10)
    if kind is EngineMisconfigured:
        assert "PERPLEXITY_API_KEY" in caught.value.cure
