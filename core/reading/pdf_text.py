"""The text layer of a PDF, page by page. This runs only in a worker: the library is C++ and the file is untrusted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice

import pypdfium2
from pypdfium2 import raw

from core.base.chinese.calendar import iso_day
from core.base.text import clean, is_blank, one_line, shorten
from core.reading.extraction_types import ExtractedText, NotReadable
from core.reading.page import MAX_TITLE
from core.reading.sections import TextSection

MAX_PAGES = 300
"""Number of pages that are read of a PDF of the web."""
MAX_BOOKMARKS, MAX_BOOKMARK_DEPTH = 3_000, 8
MAX_OBJECTS = 200
"""Number of objects of a page that are looked at."""
PICTURE_SHARE = 0.5
"""Share of the page that a picture takes where the page is one."""
FEW_CHARACTERS = 30
"""Least text of a page that is no picture: a scan may have a page number or the name of a program."""
_LOCKED = 4  # FPDF_ERR_PASSWORD
_DAY = re.compile(r"D:(\d{4})(\d\d)(\d\d)")


def read_pdf(body: bytes, *, max_text: int, first_page: int = 1, page_count: int = MAX_PAGES) -> ExtractedText:
    """Return the text of some pages, which may be none. Raise NotReadable for a locked or broken file."""
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        raise NotReadable("locked" if getattr(error, "err_code", 0) == _LOCKED else "broken") from None
    if not len(document):
        raise NotReadable("broken")
    numbers = range(first_page, min(first_page + page_count, len(document) + 1))
    headings = _headings(document, numbers)
    text, sections, unread, last = "", [], [], first_page - 1
    for last in numbers:
        words, is_picture = _page_text(document, last)
        text += "\n\n" if text and words else ""
        sections.append(TextSection(len(text), "page", last))
        sections += _placed(headings.get(last, ()), words, len(text))
        text += words
        unread += [last] if is_picture else []
        if len(text) > max_text:
            break
    return ExtractedText(
        "pdf",
        text,
        title=one_line(document.get_metadata_value("Title")),  # its CreationDate is the file's, no publication
        is_cut=last < len(document),
        sections=tuple(sections),
        modified=_modified(document),
        pages=len(document),
        unread_pages=tuple(unread),
    )


def _page_text(document: pypdfium2.PdfDocument, number: int) -> tuple[str, bool]:
    """Return the text of a page, and whether the page is a picture."""
    try:
        page = document[number - 1]
        words = clean(page.get_textpage().get_text_bounded()).strip()
        if is_blank(words):
            return "", _has_anything(page)
        return words, len(words) < FEW_CHARACTERS and _is_picture(page)
    except pypdfium2.PdfiumError:  # one broken page among good ones
        return "", False


def _has_anything(page: pypdfium2.PdfPage) -> bool:
    """Return whether something is drawn on a page: its letters may be drawings, too."""
    return next(page.get_objects(max_depth=1), None) is not None


def _is_picture(page: pypdfium2.PdfPage) -> bool:
    width, height = page.get_size()
    for item in islice(page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3), MAX_OBJECTS):
        left, bottom, right, top = item.get_bounds()
        if (right - left) * (top - bottom) >= PICTURE_SHARE * width * height:
            return True
    return False


def _headings(document: pypdfium2.PdfDocument, numbers: range) -> dict[int, list[TextSection]]:
    """Return the bookmarks of the outline by the number of their page."""
    found: dict[int, list[TextSection]] = {}
    for page, words, level in _bookmarks(document):
        title = shorten(one_line(words), MAX_TITLE)
        if page in numbers and title:
            found.setdefault(page, []).append(TextSection(0, "heading", title=title, level=level))
    return found


def _bookmarks(document: pypdfium2.PdfDocument) -> Iterator[tuple[int, str, int]]:
    """Yield page, title and level of each bookmark. Where the outline is broken it ends."""
    with suppress(pypdfium2.PdfiumError, RecursionError):
        for bookmark in islice(document.get_toc(max_depth=MAX_BOOKMARK_DEPTH), MAX_BOOKMARKS):
            target = bookmark.get_dest()
            index = target.get_index() if target else None
            if index is not None:
                yield index + 1, bookmark.get_title(), bookmark.level + 1


def _placed(headings: Iterable[TextSection], words: str, start: int) -> Iterator[TextSection]:
    """Yield the headings of a page where its text has them; at the beginning of the page if it does not."""
    found = 0
    for heading in headings:
        found = max(words.find(heading.title, found), found)
        yield replace(heading, start=start + found)


def _modified(document: pypdfium2.PdfDocument) -> str | None:
    """Return the ISO day of the last change, which the metadata write as D:20240506…"""
    found = _DAY.match(document.get_metadata_value("ModDate") or document.get_metadata_value("CreationDate"))
    return iso_day("-".join(found.groups())) if found else None
