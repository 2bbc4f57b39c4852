"""Presentations (.pptx): titles, text, tables and notes, slide by slide. This runs only in a worker: the file is untrusted."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree
from lxml.etree import _Element as Element

from core.base.text import is_blank, one_line
from core.reading.document_properties import read_properties
from core.reading.extraction_types import ExtractedText, NotReadable
from core.reading.packed_files import PackedFile
from core.reading.table_rows import Row, table_lines
from core.reading.text_builder import TextBuilder

MAIN = "ppt/presentation.xml"
MAX_SLIDES = 3_000
MAX_SERIES = 50
_TITLES = {"title", "ctrTitle"}
_DECORATION = {"sldNum", "dt", "ftr", "hdr", "sldImg"}
"""Placeholders that stand on every slide, or show it once more."""
_RELATIONS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
NOTES = "备注："


def read_pptx(packed: PackedFile) -> ExtractedText:
    """Return the visible slides in their order. Raise NotReadable."""
    builder, count = TextBuilder(), 0
    related = packed.related(MAIN)
    shown = [related.get(entry.get(f"{_RELATIONS}id", "")) for entry in packed.parse(MAIN).iter("{*}sldId")]
    if len(shown) > MAX_SLIDES:
        raise NotReadable("complex")
    for number, relation in enumerate(shown, 1):
        slide = packed.parse(relation[1]) if relation and relation[0] == "slide" else None
        if slide is None or slide.get("show") in {"0", "false"}:
            continue
        _add_slide(packed, relation[1] if relation else "", slide, number, builder)
        count += 1
    about = read_properties(packed)
    return ExtractedText(
        "pptx",
        builder.text if count else "",
        title=about.title,
        sections=builder.sections,
        modified=about.modified,
        pages=len(shown),
    )


def _add_slide(packed: PackedFile, name: str, slide: Element, number: int, builder: TextBuilder) -> None:
    shapes = list(_shapes(slide))
    title = next((one_line(" ".join(_paragraphs(shape))) for shape in shapes if _placeholder(shape) in _TITLES), "")
    builder.begin("slide", number=number, title=title)
    if title:
        builder.add_line(title)
    related = packed.related(name)
    for shape in shapes:
        if _placeholder(shape) not in _TITLES | _DECORATION:
            for line in _shape_lines(packed, shape, related):
                builder.add_line(line)
    for kind, part in related.values():
        if kind == "notesSlide" and part in packed.names:
            notes = [
                line
                for shape in _shapes(packed.parse(part))
                if _placeholder(shape) == "body"
                for line in _paragraphs(shape)
            ]
            if notes:
                builder.add_line(NOTES + "\n".join(notes))
    builder.add_line()


def _shapes(slide: Element) -> Iterator[Element]:
    """Yield shapes and tables in their order, those in groups too."""
    for shape in slide.iter("{*}sp", "{*}graphicFrame"):
        fallback = next(shape.iterancestors("{*}Fallback"), None)  # the same once more, for old programs
        if fallback is None and _is_shown(shape):
            yield shape


def _is_shown(shape: Element) -> bool:
    return all(about.get("hidden") not in {"1", "true"} for about in shape.iterfind("*/{*}cNvPr"))


def _placeholder(shape: Element) -> str:
    """Return the kind of a placeholder; empty for another shape."""
    found = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
    return found.get("type", "body") if found is not None else ""


def _shape_lines(packed: PackedFile, shape: Element, related: dict[str, tuple[str, str]]) -> Iterator[str]:
    for table in shape.iter("{*}tbl"):
        yield from filter(None, table_lines(list(_rows(table))))
    if shape.find(".//{*}tbl") is None:
        yield from _paragraphs(shape)
    for chart in shape.iter("{*}chart"):
        kind, part = related.get(chart.get(f"{_RELATIONS}id", ""), ("", ""))
        if kind == "chart" and part in packed.names:
            yield from _chart_lines(packed.parse(part))
    for diagram in shape.iter("{*}relIds"):
        kind, part = related.get(diagram.get(f"{_RELATIONS}dm", ""), ("", ""))
        if kind == "diagramData" and part in packed.names:
            yield from _paragraphs(packed.parse(part))


def _chart_lines(chart: Element) -> Iterator[str]:
    """Yield the title of a chart and its values, as they were drawn last, one line for each category."""
    yield from (line for title in chart.iter("{*}title") for line in _paragraphs(title))
    series = list(chart.iter("{*}ser"))[:MAX_SERIES]
    names = [" ".join(_points(one.find("{*}tx")).values()) for one in series]
    values = [_points(one.find("{*}val")) for one in series]
    for index, category in (_points(series[0].find("{*}cat")) if series else {}).items():
        yield from table_lines([["", *names], [category, *(one.get(index, "") for one in values)]])[1:]


def _points(values: Element | None) -> dict[str, str]:
    """Return the stored values of a series by their index."""
    points = values.iter("{*}pt") if values is not None else ()
    return {point.get("idx", ""): one_line(point.findtext("{*}v") or "") for point in points}


def _rows(table: Element) -> Iterator[Row]:
    above: list[str | None] = []
    for line in table.iterchildren("{*}tr"):
        row: list[str | None] = []
        for cell in line.iterchildren("{*}tc"):
            if cell.get("vMerge") in {"1", "true"} and len(row) < len(above):
                row.append(above[len(row)])
            else:
                is_merged = cell.get("hMerge") in {"1", "true"}
                row.append(None if is_merged else " ".join(_paragraphs(cell)))
        yield row
        above = row


def _paragraphs(element: Element) -> list[str]:
    lines = []
    for paragraph in element.iter("{http://schemas.openxmlformats.org/drawingml/2006/main}p"):
        parts = (
            (part.text or "") if etree.QName(part).localname == "t" else "\n"
            for part in paragraph.iter("{*}t", "{*}br")
        )
        lines += [one_line(line) for line in "".join(parts).split("\n") if not is_blank(line)]
    return lines
