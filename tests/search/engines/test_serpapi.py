from __future__ import annotations

import time
from typing import Any

import pytest

from core.base.chinese.calendar import iso_day
from core.search.errors import (
    EngineError,
    EngineMisconfigured,
    EngineParseError,
    EngineQuotaExceeded,
    EngineThrottled,
    EngineUnavailable,
)
from core.search.service import SearchService
from core.search.types import SearchQuery, SearchType, TimeRange
from support.engines import KEY, answer, scripted, usable, wire

DONE = {"search_metadata": {"id": "1", "status": "Success"}}
PAYLOAD = {
    **DONE,
    "organic_results": [
        {"position": 1, "title": "结果", "link": "https://a.example/1", "snippet": "摘要", "date": "2 天前"},
        {"position": 2, "title": "没有摘要", "link": "https://a.example/2"},
    ],
}


def asked(query: SearchQuery, engine: str = "google") -> dict[str, str]:
    fetch = scripted(answer(PAYLOAD))
    usable("serpapi", fetch, SERPAPI_ENGINE=engine).search(query, 10)
    sent = wire(fetch.asked[0])
    assert (sent.method, sent.address, sent.params.pop("api_key")) == ("GET", "https://serpapi.com/search.json", KEY)
    return sent.params


def test_google() -> None:
    plain = asked(SearchQuery("问题 +&#", language="zh-CN", time_range=TimeRange.MONTH))
    assert plain == {"engine": "google", "q": "问题 +&#", "hl": "zh-cn", "lr": "lang_zh-CN|lang_zh-TW", "tbs": "qdr:m"}
    english = asked(SearchQuery("x", language="en-US"))
    assert (english["hl"], english["lr"]) == ("en", "lang_en")
    assert asked(SearchQuery("x", SearchType.NEWS))["tbm"] == "nws"
    legal = asked(SearchQuery("x", SearchType.CASE, sites=("court.gov.cn", "ipc.court.gov.cn", "pkulaw.com")))
    assert legal["q"] == "x (site:court.gov.cn OR site:pkulaw.com)"


def test_bing() -> None:
    plain = asked(SearchQuery("问题", language="zh-CN", time_range=TimeRange.WEEK), "bing")
    assert plain == {"engine": "bing", "q": "问题", "count": "10", "mkt": "zh-CN", "filters": 'ex1:"ez2"'}
    assert asked(SearchQuery("x", SearchType.NEWS, language="en"), "Bing") == {
        "engine": "bing_news",
        "q": "x",
        "count": "10",
        "mkt": "en-US",
    }
    year = asked(SearchQuery("x", time_range=TimeRange.YEAR), "bing")["filters"]
    start, end = year.removeprefix('ex1:"ez5_').removesuffix('"').split("_")
    assert int(end) - int(start) == 365
    assert int(end) == pytest.approx(time.time() / 86_400, abs=1.5)


def test_baidu() -> None:
    plain = asked(SearchQuery("问题", language="zh-CN", sites=("a.cn", "b.cn")), "baidu")
    assert plain == {"engine": "baidu", "q": "问题 (site:a.cn | site:b.cn)", "rn": "10", "ct": "2"}
    assert asked(SearchQuery("x", SearchType.NEWS), "baidu")["engine"] == "baidu_news"
    span = asked(SearchQuery("x", time_range=TimeRange.DAY), "baidu")["gpc"]
    start, end = span.removeprefix("stf=").removesuffix("|stftype=1").split(",")
    assert int(end) - int(start) == pytest.approx(86400, abs=5)
    assert int(end) == pytest.approx(time.time(), abs=60)


def test_results() -> None:
    first, second = usable("serpapi", scripted(answer(PAYLOAD))).search("x", 10)
    assert (first.title, first.snippet, first.published) == ("结果", "摘要", iso_day("2 天前"))
    assert second.snippet == ""
    news = {**DONE, "news_results": [{"title": "新闻", "link": "https://n.example/", "source": "报", "snippet": "s"}]}
    assert [result.title for result in usable("serpapi", scripted(answer(news))).search("x", 10)] == ["新闻"]


def test_nothing_found_is_a_success_with_an_error_sentence() -> None:
    body = {**DONE, "error": "Google hasn't returned any results for this query."}
    assert usable("serpapi", scripted(answer(body))).search("x", 10) == []


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, {"search_metadata": {"status": "Error"}, "error": "x"}, EngineUnavailable),
        (200, {"search_metadata": {"status": "Processing"}}, EngineUnavailable),
        (200, {"organic_results": []}, EngineParseError),
        (401, {"error": "Invalid API key."}, EngineMisconfigured),
        (429, {"error": "Your account has run out of searches."}, EngineQuotaExceeded),
        (429, {"error": "You are exceeding your hourly throughput limit."}, EngineThrottled),
        (503, {"search_metadata": {"status": "Error"}}, EngineUnavailable),
    ],
)
def test_errors(status: int, body: Any, kind: type[EngineError]) -> None:
    with pytest.raises(kind):
        usable("serpapi", scripted(answer(body, status))).search("x", 10)


def test_an_unknown_engine_falls_back_to_google() -> None:
    assert asked(SearchQuery("x"), "yandex")["engine"] == "google"


def test_its_own_total_reaches_the_caller() -> None:
    payload = {**PAYLOAD, "search_information": {"total_results": 192_000}}
    engine = usable("serpapi", scripted(answer(payload)))
    document = SearchService([engine]).search(SearchQuery("x")).to_json()
    assert (document["totalResults"], len(document["results"])) == (192_000, 2)
