"""Read files with pages, made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import accumulate

from core.reading import Page, TextSection

READ_AT = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


def sectioned_page(name: str, pages: Sequence[str], *, recognized: Sequence[int] = ()) -> Page:
    """Return the text of a file with these pages, as the reader returns it."""
    text = "\n".join(pages)
    starts = accumulate((len(page) + 1 for page in pages[:-1]), initial=0)
    sections = tuple(
        TextSection(start, "page", number, is_recognized=number in recognized) for number, start in enumerate(starts, 1)
    )
    address = f"attachment:0123456789abcdef/{name}"
    return Page(address, address, name, text, None, "pdf", READ_AT, 0, is_cut=False, sections=sections)
