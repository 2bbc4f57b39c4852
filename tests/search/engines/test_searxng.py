"""SearXNG from recorded shapes, and over real sockets where time and several addresses matter."""

from __future__ import annotations

import json
import threading
import time
from typing import Any
from urllib.parse import unquote_plus

import pytest

from core.base.http import Deadline
from core.base.text import paste_lines
from core.search.engines.searxng import DISABLE_LIMITER, ENABLE_JSON, NO_TIME_RANGE, SearxngEngine
from core.search.errors import (
    AllEnginesFailed,
    EngineError,
    EngineMisconfigured,
    EngineParseError,
    EngineRefusedQuery,
    EngineThrottled,
    EngineTimeout,
    EngineUnavailable,
)
from core.search.service import SearchService
from core.search.types import SearchQuery, SearchType, TimeRange
from support.base import loaded
from support.engines import ENGINE_SAMPLES, answer, scripted, usable, wire
from support.faults import Server, json_answer, keep_alive, message, send_and_close, silence, unused_port

RESULT = {
    "title": "劳动合同法",
    "url": "https://law.example/38",
    "content": "第三十八条",
    "engine": "baidu",
    "engines": ["baidu", "bing"],
    "score": 2.0,
    "category": "general",
    "publishedDate": "2026-05-01T00:00:00",
    "parsed_url": ["https", "law.example", "/38", "", "", ""],
}
TABLE = {"title": "", "url": None, "content": "", "template": "keyvalue.html", "kvmap": {"a": "b"}, "engine": "demo"}


def body(*results: dict[str, Any], unresponsive: Any = (), **fields: Any) -> dict[str, Any]:
    return {"query": "q", "results": list(results), "answers": [], "corrections": [], "infoboxes": [], "suggestions": [],
            "unresponsive_engines": list(unresponsive), **fields}  # fmt: skip


GOOD = body(RESULT)


def asked(query: SearchQuery, **environ: str) -> Any:
    fetch = scripted(answer(GOOD))
    usable("searxng", fetch, **environ).search(query, 10)
    return wire(fetch.asked[0])


def test_request_for_a_chinese_question() -> None:
    sent = asked(SearchQuery("问题 +&# “x” 👍", language="zh-CN", time_range=TimeRange.WEEK))
    assert (sent.method, sent.address) == ("GET", "http://127.0.0.1:8888/search")
    assert sent.params == {
        "q": "问题 +&# “x” 👍",
        "format": "json",
        "engines": "baidu,sogou,360search,bing",
        "language": "zh-CN",
        "time_range": "week",
    }


def test_the_limiter_sees_a_browser() -> None:
    headers = asked(SearchQuery("x")).headers
    assert headers["User-Agent"].startswith("Mozilla/5.0")
    assert "text/html" in headers["Accept"]
    assert headers["Accept-Language"]
    assert "gzip" in headers["Accept-Encoding"]


def test_types() -> None:
    assert asked(SearchQuery("x", language="en")).params == {"q": "x", "format": "json", "language": "en"}
    assert asked(SearchQuery("x")).params == {"q": "x", "format": "json"}
    news = asked(SearchQuery("x", SearchType.NEWS, language="zh-CN")).params
    assert news["categories"] == "news"
    assert "engines" not in news, "the Chinese engines that are asked by name have no news"
    legal = asked(SearchQuery("x", SearchType.REGULATION, sites=("gov.cn", "npc.gov.cn", "pkulaw.com")))
    assert legal.params["q"] == "x (site:gov.cn OR site:pkulaw.com)"
    assert "engines" not in asked(SearchQuery("x", language="zh-CN"), SEARXNG_ENGINES_ZH=",").params


def test_results() -> None:
    found = usable("searxng", scripted(answer(body(RESULT, TABLE)))).search("x", 10)
    assert [(r.title, r.snippet, r.published) for r in found] == [("劳动合同法", "第三十八条", "2026-05-01")]
    assert (found.skipped, found.notes) == (0, ())


@pytest.mark.parametrize(
    "fields",
    [
        {"number_of_results": 0},
        {"answers": ["an old answer", {"answer": "new", "url": None}]},
        {"infoboxes": [{"infobox": "x", "urls": None}]},
        {"answers": 7, "infoboxes": None, "suggestions": {}},
    ],
)
def test_old_and_strange_fields_do_not_matter(fields: dict[str, Any]) -> None:
    assert len(usable("searxng", scripted(answer({**GOOD, **fields}))).search("x", 10)) == 1


SILENT = [["brave", "暂停服务: HTTP 连接错误"], ["duckduckgo", "CAPTCHA"]]


def test_silent_engines_without_results_are_a_failure() -> None:
    with pytest.raises(EngineUnavailable, match="brave（暂停服务: HTTP 连接错误）、duckduckgo"):
        usable("searxng", scripted(answer(body(unresponsive=SILENT)))).search("x", 10)
    with pytest.raises(EngineUnavailable):
        usable("searxng", scripted(answer(body(TABLE, unresponsive=SILENT)))).search("x", 10)


def test_some_silent_engines_are_a_note() -> None:
    found = usable("searxng", scripted(answer(body(RESULT, unresponsive=SILENT)))).search("x", 10)
    assert len(found) == 1
    assert "duckduckgo（CAPTCHA）" in found.notes[0]


@pytest.mark.parametrize("silent", ["brave", [1], {"a": 1}, [None], [[]], [["a", "b", "c"]], ["brave"]], ids=repr)
def test_strange_lists_of_silent_engines(silent: Any) -> None:
    assert len(usable("searxng", scripted(answer({**GOOD, "unresponsive_engines": silent}))).search("x", 10)) == 1


def test_nothing_found_within_a_time_range_names_the_trap() -> None:
    engine = usable("searxng", scripted(answer(body())))
    assert engine.search(SearchQuery("x", time_range=TimeRange.DAY), 10).notes == (NO_TIME_RANGE,)
    assert engine.search(SearchQuery("x"), 10).notes == ()


FORBIDDEN = b"<!doctype html><title>403 Forbidden</title>"


@pytest.mark.parametrize(
    ("status", "text", "kind", "cure"),
    [
        (403, FORBIDDEN, EngineMisconfigured, ENABLE_JSON),
        (429, b"Too Many Requests", EngineThrottled, DISABLE_LIMITER),
        (400, b'{"error": "Invalid value fortnight for parameter time_range"}', EngineRefusedQuery, ""),
        (500, b'{"error": "search error"}', EngineUnavailable, ""),
        (200, b"<html>Search</html>", EngineParseError, ""),
    ],
)
def test_errors(status: int, text: bytes, kind: type[EngineError], cure: str) -> None:
    with pytest.raises(kind) as caught:
        usable("searxng", scripted(answer(text, status))).search("x", 10)
    assert paste_lines(cure) in caught.value.cure if cure else "\n" not in caught.value.cure


def test_the_public_instance_is_used_until_there_is_an_own_one() -> None:
    engine = SearxngEngine.from_settings(loaded().values)
    (server,) = engine.servers
    fetch = scripted(answer(FORBIDDEN, 403), answer(b"", 429))
    server._fetch = fetch
    for _ in range(2):
        with pytest.raises(EngineError) as caught:
            engine.search("x", 10)
        assert "「引擎」" in caught.value.cure, "nobody can edit the settings of somebody else's server"
    assert wire(fetch.asked[0]).address == "https://searx.be/search"
    own = SearxngEngine.from_settings(
        loaded(SEARXNG_PUBLIC_URL="https://p.example", SEARXNG_URL="http://own:1/x/").values
    )
    assert wire(own.servers[0].build_request(SearchQuery("x"), 10)).address == "http://own:1/x/search"


# ── Real sockets ──────────────────────────────────────────────────────────────────────────────────────────────────


def engine_for(*addresses: str) -> SearxngEngine:
    return SearxngEngine.from_settings(loaded(SEARXNG_URL=",".join(addresses)).values)


FORBIDDING = message(FORBIDDEN, "Content-Type: text/html", status="403 FORBIDDEN")


def test_chinese_quotes_and_emoji_arrive_as_they_were_written() -> None:
    with Server(keep_alive(json_answer(GOOD))) as server:
        assert len(engine_for(server.url).search(SearchQuery("“劳动” +&#%2B 👍🏽"), 10)) == 1
        line = server.requests[0].split(b"\r\n")[0].decode("ascii")
        assert "q=%E2%80%9C%E5%8A%B3%E5%8A%A8%E2%80%9D+%2B%26%23%252B+%F0%9F%91%8D%F0%9F%8F%BD" in line


def test_the_next_address_takes_over_and_is_asked_first_from_then_on() -> None:
    with Server(keep_alive(FORBIDDING)) as first, Server(keep_alive(json_answer(GOOD))) as second:
        engine = engine_for(f"http://127.0.0.1:{unused_port()}", first.url, second.url)
        assert len(engine.search("x", 10)) == 1
        assert len(engine.search("x", 10)) == 1
        assert (len(first.requests), len(second.requests)) == (1, 2)


def test_a_silent_address_leaves_time_for_the_next() -> None:
    with Server(silence) as first, Server(keep_alive(json_answer(GOOD))) as second:
        started = time.monotonic()
        assert len(engine_for(first.url, second.url).search("x", 10, deadline=Deadline(4))) == 1
        assert time.monotonic() - started > 1.9


def test_all_silent_ends_with_the_deadline() -> None:
    with Server(silence) as first, Server(silence) as second:
        started = time.monotonic()
        with pytest.raises(EngineTimeout):
            engine_for(first.url, second.url).search("x", 10, deadline=Deadline(0.4))
        assert time.monotonic() - started < 10


def test_to_cancel_the_search_is_to_cancel_the_address_that_is_being_asked() -> None:
    deadline = Deadline(60)
    with Server(silence) as first, Server(silence) as second:
        threading.Timer(0.2, deadline.cancel).start()
        started = time.monotonic()
        with pytest.raises(EngineError):
            engine_for(first.url, second.url).search("x", 10, deadline=deadline)
        assert time.monotonic() - started < 10
        assert second.requests == []


def test_when_no_address_works_the_first_reason_is_told() -> None:
    with Server(keep_alive(FORBIDDING)) as first:
        with pytest.raises(EngineMisconfigured) as caught:
            engine_for(first.url, f"http://127.0.0.1:{unused_port()}").search("x", 10)
        assert first.host in caught.value.message


CHECKS: list[tuple[bytes, type[EngineError] | None]] = [
    (message(b'{"error": "No query"}', "Content-Type: application/json", status="400 BAD REQUEST"), None),
    (json_answer(GOOD), None),
    (FORBIDDING, EngineMisconfigured),
    (message(b"Too Many Requests", status="429 TOO MANY REQUESTS"), EngineThrottled),
    (message(b"<html>", status="400 BAD REQUEST"), EngineParseError),
    (message(b"", "Location: https://elsewhere.example/", status="302 Found"), EngineRefusedQuery),
    (b"garbage", EngineUnavailable),
]


@pytest.mark.parametrize(("reply", "problem"), CHECKS)
def test_the_check_at_start_asks_for_nothing(reply: bytes, problem: type[EngineError] | None) -> None:
    with Server(send_and_close(reply)) as server:
        engine = engine_for(server.url)
        if problem is None:
            engine.check(Deadline(20))
        else:
            with pytest.raises(problem):
                engine.check(Deadline(20))
        assert all(b"q=" not in request.split(b"\r\n")[0] for request in server.requests)


def test_the_check_looks_at_every_address() -> None:
    with Server(send_and_close(CHECKS[0][0])) as first, pytest.raises(EngineUnavailable, match="拒绝了连接"):
        engine_for(first.url, f"http://127.0.0.1:{unused_port()}").check(Deadline(20))


def test_ten_megabytes_are_refused_before_they_are_read() -> None:
    huge = json.dumps(ENGINE_SAMPLES["searxng"].payload([("x", "https://a.example/", "y" * 10_000_000)])).encode()
    with Server(send_and_close(message(huge))) as server, pytest.raises(EngineParseError):
        engine_for(server.url).search("x", 10)


@pytest.mark.parametrize(
    ("typed", "sent"),
    [("!!g 天气", "g 天气"), ("天气 !images :en <3", "天气 images en 3"), ("C!! 3 < 4", "C!! 3 < 4"), ("!!", '"!!"')],
)
def test_a_bang_of_one_visitor_stays_words(typed: str, sent: str) -> None:
    with Server(keep_alive(json_answer(GOOD))) as server:
        engine_for(server.url).search(typed, 10)
        assert f"q={sent}&" in unquote_plus(str(server.requests[0]))


def test_a_redirect_for_one_query_condemns_nobody() -> None:
    with Server(keep_alive(message(b"", "Location: https://google.example/", status="302 Found"))) as server:
        service = SearchService([engine_for(server.url)])
        for _ in range(3):
            with pytest.raises(AllEnginesFailed):
                service.search(SearchQuery("天气"))
        assert service.engine_rests() == {"searxng": None}


def test_the_address_as_it_stands_in_the_browser() -> None:
    with Server(keep_alive(json_answer(GOOD))) as server:
        assert engine_for(f"{server.url}/search").search("x", 10)


def test_a_private_address_that_cannot_be_used_is_not_replaced_by_a_public_one() -> None:
    settings = loaded(SEARXNG_URL="localhost:8080", SEARCH_PROVIDER_PRIORITY="searxng").values
    with pytest.raises(EngineMisconfigured, match="没有改用公共实例"):
        SearxngEngine.from_settings(settings)


def test_results_without_an_address_are_counted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    broken: list[dict[str, Any]] = [
        {"title": "没有地址"},
        {"title": "空", "url": None},
        {"title": 7, "url": "https://a.example/"},
    ]
    found = usable("searxng", scripted(answer(body(RESULT, *broken)))).search("x", 10)
    assert (len(found), found.skipped) == (1, 3)
    assert "3 results could not be read and were skipped (result 2: no address; result 3: no address;" in caplog.text
    assert "result 4: the title is of type int" in caplog.text
