"""The OpenAPI description of the HTTP API, made from the table of operations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from core import __version__
from core.serve.exchange import EVENT_STREAM
from core.serve.http.operation import Operation
from core.serve.http.operations import OPERATIONS, PREFIX
from core.serve.http.request_models import AnswerRequest, FileUpload
from core.serve.schemas import AnswerEvent, ErrorResult

DESCRIPTION_PATH = "/openapi.json"
_REF = "#/components/schemas/{model}"
_INTRODUCTION = (
    "问源的搜索、回答、法规核验、依据核验和资料库，供其他程序调用。管理员设置 API_ENABLED=true 后可用。\n\n"
    "令牌在「设置」的「接口」里建，放在请求头 Authorization: Bearer 后面；不经代理、直接来自本机的请求可以不带。"
    "这份说明也是这样：别处的程序要带令牌才能读。\n\n"
    '出错时返回 {"error": {"kind", "message"}}：message 是一句中文，说明发生了什么、怎么办。'
    "结果里可能有这里没有写的字段。"
)
_EVENTS = (
    "逐个事件：event 是类型，data 是一行 JSON，与 wenyuan ask --json 打印的相同。"
    "回答开始之前出错，返回错误状态和 JSON；之后出错，最后一个事件是 run_failed。断开连接就停止回答。"
)


@cache
def describe_api() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _describe(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "问源", "version": __version__, "description": _INTRODUCTION},
        "servers": [{"url": PREFIX}],
        "paths": paths,
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _describe(operation: Operation) -> dict[str, Any]:
    described = {
        "operationId": operation.name,
        "summary": operation.summary,
        "security": [{}, {"token": [operation.scope] if operation.scope else []}],
        "parameters": list(_parameters(operation)),
        "responses": {
            "200": {"description": "结果", "content": dict(_result_content(operation))},
            "default": {"description": "出错", "content": _json_content(ErrorResult)},
        },
    }
    if operation.has_json_body:
        described["requestBody"] = {"required": True, "content": _json_content(operation.request)}
    if operation.request is FileUpload:
        file = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        described["requestBody"] = {"required": True, "content": file, "description": "文件的内容"}
    return described


def _parameters(operation: Operation) -> Iterator[dict[str, Any]]:
    if operation.has_json_body:
        return
    schema = _schemas()[operation.request.__name__]
    for name, field in schema.get("properties", {}).items():
        is_in_path = name in operation.path_fields
        yield {
            "name": name,
            "in": "path" if is_in_path else "query",
            "required": is_in_path or name in schema.get("required", ()),
            "description": field.get("description", ""),
            "schema": {key: value for key, value in field.items() if key != "description"},
        }


def _result_content(operation: Operation) -> Iterator[tuple[str, Any]]:
    yield from _json_content(operation.result).items()
    if operation.request is AnswerRequest:
        yield EVENT_STREAM, {"schema": _event_schema()}


def _event_schema() -> dict[str, Any]:
    """Return the schema of one event of a stream."""
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": _ref(AnswerEvent)}
    kind = {"$ref": f"{_ref(AnswerEvent)['$ref']}/properties/type"}
    return {
        "type": "object",
        "description": _EVENTS,
        "required": ["event", "data"],
        "properties": {"event": kind, "data": data},
    }


def _json_content(model: type[BaseModel]) -> dict[str, Any]:
    return {"application/json": {"schema": _ref(model)}}


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REF.format(model=model.__name__)}


@cache
def _schemas() -> dict[str, Any]:
    """Return the schemas of all requests and results by the names of their models."""
    models: dict[type[BaseModel], None] = dict.fromkeys((*_models(), ErrorResult, AnswerEvent))
    _, document = models_json_schema([(model, "validation") for model in models], ref_template=_REF)
    schemas: dict[str, Any] = document["$defs"]
    for schema in schemas.values():
        schema.pop("description", None)  # written for those who read the code
    return schemas


def _models() -> Iterator[type[BaseModel]]:
    for operation in OPERATIONS:
        yield operation.request
        yield operation.result
