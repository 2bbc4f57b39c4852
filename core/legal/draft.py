"""Drafts that people upload or paste, and the same drafts as Word documents with a comment at each citation."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass

from core.base.text import clean, shorten
from core.legal.verify import BAD_FIRST, Verdict
from core.reading import FileError, Reader
from core.reading.extracted import Remark

PROGRAM = "问源"
PASTED = "粘贴的文稿"
MOST_COMMENTS = 1_000
"""Limit that takes about a second. Twice as many take four times as long, and nobody reads them."""
NOT_ALL = f"引用太多，只批注了 {MOST_COMMENTS:,} 处，有问题的在先；其余的在表格里。"
NOT_IN_PLACE = "原来的文件无法加批注，这里只有它的文字，没有保留格式。"
_ARTICLE_LENGTH = 800
_FONT = "宋体"


@dataclass(frozen=True, slots=True)
class Draft:
    """A text to check, with the Word document it came from, if any."""

    name: str
    text: str
    word: bytes = b""
    """The uploaded file if it is a Word document, else empty."""
    is_cut: bool = False
    """True if `text` is only the beginning of the document."""

    @classmethod
    def pasted(cls, text: str) -> Draft:
        return cls(PASTED, clean(text).strip())

    @classmethod
    def read(cls, name: str, body: bytes, reader: Reader) -> Draft:
        """Read an uploaded file. Raises FileError."""
        page = reader.read_file(name, body)
        return cls(page.title, page.text, body if page.kind == "docx" else b"", page.is_cut)


def with_comments(draft: Draft, verdicts: Iterable[Verdict], reader: Reader) -> bytes:
    """Return the draft as a Word document with a comment for each finding. Raises FileError. A Word document keeps its
    formatting. Any other draft becomes a plain document."""
    worst_first = sorted(verdicts, key=lambda one: BAD_FIRST.index(one.mark))
    remarks = list(_remarks(worst_first[:MOST_COMMENTS]))
    if len(worst_first) > MOST_COMMENTS:
        remarks.append(Remark(0, 1, NOT_ALL))
    if draft.word:
        try:
            return reader.with_comments(draft.name, draft.word, remarks, PROGRAM)
        except FileError:
            remarks.append(Remark(0, 1, NOT_IN_PLACE))
    return reader.with_comments(draft.name, _plain(draft.text), remarks, PROGRAM)


def _remarks(verdicts: Iterable[Verdict]) -> Iterable[Remark]:
    """Yield one remark per place in the text. Findings that overlap share one, because a run of words can be cut only
    once."""
    open_: Remark | None = None
    for verdict in sorted(verdicts, key=lambda one: one.start):
        if open_ and verdict.start < open_.end:
            open_ = Remark(open_.start, max(open_.end, verdict.end), f"{open_.words}\n{_words(verdict)}")
            continue
        if open_:
            yield open_
        open_ = Remark(verdict.start, verdict.end, _words(verdict))
    if open_:
        yield open_


def _words(verdict: Verdict) -> str:
    said = f"{verdict.mark} {verdict.meaning}。{verdict.note}"
    if not verdict.text:
        return said
    force = f"（{verdict.effective_date} 起施行）" if verdict.effective_date else ""
    return f"{said}\n《{verdict.law_name}》{verdict.article_number}{force}：{shorten(verdict.text, _ARTICLE_LENGTH)}"


def _plain(text: str) -> bytes:
    import docx
    from docx.oxml.ns import qn

    document = docx.Document()
    style = document.styles["Normal"]
    style.font.name = _FONT
    style.element.get_or_add_rPr().get_or_add_rFonts().set(qn("w:eastAsia"), _FONT)
    for line in text.split("\n"):
        document.add_paragraph(line)
    saved = io.BytesIO()
    document.save(saved)
    return saved.getvalue()
