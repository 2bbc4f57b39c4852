"""The Markdown of an answer as paragraphs, lists and tables of a Word document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from docx.document import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml.ns import qn
from docx.oxml.parser import OxmlElement
from docx.oxml.text.paragraph import CT_P
from docx.oxml.text.run import CT_R
from docx.shared import Pt, RGBColor
from docx.text.paragraph import Paragraph
from docx.text.run import Run
from markdown_it.token import Token

from core.answer.citations import parse_markdown, stays_as_written
from core.answer.html.source_html import canonical_target, safe_web_address
from core.base.text import clean, one_line, shorten
from core.base.web_addresses import host_of
from core.search.types import Source

CODE_FONT = "Consolas"
FORMULA_FONT = "Cambria Math"
CODE_STYLE = "Code"
CELL_STYLE = "No Spacing"

_DEEPEST_LIST = 3
"""The number of list levels that have a style of their own."""
_DEEPEST_HEADING = 6
_HEADINGS_ABOVE = 2
"""The levels above the answer's headings, taken by the document's own."""
_TARGET_LENGTH = 40
_LINK = RGBColor(0x2F, 0x6F, 0x6A)
_NOT_IN_XML = re.compile("[\ufffe\uffff]")
_ALIGNMENTS = {"text-align:right": WD_ALIGN_PARAGRAPH.RIGHT, "text-align:center": WD_ALIGN_PARAGRAPH.CENTER}
_FACES = {"strong": "bold", "em": "italic", "s": "strike"}


def xml_safe(text: str) -> str:
    """Return the text without characters that XML cannot hold."""
    return _NOT_IN_XML.sub("", clean(text))


def add_paragraph(document: Document, text: str = "", style: str = "Normal") -> Paragraph:
    """Add a paragraph, faster than `document.add_paragraph`, which searches all paragraphs and styles each time. The
    last element of a body holds the page layout, so the paragraph goes before it."""
    element = OxmlElement("w:p")
    assert isinstance(element, CT_P)
    document.element.body[-1].addprevious(element)
    element.style = _style_id(style)
    paragraph = Paragraph(element, document._body)
    if text:
        paragraph.add_run(xml_safe(text))
    return paragraph


def _style_id(name: str) -> str:
    """Return the id of a style: in the template it is the name without blanks."""
    return name.replace(" ", "")


def bookmark_name(anchor: str, number: int) -> str:
    return f"{anchor}_ref_{number}"


def add_link(paragraph: Paragraph, text: str, *, address: str = "", bookmark: str = "") -> Run:
    """Add text that links to a web address, or to a bookmark of the document."""
    link = OxmlElement("w:hyperlink")
    if address:
        link.set(qn("r:id"), paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    else:
        link.set(qn("w:anchor"), bookmark)
    element = OxmlElement("w:r")
    assert isinstance(element, CT_R)
    link.append(element)
    paragraph._p.append(link)
    run = Run(element, paragraph)
    run.text = xml_safe(text)
    run.font.color.rgb, run.font.underline = _LINK, bool(address)
    return run


class WordBody:
    """Writes one answer to the end of a document."""

    def __init__(self, document: Document, sources: Sequence[Source], anchor: str) -> None:
        self._document = document
        self._anchor = anchor
        self._numbers = {source.number for source in sources}
        self._addresses = {canonical_target(source.url, ""): safe_web_address(source.url) for source in sources}
        self._lists: list[int | None] = []
        """The lists around the current position: the numbering of an ordered list, None for a bullet list."""
        self._begins_item = False
        self._quotes = 0
        self._faces: list[str] = []
        self._link = ""
        self._after_link = ""

    def write(self, markdown: str) -> None:
        tokens = parse_markdown(markdown)
        place = 0
        while place < len(tokens):
            if tokens[place].type == "table_open":
                end = next(at for at in range(place, len(tokens)) if tokens[at].type == "table_close")
                self._write_table(tokens[place:end])
                place = end
            else:
                self._write_block(tokens[place], tokens[place - 1])
            place += 1

    def _write_block(self, token: Token, before: Token) -> None:
        match token.type:
            case "bullet_list_open":
                self._lists.append(None)
            case "ordered_list_open":
                self._lists.append(self._start_numbering(int(token.attrGet("start") or 1)))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._begins_item = True
            case "blockquote_open":
                self._quotes += 1
            case "blockquote_close":
                self._quotes -= 1
            case "inline" if before.type == "heading_open":
                level = min(int(before.tag[1:]) + _HEADINGS_ABOVE, _DEEPEST_HEADING)
                self._write_inline(add_paragraph(self._document, style=f"Heading {level}"), token.children or ())
            case "inline":
                self._write_inline(self._add_paragraph(), token.children or ())
            case "fence" | "code_block":
                add_paragraph(self._document, token.content.rstrip("\n"), CODE_STYLE)
            case "math_block":
                self._write_formula(self._add_paragraph(), token.content[2:-2].strip())
            case "hr":
                add_paragraph(self._document, "* * *").alignment = WD_ALIGN_PARAGRAPH.CENTER

    def _add_paragraph(self) -> Paragraph:
        """Add a paragraph in the list or quotation that is open."""
        if not self._lists:
            return add_paragraph(self._document, style="Quote" if self._quotes else "Normal")
        depth = min(len(self._lists), _DEEPEST_LIST)
        numbering = self._lists[-1]
        kind = "List Continue" if not self._begins_item else "List Bullet" if numbering is None else "List Number"
        paragraph = add_paragraph(self._document, style=kind if depth == 1 else f"{kind} {depth}")
        if self._begins_item and numbering is not None:
            paragraph._p.get_or_add_pPr().get_or_add_numPr().get_or_add_numId().val = numbering
        self._begins_item = False
        return paragraph

    def _start_numbering(self, start: int) -> int:
        """Create a numbering of its own. Without it, Word continues the count of the list before."""
        depth = min(len(self._lists) + 1, _DEEPEST_LIST)
        style = self._document.styles["List Number" if depth == 1 else f"List Number {depth}"]
        numbering = self._document.part.numbering_part.element
        styled = numbering.num_having_numId(style.element.pPr.numPr.numId.val)
        count = numbering.add_num(styled.abstractNumId.val)
        count.add_lvlOverride(ilvl=0).add_startOverride(start)
        return int(count.numId)

    def _write_table(self, tokens: Sequence[Token]) -> None:
        rows = sum(token.type == "tr_open" for token in tokens)
        columns = sum(token.type == "th_open" for token in tokens)
        table = self._document.add_table(rows, columns, style="Table Grid")
        cells = iter(table._cells)
        for opening, token in pairwise(tokens):
            if token.type == "inline":
                paragraph = next(cells).paragraphs[0]
                paragraph._p.style = _style_id(CELL_STYLE)
                paragraph.alignment = _ALIGNMENTS.get(str(opening.attrGet("style")))
                self._faces = ["strong"] if opening.tag == "th" else []
                self._write_inline(paragraph, token.children or ())
        self._faces = []
        add_paragraph(self._document)  # Word joins two tables without a paragraph between them

    def _write_inline(self, paragraph: Paragraph, children: Iterable[Token]) -> None:
        for token in children:
            match token.type:
                case "strong_open" | "em_open" | "s_open":
                    self._faces.append(token.tag)
                case "strong_close" | "em_close" | "s_close":
                    self._faces.remove(token.tag)
                case "code_inline":
                    self._add_run(paragraph, token.content).font.name = CODE_FONT
                case "math_inline":
                    self._write_formula(paragraph, token.content.strip("$"))
                case "softbreak" | "hardbreak":
                    paragraph.add_run().add_break()
                case "image":
                    self._add_run(paragraph, f"[图片：{one_line(token.content)}]")
                case "link_open":
                    self._open_link(str(token.attrGet("href") or ""))
                case "link_close":
                    self._link = ""
                    self._add_run(paragraph, self._after_link)
                case "citation" if not stays_as_written(token, self._numbers):
                    self._write_citation(paragraph, token.meta["numbers"])
                case _:
                    self._add_run(paragraph, token.content)

    def _add_run(self, paragraph: Paragraph, text: str) -> Run:
        run = add_link(paragraph, text, address=self._link) if self._link else paragraph.add_run(xml_safe(text))
        for face in self._faces:
            setattr(run.font, _FACES[face], True)
        return run

    def _write_formula(self, paragraph: Paragraph, formula: str) -> None:
        run = paragraph.add_run(xml_safe(formula))
        run.font.name, run.font.italic = FORMULA_FONT, True

    def _open_link(self, target: str) -> None:
        """Begin a link. Only a link to a source of the answer can be followed."""
        self._link = self._addresses.get(canonical_target(target, ""), "")
        pointed_to = host_of(target) or shorten(one_line(target), _TARGET_LENGTH)
        self._after_link = f"（{pointed_to}）" if pointed_to and not self._link else ""

    def _write_citation(self, paragraph: Paragraph, numbers: Iterable[int]) -> None:
        for number in numbers:
            if number in self._numbers:
                run = add_link(paragraph, f"[{number}]", bookmark=bookmark_name(self._anchor, number))
                run.font.superscript, run.font.size = True, Pt(10.5)
