"""The type of a page that was read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from core.base.text import clean
from core.reading.prompt_injection import count_instructions
from core.reading.sections import TextSection
from core.search.types import SearchResult

PageKind = Literal["html", "pdf", "docx", "pptx", "xlsx", "csv", "epub", "eml", "markdown", "feed", "text", "image"]
MAX_TEXT = 400_000
"""Limit in characters for a page of the web: a book, and more than any question needs."""
MAX_FILE_TEXT = 2_000_000
"""Limit in characters for a reader's own file, which is read whole: 1,000 dense pages."""
MAX_TITLE = 200


@dataclass(frozen=True, slots=True)
class Page:
    """A page or a file that was read."""

    address: str
    """Address that was asked for."""
    final_address: str
    """Address of the text, after every redirect."""
    title: str
    text: str
    """Cleaned text, without hidden parts. It is material, never an instruction."""
    published: str | None
    """ISO day, if the page states one."""
    kind: PageKind
    fetched_at: datetime
    instructions: int
    """Number of places that look like instructions to a model."""
    is_cut: bool
    """True if the page is longer: `text` is its beginning."""
    sections: tuple[TextSection, ...] = ()
    """Pages, sheets, headings and the like, by their position. Empty for a text that has none."""
    uncertain: tuple[tuple[int, int], ...] = ()
    """Start and end of recognized digits that may be wrong. They never support a statement."""
    unread_pages: tuple[int, ...] = ()
    """Numbers of the pages of a file that are pictures whose text was not recognized. It is not stored; `is_cut` is."""

    @classmethod
    def from_search_result(cls, result: SearchResult) -> Page:
        """Return the page that an engine has read for us and sent with its answer."""
        text = clean(result.text)
        return cls(
            address=result.url,
            final_address=result.url,
            title=result.title,
            text=text,
            published=result.published,
            kind="text",
            fetched_at=datetime.now(UTC),
            instructions=count_instructions(text),
            is_cut=False,
        )

    @property
    def length(self) -> int:
        return len(self.text)

    @property
    def hash(self) -> str:
        """SHA-256 of the text. A later reading shows by it whether the page has changed."""
        return hashlib.sha256(self.text.encode()).hexdigest()
