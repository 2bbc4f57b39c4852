"""Declarations of style sheets: those that can hide something, as a browser understands and accepts them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import tinycss2

from core.reading.css_values import UNITS, UNSET, calculate, parse_colour

Declarations = dict[str, tuple[str, bool]]
"""Values by property, and whether they are important."""
INHERITED = {
    "color": "canvastext", "-webkit-text-fill-color": "currentcolor", "visibility": "visible", "font-size": "16px",
    "text-indent": "0", "letter-spacing": "0", "line-height": "normal", "-webkit-text-security": "none",
}  # fmt: skip
"""Inherited properties, and their values at the root of a page."""
PROPERTIES = frozenset({
    *INHERITED,
    *("display", "content-visibility", "opacity", "filter", "zoom", "content", "contain", "position", "z-index"),
    *("background-color", "background-image", "background-clip", "animation-name", "animation-fill-mode"),
    *("animation-play-state", "animation-iteration-count", "left", "right", "top", "bottom", "offset-path"),
    *("margin-left", "margin-top", "margin-right", "margin-bottom", "transform", "translate", "scale", "rotate"),
    *("clip", "clip-path", "mask-image", "mask-size", "mask-mode", "overflow-x", "overflow-y"),
    *("width", "height", "max-width", "max-height", "min-width", "min-height", "padding-top", "padding-bottom"),
    *("padding-right", "padding-left", "box-sizing", "backdrop-filter", "backface-visibility"),
    *("flex-grow", "flex-basis", "grid-template-rows", "grid-template-columns"),
})  # fmt: skip
_SIDES = ("top", "right", "bottom", "left")
_BY_SIDE: dict[str, tuple[str, ...]] = {
    "inset": _SIDES,
    "margin": tuple(f"margin-{side}" for side in _SIDES),
    "padding": tuple(f"padding-{side}" for side in _SIDES),
    "inset-inline": ("left", "right"),
    "inset-block": ("top", "bottom"),
    "margin-inline": ("margin-left", "margin-right"),
    "margin-block": ("margin-top", "margin-bottom"),
    "padding-block": ("padding-top", "padding-bottom"),
    "overflow": ("overflow-x", "overflow-y"),
}
_SHORTHANDS = {
    "font": ("font-size", "line-height"),
    "background": ("background-color", "background-image", "background-clip"),
    "mask": ("mask-image", "mask-size", "mask-mode"),
    "animation": tuple(name for name in PROPERTIES if name.startswith("animation-")),
    "offset": ("offset-path",),
    "flex": ("flex-grow", "flex-basis"),
    "all": tuple(PROPERTIES),
}
_OTHER_NAMES = {
    **{f"-webkit-{name}": name for name in ("filter", "backdrop-filter", "transform", "clip-path", "mask", "mask-image")},
    **{f"-webkit-{name}": name for name in ("background-clip", "animation", "animation-name", "opacity", "mask-size")},
    "inset-inline-start": "left", "inset-inline-end": "right", "inset-block-start": "top", "inset-block-end": "bottom",
    "margin-inline-start": "margin-left", "margin-block-start": "margin-top",
    "inline-size": "width", "block-size": "height", "max-inline-size": "max-width", "max-block-size": "max-height",
    "min-inline-size": "min-width", "min-block-size": "min-height",
}  # fmt: skip
_ALL_NAMES = sorted({*PROPERTIES, *_BY_SIDE, *_SHORTHANDS, *_OTHER_NAMES})
_RELEVANT = re.compile(rf"\\|(?<![\w-])(?:{'|'.join(_ALL_NAMES)}|--[^\s:;]+)\s*:", re.IGNORECASE)
WORDS_FOR_ALL = frozenset({"inherit", "initial", UNSET, "revert", "revert-layer"})
"""Words that every property knows."""
_DISPLAYS = frozenset(
    (
        *("none", "block", "inline", "inline-block", "flex", "inline-flex", "grid", "inline-grid", "contents", "flow"),
        *(
            "flow-root",
            "list-item",
            "table",
            "inline-table",
            "table-row",
            "table-cell",
            "table-caption",
            "table-column",
        ),
        *("table-row-group", "table-header-group", "table-footer-group", "table-column-group", "ruby", "ruby-text"),
        *("ruby-base", "-webkit-box", "-webkit-inline-box", "-webkit-flex", "-webkit-inline-flex", "math"),
    )
)
_WORDS: dict[str, frozenset[str]] = {
    "display": _DISPLAYS,
    "visibility": frozenset({"visible", "hidden", "collapse"}),
    "position": frozenset({"static", "relative", "absolute", "fixed", "sticky", "-webkit-sticky"}),
    "content-visibility": frozenset({"visible", "hidden", "auto"}),
    **dict.fromkeys(("overflow", "overflow-x", "overflow-y"), frozenset(("visible", "hidden", "clip", "scroll", "auto", "overlay"))),
    **dict.fromkeys(("opacity", "letter-spacing", "zoom", "scale", "z-index"), frozenset(("none", "auto", "normal", "reset"))),
    **dict.fromkeys((*_SIDES, "margin-left", "margin-top", "margin", "inset", "text-indent"), frozenset(("auto", "hanging", "each-line"))),
    **dict.fromkeys(("transform", "filter", "clip-path", "translate"), frozenset(("none", "border-box", "padding-box", "content-box", "margin-box"))),
    "font-size": frozenset(["xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large", "smaller", "larger", "math"]),
    **dict.fromkeys(
        ("width", "height", "max-width", "max-height", "min-width", "min-height", "block-size", "inline-size"),
        frozenset(["auto", "none", "min-content", "max-content", "fit-content", "stretch", "-webkit-fill-available", "-webkit-max-content", "-webkit-min-content", "-webkit-fit-content"]),
    ),
}  # fmt: skip
"""Words that a property knows, for those where it matters: a browser drops a declaration with any other."""
_TYPES: dict[str, frozenset[str]] = {
    **dict.fromkeys(("display", "visibility", "position", "content-visibility"), frozenset({"ident"})),
    **dict.fromkeys(("opacity", "zoom", "scale"), frozenset({"ident", "number", "percentage", "function"})),
}
_LENGTHS = frozenset({"font-size", "letter-spacing", "width", "height", "max-width", "max-height", *_SIDES})
_SINGLE = _LENGTHS | {
    "visibility",
    "position",
    "content-visibility",
    "opacity",
    "zoom",
    "z-index",
    "clip",
    "flex-basis",
}
_SMALL = 5
"""Largest number without a unit that counts as a length: as one it hides, so it had better count."""


def _is_valid(name: str, tokens: list[Any]) -> bool:
    """Return whether a browser accepts a declaration, as far as that matters here."""
    shown = [token for token in tokens if token.type not in {"whitespace", "comment"}]
    if not shown or any(
        token.type == "function" and token.lower_name in {"var", "env", "attr"} for token in _all(shown)
    ):
        return bool(shown)
    words = {token.lower_value for token in shown if token.type == "ident"}
    if len(shown) == 1 and words & WORDS_FOR_ALL:
        return True
    if name in {"color", "background-color", "-webkit-text-fill-color"}:
        value = calculate(tinycss2.serialize(shown).lower())
        return parse_colour(value.replace("currentcolor", "black")) is not None
    if len(shown) > 1 and name in _SINGLE:
        return False
    if any(token.type == "dimension" and token.lower_unit not in UNITS for token in shown):
        return False
    if name in _LENGTHS and any(token.type == "number" and token.value > _SMALL for token in shown):
        return False  # a length needs a unit; only very old pages may leave it out
    types = {token.type for token in shown}
    return words <= _WORDS.get(name, words) and types <= _TYPES.get(name, types)


def _all(tokens: Iterable[Any]) -> Iterator[Any]:
    for token in tokens:
        yield token
        yield from getattr(token, "arguments", ())


@lru_cache(maxsize=1_000)
def parse_declarations(body: str) -> Declarations:
    """Return what declarations say about the properties that can hide, and about variables."""
    found: Declarations = {}
    if not _RELEVANT.search(body):
        return found
    for one in tinycss2.parse_blocks_contents(body, skip_comments=True, skip_whitespace=True):
        if one.type != "declaration":
            continue
        name = one.name if one.name.startswith("--") else _OTHER_NAMES.get(one.lower_name, one.lower_name)
        if name.startswith("--") or (name in _KNOWN and _is_valid(name, one.value)):
            cascade(found, {part: (value, one.important) for part, value in _longhands(name, _written(one.value))})
    return found


_KNOWN = frozenset({*PROPERTIES, *_BY_SIDE, *_SHORTHANDS})


def _written(tokens: list[Any]) -> str:
    """Return a value as text, without comments and without the addresses of pictures."""
    value = re.sub(r"\s+", " ", tinycss2.serialize([one for one in tokens if one.type != "comment"])).strip()
    return (
        re.sub(r"url\((?:\"[^\"]*\"|'[^']*'|[^)]*)\)", "url()", value, flags=re.IGNORECASE) if "(" in value else value
    )


def _longhands(name: str, value: str) -> Iterator[tuple[str, str]]:
    if name in _BY_SIDE:
        parts = value.split() if "(" not in value else [value]
        for place, part in enumerate(_BY_SIDE[name]):
            yield part, parts[place] if place < len(parts) else parts[place - 2] if place > 1 < len(parts) else parts[0]
    else:
        for part in _SHORTHANDS.get(name, (name,)):
            yield part, value


def cascade(found: Declarations, later: Declarations) -> None:
    """Add later declarations to those that were found. They win, except against what is important."""
    for name, (value, is_important) in later.items():
        if is_important or name not in found or not found[name][1]:
            found[name] = value, is_important
