"""Drafts that people upload or paste, and the same drafts as Word documents with a comment at each citation and at each
clause of a contract about which there is something to say."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.base.text import clean, shorten
from core.legal.contracts.review import ContractFinding, ContractReview
from core.legal.verify import WORST_FIRST, StatuteFinding, summary
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


def draft_with_comments(
    draft: Draft, findings: Iterable[StatuteFinding], reader: Reader, review: ContractReview | None = None
) -> bytes:
    """Return the draft as a Word document with a comment for each finding; only a Word document keeps its formatting.
    Raises FileError."""
    worst_first = sorted(findings, key=lambda one: WORST_FIRST.index(one.mark))
    clauses = [*_counts_comment(worst_first), *(_review_comments(review) if review else ())]
    cited = [DocumentComment(one.start, one.end, _comment_text(one)) for one in worst_first]
    comments = _merged([*clauses, *cited][:MAX_COMMENTS])
    if len(clauses) + len(cited) > MAX_COMMENTS:
        comments.append(DocumentComment(0, 1, TOO_MANY_CITATIONS))
    if draft.docx:
        try:
            return reader.add_comments(draft.name, draft.docx, comments, PROGRAM)
        except FileError:
            comments.append(DocumentComment(0, 1, FORMATTING_LOST))
    return reader.add_comments(draft.name, _plain_docx(draft.text), comments, PROGRAM)


def _counts_comment(findings: Sequence[StatuteFinding]) -> list[DocumentComment]:
    """Return a comment at the beginning on how many citations were found to be what."""
    counted = f"法条核验：共引用 {len(findings)} 处，{summary(findings)}"
    return [DocumentComment(0, 1, counted)] if findings else []


def _review_comments(review: ContractReview) -> list[DocumentComment]:
    """Return a comment for each clause, and one at the beginning on what was checked."""
    about = DocumentComment(0, 1, "\n".join(("合同审查", *review.notes)))
    return [about, *(DocumentComment(one.start, one.end, _clause_text(one)) for one in review.findings)]


def _clause_text(finding: ContractFinding) -> str:
    articles = (
        f"{one.citation}{f'（{one.effective_date} 起施行）' if one.effective_date else ''}：{shorten(one.text, _ARTICLE_LENGTH)}"
        for one in finding.articles
    )
    return "\n".join((f"{finding.severity}（{finding.title}）：{finding.note}", *articles))


def _merged(comments: Iterable[DocumentComment]) -> list[DocumentComment]:
    """Return one comment per place in the text. Those that overlap share one: a run of words can be cut only once."""
    merged: list[DocumentComment] = []
    for comment in sorted(comments, key=lambda one: one.start):
        if merged and comment.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = DocumentComment(last.start, max(last.end, comment.end), f"{last.text}\n{comment.text}")
        else:
            merged.append(comment)
    return merged


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
