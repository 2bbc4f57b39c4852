"""Drafts that people upload or paste, and the same drafts as Word documents with a comment at each citation."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass

from core.base.text import clean, shorten
from core.legal.verify import WORST_FIRST, StatuteFinding
from core.reading import DocumentComment, FileError, Reader

PROGRAM = "问源"
PASTED_DRAFT_NAME = "粘贴的文稿"
MAX_COMMENTS = 1_000
"""Limit that takes about a second. Twice as many take four times as long, and nobody reads them."""
TOO_MANY_CITATIONS = f"引用太多，只批注了 {MAX_COMMENTS:,} 处，有问题的在先；其余的在表格里。"
FORMATTING_LOST = "原来的文件无法加批注，这里只有它的文字，没有保留格式。"
_ARTICLE_LENGTH = 800
_FONT = "宋体"


@dataclass(frozen=True, slots=True)
class Draft:
    """A text to check, with the Word document it came from, if any."""

    name: str
    text: str
    docx: bytes = b""
    """The uploaded file if it is a Word document, else empty."""
    is_cut: bool = False
    """True if `text` is only the beginning of the document."""

    @classmethod
    def from_text(cls, text: str) -> Draft:
        return cls(PASTED_DRAFT_NAME, clean(text).strip())

    @classmethod
    def from_file(cls, name: str, body: bytes, reader: Reader) -> Draft:
        """Read an uploaded file. Raises FileError."""
        page = reader.read_file(name, body)
        return cls(page.title, page.text, body if page.kind == "docx" else b"", page.is_cut)


def draft_with_comments(draft: Draft, findings: Iterable[StatuteFinding], reader: Reader) -> bytes:
    """Return the draft as a Word document with a comment for each finding; only a Word document keeps its formatting.
    Raises FileError."""
    worst_first = sorted(findings, key=lambda one: WORST_FIRST.index(one.mark))
    comments = _comments(worst_first[:MAX_COMMENTS])
    if len(worst_first) > MAX_COMMENTS:
        comments.append(DocumentComment(0, 1, TOO_MANY_CITATIONS))
    if draft.docx:
        try:
            return reader.add_comments(draft.name, draft.docx, comments, PROGRAM)
        except FileError:
            comments.append(DocumentComment(0, 1, FORMATTING_LOST))
    return reader.add_comments(draft.name, _plain_docx(draft.text), comments, PROGRAM)


def _comments(findings: Iterable[StatuteFinding]) -> list[DocumentComment]:
    """Return one comment per place in the text. Findings that overlap share one: a run of words can be cut only once."""
    comments: list[DocumentComment] = []
    for finding in sorted(findings, key=lambda one: one.start):
        start, end, text = finding.start, finding.end, _comment_text(finding)
        if comments and start < comments[-1].end:
            last = comments.pop()
            start, end, text = last.start, max(last.end, end), f"{last.text}\n{text}"
        comments.append(DocumentComment(start, end, text))
    return comments


def _comment_text(finding: StatuteFinding) -> str:
    verdict = f"{finding.mark} {finding.meaning}。{finding.note}"
    if not finding.text:
        return verdict
    force = f"（{finding.effective_date} 起施行）" if finding.effective_date else ""
    return f"{verdict}\n《{finding.law_name}》{finding.article_number}{force}：{shorten(finding.text, _ARTICLE_LENGTH)}"


def _plain_docx(text: str) -> bytes:
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
