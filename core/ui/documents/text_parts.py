"""Parts of a file's text, as a reader leafs through them: pages and slides, else pieces of some thousand characters."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from core.reading import TextSection, place_at

PART_LENGTH = 6_000
"""Length of a piece of a text without pages. It ends at the end of a line."""


@dataclass(frozen=True, slots=True)
class TextPart:
    start: int
    end: int
    label: str
    """第 14 页; 「价目」第 12 行; empty for a text without places."""
    page: int | None = None
    """Number of the page or slide; None for a piece."""


def split_parts(text: str, sections: Sequence[TextSection]) -> list[TextPart]:
    """Return the parts of a text in order. There is always one."""
    pages = [section for section in sections if section.kind in ("page", "slide")]
    starts = [0, *(page.start for page in pages[1:])] if pages else _piece_starts(text)
    ends = [*starts[1:], len(text)]
    parts = []
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        place = place_at(text, sections, max(start, pages[number].start) if pages else start)
        parts.append(TextPart(start, end, place.label if place else "", pages[number].number if pages else None))
    return parts


def _piece_starts(text: str) -> list[int]:
    starts = [0]
    while len(text) - starts[-1] > PART_LENGTH:
        line_end = text.rfind("\n", starts[-1] + PART_LENGTH // 2, starts[-1] + PART_LENGTH)
        starts.append(line_end + 1 if line_end >= 0 else starts[-1] + PART_LENGTH)
    return starts


def part_with(parts: Sequence[TextPart], position: int) -> int:
    """Return the index of the part that holds a position; the last one for a position behind the text."""
    return max(bisect_right(parts, position, key=lambda part: part.start) - 1, 0)
