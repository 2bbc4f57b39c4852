"""Requests to the HTTP API that are wrong in any way: a sentence that names what is wrong, and never a 500."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from core.search.errors import EngineUnavailable
from core.serve.http.operations import OPERATIONS
from core.serve.json_document import encode_json
from support.fake_engines import FakeEngine
from support.http_api import HttpApi, error_of, http_api


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpApi]:
    with http_api(DATA_DIR=str(tmp_path_factory.mktemp("data")), API_BODY_MEGABYTES="1") as api:
        yield api


def test_a_search_with_get_and_with_post_is_the_same(api: HttpApi) -> None:
    got = api.get("/search", query="灯塔", limit=2, since="week").json()
    posted = api.post("/search", query="灯塔", limit=2, since="week").json()
    assert [one["title"] for one in got["results"]] == ["标题1", "标题2"]
    assert got["provider"] == posted["provider"] == "fake"
    assert (got["fromCache"], posted["fromCache"]) == (False, True)
    assert got["results"] == posted["results"]


def test_characters_that_nobody_sees_are_taken_out(api: HttpApi) -> None:
    assert api.get("/search", query="灯\0\u202e塔").json()["query"] == "灯塔"
    assert api.post("/search", query="灯\0\u202e塔").json()["query"] == "灯塔"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({}, "「query」没有给出。"),
        ({"query": ""}, "「query」不能是空的。"),
        ({"query": "\0\u200b"}, "「query」写得不对：没有看得见的字。"),
        ({"query": 3}, "「query」要写成文字。"),
        ({"query": None}, "「query」要写成文字。"),
        ({"query": "x" * 2_001}, "「query」太长，最多 2,000 字。"),
        ({"query": "x", "limit": 0}, "「limit」不能小于 1。"),
        ({"query": "x", "limit": 11}, "「limit」不能大于 10。"),
        ({"query": "x", "limit": 10**400}, "「limit」不能大于 10。"),
        ({"query": "x", "limit": "3"}, "「limit」要写成整数。"),
        ({"query": "x", "limit": True}, "「limit」要写成整数。"),
        ({"query": "x", "limit": 1.5}, "「limit」要写成整数。"),
        ({"query": "x", "limit": 30.0}, "「limit」不能大于 10。"),
        ({"query": "x", "limit": 1e300}, "「limit」不能大于 10。"),
        ({"query": "x", "type": "web"}, "「type」只能是 general、news、regulation 或 case。"),
        ({"query": "x", "since": "soon"}, "「since」写得不对：要写 day、week、month、year 或日期如 2026-03-01。"),
        ({"query": "x", "since": "2026-02-30"}, "「since」写得不对：要写 day、week、month、year 或日期如 2026-03-01。"),
        ({"query": "x", "since": "9999-12-31"}, "「since」写得不对：这一天还没有到。"),
        ({"query": "x", "since": "0001-01-01"}, "「since」写得不对：搜索引擎最多只能限定最近一年。"),
        ({"query": "x", "language": "klingon"}, "「language」写得不对："),
        ({"query": "x", "as-of": 1}, "「as-of」不认识，请检查拼写。"),
        ({"query": "x", "y" * 500: 1}, f"「{'y' * 79}…」不认识，请检查拼写。"),
    ],
)
def test_a_field_that_is_wrong_is_named_in_a_sentence(api: HttpApi, fields: dict[str, Any], named: str) -> None:
    status, kind, message = error_of(api.post("/search", **fields))
    assert (status, kind) == (422, "invalid_request")
    assert message.startswith(named)
    assert len(message) < 200


@pytest.mark.parametrize(
    ("path", "fields", "named"),
    [
        ("/check", {"text": "x[1]", "sources": []}, "「sources」太少，至少 1 项。"),
        ("/check", {"text": "x[1]", "sources": {}}, "「sources」要写成数组。"),
        ("/check", {"text": "x[1]", "sources": ["y"]}, "「sources[0]」要写成 JSON 对象。"),
        ("/check", {"text": "x[1]", "sources": [{"number": 0}]}, "「sources[0].number」不能小于 1。"),
        ("/ask", {"question": "x", "files": [{"name": "a.txt", "content": "&"}]}, "「files[0].content」写得不对："),
        ("/check/pairs", {"pairs": [{"statement": "x" * 1_500, "source": "y"}] * 14}, "文字有 21,013 字，超过 20,000"),
        (
            "/check/pairs",
            {"pairs": [{"statement": "x", "source": "y" * 300_000}] * 2},
            "来源有 600,000 字，超过 400,000",
        ),
        ("/ask", {"question": "x", "search": "yes"}, "「search」要写成 true 或 false。"),
        ("/ask", {"question": "x", "history": [{"role": "system", "text": "y"}]}, "「history[0].role」只能是 user 或"),
        ("/ask", {"question": "x", "model": "none"}, "没有名为「none」的模型。"),
        ("/ask", {"question": " \u200b "}, "消息是空的"),
        ("/ask", {"question": "x", "collections": ["none"]}, "没有叫「none」的资料集。"),
        ("/ask", {"question": "x", "files": [{"name": "a.exe", "content": "aGk="}]}, "「a.exe」"),
        ("/ask", {"question": "x", "files": [{"name": "a.txt", "content": "aGk="}] * 20}, "附了 20 个文件"),
        ("/search", {"query": "x", "engine": "none"}, "没有名为「none」的可用引擎。可用的有：fake。"),
        ("/law/verify", {"text": "x", "as_of": "soon"}, "「soon」不是日期。"),
        ("/page", {"url": "file:///etc/passwd"}, ""),
    ],
)
def test_what_only_the_service_can_see_is_said_too(api: HttpApi, path: str, fields: Any, named: str) -> None:
    status, _, message = error_of(api.post(path, **fields))
    assert status in ((404,) if "collections" in fields else (403, 422))
    assert message.startswith(named)


def test_a_parameter_that_is_repeated_or_unknown_is_named(api: HttpApi) -> None:
    assert error_of(api("GET", "/search?query=a&query=b"))[2].startswith("「query」写了两次。")
    assert error_of(api("GET", "/search?query=a&qeury=b"))[2].startswith("「qeury」不认识")
    assert error_of(api("GET", "/documents/a?collection=b"))[2].startswith("「collection」写了两次。")
    assert error_of(api("GET", "/search?query=a&limit=x"))[2].startswith("「limit」要写成整数。")


def test_a_limit_says_when_to_come_back() -> None:
    with http_api(SEARCH_RATE_LIMIT="1") as api:
        token = api.new_token("m")
        assert api.get("/search", token, query="灯塔").status_code == 200
        reply = api.get("/search", token, query="浮标")
        assert error_of(reply)[:2] == (429, "rate_limited")
        assert 1 <= int(reply.headers["retry-after"]) <= 60


HUGE = b'{"query": "x", "limit": ' + b"9" * 5_000 + b"}"
NESTED = b'{"query": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    "body",
    [b"", b"query=x", b"[", b"\xff\xfe", b'{"query": "\xed\xa0\x80"}', b'{"query": "\\ud800"}', NESTED, HUGE],
)
def test_a_body_that_is_no_json_is_refused(api: HttpApi, body: bytes) -> None:
    reply = api("POST", "/search", content=body, headers={"Content-Type": "application/json"})
    assert error_of(reply)[:2] == (400, "no_json")


@pytest.mark.parametrize("body", ["[]", "null", "3", '"x"'])
def test_json_that_is_no_object_is_refused(api: HttpApi, body: str) -> None:
    reply = api("POST", "/search", content=body, headers={"Content-Type": "application/json"})
    assert error_of(reply)[2].startswith("请求的内容要写成 JSON 对象。")


def test_another_content_type_is_refused_with_the_one_that_is_wanted(api: HttpApi) -> None:
    for headers in ({}, {"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"}):
        status, kind, message = error_of(api("POST", "/search", content=b'{"query": "x"}', headers=headers))
        assert (status, kind) == (415, "content_type")
        assert "Content-Type: application/json" in message
    kept = api(
        "POST", "/search", content=b'{"query": "x"}', headers={"Content-Type": "Application/JSON; charset=utf-8"}
    )
    assert kept.status_code == 200


def test_a_body_beyond_the_limit_is_refused_with_the_limit(api: HttpApi) -> None:
    status, kind, message = error_of(api.post("/search", query="x" * 2**20))
    assert (status, kind) == (413, "too_large")
    assert "1 MB" in message


@pytest.mark.parametrize(
    "path", ["/nothing", "/search/", "/search/x", "/documents/a/b", "/documents/a/files/", "//", "/a%0Ab", "/%0d"]
)
def test_an_unknown_address_is_a_404_as_json(api: HttpApi, path: str) -> None:
    assert error_of(api("GET", path))[:2] == (404, "not_found")


def test_a_wrong_method_is_a_405_with_those_that_are_right(api: HttpApi) -> None:
    for method, path, allowed in (
        ("DELETE", "/search", "GET, POST"),
        ("GET", "/ask", "POST"),
        ("PATCH", "/documents/a", "DELETE, GET"),
        ("POST", "/openapi.json", "GET"),
    ):
        reply = api(method, path)
        assert error_of(reply)[:2] == (405, "method_not_allowed")
        assert reply.headers["allow"] == allowed
        assert allowed.replace(", ", "、") in reply.json()["error"]["message"]


def test_head_is_answered_like_get(api: HttpApi) -> None:
    assert api("HEAD", "/documents").status_code == 200
    assert api("HEAD", "").status_code == 200


def test_results_of_the_manual_alone_carry_the_reason() -> None:
    chain = "searxng,bundled"
    with http_api(engines=None, SEARCH_PROVIDER_PRIORITY=chain, SEARXNG_URL="http://127.0.0.1:1") as api:
        reply = api.get("/search", query="怎么打开联网搜索？")
    assert reply.status_code == 200
    assert reply.json()["provider"] == "bundled"
    assert reply.json()["error"]["kind"] == "all_failed"
    assert "SearXNG 连不上" in reply.json()["error"]["message"]


def test_a_search_without_any_result_for_a_reason_is_an_error_of_the_server() -> None:
    broken = FakeEngine("fake", EngineUnavailable("SearXNG 连不上。"))
    with http_api(engines=[broken]) as api:
        status, kind, message = error_of(api.get("/search", query="灯塔"))
    assert (status, kind) == (502, "all_failed")
    assert "SearXNG 连不上" in message
    with http_api(engines=[]) as api:
        assert error_of(api.get("/search", query="灯塔"))[:2] == (503, "no_engine")


def test_half_characters_become_question_marks() -> None:
    """None should come so far: what comes from outside is cleaned on its entry."""
    assert encode_json({"灯\ud800": "\udfff塔"}) == '{"灯?": "?塔"}'.encode()


HOSTILE = ["\0", "\x1b[2J", "\u202e", "' OR 1=1 --", "../../etc/passwd", "%00", "9" * 300, "🏮" * 100, "x" * 300]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_in_any_field_is_more_than_an_error(api: HttpApi, text: str) -> None:
    """Every text of every operation; a search may find something."""
    for operation in OPERATIONS:
        fields = {name: text for name in operation.request.model_fields if name not in ("sources", "pairs")}
        path = operation.path
        for name in operation.path_fields:
            path = path.replace(f"{{{name}}}", quote(fields.pop(name), safe=""))
        sent: dict[str, Any] = {"json": fields} if operation.has_json_body else {"params": fields}
        sent |= {"content": b"x"} if operation.method == "PUT" else {}
        wrong = api(operation.method, path, **sent)
        assert wrong.status_code < 500 or wrong.status_code == 502, (operation, wrong.text)
        assert "json" in wrong.headers["content-type"]
