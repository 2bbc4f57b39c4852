"""Pages of a document as an agent asks for them: 3-5, 1 and 7, or as much from the beginning as there is room for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.answer import join_numbers
from core.reading import Page, Span, TextSection, outline
from core.search import QuotedText, sources_block
from core.search.types import Source

PART_LENGTH = 3_000
"""Characters of a part of a text that has no pages."""
MAX_WANTED = 50
OUTLINE_LENGTH = 800
_RANGE = re.compile(r"(\d{1,6})(?:\s*[-–—~～至到][第\s]*(\d{1,6}))?")
_UNITS = {"page": "页", "slide": "张幻灯片", "sheet": "个工作表", "chapter": "章", "part": "部分"}


@dataclass(frozen=True, slots=True)
class DocumentPages:
    """The pages of a document that were asked for, as far as there is room."""

    page: Page
    unit: str
    """Word for a page: 页, 张幻灯片, 章, 部分."""
    count: int
    """Number of pages that the document has."""
    spans: tuple[Span, ...] = ()
    """Position of each page that is shown; empty if there is no such page."""
    numbers: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()
    """Pages that were asked for and did not fit."""
    is_cut: bool = False
    """True if the last page that is shown is longer than the room for it."""

    @classmethod
    def choose(cls, page: Page, wanted: str, *, characters: int) -> DocumentPages:
        """Return the wanted pages. Without a number in `wanted` they are those from the first on."""
        unit, units = _units(page)
        asked = [number for number in _numbers(wanted) if number in units] if _numbers(wanted) else list(units)
        spans: list[Span] = []
        left, is_cut = characters, False
        for number in asked:
            start, end = units[number]
            if end - start > left:
                if spans:
                    break
                end, is_cut = start + left, True
            spans.append((start, end))
            left -= end - start
        shown = len(spans)
        return cls(page, unit, len(units), tuple(spans), tuple(asked[:shown]), tuple(asked[shown:]), is_cut)

    @property
    def range_words(self) -> str:
        return f"一共 {self.count} {self.unit}"

    @property
    def summary(self) -> str:
        shown = sum(end - start for start, end in self.spans)
        return f"第 {_listed(self.numbers)} {self.unit} · {shown:,} 字"

    @property
    def note(self) -> str:
        """Return what is shown, and how to get the rest."""
        said = f"这个文件{self.range_words}，下面是第 {_listed(self.numbers)} {self.unit}。"
        said += "这一部分太长，只有开头。" if self.is_cut else ""
        return said + (f"放不下的从第 {self.left_out[0]} {self.unit}开始，可以再读。" if self.left_out else "")

    def block(self, source: Source) -> str:
        """Return the pages as a fenced block for a model, with the headings of the document if not all of it is shown."""
        text = "\n".join(
            f"（第 {number} {self.unit}）{self.page.text[start:end]}"
            for number, (start, end) in zip(self.numbers, self.spans, strict=True)
        )
        headings = outline(self.page, characters=OUTLINE_LENGTH) if len(self.spans) < self.count else ""
        quoted = QuotedText("正文节选", text, self.note, headings)
        return sources_block([source], snippet_length=len(text), passages_by_number={source.number: quoted})


def _units(page: Page) -> tuple[str, dict[int, Span]]:
    """Return the word for the pages of a text and their positions by number."""
    holders = [section for section in page.sections if section.kind != "heading"]
    if not holders:
        edges = [*range(0, page.length, PART_LENGTH), page.length]
        return _UNITS["part"], dict(enumerate(pairwise(edges), 1))
    ends = [*(one.start for one in holders[1:]), page.length]
    numbered = {
        _number(one, place): (one.start, end) for place, (one, end) in enumerate(zip(holders, ends, strict=True), 1)
    }
    return _UNITS[holders[0].kind], numbered


def _number(section: TextSection, place: int) -> int:
    return section.number or place


def _numbers(wanted: str) -> list[int]:
    found: list[int] = []
    for first, last in _RANGE.findall(wanted):
        start, end = int(first), int(last or first)
        found += range(start, min(max(start, end), start + MAX_WANTED - 1) + 1)
    return list(dict.fromkeys(found))[:MAX_WANTED]


def _listed(numbers: Sequence[int]) -> str:
    """Return numbers in a row as a range: 3–5、9."""
    return join_numbers(numbers, "、", "–")
