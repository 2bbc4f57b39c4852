"""Tables in text (.csv, .tsv), row by row. This runs only in a worker."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from core.base.text import one_line
from core.reading.extraction_types import ExtractedText, NotReadable
from core.reading.sheet_rows import SheetRow, add_sheet
from core.reading.text_builder import TextBuilder

DELIMITERS = ",;\t|"
_SAMPLE_LINES = 30
MAX_CELL = 1_000_000


def read_csv(text: str, *, max_text: int) -> ExtractedText:
    """Return the rows of a table, with their numbers. Raise NotReadable."""
    builder = TextBuilder()
    csv.field_size_limit(MAX_CELL)
    try:
        is_whole = add_sheet(builder, _rows(text), number=1, name="", max_text=max_text)
    except csv.Error:  # a quotation mark without its end
        raise NotReadable("broken") from None
    return ExtractedText("csv", builder.text, sections=builder.sections, is_cut=not is_whole)


def _rows(text: str) -> Iterator[SheetRow]:
    lines = text.splitlines(keepends=True)
    if lines and lines[0].lower().startswith("sep=") and len(lines[0].strip()) == 5:  # Excel's own first line
        delimiter, text = lines[0][4], "".join(lines[1:])
        first = 2
    else:
        delimiter, first = _delimiter(lines[:_SAMPLE_LINES]), 1
    for number, row in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), first):
        if any(cell.strip() for cell in row):
            yield SheetRow(number, [one_line(cell) for cell in row])


def _delimiter(lines: list[str]) -> str:
    """Return the character that cuts most lines into equally many cells."""

    def agreement(delimiter: str) -> tuple[int, int]:
        counts = [line.count(delimiter) for line in lines if line.strip()]
        usual = max(set(counts), key=counts.count, default=0)
        return (counts.count(usual) if usual else 0), usual

    return max(DELIMITERS, key=agreement)
