"""A conversation as a Word document, with references in the form of GB/T 7714.

python-docx knows no footnotes, and a source that is cited five times would need five of them. Instead, the numbers in
the text lead to the list below the answer, where each source stands once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from io import BytesIO

import docx
from docx.document import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml.ns import qn
from docx.oxml.parser import OxmlElement
from docx.shared import Mm, Pt, RGBColor
from docx.styles.style import ParagraphStyle
from docx.text.paragraph import Paragraph

from core.answer.export import common
from core.answer.export.word_body import (
    CELL_STYLE,
    CODE_FONT,
    CODE_STYLE,
    WordBody,
    add_link,
    add_paragraph,
    bookmark_name,
    xml_safe,
)
from core.answer.html.source_html import safe_web_address, site_name
from core.answer.message import Message
from core.answer.place_labels import join_places
from core.answer.source_details import reading_status
from core.base.text import one_line
from core.search.types import Source

_PROGRAM = "问源"
_BODY_FONTS = ("Times New Roman", "宋体")
_HEADING_FONTS = ("Arial", "黑体")
_BLACK, _GREY = RGBColor(0, 0, 0), RGBColor(0x66, 0x66, 0x66)
_REMARK_STYLE = "Remark"
_REFERENCE_STYLE = "Reference"
_HANGING = Mm(9)


def as_word(
    title: str,
    messages: Sequence[Message],
    *,
    zone: tzinfo | None = None,
    check_statutes: common.CheckStatutes = common.no_statute_check,
) -> bytes:
    """Return the conversation as the bytes of a Word file."""
    title = xml_safe(one_line(title)) or common.UNTITLED
    document = _empty_document(title)
    add_paragraph(document, title, "Title")
    for number, message in enumerate(common.exported_messages(messages), 1):
        add_paragraph(document, common.LABELS[message.role], "Heading 1")
        if message.role == "user":
            _write_remark(document, common.format_time(message.created, zone))
            add_paragraph(document, message.text)
            if message.files:
                _write_remark(document, common.attachments_line(message))
        else:
            _write_answer(document, message, f"m{number}", zone, check_statutes)
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def _write_answer(
    document: Document, message: Message, anchor: str, zone: tzinfo | None, check_statutes: common.CheckStatutes
) -> None:
    _write_remark(document, common.origin_line(message, zone))
    WordBody(document, message.cited, anchor).write(message.text)
    _write_list(document, "依据核验", common.check_lines(message, check_statutes))
    _write_list(document, "法条核验", common.statute_lines(message, check_statutes))
    _write_list(document, "案号核验", common.case_lines(message, check_statutes))
    accessed, places = common.format_day(message, zone), message.places
    for name, sources in common.source_lists(message):
        add_paragraph(document, name, "Heading 2")
        for source in sources:
            _write_reference(document, source, anchor, accessed, join_places(places.get(source.number, ())))
    for remark in common.remarks(message):
        _write_remark(document, remark)


def _write_remark(document: Document, text: str) -> None:
    add_paragraph(document, one_line(text), _REMARK_STYLE)


def _write_list(document: Document, title: str, lines: Iterable[str]) -> None:
    for place, line in enumerate(lines):
        if place == 0:
            add_paragraph(document, title, "Heading 2")
        add_paragraph(document, one_line(line), "List Bullet")


def _write_reference(document: Document, source: Source, anchor: str, accessed: str, place: str) -> None:
    paragraph = add_paragraph(document, style=_REFERENCE_STYLE)
    name = bookmark_name(anchor, source.number)
    identity = f"{anchor[1:]}{source.number:03}"  # the file format requires a number
    paragraph._p.append(OxmlElement("w:bookmarkStart", {qn("w:id"): identity, qn("w:name"): name}))
    paragraph.add_run(xml_safe(f"[{source.number}]\t{reference_text(source, accessed)}"))
    paragraph._p.append(OxmlElement("w:bookmarkEnd", {qn("w:id"): identity}))
    if address := safe_web_address(source.url):
        add_link(paragraph, address, address=address)
        paragraph.add_run(".")
    if place:
        paragraph.add_run(xml_safe(f" {place}."))
    if read := reading_status(source):
        paragraph.add_run(f"（{xml_safe(read)}）").font.color.rgb = _GREY


def reference_text(source: Source, accessed: str) -> str:
    """Return `标题[EB/OL]. (发布日期)[访问日期]. `. A source that is no web page has neither an address nor a day of
    access."""
    title = one_line(source.title) or "（无标题）"
    if not safe_web_address(source.url):
        return f"{title}[Z]. {site_name(source.url, '')}".rstrip(". ") + "."
    published = f"({source.published})" if source.published else ""
    return f"{title}[EB/OL]. {published}[{accessed}]. "


# ── Styles ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _empty_document(title: str) -> Document:
    document = docx.Document()
    known = document.core_properties
    known.title, known.author, known.last_modified_by, known.comments = title, _PROGRAM, _PROGRAM, ""
    known.created = known.modified = datetime.now(UTC).replace(tzinfo=None)
    known.language = "zh-CN"
    page = document.sections[0]
    page.page_width, page.page_height = Mm(210), Mm(297)
    page.left_margin = page.right_margin = page.top_margin = page.bottom_margin = Mm(25)
    _number_pages(page.footer.paragraphs[0])
    _set_styles(document)
    return document


def _number_pages(paragraph: Paragraph) -> None:
    paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
    paragraph._p.append(OxmlElement("w:fldSimple", {qn("w:instr"): "PAGE"}))


def _set_styles(document: Document) -> None:
    """Set fonts and colours. The template's styles are blue, in Calibri, and have no Chinese fonts."""
    for language in document.styles.element.iterfind(f".//{qn('w:docDefaults')}//{qn('w:lang')}"):
        language.set(qn("w:eastAsia"), "zh-CN")  # decides which regional shape a character has
    normal = _get_style(document, "Normal", *_BODY_FONTS)
    normal.font.size = Pt(11)
    normal.paragraph_format.line_spacing, normal.paragraph_format.space_after = 1.25, Pt(6)
    _get_style(document, CELL_STYLE, *_BODY_FONTS)
    for level, size in enumerate((20, 15, 13, 12.5, 12, 11.5, 11)):
        heading = _get_style(document, f"Heading {level}" if level else "Title", *_HEADING_FONTS)
        heading.font.size, heading.font.color.rgb, heading.font.italic = Pt(size), _BLACK, False
        heading.paragraph_format.space_before = Pt(12)
        for border in heading.element.findall(f".//{qn('w:pBdr')}"):
            border.getparent().remove(border)
    quote = _get_style(document, "Quote", *_BODY_FONTS)
    quote.font.italic, quote.font.color.rgb, quote.paragraph_format.left_indent = False, _GREY, _HANGING
    remark = _get_style(document, _REMARK_STYLE, *_BODY_FONTS)
    remark.font.size, remark.font.color.rgb = Pt(9), _GREY
    code = _get_style(document, CODE_STYLE, CODE_FONT, _HEADING_FONTS[1])
    code.font.size, code.paragraph_format.left_indent, code.paragraph_format.line_spacing = Pt(9.5), Mm(5), 1.0
    reference = _get_style(document, _REFERENCE_STYLE, *_BODY_FONTS)
    reference.paragraph_format.left_indent, reference.paragraph_format.first_line_indent = _HANGING, -_HANGING
    reference.paragraph_format.tab_stops.add_tab_stop(_HANGING)


def _get_style(document: Document, name: str, latin: str, chinese: str) -> ParagraphStyle:
    """Return the template's style, or add one. Fonts are set explicitly, because a theme's font would win."""
    if name in document.styles:
        style = document.styles[name]
    else:
        style = document.styles.add_style(name, 1)
        style.base_style = document.styles["Normal"]
    assert isinstance(style, ParagraphStyle)
    fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
    fonts.attrib.clear()
    for script, font in (("ascii", latin), ("hAnsi", latin), ("cs", latin), ("eastAsia", chinese)):
        fonts.set(qn(f"w:{script}"), font)
    return style
