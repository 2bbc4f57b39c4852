"""Sections of a text: the pages, slides, sheets, chapters and headings by which a reader finds a place in a file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Literal

from core.base.text import clean, one_line

SectionKind = Literal["page", "slide", "sheet", "chapter", "part", "heading"]
"""`heading` stands inside the others; each of the others begins where the one before it ends."""


@dataclass(frozen=True, slots=True)
class TextSection:
    """A part of a text that has a number or a name. It ends where the next one of its kind begins."""

    start: int
    """Position in the text."""
    kind: SectionKind
    number: int = 0
    """Number from 1 of a page, slide, sheet or chapter; 0 without one."""
    title: str = ""
    """The heading, the name of the sheet or of the e-mail's part, as printed there."""
    level: int = 0
    """Level of a heading, from 1."""
    first_line: int = 1
    """Number of the first row of a sheet, or of the first paragraph; 0 where the section begins with its own title."""
    is_recognized: bool = False
    """True if the text was recognized in a picture, and may have errors."""


MAX_SECTIONS = 20_000
"""Limit of pages, sheets, headings and uncertain digits of one text."""
MAX_NUMBER = 2**31
MAX_SECTION_TITLE = 200


def check_section(section: TextSection) -> TextSection:
    """Return the section with a clean title. Raise ValueError for one that is not made here."""
    numbers = (section.number, section.level, section.first_line)
    if min(numbers) < 0 or max(numbers) > MAX_NUMBER or len(section.title) > MAX_SECTION_TITLE:
        raise ValueError("not a section that is made here")
    return replace(section, title=one_line(section.title))


def check_positions(text: str, sections: Sequence[TextSection], uncertain: Sequence[tuple[int, int]]) -> None:
    """Raise ValueError for positions outside of the text, or out of order."""
    starts = [0, *(section.start for section in sections), len(text)]
    if starts != sorted(starts) or any(not 0 <= start <= end <= len(text) for start, end in uncertain):
        raise ValueError("positions outside of the text")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file as readers name it."""

    label: str
    """第 14 页; 幻灯片 3; 「价目」第 12 行; 「付款方式」第 2 段; 「第二章 雾」第 5 段."""
    page: int | None = None
    """Number of the page or slide, where the file has some."""
    is_recognized: bool = False
    kind: SectionKind = "page"


def place_at(text: str, sections: Sequence[TextSection], position: int) -> Place | None:
    """Return the place of a position; None for a text without sections."""
    before = sections[: bisect_right(sections, position, key=lambda section: section.start)]
    if not before:
        return None
    holder = next((section for section in reversed(before) if section.kind != "heading"), before[-1])
    if holder.kind in ("page", "slide"):
        return Place(_numbered(holder), holder.number, holder.is_recognized, holder.kind)
    return Place(_label(holder, text[holder.start : position]), None, holder.is_recognized, holder.kind)


def _numbered(section: TextSection) -> str:
    return f"第 {section.number} 页" if section.kind == "page" else f"幻灯片 {section.number}"


def section_label(section: TextSection) -> str:
    """Return the words that stand above a section: 第 14 页; 幻灯片 3; 「价目」; the title of a part. Empty for a heading, which
    stands in the text itself."""
    if section.kind == "heading":
        return ""
    words = _numbered(section) if section.kind in ("page", "slide") else _name(section)
    return f"{words}（识别）" if words and section.is_recognized else words


def _name(section: TextSection) -> str:
    if section.kind == "part":
        return section.title
    number = f"第 {section.number} 章" if section.kind == "chapter" else ""
    return f"「{section.title}」" if section.title else number


def _label(holder: TextSection, before: str) -> str:
    """Return the label of a place, given the text of its section before it."""
    name = _name(holder)
    if holder.kind == "part":
        return name
    if holder.kind == "sheet":
        row = holder.first_line + before.count("\n")
        return f"{name}第 {row} 行" if row else name
    paragraph = holder.first_line + sum(map(bool, map(str.strip, before.split("\n")[:-1])))
    return f"{name}第 {paragraph} 段" if paragraph else name


def with_beginning(sections: Sequence[TextSection]) -> tuple[TextSection, ...]:
    """Return the headings of a text, after one without a title for what stands before the first of them."""
    return tuple(sections) if sections and not sections[0].start else (TextSection(0, "heading"), *sections)


def clean_with_sections(
    text: str, sections: Sequence[TextSection], *, limit: int
) -> tuple[str, tuple[TextSection, ...]]:
    """Return at most `limit` characters of the text, cleaned and stripped, with its sections where they are now."""
    edges = [0, *(section.start for section in sections), len(text)]
    pieces = [clean(text[start:end]) for start, end in pairwise(edges)]
    joined = "".join(pieces)
    left_out = len(joined) - len(joined.lstrip())
    shown = joined.strip()[:limit]
    starts = (min(max(start - left_out, 0), len(shown)) for start in accumulate(map(len, pieces[:-1])))
    moved = (replace(section, start=start) for section, start in zip(sections, starts, strict=True))
    return shown, tuple(moved)[:MAX_SECTIONS]


def shift_sections(sections: Iterable[TextSection], by: int) -> tuple[TextSection, ...]:
    """Return the sections of a text that stands `by` characters further back in another one."""
    return tuple(replace(section, start=section.start + by) for section in sections)
