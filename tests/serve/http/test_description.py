"""The OpenAPI description against the code: every route, every request, and every result of a real call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

import httpx
import pytest
from jsonschema import Draft202012Validator

from core.answer.events import RunEvent
from core.serve import OPERATOR
from core.serve import Scope as May
from core.serve.http.operation import Operation
from core.serve.http.operations import OPERATIONS
from support import invented
from support.found_pages import found_pages
from support.guiding_cases import write_guiding_cases
from support.http_api import HttpApi, error_of, events_in, http_api
from support.reading import kept_workers

__all__ = ["kept_workers"]

LEASE = "第二条 租金\n月租金为人民币八千六百元，每季度首月五日前支付。"
DRAFT = "依照《灯塔法》第二条，灯塔由守塔人看守；又见《灯塔法》第九百条。另见（2031）京01民终12号。"
BOILING = "在标准大气压下，水在 90 摄氏度沸腾。"
PAGE = "the address of a page that can be read"
COLLECTION, FILE = "/documents/{collection}", "/documents/{collection}/files/{name}"
LEASES = {"collection": "合同/甲方"}

Call = tuple[str, str, dict[str, Any], Callable[[Any], bool]]
CALLS: list[Call] = [
    ("GET", "/", {}, lambda got: got["name"] == "问源"),
    ("GET", "/search", {"query": "灯塔"}, lambda got: len(got["results"]) == 3),
    (
        *("POST", "/search"),
        {"query": "灯塔", "type": "news", "limit": 2, "since": "month", "language": "zh-cn", "engine": "fake"},
        lambda got: (got["type"], len(got["results"])) == ("news", 2),
    ),
    ("GET", "/page", {"url": PAGE, "length": 5}, lambda got: len(got["text"]) == 5 and got["nextStart"] == 5),
    ("POST", "/page", {"url": PAGE, "start": 10, "length": 10**5}, lambda got: got["nextStart"] is None),
    (
        *("POST", "/ask"),
        {
            "question": "《灯塔法》第二条怎么规定的？",
            "search": True,
            "stream": False,
            "history": [{"role": "user", "text": "你好"}],
        },
        lambda got: "守塔人" in got["text"] and got["sources"][0]["read"] == "library",
    ),
    (
        *("POST", "/law/search"),
        {"query": "灯塔法第二条", "as_of": "2015", "limit": 3},
        lambda got: "旧规定" in got["results"][0]["content"],
    ),
    ("POST", "/law/search", {"query": "没有这样的东西"}, lambda got: got["origin"] == "web"),
    (
        *("GET", "/law/article"),
        {"law": "灯塔法", "article": "2", "as_of": "2015-01-01"},
        lambda got: "旧规定" in got["article"]["content"],
    ),
    (
        "GET",
        "/law/article",
        {"law": "灯塔法", "article": "第九百条"},
        lambda got: got["article"] is None and got["note"],
    ),
    (
        *("POST", "/law/verify", {"text": DRAFT}),
        lambda got: [one["mark"] for one in got["citations"] + got["cases"]] == ["✓", "✗", "✗"],
    ),
    (
        *("POST", "/law/cases", {"query": "大雾不鸣笛", "type": "民事", "year": 2014}),
        lambda got: got["results"][0]["caseNumber"] == "指导性案例24号",
    ),
    (
        *("POST", "/check", {"text": "水在 100 摄氏度沸腾[1]。", "sources": [{"text": BOILING}]}),
        lambda got: got["summary"] == "1 处不符",
    ),
    (
        *("POST", "/check/pairs", {"pairs": [{"statement": "水在 100 摄氏度沸腾。", "source": BOILING}]}),
        lambda got: got["results"] == [{"verdict": "contradicted", "score": 0.2, "evidence": BOILING}],
    ),
    (
        *("PUT", FILE, {**LEASES, "name": "租赁/2026.txt", "modified": "2026-03-01"}),
        lambda got: (got["collection"], got["file"], got["modified"]) == ("合同/甲方", "租赁/2026.txt", "2026-03-01"),
    ),
    ("GET", "/documents", {}, lambda got: [one["name"] for one in got["collections"]] == ["合同/甲方"]),
    ("GET", COLLECTION, LEASES, lambda got: got["files"][0]["state"] == "indexed"),
    (
        *("POST", "/documents/search", {"query": "月租金", "collections": ["合同/甲方"], "limit": 5}),
        lambda got: "八千六百" in got["results"][0]["text"],
    ),
    ("DELETE", FILE, {**LEASES, "name": "租赁/2026.txt"}, lambda got: got["files"] == ["租赁/2026.txt"]),
    ("DELETE", COLLECTION, LEASES, lambda got: got["removed"] == 0),
]


@pytest.fixture
def api(tmp_path: Path) -> Iterator[HttpApi]:
    data = tmp_path / "data"
    invented.library(data, invented.lawrefbook(tmp_path / "laws"), write_guiding_cases(tmp_path / "cases.jsonl"))
    with http_api(DATA_DIR=str(data)) as api:
        yield api


@pytest.fixture
def described(api: HttpApi) -> Any:
    return api.get("/openapi.json").json()


def call(api: HttpApi, method: str, path: str, fields: dict[str, Any], token: str = "") -> httpx.Response:
    """Call an operation as the description says: fields in the path, in the query, or in the body."""
    operation = operation_at(method, path)
    fields = dict(fields)
    for name in operation.path_fields:
        path = path.replace(f"{{{name}}}", quote(fields.pop(name), safe=""))
    sent: dict[str, Any] = {"json": fields} if operation.has_json_body else {"params": fields}
    reply = api(method, path, token=token, **sent, **({"content": LEASE.encode()} if method == "PUT" else {}))
    for collection in api.app.documents.list_collections(OPERATOR.access):
        assert api.app.documents.wait_until_indexed(collection.id, OPERATOR.access, seconds=60)
    return reply


def operation_at(method: str, path: str) -> Operation:
    return next(one for one in OPERATIONS if (one.method, one.path) == (method, path))


def validate(described: Any, content: Any, result: Any) -> None:
    """Raise if a result does not fit the schema of its content."""
    schema = {**content["application/json"]["schema"], "components": described["components"]}
    Draft202012Validator(schema).validate(result)


def test_every_operation_is_described_and_nothing_else(described: Any) -> None:
    paths = {(method.upper(), path) for path, methods in described["paths"].items() for method in methods}
    assert paths == {(one.method, one.path) for one in OPERATIONS}
    ids = [one["operationId"] for methods in described["paths"].values() for one in methods.values()]
    assert len(set(ids)) == len(OPERATIONS)
    for schema in described["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_requests_are_described_by_the_models_that_validate_them(described: Any) -> None:
    for operation in OPERATIONS:
        entry = described["paths"][operation.path][operation.method.lower()]
        schema = operation.request.model_json_schema(ref_template="#/components/schemas/{model}")
        fields, required = schema.get("properties", {}), set(schema.get("required", ()))
        if operation.has_json_body:
            assert not operation.path_fields, "the fields of a body are all in the body"
            assert entry["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith(f"/{schema['title']}")
            assert described["components"]["schemas"][schema["title"]]["properties"] == fields
            assert entry["parameters"] == []
            continue
        parameters = {one["name"]: one for one in entry["parameters"]}
        assert {
            name: {**one["schema"], "description": one["description"]} for name, one in parameters.items()
        } == fields
        assert {name for name, one in parameters.items() if one["in"] == "path"} == set(operation.path_fields)
        assert {name for name, one in parameters.items() if one["required"]} == required


def test_every_result_of_a_real_call_fits_its_description(api: HttpApi, described: Any) -> None:
    assert {(method, path) for method, path, *_ in CALLS} == {(one.method, one.path) for one in OPERATIONS}
    for method, path, fields, is_right in CALLS:
        if path == "/page":
            continue  # below
        responses = described["paths"][path][method.lower()]["responses"]
        reply = call(api, method, path, fields)
        assert reply.status_code == 200, (method, path, reply.text)
        validate(described, responses["200"]["content"], reply.json())
        assert is_right(reply.json()), (method, path, reply.text)
        refused = call(api, method, path, {**fields, "unknown": 1})
        validate(described, responses["default"]["content"], refused.json())
        assert error_of(refused)[:2] == (422, "invalid_request")


def test_a_page_is_read_in_parts_as_described() -> None:
    with (
        found_pages() as world,
        http_api(READING_PAGES="3", READING_TIMEOUT="60", READING_ALLOW_HOSTS=world.address) as api,
    ):
        world.open.set()
        described = api.get("/openapi.json").json()
        for method, path, fields, is_right in CALLS:
            if path == "/page":
                reply = call(api, method, path, {**fields, "url": f"http://{world.address}/news"})
                validate(
                    described, described["paths"][path][method.lower()]["responses"]["200"]["content"], reply.json()
                )
                assert is_right(reply.json()), reply.text


def test_the_events_of_an_answer_are_described_too(api: HttpApi, described: Any) -> None:
    content = described["paths"]["/ask"]["post"]["responses"]["200"]["content"]["text/event-stream"]
    schema = content["schema"]["properties"]["data"]["contentSchema"] | {"components": described["components"]}
    events = events_in(api.post("/ask", question="灯塔由谁看守？", search=True))
    assert {"search_finished", "answer", "usage"} <= {event["type"] for event in events}
    for event in events:
        Draft202012Validator(schema).validate(event)
    known = described["components"]["schemas"]["AnswerEvent"]["properties"]["type"]["enum"]
    assert known == [event.type for event in get_args(RunEvent)]


def test_each_operation_asks_for_the_scope_that_is_described(api: HttpApi, described: Any) -> None:
    """A token for all the others is refused, and one for this alone is let in."""
    for method, path, fields, _ in CALLS:
        [_, asked] = described["paths"][path][method.lower()]["security"]
        for scope in asked["token"]:
            others = api.new_token("o", *(one for one in May if one != scope))
            alone = api.new_token("o", May(scope))
            wrong = {**fields, "unknown": 1}
            assert error_of(call(api, method, path, wrong, others))[:2] == (403, "scope_missing"), "asked for first"
            assert "scope_missing" not in call(api, method, path, fields, alone).text


def test_the_description_is_for_those_who_may_call(api: HttpApi) -> None:
    """On this machine without a token; from elsewhere like everything else."""
    assert api.get("/openapi.json", token=api.new_token("a", May.LAW)).status_code == 200
    assert error_of(api.get("/openapi.json", token="wy-wrong"))[:2] == (401, "token_refused")
    proxied = api("GET", "/openapi.json", headers={"X-Forwarded-For": "192.0.2.1"})
    assert error_of(proxied)[:2] == (401, "no_token")
