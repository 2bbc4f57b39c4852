"""Rows of tables as lines that can be read by themselves: each cell with the name of its column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from core.base.text import one_line

Row = Sequence[str | None]
"""Cells of a row. None belongs to the cell on its left."""
MAX_TITLE_ROWS = 10
"""Rows above the header: a title, a unit, a day."""
MAX_NAME = 40
"""Length of the longest name of a column."""
MAX_DIGITS = 4
"""Digits that the name of a column may have: 2024 年收入."""
SAMPLE_ROWS = 20
_CELL, _WITH_NAME = "\t", "；"
_YEAR = re.compile(r"(?:19|20)\d\d\s*(?:年度?|[/-]\d\d?)?|\d\d?\s*月份?")
_DISTINCT_SHARE = 0.6


class Header(NamedTuple):
    """The names of the columns."""

    names: tuple[str, ...]
    first_row: int
    """Index of the first row with values."""


def table_lines(rows: Sequence[Row]) -> list[str]:
    """Return a line for each row: 项目：押金；金额：7,000 元. Without a header there are only tabs between the cells."""
    header = find_header(rows)
    return [
        row_line(row, header.names if header and number >= header.first_row else ()) for number, row in enumerate(rows)
    ]


def row_line(row: Row, names: Sequence[str] = ()) -> str:
    """Return a row as a line, without its empty cells."""
    cells = [one_line(cell or "") for cell in row]
    if not names:
        return _CELL.join(filter(None, cells))
    return _WITH_NAME.join(
        column_prefix(names, index) + cell.removesuffix(_WITH_NAME) for index, cell in enumerate(cells) if cell
    )


def column_prefix(names: Sequence[str], index: int) -> str:
    """Return the name of a column as it stands before a cell."""
    name = names[index] if index < len(names) else ""
    return f"{name.rstrip('：:')}：" if name else ""


def find_header(rows: Sequence[Row]) -> Header | None:
    """Return the header: the first row of names, or the first two, above values. None for a list of pairs, or without names."""
    top = [_spread(row) for row in rows[: MAX_TITLE_ROWS + SAMPLE_ROWS]]
    for index, names in enumerate(top[:MAX_TITLE_ROWS]):
        below = top[index + 1 :]
        if not _may_be_names(names):
            continue
        if below and None in rows[index] and _may_be_names(below[0]):
            joined = [_join(upper, lower) for upper, lower in zip_longest(names, below[0], fillvalue="")]
            if _stand_above(joined, below[1 : SAMPLE_ROWS + 1]):
                return Header(tuple(joined), index + 2)
        if _stand_above(names, below[:SAMPLE_ROWS]):
            return Header(tuple(names), index + 1)
    return None


def _spread(row: Row) -> list[str]:
    cells: list[str] = []
    for cell in row:
        cells.append(one_line(cell) if cell is not None else cells[-1] if cells else "")
    return cells


def _join(upper: str, lower: str) -> str:
    return upper if upper == lower else f"{upper} {lower}".strip()


def _may_be_names(cells: Sequence[str]) -> bool:
    filled = list(filter(None, cells))
    return len(set(filled)) >= 2 and all(map(_is_name, filled))


def _stand_above(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether these are names of the columns below. Two of them need numbers below: pairs have no header."""
    filled = list(filter(None, names))
    width = max((sum(map(bool, cells)) for cells in below), default=0)
    if not width or len(filled) * 2 < width or len(set(filled)) < _DISTINCT_SHARE * len(filled):
        return False
    if any(name and cell and not _is_name(cell) for cells in below for name, cell in zip(names, cells, strict=False)):
        return True
    return len(filled) > 2 and not any(name.endswith(("：", ":")) for name in filled)


def _is_name(cell: str) -> bool:
    """Return whether a cell may be the name of a column: words, or a year or month."""
    if len(cell) > MAX_NAME or cell.endswith(("。", "；")):
        return False
    digits = sum(character.isdigit() for character in cell)
    return (digits <= MAX_DIGITS and digits * 2 < len(cell)) or bool(_YEAR.fullmatch(cell))
