"""The types that extraction passes between the worker and the program."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from core.reading.errors import Reason
from core.reading.page import Page, PageKind
from core.reading.sections import TextSection


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """The text of a page or file, with its title and day."""

    kind: PageKind
    text: str
    title: str = ""
    published: str | None = None
    instructions: int = 0
    is_cut: bool = False
    sections: tuple[TextSection, ...] = ()
    uncertain: tuple[tuple[int, int], ...] = ()
    """`sections` and `uncertain` are those of `Page`."""
    modified: str | None = None
    """ISO day of the last change, if the file states one."""
    pages: int = 0
    """Number of pages or slides of the whole file; 0 where it has none."""
    unread_pages: tuple[int, ...] = ()
    """Numbers of the pages that are pictures without a text layer."""

    def page(self, address: str, final_address: str) -> Page:
        """Return the text as a page that was read just now."""
        return Page(
            address,
            final_address,
            self.title,
            self.text,
            self.published,
            self.kind,
            datetime.now(UTC),
            self.instructions,
            self.is_cut or bool(self.unread_pages),
            self.sections,
            self.uncertain,
            self.unread_pages,
        )


class DocumentComment(NamedTuple):
    """A comment on a part of a document's text, from `start` to `end`."""

    start: int
    end: int
    text: str


class NotReadable(Exception):
    """The bytes cannot be read. The caller, who knows the host, turns it into a sentence."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason
