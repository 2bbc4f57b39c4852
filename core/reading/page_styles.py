"""The styles that a page's own style sheets and attributes give its elements, as on a wide screen.

Sheets are split by one pass over their characters. Only rules that can hide something and whose names stand in the page are
parsed (tinycss2) and matched (cssselect2), because a sheet may have any size. External sheets are not asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import tinycss2
from cssselect2 import ElementWrapper, Matcher, SelectorError, compile_selector_list
from lxml.html import HtmlElement

from core.reading.extraction_types import NotReadable

Styles = dict[str, str]
"""Values by property, in lower case."""
_Declarations = dict[str, tuple[str, bool]]
"""Values by property, and whether they are important."""

PROPERTIES = frozenset({
    *("display", "visibility", "content-visibility", "opacity", "filter", "-webkit-filter", "zoom"),
    *("color", "-webkit-text-fill-color", "background", "background-color", "background-image"),
    *("font", "font-size", "line-height", "text-indent", "left", "right", "top", "bottom", "margin-left", "margin-top"),
    *("inset", "inset-inline-start", "margin", "margin-inline-start", "transform", "-webkit-transform", "translate", "scale"),
    *("clip", "clip-path", "-webkit-clip-path", "mask", "mask-image", "-webkit-mask", "-webkit-mask-image"),
    *("width", "height", "max-width", "max-height", "overflow", "overflow-x", "overflow-y"),
})  # fmt: skip
MAX_SELECTORS = 4_000
"""Limit for selectors that may concern the page. A page with more cannot be judged in its second."""
_MAX_SELECTOR_LENGTH = 1_000
_SCREEN_WIDTH = 1_280
_RELEVANT = re.compile(rf"\\|(?<![\w-])(?:{'|'.join(sorted(PROPERTIES))})\s*:", re.IGNORECASE)
_PIECE = re.compile(
    r"/\*.*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?|[{};]|(?:[^\"'/{};\\]|\\.)+|.", re.DOTALL
)
_NAME = re.compile(r"([.#])((?:[\w-]|[^\x00-\x7f])+)")
_WIDTH = re.compile(r"\((min|max)-(?:device-)?width:([\d.]+)(px|em|rem)\)")
_WRITTEN_AS_ATTRIBUTE = {"color": "color", "text": "color", "bgcolor": "background-color"}


class PageStyles:
    """The rules of a page's own style sheets. Raise NotReadable if there are too many."""

    def __init__(self, tree: HtmlElement) -> None:
        self._matcher = Matcher()
        self.has_rules = False
        css = "\n".join(style.text or "" for style in tree.iter("style") if _is_for_screen(style.get("media", "")))
        if css.strip():
            self._add_rules(css, _names_in(tree))

    def _add_rules(self, css: str, names: set[str]) -> None:
        count = 0
        for prelude, body in _split_rules(css):
            wanted = [one for one in _split_selectors(prelude) if names.issuperset(map("".join, _NAME.findall(one)))]
            if not wanted or not (declarations := _parse_declarations(body)):
                continue
            for selector in wanted:
                count += 1
                if count > MAX_SELECTORS:
                    raise NotReadable("complex")
                self._add_selector(selector, declarations)

    def _add_selector(self, selector: str, declarations: _Declarations) -> None:
        try:
            compiled = compile_selector_list(selector)
        except (SelectorError, RecursionError):  # a browser ignores it as well
            return
        for one in compiled:
            if one.pseudo_element is None:
                self._matcher.add_selector(one, declarations)
                self.has_rules = True

    def styles_of(self, element: HtmlElement, wrapper: ElementWrapper | None) -> Styles:
        """Return what the page declares for the element itself, after the cascade."""
        found: _Declarations = {}
        for name in element.attrib.keys() & _WRITTEN_AS_ATTRIBUTE.keys():
            found[_WRITTEN_AS_ATTRIBUTE[name]] = element.attrib[name].lower(), False
        if wrapper is not None:
            for _specificity, _order, _pseudo, declarations in self._matcher.match(wrapper):
                _cascade(found, declarations)
        if "style" in element.attrib:
            _cascade(found, _parse_declarations(element.attrib["style"]))
        return {name: value for name, (value, _) in found.items()}


def _cascade(found: _Declarations, later: _Declarations) -> None:
    for name, (value, is_important) in later.items():
        if is_important or not found.get(name, ("", False))[1]:
            found[name] = value, is_important


@lru_cache(maxsize=1_000)
def _parse_declarations(body: str) -> _Declarations:
    if not _RELEVANT.search(body):
        return {}
    declarations: _Declarations = {}
    for one in tinycss2.parse_blocks_contents(body, skip_comments=True, skip_whitespace=True):
        if one.type == "declaration" and one.lower_name in PROPERTIES:
            value = re.sub(r"\s+", " ", tinycss2.serialize(one.value)).strip().lower()
            _cascade(declarations, {one.lower_name: (re.sub(r"/\*.*?\*/", "", value), one.important)})
    return declarations


def _names_in(tree: HtmlElement) -> set[str]:
    """Return every class and id of the page, as in a selector."""
    names = {f"#{element.get('id')}" for element in tree.iter() if element.get("id")}
    return names | {f".{name}" for element in tree.iter() for name in (element.get("class") or "").split()}


# ── Style sheets ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Block:
    applies: bool
    selectors: str = ""
    """Empty for a block of rules such as @media."""
    body: list[str] = field(default_factory=list)


def _split_rules(css: str) -> Iterator[tuple[str, str]]:
    """Yield selectors and declarations of each rule that applies. A block that is not closed ends with the sheet."""
    blocks, text = [_Block(applies=True)], list[str]()
    for found in _PIECE.finditer(css):
        piece = found[0]
        if piece.startswith("/*"):
            continue
        if piece == "{":
            blocks.append(_open_block("".join(text).strip(), blocks[-1]))
        elif piece in "};":
            blocks[-1].body += (*text, ";")
            if piece == "}" and len(blocks) > 1:
                yield from _close_block(blocks.pop())
        else:
            text.append(piece)
            continue
        text = []
    blocks[-1].body += text
    for block in reversed(blocks):
        yield from _close_block(block)


def _open_block(head: str, around: _Block) -> _Block:
    if head.startswith("@"):
        return _Block(around.applies and _at_rule_applies(head), around.selectors)
    outer = f":is({around.selectors})" if around.selectors else ""
    nested = head.replace("&", outer) if "&" in head else f"{outer} {head}"
    selectors = nested if outer else head
    return _Block(around.applies and len(selectors) <= _MAX_SELECTOR_LENGTH, selectors[:_MAX_SELECTOR_LENGTH])


def _close_block(block: _Block) -> Iterator[tuple[str, str]]:
    if block.applies and block.selectors:
        yield block.selectors, "".join(block.body)


def _split_selectors(prelude: str) -> list[str]:
    """Return the selectors of a list, or the list itself where commas may stand within one."""
    return [prelude] if "(" in prelude or '"' in prelude or "'" in prelude else prelude.split(",")


def _at_rule_applies(head: str) -> bool:
    name, _, condition = head[:_MAX_SELECTOR_LENGTH].lower().partition(" ")
    if name.startswith("@media"):
        return _is_for_screen((name.removeprefix("@media") + condition).strip())
    return name in {"@layer", "@supports", "@scope"}


def _is_for_screen(media: str) -> bool:
    """Return whether a wide screen matches one of these media."""
    return any(map(_matches_screen, media.lower().split(",")))


def _matches_screen(query: str) -> bool:
    solid = re.sub(r"\s|only", "", query)
    widths = _WIDTH.findall(solid)
    rest = re.sub(r"and", "", _WIDTH.sub("", solid))
    return rest in {"", "all", "screen"} and all(
        (_width(*one) <= _SCREEN_WIDTH) if one[0] == "min" else (_width(*one) >= _SCREEN_WIDTH) for one in widths
    )


def _width(_bound: str, number: str, unit: str) -> float:
    try:
        return float(number) * (1 if unit == "px" else 16)
    except ValueError:
        return 0.0
