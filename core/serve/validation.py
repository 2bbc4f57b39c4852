"""What is wrong with a request, in a sentence that names the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from core.base.text import one_line, shorten
from core.serve.errors import InvalidRequest, NoJson

_SHOWN = 80
"""Characters of a name that a client may have made up."""

_REASONS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "missing": lambda _: "没有给出",
    "extra_forbidden": lambda _: "不认识，请检查拼写",
    "string_type": lambda _: "要写成文字",
    "string_too_short": lambda _: "不能是空的",
    "string_too_long": lambda limits: f"太长，最多 {limits['max_length']:,} 字",
    "too_short": lambda limits: f"太少，至少 {limits['min_length']:,} 项",
    "too_long": lambda limits: f"太多，最多 {limits['max_length']:,} 项",
    "greater_than_equal": lambda limits: f"不能小于 {limits['ge']}",
    "less_than_equal": lambda limits: f"不能大于 {limits['le']}",
    "literal_error": lambda limits: f"只能是 {_alternatives(limits)}",
    "enum": lambda limits: f"只能是 {_alternatives(limits)}",
    "value_error": lambda limits: f"写得不对：{limits['error']}",
    "base64_decode": lambda _: "不是 base64 编码",
    "list_type": lambda _: "要写成数组",
    "model_type": lambda _: "要写成 JSON 对象",
    "model_attributes_type": lambda _: "要写成 JSON 对象",
}
_REASONS_BY_TYPE = {"int": "要写成整数", "bool": "要写成 true 或 false", "date": "要写成日期，如 2026-03-01"}


def _alternatives(limits: Mapping[str, Any]) -> str:
    return str(limits["expected"]).replace("'", "").replace(", ", "、").replace(" or ", " 或 ")


SEE_DESCRIPTION = "接口说明在 /api/v1/openapi.json。"


def invalid_request(error: ValidationError, *, cure: str = SEE_DESCRIPTION) -> InvalidRequest | NoJson:
    """Return the error for the client, on the first thing that is wrong. Nothing that was sent is repeated but names."""
    problem = first_problem(error)
    if problem is None:
        return NoJson()
    return InvalidRequest(problem.sentence, cure=cure)


@dataclass(frozen=True, slots=True)
class FieldProblem:
    field: str
    """Its place in the request; empty for the request as a whole."""
    sentence: str


def first_problem(error: ValidationError) -> FieldProblem | None:
    """Return the first thing that is wrong with a request; None if it is no JSON at all."""
    first = error.errors(include_url=False, include_input=False)[0]
    kind = first["type"]
    if kind == "json_invalid":
        return None
    by_type = _REASONS_BY_TYPE.get(kind.partition("_")[0], "写得不对")
    reason = _REASONS[kind](first.get("ctx", {})) if kind in _REASONS else by_type
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).removeprefix(".")
    field = shorten(one_line(place), _SHOWN)
    return FieldProblem(field, f"{f'「{field}」' if field else '请求的内容'}{reason}。")
