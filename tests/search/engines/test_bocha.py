from __future__ import annotations

from typing import Any

import pytest

from core.search.errors import (
    EngineError,
    EngineMisconfigured,
    EngineQuotaExceeded,
    EngineRefusedQuery,
    EngineThrottled,
)
from core.search.types import SearchQuery, SearchType, TimeRange
from support.engines import KEY, answer, scripted, usable, wire


def payload(*pages: dict[str, Any]) -> dict[str, Any]:
    return {
        "code": 200,
        "log_id": "1",
        "msg": None,
        "data": {
            "_type": "SearchResponse",
            "webPages": {"totalEstimatedMatches": 2, "value": list(pages)},
            "images": None,
        },
    }


PAYLOAD = payload(
    {"id": None, "name": "报告", "url": "https://a.example/1", "snippet": "短", "summary": "长的摘要",
     "siteName": "示例网", "datePublished": "2026-02-23T08:18:30+08:00"},
    {"id": None, "name": "旧格式", "url": "https://a.example/2", "snippet": "短", "summary": None,
     "dateLastCrawled": "2025-02-23T08:18:30Z"},
)  # fmt: skip


def asked(query: SearchQuery) -> Any:
    fetch = scripted(answer(PAYLOAD))
    usable("bocha", fetch).search(query, 10)
    return wire(fetch.asked[0])


def test_request_and_types() -> None:
    sent = asked(SearchQuery("问题"))
    assert (sent.method, sent.address) == ("POST", "https://api.bochaai.com/v1/web-search")
    assert sent.headers["Authorization"] == f"Bearer {KEY}"
    assert sent.body == {"query": "问题", "count": 10, "summary": True, "freshness": "noLimit"}
    assert asked(SearchQuery("x", SearchType.NEWS)).body["freshness"] == "oneMonth"
    assert asked(SearchQuery("x", time_range=TimeRange.WEEK)).body["freshness"] == "oneWeek"
    assert asked(SearchQuery("x", SearchType.CASE, sites=("a.cn", "b.cn"))).body["include"] == "a.cn|b.cn"


def test_results() -> None:
    first, second = usable("bocha", scripted(answer(PAYLOAD))).search("x", 10)
    assert (first.title, first.snippet, first.published) == ("报告", "长的摘要", "2026-02-23")
    assert (second.snippet, second.published) == ("短", "2025-02-23")


def test_nothing_found() -> None:
    assert usable("bocha", scripted(answer({"code": 200, "data": {"webPages": None}}))).search("x", 10) == []


@pytest.mark.parametrize("hidden", [False, True], ids=["as status", "inside a 200"])
@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        ("401", "Invalid API KEY", EngineMisconfigured),
        ("403", "You do not have enough money", EngineQuotaExceeded),
        ("429", "You have reached the request limit", EngineThrottled),
        ("400", "Missing parameter query", EngineRefusedQuery),
    ],
)
def test_errors(code: str, message: str, kind: type[EngineError], hidden: bool) -> None:
    body = {"code": code, "message": message, "log_id": "1"}
    with pytest.raises(kind):
        usable("bocha", scripted(answer(body, 200 if hidden else int(code)))).search("x", 10)
