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

PAYLOAD = {
    "id": "20261101",
    "created": 1793491200,
    "request_id": "20261101",
    "search_intent": [],
    "search_result": [
        {
            "title": "工伤保险条例",
            "link": "https://law.example/gs",
            "content": "职工发生事故伤害……",
            "media": "示例网",
            "icon": "https://law.example/i.png",
            "refer": "ref_1",
            "publish_date": "2026-01-05",
        },
        {"title": "没有链接的条目", "link": "", "content": "有些来源不给链接", "refer": "ref_2"},
    ],
}


def asked(query: SearchQuery, **environ: str) -> Any:
    fetch = scripted(answer(PAYLOAD))
    usable("zhipu", fetch, **environ).search(query, 10)
    return wire(fetch.asked[0])


def test_request() -> None:
    sent = asked(SearchQuery("长" * 100, time_range=TimeRange.DAY), ZHIPU_ENGINE="search_pro")
    assert (sent.method, sent.address) == ("POST", "https://open.bigmodel.cn/api/paas/v4/web_search")
    assert sent.headers["Authorization"] == f"Bearer {KEY}"
    assert sent.body == {
        "search_query": "长" * 70,
        "search_engine": "search_pro",
        "search_intent": False,
        "count": 10,
        "content_size": "medium",
        "search_recency_filter": "oneDay",
    }


def test_types() -> None:
    assert asked(SearchQuery("x", SearchType.NEWS)).body["search_recency_filter"] == "oneMonth"
    assert asked(SearchQuery("x", sites=("court.gov.cn",))).body["search_domain_filter"] == "court.gov.cn"
    assert "search_domain_filter" not in asked(SearchQuery("x", SearchType.CASE, sites=("a.cn", "b.cn"))).body


def test_results() -> None:
    found = usable("zhipu", scripted(answer(PAYLOAD))).search("x", 10)
    assert [(result.title, result.published) for result in found] == [("工伤保险条例", "2026-01-05")]
    assert found.skipped == 1


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (401, "1000", "身份验证失败", EngineMisconfigured),
        (429, "1113", "您的账户已欠费，请充值后重试", EngineQuotaExceeded),
        (429, "1302", "您的账户已达到速率限制，请您控制请求频率", EngineThrottled),
        (400, "1301", "系统检测到输入或生成内容可能包含不安全或敏感内容", EngineRefusedQuery),
        (400, "1210", "API 调用参数有误，请检查文档", EngineRefusedQuery),
    ],
)
def test_errors(status: int, code: str, message: str, kind: type[EngineError]) -> None:
    body = {"error": {"code": code, "message": message}}
    with pytest.raises(kind) as caught:
        usable("zhipu", scripted(answer(body, status))).search("x", 10)
    assert ("敏感" in caught.value.message) is (code == "1301")
