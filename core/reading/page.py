"""A page that was read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from core.base.text import clean
from core.reading.instructions import count_instructions
from core.search.types import SearchResult

PageKind = Literal["html", "pdf", "docx", "feed", "text"]
MAX_TEXT = 400_000
"""Characters: a book, and more than any question needs."""
MAX_TITLE = 200


@dataclass(frozen=True, slots=True)
class Page:
    address: str
    """As it was asked for."""
    final_address: str
    """Where the text was, after every redirect."""
    title: str
    text: str
    """Cleaned, and without what the page hides from people. Whatever it says, it is material, never an instruction."""
    published: str | None
    """An ISO day, where the page says one."""
    kind: PageKind
    fetched_at: datetime
    instructions: int
    """How many places look like instructions to a model."""
    is_cut: bool
    """Whether the page went on: `text` is its beginning."""

    @classmethod
    def sent_along(cls, result: SearchResult) -> Page:
        """What an engine has read for us, and sent with its answer."""
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
        """SHA-256 of the text, by which a later reading shows whether the page has changed."""
        return hashlib.sha256(self.text.encode()).hexdigest()
