"""The order in which a reader reads the lines of a page: columns from left to right, each from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from core.reading.recognition_types import Box, RecognizedLine

Row = list[RecognizedLine]
"""Pieces that stand beside each other, from left to right: cells of a table, words far apart."""

_WIDEST_SHARE = 0.6
"""Share of the width of the page from which a line may stand above columns and in none of them."""
_COLUMN_LINES = 3
_COLUMN_EMS = 8
"""Least lines of a column, and least width of its usual line in heights of a line: narrower ones are cells of a table."""
_FULL_LINE = 0.6
"""Share of its column that a usual line of prose fills."""


def reading_rows(lines: Sequence[RecognizedLine]) -> list[Row]:
    """Return the rows of a page in reading order."""
    if not lines:
        return []
    height = median(_height(line.box) for line in lines)
    gutter = _find_gutter(lines, height)
    return _join_rows(lines) if gutter is None else list(_read_columns(lines, gutter))


def _read_columns(lines: Sequence[RecognizedLine], gutter: float) -> Iterator[Row]:
    """Yield the rows on both sides of the gutter. Lines that cross it divide the page into bands."""
    crossing = [line for line in lines if line.box[0] < gutter < line.box[2]]
    edges = sorted(_middle(line.box) for line in crossing)
    for top, bottom in zip([float("-inf"), *edges], [*edges, float("inf")], strict=True):
        band = [line for line in lines if line not in crossing and top <= _middle(line.box) < bottom]
        yield from reading_rows([line for line in band if line.box[2] <= gutter])
        yield from reading_rows([line for line in band if line.box[0] >= gutter])
        yield from _join_rows([line for line in crossing if _middle(line.box) == bottom])


def _find_gutter(lines: Sequence[RecognizedLine], height: float) -> float | None:
    """Return the middle of the widest empty strip between two columns of prose; None without columns."""
    left, right = min(line.box[0] for line in lines), max(line.box[2] for line in lines)
    narrow = sorted(line.box for line in lines if line.box[2] - line.box[0] <= _WIDEST_SHARE * (right - left))
    found: list[tuple[float, float]] = []
    end = narrow[0][2] if narrow else 0.0
    for box in narrow:
        middle = (end + box[0]) / 2
        if box[0] - end >= height / 2 and _divides_columns(narrow, middle, height):
            found.append((box[0] - end, middle))
        end = max(end, box[2])
    return max(found)[1] if found else None


def _divides_columns(boxes: Sequence[Box], gutter: float, height: float) -> bool:
    sides = [box for box in boxes if box[2] <= gutter], [box for box in boxes if box[0] >= gutter]
    return all(_is_prose(side, height) for side in sides)


def _is_prose(boxes: Sequence[Box], height: float) -> bool:
    widths = [right - left for left, _, right, _ in boxes]
    if len(widths) < _COLUMN_LINES:
        return False
    return median(widths) >= max(_FULL_LINE * max(widths), _COLUMN_EMS * height)


def _join_rows(lines: Sequence[RecognizedLine]) -> list[Row]:
    rows: list[Row] = []
    for line in sorted(lines, key=lambda line: _middle(line.box)):
        if rows and _is_beside(rows[-1][-1].box, line.box):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.box[0]) for row in rows]


def _is_beside(one: Box, other: Box) -> bool:
    shared = min(one[3], other[3]) - max(one[1], other[1])
    return shared > min(_height(one), _height(other)) / 2 and (one[2] <= other[0] + 2 or other[2] <= one[0] + 2)


def _middle(box: Box) -> float:
    return (box[1] + box[3]) / 2


def _height(box: Box) -> float:
    return box[3] - box[1]
