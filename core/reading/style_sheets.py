"""Style sheets, split into the rules that apply on a wide screen.

One pass over the characters does it, because a sheet may have any size. Blocks end where a browser ends them: what is
invalid for a browser must not apply here, or a page could show us what it hides from everybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf

from core.reading.media_queries import is_contained, is_for_screen, is_supported

MAX_SELECTOR = 1_000
"""Limit in characters for a selector. Longer ones do not apply."""
Layer = tuple[float, ...]
"""Place of a cascade layer: a larger one wins. Rules outside of all layers come last."""
NO_LAYER: Layer = (inf,)
_PIECE = re.compile(
    r"/\*.*?(?:\*/|\Z)|(?<=[uU][rR][lL])\(\s*[^\"'\s)][^)]*\)?|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?"
    r"|[{};()\[\]]|(?:[^\"'/{};()\[\]\\]|\\.)+|.",
    re.DOTALL,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_SCOPE = re.compile(r"@scope\s*\((.*?)\)\s*(?:to\s*\((.*)\))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """Selectors and declarations. The head is that of an at-rule for @property, and a place for a frame of @keyframes."""

    head: str
    body: str
    layer: Layer = NO_LAYER
    keyframes: str = ""
    """Name of the animation that the rule is a frame of."""
    is_certain: bool = True
    """False if it depends on what cannot be judged without the layout or the whole of a browser."""


@dataclass(slots=True)
class _Block:
    applies: bool = True
    is_certain: bool = field(default=True, kw_only=True)
    selectors: str = ""
    """Empty for a block of rules such as @media."""
    limit: str = ""
    """Selector of what a scope leaves out."""
    layer: tuple[str, ...] = ()
    keyframes: str = ""
    body: list[str] = field(default_factory=list)


def split_rules(css: str) -> Iterator[Rule]:
    """Yield each rule that applies. A block that is not closed ends with the sheet."""
    yield from _Splitter().split(css)


def split_selectors(selectors: str) -> list[str]:
    """Return the selectors of a list: commas in brackets and strings do not end one."""
    if "(" not in selectors and '"' not in selectors and "'" not in selectors:
        return [one.strip() for one in selectors.split(",")]
    found, depth = [""], 0
    for piece in re.findall(r"\"[^\"]*\"?|'[^']*'?|[,()]|[^\"',()]+", selectors):
        depth += (piece == "(") - (piece == ")")
        if piece == "," and depth <= 0:
            found.append("")
        else:
            found[-1] += piece
    return [one.strip() for one in found]


class _Splitter:
    def __init__(self) -> None:
        self._blocks = [_Block()]
        self._layers: dict[tuple[str, ...], int] = {}

    def split(self, css: str) -> Iterator[Rule]:
        text, brackets = list[str](), list[str]()
        for found in _PIECE.finditer(css):
            piece = found[0]
            if piece.startswith("/*"):
                continue
            if piece in _CLOSING and (brackets or piece != "{"):
                brackets.append(_CLOSING[piece])
            elif brackets and piece == brackets[-1]:
                brackets.pop()
            elif not brackets and piece in "{};" and self._ends(piece, text):
                yield from self._end(piece, "".join(text))
                text = []
                continue
            text.append(piece)
        self._blocks[-1].body += text
        for block in reversed(self._blocks):
            yield from self._close(block)

    def _ends(self, piece: str, text: list[str]) -> bool:
        """Return whether a bracket or semicolon ends something. Outside of rules a stray one spoils the next selector."""
        if piece == "{":
            return True
        if piece == "}":
            return len(self._blocks) > 1
        return bool(self._blocks[-1].selectors) or "".join(text).lstrip().startswith("@")

    def _end(self, piece: str, text: str) -> Iterator[Rule]:
        block = self._blocks[-1]
        if piece == "{":
            self._blocks.append(self._open(re.sub(r"^(?:<!--|-->|\s)+", "", text).strip(), block))
            return
        block.body += (text, ";")
        if piece == "}":
            yield from self._close(self._blocks.pop())
        elif text.lstrip().lower().startswith("@layer"):
            for name in text.strip()[6:].split(","):
                self._place((*block.layer, *name.strip().split(".")))

    def _open(self, head: str, around: _Block) -> _Block:
        if head.startswith("@"):
            return self._open_at_rule(head[:MAX_SELECTOR], around)
        if around.keyframes:
            return _Block(around.applies, head, keyframes=around.keyframes)
        selectors = head.replace("&", ":root")
        if around.selectors or around.limit:
            selectors = ",".join(_nested(one, around) for one in split_selectors(head[:MAX_SELECTOR]))
        applies = around.applies and len(selectors) <= MAX_SELECTOR
        return _Block(applies, selectors[:MAX_SELECTOR] or "-", layer=around.layer, is_certain=around.is_certain)

    def _open_at_rule(self, head: str, around: _Block) -> _Block:
        name = (re.match(r"@[\w-]*", head) or [""])[0].lower()
        rest = head[len(name) :].strip()
        block = _Block(around.applies, around.selectors, around.limit, around.layer, is_certain=around.is_certain)
        if name == "@layer":
            block.layer = (*around.layer, *(rest.split(".") if rest else (f" {len(self._layers)}",)))
            self._place(block.layer)
        elif name == "@scope":
            root = _SCOPE.fullmatch(head)
            block.selectors, block.limit = (root[1], root[2] or "") if root else (around.selectors, around.limit)
        elif name.endswith("keyframes"):
            block.selectors, block.keyframes = "", rest.strip("\"' ")
        elif name == "@property":
            block.selectors = head
        else:
            holds = _holds(name, rest)
            block.applies = around.applies and holds is not False
            block.is_certain = around.is_certain and holds is True and name != "@container"
        return block

    def _place(self, layer: tuple[str, ...]) -> Layer:
        """Return the place of a layer, which is that of its first mention within the layers around it."""
        if not layer:
            return NO_LAYER
        places = (self._layers.setdefault(layer[: n + 1], len(self._layers)) for n in range(len(layer)))
        return (*places, inf)

    def _close(self, block: _Block) -> Iterator[Rule]:
        if block.applies and block.selectors:
            yield Rule(
                block.selectors, "".join(block.body), self._place(block.layer), block.keyframes, block.is_certain
            )


def _nested(selector: str, around: _Block) -> str:
    outer = f":is({around.selectors})"
    whole = selector.replace("&", outer) if "&" in selector else f"{outer} {selector}"
    return f"{whole}:not(:is({around.limit}) *)" if around.limit and "::" not in whole else whole


def _holds(name: str, condition: str) -> bool | None:
    if name == "@media":
        return is_for_screen(condition)
    if name == "@supports":
        return is_supported(condition)
    return is_contained(condition) if name == "@container" else False
