"""Workbooks (.xlsx): their visible sheets row by row, with values as they are shown. This runs only in a worker: the file is untrusted.

Of a formula only the value that was saved is read. Nothing is calculated, and no other file is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lxml.etree import _Element as Element

from core.base.text import one_line
from core.reading.document_properties import read_properties
from core.reading.extraction_types import ExtractedText, NotReadable
from core.reading.number_formats import BUILT_IN, GENERAL, format_number
from core.reading.packed_files import PackedFile
from core.reading.sheet_rows import SheetRow, add_sheet
from core.reading.text_builder import TextBuilder

MAIN = "xl/workbook.xml"
MAX_SHEETS = 500
MAX_COLUMNS = 16_384
MAX_ROWS = 1_048_576
MAX_MERGED = 20_000
MAX_CELLS = 3_000_000
"""Limit for the cells of all sheets together."""
NOT_CALCULATED = "（公式，未计算）"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\b[^<>]*?\bref=[\"']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})[\"']")
_PLAIN_NAME = re.compile(r"(?:Sheet|工作表|表)\s*\d+", re.IGNORECASE)
_TRUE = {"1", "true"}


def read_xlsx(packed: PackedFile, *, max_text: int) -> ExtractedText:
    """Return the rows of the visible sheets, with their numbers. Raise NotReadable."""
    book = packed.parse(MAIN)
    related = packed.related(MAIN)
    cells = _CellReader(packed, book, related)
    visible = [sheet for sheet in book.iter("{*}sheet") if sheet.get("state", "visible") == "visible"]
    if len(visible) > MAX_SHEETS:
        raise NotReadable("complex")
    builder, is_cut = TextBuilder(), False
    for number, sheet in enumerate(visible, 1):
        kind, part = related.get(sheet.get(_RELATION, ""), ("", ""))
        if kind == "worksheet":
            name = one_line(sheet.get("name", ""))
            shown = "" if len(visible) == 1 and _PLAIN_NAME.fullmatch(name) else name
            rows = _fill_merged(cells.rows(part), _merged_areas(packed, part))
            is_cut = not add_sheet(builder, rows, number=number, name=name, line=shown, max_text=max_text) or is_cut
    about = read_properties(packed)
    return ExtractedText(
        "xlsx",
        builder.text,
        title=about.title,
        sections=builder.sections if builder.length else (),
        modified=about.modified,
        is_cut=is_cut,
    )


class _CellReader:
    """Reads the values of cells as they are shown."""

    def __init__(self, packed: PackedFile, book: Element, related: Mapping[str, tuple[str, str]]) -> None:
        self._packed = packed
        parts = dict(related.values())
        self._strings = (
            [_string(item) for item in packed.iterate(parts["sharedStrings"], "si")] if "sharedStrings" in parts else []
        )
        self._formats = list(_formats(packed.parse(parts["styles"]))) if "styles" in parts else []
        self._from_1904 = any(about.get("date1904") in _TRUE for about in book.iter("{*}workbookPr"))
        self._left = MAX_CELLS

    def rows(self, part: str) -> Iterator[SheetRow]:
        """Yield the rows that have cells, in the order of their numbers."""
        last = 0
        for element in self._packed.iterate(part, "row"):
            given = element.get("r", "")
            number = int(given) if given.isascii() and given.isdigit() and len(given) < 8 else last + 1
            if not last < number <= MAX_ROWS:
                raise NotReadable("broken")
            last = number
            if cells := self._cells(element):
                yield SheetRow(number, cells)

    def _cells(self, row: Element) -> list[str | None]:
        cells: list[str | None] = []
        for cell in row.iterchildren("{*}c"):
            column = column_number(cell.get("r", "")) or len(cells) + 1
            self._left -= 1
            if column > MAX_COLUMNS or self._left < 0:
                raise NotReadable("complex")
            if text := self._value(cell):
                cells += [""] * (column - len(cells))
                cells[column - 1] = text
        return cells

    def _value(self, cell: Element) -> str:
        kind, stored = cell.get("t", "n"), cell.findtext("{*}v")
        if kind == "inlineStr":
            return "".join(_string(item) for item in cell.iterchildren("{*}is"))
        if not stored:
            return NOT_CALCULATED if stored is None and cell.find("{*}f") is not None else ""
        match kind:
            case "s":
                return self._strings[int(stored)] if stored.isdigit() and int(stored) < len(self._strings) else ""
            case "b":
                return "TRUE" if stored in _TRUE else "FALSE"
            case "n":
                return format_number(stored, self._format(cell.get("s", "")), from_1904=self._from_1904)
            case _:
                return one_line(stored)

    def _format(self, style: str) -> str:
        return self._formats[int(style)] if style.isdigit() and int(style) < len(self._formats) else GENERAL


def _string(item: Element) -> str:
    """Return the words of a string, without the reading aids that Japanese writes above them."""
    return one_line("".join(text.text or "" for text in item.iter("{*}t") if not text.getparent().tag.endswith("}rPh")))


def _formats(styles: Element) -> Iterator[str]:
    own = {one.get("numFmtId", ""): one.get("formatCode", "") for one in styles.iter("{*}numFmt")}
    for group in styles.iterchildren("{*}cellXfs"):
        for style in group.iterchildren("{*}xf"):
            number = style.get("numFmtId", "0")
            yield own.get(number) or BUILT_IN.get(int(number) if number.isdigit() else 0, GENERAL)


def column_number(reference: str) -> int:
    """Return the number of a column, from 1; 0 for what is no reference: AB12 is in column 28."""
    number = 0
    for letter in reference.rstrip("0123456789"):
        if not "A" <= letter <= "Z" or number > MAX_COLUMNS:
            return 0
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


# ── Merged cells ──────────────────────────────────────────────────────────────────────────────────────────────────────


class _Area(NamedTuple):
    """Cells that are shown as one. Columns and rows count from 1."""

    top: int
    left: int
    bottom: int
    right: int


def _merged_areas(packed: PackedFile, part: str) -> list[_Area]:
    """Return the merged cells by their first rows. They stand behind the rows that they are needed for."""
    found = _MERGED.findall(packed.read(part))
    if len(found) > MAX_MERGED:
        raise NotReadable("complex")
    areas = (
        _Area(int(top), column_number(left.decode()), int(bottom), column_number(right.decode()))
        for left, top, right, bottom in found
    )
    return sorted(areas)


def _fill_merged(rows: Iterator[SheetRow], areas: list[_Area]) -> Iterator[SheetRow]:
    """Yield the rows with the value of merged cells in each of their rows, and None in their other columns."""
    open_areas: list[tuple[_Area, str]] = []
    for row in rows:
        number, cells = row
        open_areas = [(area, text) for area, text in open_areas if area.bottom >= number]
        while areas and areas[0].top <= number:
            area = areas.pop(0)
            text = (cells[area.left - 1] if area.top == number and area.left <= len(cells) else "") or ""
            open_areas += [(area, text)] if text else []
        for area, text in open_areas:
            cells.extend([""] * (min(area.right, MAX_COLUMNS) - len(cells)))
            cells[area.left - 1 : area.right] = [text, *[None] * (area.right - area.left)]
        yield row
