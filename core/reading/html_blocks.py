"""All that a saved page, a chapter of a book or an e-mail shows: paragraphs, headings, and tables row by row.

This runs only in a worker: a page decides how long its extraction takes.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from core.base.text import one_line
from core.reading.extraction_types import ExtractedText, NotReadable
from core.reading.hidden_elements import remove_hidden
from core.reading.page import PageKind
from core.reading.sections import with_beginning
from core.reading.table_rows import table_lines
from core.reading.text_builder import TextBuilder

MAX_TAGS = 300_000
"""Limit for tags before parsing."""
MAX_SPAN, MAX_CELLS = 200, 200_000
"""Columns or rows that one cell may take, and cells of one table."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    (
        *("p", "div", "li", "ul", "ol", "dl", "dt", "dd", "tr", "table", "caption", "section", "article", "main"),
        *("header", "footer", "nav", "aside", "blockquote", "figure", "figcaption", "form", "hr", "br", "address"),
        *("details", "summary", "fieldset", "body", "title", *_HEADINGS),
    )
)


def read_saved_page(markup: str, kind: PageKind = "html") -> ExtractedText:
    """Return all visible text of a page that a reader brought along. Raise NotReadable."""
    tree = parse_markup(markup)
    title = next((one_line(element.text_content()) for element in tree.iter("title")), "")
    builder = TextBuilder()
    add_blocks(tree, builder)
    return ExtractedText(kind, builder.text, title=title, sections=with_beginning(builder.sections))


def parse_markup(markup: str | bytes) -> HtmlElement:
    """Return the tree without what nobody sees. Entities are those of HTML, and nothing else is read. Raise NotReadable."""
    body = markup.encode("utf-8", "replace") if isinstance(markup, str) else markup
    if body.count(b"<") > 2 * MAX_TAGS:
        raise NotReadable("complex")
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=False)
    try:
        tree = document_fromstring(body, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        raise NotReadable("empty") from None
    remove_hidden(tree)
    return tree


def add_blocks(tree: HtmlElement, builder: TextBuilder) -> None:
    """Add the paragraphs, headings and table rows of a tree to the text."""
    words: list[str] = []
    etree.strip_elements(tree, "head", with_tail=False)

    def end_line() -> str:
        line = one_line("".join(words))
        words.clear()
        return line

    walk = etree.iterwalk(tree, events=("start", "end"))
    for event, element in walk:
        if element.tag in _BLOCKS:
            line = end_line()
            if event == "end" and element.tag in _HEADINGS:
                builder.add_heading(line, _HEADINGS[element.tag])
            elif line:
                builder.add_line(line)
        if event == "end":
            words.append(element.tail or "")
        elif element.tag == "table" and element.find(".//table") is None:
            _add_table(element, builder)
            walk.skip_subtree()
        elif element.tag == "pre":
            for row in element.text_content().split("\n"):
                builder.add_line(row.rstrip())
            walk.skip_subtree()
        else:
            words.append(element.text or "")
    if line := end_line():
        builder.add_line(line)


def _add_table(table: HtmlElement, builder: TextBuilder) -> None:
    for caption in table.iter("caption"):
        builder.add_line(_cell_text(caption))
    for line in filter(None, table_lines(list(_grid(table)))):
        builder.add_line(line)


def _grid(table: HtmlElement) -> Iterator[list[str | None]]:
    """Yield the rows. A cell of several rows stands in each of them, one of several columns only in the first."""
    waiting: dict[int, tuple[int, str | None]] = {}
    """Cells from the rows above by their column, with the number of rows that still have them."""
    left = MAX_CELLS
    for line in table.iter("tr"):
        row: list[str | None] = []
        following: dict[int, tuple[int, str | None]] = {}
        for cell in (*line.iterchildren("td", "th"), None):
            while len(row) in waiting:
                rows, text = waiting[len(row)]
                _put(row, text, following, rows)
            for number in range(_span(cell, "colspan") if cell is not None else 0):
                _put(row, None if number else _cell_text(cell), following, _span(cell, "rowspan"))
            if len(row) > left:
                raise NotReadable("complex")
        left -= len(row)
        waiting = following
        yield row


def _put(row: list[str | None], text: str | None, following: dict[int, tuple[int, str | None]], rows: int) -> None:
    if rows > 1:
        following[len(row)] = rows - 1, text
    row.append(text)


def _span(cell: HtmlElement, name: str) -> int:
    given = cell.get(name, "")
    return min(max(int(given), 1), MAX_SPAN) if given.isascii() and given.isdigit() and len(given) < 9 else 1


def _cell_text(cell: HtmlElement) -> str:
    parts: list[str] = []
    for event, element in etree.iterwalk(cell, events=("start", "end")):
        parts.append(" " if element.tag in _BLOCKS else "")
        parts.append((element.text if event == "start" else element.tail if element is not cell else "") or "")
    return one_line("".join(parts))
