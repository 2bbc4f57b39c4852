"""A conversation to take away: as a Word document, as Markdown, as one HTML page, as JSON. Each answer brings its references,
what 依据核对 says of its statements and, where it cites statutes, what 法条核验 says of them.

What a model or a web page wrote can neither become a link nor load anything: other programs than ours will show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from core.answer.export.html_page import as_html
from core.answer.export.json_file import as_json
from core.answer.export.markdown_text import answer_as_markdown, as_markdown
from core.answer.export.said import CheckStatutes, unchecked
from core.answer.message import Message

__all__ = ["answer_as_markdown", "as_html", "as_json", "as_markdown", "as_word"]


def as_word(
    title: str, messages: Sequence[Message], *, zone: tzinfo | None = None, check: CheckStatutes = unchecked
) -> bytes:
    """python-docx is imported when somebody exports, and not by every page."""
    from core.answer.export import word_file

    return word_file.as_word(title, messages, zone=zone, check=check)
