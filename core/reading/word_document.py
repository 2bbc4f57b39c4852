"""Word documents (.docx): paragraphs, headings, tables and footnotes. This runs only in a worker: the file is untrusted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from docx.oxml.ns import qn
from lxml import etree
from lxml.etree import _Element as Element

from core.base.text import clean, one_line, shorten
from core.reading.document_properties import read_properties
from core.reading.extraction_types import ExtractedText
from core.reading.packed_files import PackedFile
from core.reading.page import MAX_TITLE
from core.reading.sections import TextSection, with_beginning
from core.reading.table_rows import column_prefix, find_header

_MAIN = re.compile(r"word/document\d*\.xml")
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_NOT_TEXT = frozenset({"pPr", "rPr", "tblPr", "trPr", "tcPr", "sectPr", "instrText", "del", "moveFrom", "Fallback"})
_NOTES = {"footnoteReference": "word/footnotes.xml", "endnoteReference": "word/endnotes.xml"}
_STYLES = "word/styles.xml"
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_OUTLINE_LEVELS = frozenset("012345678")
_AROUND_PARTS = frozenset({"sdt", "sdtContent", "customXml", "ins"})
MAX_SPAN = 200
"""Columns that one cell may take."""
_OFF = {"0", "false", "off"}


class Piece(NamedTuple):
    """A piece of the document's text, with the elements that it comes from."""

    text: str
    element: Element | None = None
    """Element with these words, if they can be split."""
    run: Element | None = None
    """Run that a comment on these words is attached to."""
    level: int = 0
    """Level of the heading that begins here; 0 where none does."""


_Cell = list[Piece] | None
"""The pieces of a cell; None belongs to the cell on its left."""


def main_part(packed: PackedFile) -> str:
    """Return the name of the part with the text; empty for a file that is no Word document."""
    return next(filter(_MAIN.fullmatch, packed.names), "")


def read_docx(packed: PackedFile) -> ExtractedText:
    """Return paragraphs, table rows and, at the end, footnotes. Text deleted under tracked changes is left out."""
    pieces = list(all_pieces(packed.parse(main_part(packed)), packed))
    text, about = "".join(piece.text for piece in pieces), read_properties(packed)
    return ExtractedText(
        "docx", text, title=about.title, sections=with_beginning(tuple(_headings(pieces))), modified=about.modified
    )


def _headings(pieces: Iterable[Piece]) -> Iterator[TextSection]:
    """Yield the headings where they begin."""
    start, level, position, words = 0, 0, 0, ""
    for piece in pieces:
        if piece.level:
            start, level, words = position, piece.level, ""
        position += len(piece.text)
        words += piece.text if level else ""
        if level and piece.text == "\n":
            if title := shorten(one_line(words), MAX_TITLE):
                yield TextSection(start, "heading", 0, title, level, first_line=0)
            level = 0


def all_pieces(root: Element, packed: PackedFile) -> Iterator[Piece]:
    levels = _heading_levels(packed)
    yield from _pieces(root, levels)
    number = 0
    for kind, part in _NOTES.items():
        notes = _notes(packed, part)
        for reference in root.iter(f"{{*}}{kind}"):
            if note := notes.get(_id(reference)):
                number += 1
                yield Piece(f"注 {number}：", run=_run(reference))
                yield from (piece._replace(element=None, run=_run(reference), level=0) for piece in note)


def _notes(packed: PackedFile, part: str) -> dict[str, list[Piece]]:
    if part not in packed.names:
        return {}
    return {_id(note): list(_pieces(note, {})) for note in packed.parse(part)}


def _id(element: Element) -> str:
    return str(element.get(qn("w:id"), ""))


def _heading_levels(packed: PackedFile) -> Mapping[str, int]:
    """Return the level of the styles that are headings, by their ids."""
    if _STYLES not in packed.names:
        return {}
    levels = {}
    for style in packed.parse(_STYLES).iter("{*}style"):
        name, outline = style.find("{*}name"), style.find("{*}pPr/{*}outlineLvl")
        named = _HEADING.fullmatch(name.get(qn("w:val"), "")) if name is not None else None
        if level := int(named[1]) if named else _outline_level(outline):
            levels[style.get(qn("w:styleId"), "")] = level
    return levels


def _outline_level(element: Element | None) -> int:
    """Return the level of a heading; 0 for body text."""
    given = element.get(qn("w:val"), "") if element is not None else ""
    return int(given) + 1 if given in _OUTLINE_LEVELS else 0


def _heading_level(paragraph: Element, levels: Mapping[str, int]) -> int:
    style, outline = paragraph.find("{*}pPr/{*}pStyle"), paragraph.find("{*}pPr/{*}outlineLvl")
    of_style = levels.get(style.get(qn("w:val"), ""), 0) if style is not None else 0
    return _outline_level(outline) if outline is not None else of_style


def _pieces(element: Element, levels: Mapping[str, int]) -> Iterator[Piece]:
    for child in element.iterchildren("*"):
        name = etree.QName(child).localname
        if name == "t":
            yield Piece(clean(child.text or ""), child, _run(child))
        elif name in _BREAKS:
            yield Piece(_BREAKS[name])
        elif name == "tbl":
            yield from _table(child, levels)
        elif name not in _NOT_TEXT and not (name == "r" and _is_hidden(child)):
            if name == "p" and (level := _heading_level(child, levels)):
                yield Piece("", level=level)
            yield from _pieces(child, levels)
            if name == "p":
                yield Piece("\n")


def _is_hidden(run: Element) -> bool:
    hidden = run.find("{*}rPr/{*}vanish")
    return hidden is not None and hidden.get(qn("w:val"), "1") not in _OFF


# ── Tables ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _table(table: Element, levels: Mapping[str, int]) -> Iterator[Piece]:
    """Yield the rows, one line each: with the names of the columns if there are some, else with tabs between the cells."""
    rows: list[list[_Cell]] = []
    for element in _parts(table, "tr"):
        rows.append(list(_cells(element, rows[-1] if rows else (), levels)))
    header = find_header(
        [[None if cell is None else "".join(piece.text for piece in cell) for cell in row] for row in rows]
    )
    for number, row in enumerate(rows):
        names = header.names if header and number >= header.first_row else ()
        filled = [(index, cell) for index, cell in enumerate(row) if cell is not None and (cell or not names)]
        for place, (index, cell) in enumerate(filled):
            before = ("；" if names else "\t") if place else ""
            if mark := before + column_prefix(names, index):
                yield Piece(mark)
            yield from cell
        yield Piece("\n")


def _parts(element: Element, name: str) -> Iterator[Element]:
    """Yield the rows of a table or the cells of a row, those in content controls too; no deleted ones."""
    for child in element.iterchildren("*"):
        kind = etree.QName(child).localname
        if kind == name and child.find("{*}trPr/{*}del") is None:
            yield child
        elif kind in _AROUND_PARTS:
            yield from _parts(child, name)


def _cells(row: Element, above: Sequence[_Cell], levels: Mapping[str, int]) -> Iterator[_Cell]:
    """Yield the cells. One that is merged with the cell above has its words; one of several columns is followed by None."""
    column = 0
    for cell in _parts(row, "tc"):
        merged, span = cell.find("{*}tcPr/{*}vMerge"), cell.find("{*}tcPr/{*}gridSpan")
        is_continued = merged is not None and merged.get(qn("w:val"), "continue") == "continue"
        if is_continued and column < len(above) and (pieces := above[column]):
            yield [piece._replace(element=None) for piece in pieces]
        else:
            yield _cell_pieces(cell, levels)
        given = span.get(qn("w:val"), "") if span is not None else ""
        width = min(int(given), MAX_SPAN) if given.isascii() and given.isdigit() and len(given) < 9 else 1
        yield from [None] * (width - 1)
        column += max(width, 1)


def _cell_pieces(cell: Element, levels: Mapping[str, int]) -> list[Piece]:
    """Return the pieces of a cell in one line: blanks between its paragraphs."""
    inside = [piece for piece in _pieces(cell, levels) if piece.text]
    while inside and inside[-1].text == "\n":
        inside.pop()
    return [Piece(" ") if piece.text == "\n" else piece for piece in inside]


def _run(element: Element) -> Element | None:
    parent = element.getparent()
    return parent if parent is not None and parent.tag == qn("w:r") else None
