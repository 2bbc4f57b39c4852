"""The schema of a tool's arguments, as a foreign server sends it: copied within limits, and used to check arguments.

Only keywords are copied whose check costs what the arguments are long: no patterns, which may take for ever, no references,
which may lead in circles or multiply. What is left out the server checks itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.base.text import clean, one_line, shorten
from core.reading import count_instructions

MAX_NODES = 300
MAX_DEPTH = 10
MAX_CHARS = 8_000
"""Limit of a copied schema as JSON: it stands in every prompt."""
MAX_NAME = 64
MAX_CHOICES = 100
MAX_TEXT = 300
MAX_DEFAULT = 200

_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_ALTERNATIVES = ("anyOf", "oneOf", "allOf")
Scalar = str | int | float | bool | None


class UnusableSchema(ValueError):
    """The message is the reason, in the words of a sentence."""


def usable_schema(raw: Any) -> dict[str, Any]:
    """Return a copy of a schema of arguments, or raise UnusableSchema."""
    if not isinstance(raw, dict):
        raise UnusableSchema("参数的格式不是 JSON Schema")
    try:
        copied = _Copier(raw).copy(raw, depth=0, path=())
    except RecursionError:
        raise UnusableSchema("参数的格式嵌套太深") from None
    if copied.setdefault("type", "object") != "object":
        raise UnusableSchema("参数的格式不是一组键和值")
    copied.setdefault("properties", {})
    for word in _ALTERNATIVES:  # OpenAI takes none at the top
        copied.pop(word, None)
    if len(json.dumps(copied, ensure_ascii=False)) > MAX_CHARS:
        raise UnusableSchema("参数的格式太长")
    return copied


@dataclass
class _Copier:
    root: dict[str, Any]
    nodes: int = field(default=0)

    def copy(self, node: Any, *, depth: int, path: tuple[str, ...]) -> dict[str, Any]:
        """Return a copy of one schema. `path`: the references that have led to it."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise UnusableSchema("参数的格式太大")
        if depth > MAX_DEPTH:
            raise UnusableSchema("参数的格式嵌套太深")
        if isinstance(node, bool):
            return {}
        if not isinstance(node, dict):
            raise UnusableSchema("参数的格式不是 JSON Schema")
        copied: dict[str, Any] = {}
        if "$ref" in node:
            copied = self._referenced(node["$ref"], depth, path)
        copied |= dict(self._plain_keywords(node))
        copied |= self._inner_schemas(node, depth, path)
        return copied

    def _referenced(self, reference: Any, depth: int, path: tuple[str, ...]) -> dict[str, Any]:
        """Return the schema that is referred to; one that refers to itself may be anything from there on."""
        if not isinstance(reference, str) or not reference.startswith("#/"):
            raise UnusableSchema("参数的格式引用了别处的内容")
        if reference in path:
            return {}
        target: Any = self.root
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(target, dict) or key not in target:
                raise UnusableSchema("参数的格式引用了没有的内容")
            target = target[key]
        return self.copy(target, depth=depth + 1, path=(*path, reference))

    def _plain_keywords(self, node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        kinds = node.get("type")
        names = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
        if kinds is not None and not (names and all(name in _TYPES for name in names)):
            raise UnusableSchema("参数的类型无法识别")
        if names:
            yield "type", kinds
        for word in ("title", "description"):
            if isinstance(node.get(word), str) and (text := harmless_text(node[word], MAX_TEXT)):
                yield word, text
        if isinstance(node.get("enum"), list):
            yield "enum", [_scalar(value) for value in node["enum"][:MAX_CHOICES]]
        if "const" in node and isinstance(node["const"], Scalar):
            yield "const", _scalar(node["const"])
        if isinstance(node.get("default"), Scalar) and node.get("default") is not None:
            yield "default", _scalar(node["default"])
        for word in (*_NUMBERS, *_COUNTS):
            value = node.get(word)
            if isinstance(value, int if word in _COUNTS else int | float) and not isinstance(value, bool):
                yield word, value

    def _inner_schemas(self, node: Mapping[str, Any], depth: int, path: tuple[str, ...]) -> dict[str, Any]:
        def inner(schema: Any) -> dict[str, Any]:
            return self.copy(schema, depth=depth + 1, path=path)

        found: dict[str, Any] = {}
        if "properties" in node:
            if not isinstance(node["properties"], dict):
                raise UnusableSchema("参数的格式不是 JSON Schema")
            found["properties"] = {_argument_name(name): inner(value) for name, value in node["properties"].items()}
        if isinstance(node.get("required"), list):
            known = found.get("properties", {})
            found["required"] = [name for name in node["required"] if isinstance(name, str) and name in known]
        if isinstance(node.get("items"), dict | bool) or node.get("type") == "array":
            found["items"] = inner(node.get("items") if isinstance(node.get("items"), dict) else {})
        if isinstance(node.get("additionalProperties"), dict):
            found["additionalProperties"] = inner(node["additionalProperties"])
        elif node.get("additionalProperties") is False:
            found["additionalProperties"] = False
        for word in _ALTERNATIVES:
            if isinstance(node.get(word), list) and node[word]:
                found[word] = [inner(schema) for schema in node[word]]
        return found


def _argument_name(name: Any) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME or one_line(name) != name:
        raise UnusableSchema("参数的名称无法使用")
    return name


def _scalar(value: Any) -> Scalar:
    if not isinstance(value, Scalar):
        raise UnusableSchema("参数的取值无法识别")
    return shorten(clean(value), MAX_DEFAULT) if isinstance(value, str) else value


def harmless_text(text: str, limit: int) -> str:
    """Return words of a server on one line; empty if they look like instructions to a model."""
    text = one_line(text[: limit * 4])
    return "" if count_instructions(text) else shorten(text, limit)


# ── Arguments ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def arguments_from_text(schema: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return the arguments that a model has written as one text: JSON, or the value of the main argument."""
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found
    names = list(schema["properties"])
    main = next(iter([*schema.get("required", ()), *names]), None)
    return {main: text.strip()} if main is not None else {}


def fit_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments in the types of the schema: models write "5" for 5, and null for what they leave out."""
    known = schema["properties"]
    given = {
        name: value for name, value in arguments.items() if value is not None or name in schema.get("required", ())
    }
    return {name: _fitted(value, known.get(name, {}).get("type")) for name, value in given.items()}


def _fitted(value: Any, kind: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool) and kind == "string":
        return str(value)
    if not isinstance(value, str) or kind not in {"integer", "number", "boolean", "array", "object"}:
        return value
    try:
        found = json.loads(value.strip().lower() if kind == "boolean" else value)
    except (ValueError, RecursionError):
        return value
    return found if _is_of(found, kind) else value


def _is_of(value: Any, kind: str) -> bool:
    types = {"integer": int, "number": int | float, "boolean": bool, "array": list, "object": dict}
    return isinstance(value, types[kind]) and (kind == "boolean" or not isinstance(value, bool))


def find_problem(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Return what is wrong with the arguments, in the words of a sentence; empty if they fit."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(schema).iter_errors(arguments))
    if error is None:
        return ""
    where = ".".join(map(str, error.absolute_path))
    about = f"参数 {shorten(one_line(where), 60)} " if where else "参数"
    match error.validator:
        case "required":
            missing = [name for name in error.validator_value if name not in (error.instance or ())]
            return f"{about}{'里' if where else ''}缺少 {'、'.join(missing)}"
        case "additionalProperties":
            return f"{about}里有工具没有的名称"
        case "type":
            return f"{about}的类型应是 {error.validator_value}"
        case "enum" | "const":
            return f"{about}只能是 {shorten(one_line(json.dumps(error.validator_value, ensure_ascii=False)), 200)}"
    return f"{about}不合要求（{error.validator} {shorten(one_line(str(error.validator_value)), 60)}）"
