from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from core.search.errors import EngineError, EngineMisconfigured, EngineQuotaExceeded, EngineThrottled
from core.search.types import SearchQuery, SearchType, TimeRange
from support.engines import KEY, answer, scripted, usable, wire

PAYLOAD = {
    "requestId": "b0",
    "resolvedSearchType": "",
    "results": [
        {
            "id": "https://a.example/1",
            "url": "https://a.example/1",
            "title": "第一篇",
            "publishedDate": "2026-07-28T00:00:00.000Z",
            "highlights": ["第一段。", "第二段。", 7],
        },
        {"id": "x", "url": "https://b.example/2", "text": "正文"},
        {"id": "y", "url": "https://c.example/3", "title": "只有摘要", "highlights": [], "summary": "摘要"},
    ],
    "costDollars": {"total": 0.007},
}


def asked(query: SearchQuery, **environ: str) -> Any:
    fetch = scripted(answer(PAYLOAD))
    usable("exa", fetch, **environ).search(query, 10)
    return wire(fetch.asked[0])


def test_request() -> None:
    sent = asked(SearchQuery("问题", language="zh-CN"))
    assert (sent.method, sent.address) == ("POST", "https://api.exa.ai/search")
    assert sent.headers["x-api-key"] == KEY
    assert sent.body == {"query": "问题", "numResults": 10, "contents": {"highlights": True}}


def test_page_text_instead_of_highlights() -> None:
    assert asked(SearchQuery("x"), EXA_TEXT="true").body["contents"] == {"text": {"maxCharacters": 1000}}


def test_types() -> None:
    assert asked(SearchQuery("x", SearchType.NEWS)).body["category"] == "news"
    assert asked(SearchQuery("x", SearchType.REGULATION, sites=("gov.cn",))).body["includeDomains"] == ["gov.cn"]
    started = asked(SearchQuery("x", time_range=TimeRange.DAY)).body["startPublishedDate"]
    age = datetime.now(UTC) - datetime.fromisoformat(started)
    assert 23 <= age.total_seconds() / 3600 <= 25


def test_results() -> None:
    found = usable("exa", scripted(answer(PAYLOAD))).search("x", 10)
    assert [result.snippet for result in found] == ["第一段。 … 第二段。", "正文", "摘要"]
    assert found[1].title == "b.example", "a title is optional"


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"requestId": "1", "error": "Invalid API key", "tag": "INVALID_API_KEY"}, EngineMisconfigured),
        (402, {"error": "x", "tag": "NO_MORE_CREDITS"}, EngineQuotaExceeded),
        (402, {"error": "x", "tag": "API_KEY_BUDGET_EXCEEDED"}, EngineQuotaExceeded),
        (402, b"<html>", EngineQuotaExceeded),
        (429, {"error": "You've exceeded your Exa rate limit of 10 requests per second"}, EngineThrottled),
    ],
)
def test_errors(status: int, body: Any, kind: type[EngineError]) -> None:
    with pytest.raises(kind) as caught:
        usable("exa", scripted(answer(body, status))).search("x", 10)
    assert ("预算" in caught.value.message) is (b"BUDGET" in answer(body).body)
