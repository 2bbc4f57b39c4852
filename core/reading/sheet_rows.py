"""Rows of sheets with their numbers, as lines of a text."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice
from typing import NamedTuple

from core.reading.table_rows import MAX_TITLE_ROWS, SAMPLE_ROWS, find_header, row_line
from core.reading.text_builder import TextBuilder

MAX_EMPTY = 20
"""Empty rows that are kept as empty lines. After more of them a new section begins."""


class SheetRow(NamedTuple):
    number: int
    """Number of the row, from 1, as the program that shows the sheet counts."""
    cells: list[str | None]
    """None belongs to the cell on its left."""


def add_sheet(
    builder: TextBuilder, rows: Iterable[SheetRow], *, number: int, name: str, line: str = "", max_text: int
) -> bool:
    """Add a sheet, one line for each row, after a line with its name. Return False if the text grew too long for all rows."""
    every = iter(rows)
    top = list(islice(every, MAX_TITLE_ROWS + SAMPLE_ROWS))
    if not top:
        return True
    header = find_header([row.cells for row in top])
    first_value = top[header.first_row].number if header else 0
    following = 0
    for row in chain(top, every):
        if builder.length > max_text:
            return False
        if not following and line:
            builder.begin("sheet", number=number, title=name, first_line=max(row.number - 1, 0))
            builder.add_line(line)
        elif not following or row.number - following > MAX_EMPTY:
            builder.begin("sheet", number=number, title=name, first_line=row.number)
        else:
            for _ in range(row.number - following):
                builder.add_line()
        builder.add_line(row_line(row.cells, header.names if header and row.number >= first_value else ()))
        following = row.number + 1
    return True
