"""Conditions of style sheets: whether a block of @media, @supports or @container applies on a usual wide screen."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import tinycss2

from core.reading.css_values import SCREEN, calculate, pixels

_NUMBERS = {
    "width": SCREEN[0], "height": SCREEN[1], "device-width": SCREEN[0], "device-height": SCREEN[1],
    "inline-size": SCREEN[0], "block-size": SCREEN[1], "aspect-ratio": SCREEN[0] / SCREEN[1],
    "device-aspect-ratio": SCREEN[0] / SCREEN[1], "resolution": 1.0, "-webkit-device-pixel-ratio": 1.0,
    "color": 8.0, "color-index": 0.0, "monochrome": 0.0, "grid": 0.0,
}  # fmt: skip
_WORDS = {
    "orientation": "landscape", "hover": "hover", "any-hover": "hover", "pointer": "fine", "any-pointer": "fine",
    "prefers-color-scheme": "light", "scripting": "enabled", "update": "fast", "display-mode": "browser",
    **dict.fromkeys(
        ("prefers-reduced-motion", "prefers-contrast", "prefers-reduced-data", "prefers-reduced-transparency"),
        "no-preference",
    ),
    "forced-colors": "none", "inverted-colors": "none", "overflow-block": "scroll", "overflow-inline": "scroll",
    "color-gamut": "srgb", "dynamic-range": "standard", "scan": "progressive",
}  # fmt: skip
_NOTHING = {"none", "no-preference", "0"}
_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq}
_UNITS = {"dppx": 1.0, "x": 1.0, "dpi": 1 / 96, "dpcm": 1 / 37.8}
_MAX_DEPTH = 20
_Test = Callable[[str], bool | None]
"""Whether a condition in brackets holds. None: nobody knows it."""


def is_for_screen(media: str) -> bool:
    """Return whether a wide screen matches one of these media."""
    return not media.strip() or any(_holds(_parse(one), _has_feature) for one in media.lower().split(","))


def is_supported(condition: str) -> bool | None:
    """Return whether a browser can do what @supports asks for. None: it is not known here."""
    return _holds(_parse(condition.lower()), _knows)


def is_contained(condition: str) -> bool | None:
    """Return whether a container as wide as the screen meets a condition of @container. None: it asks for styles."""
    return _holds(_parse(re.sub(r"^(?!not\b)[\w-]+\s*(?=\()", "", condition.lower())), _has_feature)


def _parse(condition: str) -> list[Any]:
    tokens = tinycss2.parse_component_value_list(condition, skip_comments=True)
    return [token for token in tokens if token.type != "whitespace"]


def _holds(tokens: list[Any], test: _Test, depth: int = 0) -> bool | None:
    found: bool | None = None
    is_negated, is_joined_by_or, is_first = False, False, True
    for token in tokens:
        word = token.lower_value if token.type == "ident" else ""
        if word in {"not", "only", "and", "or"}:
            is_negated, is_joined_by_or = is_negated or word == "not", is_joined_by_or or word == "or"
            continue
        one = word in {"all", "screen"} if word else _holds_in_brackets(token, test, depth)
        if is_first or one is None or found is None:
            found = one if is_first or (is_joined_by_or and found is None) else found if is_joined_by_or else None
        else:
            found = found or one if is_joined_by_or else found and one
        is_first = False
    return found if found is None or not is_negated else not found


def _holds_in_brackets(token: Any, test: _Test, depth: int) -> bool | None:
    if token.type == "function":
        return test(token.serialize())
    if token.type != "() block" or depth > _MAX_DEPTH:
        return None
    inside = [one for one in token.content if one.type not in {"whitespace", "comment"}]
    if any(one.type == "() block" or (one.type == "ident" and one.lower_value == "not") for one in inside[:2]):
        return _holds(inside, test, depth + 1)
    return test(tinycss2.serialize(token.content).strip())


_RANGE = re.compile(r"(?:([^<>=]+?)\s*([<>]=?|=)\s*)?([a-z-]+)\s*(?:([<>]=?|=)\s*([^<>=]+))?")


def _has_feature(feature: str) -> bool | None:
    name, _, value = (part.strip() for part in feature.partition(":"))
    if not value:
        return _is_in_range(feature)
    if name in _WORDS:
        return _WORDS[name] == value
    bound, _, bare = name.removeprefix("-webkit-").partition("-")
    if bound in {"min", "max"}:
        return _compare(bare if bare in _NUMBERS else f"-webkit-{bare}", ">=" if bound == "min" else "<=", value)
    return _compare(name, "=", value)


def _is_in_range(feature: str) -> bool | None:
    found = _RANGE.fullmatch(feature)
    if not found or "(" in found[3]:
        return None
    low, before, name, after, high = found.groups()
    if before is after is None:
        return _NUMBERS[name] > 0 if name in _NUMBERS else _WORDS[name] not in _NOTHING if name in _WORDS else None
    turned = before and before.translate(str.maketrans("<>", "><"))
    parts = [_compare(name, *one) for one in ((turned, low), (after, high)) if one[0]]
    return None if None in parts else all(parts)


def _compare(name: str, comparison: str, value: str) -> bool | None:
    number = _number(calculate(value))
    if name not in _NUMBERS or number is None:
        return None
    return bool(_COMPARISONS[comparison](_NUMBERS[name], number))


def _number(value: str) -> float | None:
    if ratio := re.fullmatch(r"([\d.]+)\s*/\s*([\d.]+)", value):
        return float(ratio[1]) / (float(ratio[2]) or 1.0)
    found = re.fullmatch(r"(-?(?:\d+\.?\d*|\.\d+))([a-z]*)", value)
    if not found:
        return None
    unit = found[2]
    return float(found[1]) * _UNITS[unit] if unit in _UNITS else pixels(float(found[1]), unit)


_KNOWN = frozenset(
    (
        *("accent-color", "align-items", "animation", "animation-timeline", "appearance", "aspect-ratio", "background"),
        *("backdrop-filter", "background-clip", "border-radius", "box-shadow", "clip-path", "color", "column-gap"),
        *("columns", "contain", "container-type", "content-visibility", "display", "filter", "flex", "float", "font"),
        *("font-size", "font-variation-settings", "gap", "grid", "grid-area", "grid-template-columns", "height"),
        *("hyphens", "initial-letter", "inset", "isolation", "justify-content", "left", "margin", "margin-inline"),
        *("mask", "mask-image", "max-height", "min-height", "max-width", "min-width", "mix-blend-mode", "object-fit"),
        *("opacity", "order", "outline", "overflow", "overflow-anchor", "overscroll-behavior", "padding", "position"),
        *("row-gap", "scroll-behavior", "scroll-snap-type", "scrollbar-color", "scrollbar-gutter", "scrollbar-width"),
        *("shape-outside", "text-align", "text-decoration", "text-indent", "text-wrap", "top", "touch-action"),
        *(
            "transform",
            "transform-style",
            "transition",
            "translate",
            "visibility",
            "white-space",
            "width",
            "will-change",
        ),
        *("writing-mode", "z-index", "zoom"),
    )
)


def _knows(condition: str) -> bool | None:
    name, _, value = (part.strip() for part in condition.partition(":"))
    if condition.startswith("selector("):
        return True
    if not value or name.startswith(("-ms-", "-moz-", "-o-")):
        return False
    return True if name.startswith("--") or name.removeprefix("-webkit-") in _KNOWN else None
