"""Parts of a reader's own file, as they are read one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.reading.extraction_types import ExtractedText
from core.reading.page import MAX_FILE_TEXT, PageKind
from core.reading.prompt_injection import count_instructions
from core.reading.sections import TextSection, place_at, shift_sections

FIRST_PART_PAGES, PART_PAGES = 10, 40
"""Pages of a PDF in its first part, which can be used at once, and in each of the others."""
MAX_FILE_PAGES = 3_000
BETWEEN_PARTS = "\n\n"


@dataclass(frozen=True, slots=True)
class FilePart:
    """A part of a file: some pages of a PDF, or all of another file."""

    text: str
    """Cleaned text. Empty if all pages of the part are pictures."""
    sections: tuple[TextSection, ...]
    """Sections with positions in this part's text. Pages have their numbers in the file."""
    kind: PageKind
    title: str
    """Title that the file states; empty if it states none."""
    modified: str | None
    """ISO day of the last change that the file states."""
    pages: int
    """Number of pages or slides of the whole file; 0 where it has none."""
    first_page: int
    """Number of the first page of this part; 0 where the file has no pages."""
    is_cut: bool
    """True if the file goes on where the text of this part, the last one, ends."""
    unread_pages: tuple[int, ...]
    """Numbers of the pages in this part that are pictures without a text layer."""
    uncertain: tuple[tuple[int, int], ...] = ()
    """Start and end of recognized values in this part's text that may be wrong."""

    @property
    def end(self) -> str:
        """Place where this part ends, as readers name it: 「价目」第 24831 行. Empty for a text without places."""
        place = place_at(self.text, self.sections, max(len(self.text) - 1, 0))
        return place.label if place else ""

    @classmethod
    def from_extracted(cls, found: ExtractedText, *, first_page: int, is_cut: bool) -> FilePart:
        return cls(
            found.text,
            found.sections,
            found.kind,
            found.title,
            found.modified,
            found.pages,
            first_page if found.pages else 0,
            is_cut,
            found.unread_pages,
            found.uncertain,
        )


def join_parts(parts: Sequence[FilePart]) -> ExtractedText:
    """Return the whole text of a file, with the sections of all parts."""
    text, sections, uncertain = "", tuple[TextSection, ...](), list[tuple[int, int]]()
    for part in parts:
        text += BETWEEN_PARTS if text and part.text else ""
        sections += shift_sections(part.sections, len(text))
        uncertain += [(len(text) + start, len(text) + end) for start, end in part.uncertain]
        text += part.text
    text = text[:MAX_FILE_TEXT]
    return ExtractedText(
        parts[0].kind,
        text,
        title=parts[0].title,
        instructions=count_instructions(text),
        is_cut=parts[-1].is_cut,
        sections=sections,
        uncertain=tuple(span for span in uncertain if span[1] <= MAX_FILE_TEXT),
        modified=parts[0].modified,
        pages=parts[0].pages,
        unread_pages=tuple(number for part in parts for number in part.unread_pages),
    )
