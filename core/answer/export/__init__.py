"""Exports of a conversation: a Word document, Markdown, one HTML page, JSON. Each answer comes with its references, the
results of 依据核验 and, where it cites statutes, of 法条核验. Its references alone: RIS, BibTeX, CSL-JSON.

Text of a model or a web page can neither become a link nor load anything, because other programs will show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from core.answer.export.common import CheckStatutes, no_statute_check
from core.answer.export.html_page import as_html
from core.answer.export.json_file import as_json
from core.answer.export.markdown_text import answer_as_markdown, as_markdown, references_as_markdown
from core.answer.export.references import as_bibtex, as_csl_json, as_ris
from core.answer.message import Message

__all__ = [
    "answer_as_markdown",
    "as_bibtex",
    "as_csl_json",
    "as_html",
    "as_json",
    "as_markdown",
    "as_ris",
    "as_word",
    "references_as_markdown",
]


def as_word(
    title: str,
    messages: Sequence[Message],
    *,
    zone: tzinfo | None = None,
    check_statutes: CheckStatutes = no_statute_check,
) -> bytes:
    """Return the conversation as a Word file. python-docx is imported only here, to keep it out of every page."""
    from core.answer.export import word_file

    return word_file.as_word(title, messages, zone=zone, check_statutes=check_statutes)
