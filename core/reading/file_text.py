"""Text of a reader's own file, extracted in a worker. The bytes decide the kind; the name decides between kinds of text."""

from __future__ import annotations

from functools import partial

from core.base.text import is_blank
from core.reading.charset_detection import decode_body
from core.reading.delimited_text import read_csv
from core.reading.extract import MARKUP, is_pdf, refuse_binary, refuse_garbage, tidied
from core.reading.extraction_types import ExtractedText, NotReadable
from core.reading.file_kinds import OTHER_FILES, is_ole, is_picture
from core.reading.html_blocks import read_saved_page
from core.reading.mail import read_eml
from core.reading.packed_documents import read_packed
from core.reading.packed_files import ZIP
from core.reading.page import MAX_FILE_TEXT
from core.reading.pdf_text import read_pdf
from core.reading.picture_files import describe_pictures
from core.reading.plain_text import read_markdown, read_text

MAX_DEPTH = 3
"""How deep files are attached to mails that are attached to mails."""
_PAGES = frozenset({"html", "htm", "xhtml"})
_TABLES = frozenset({"csv", "tsv"})
_TEXTS = frozenset({"txt", "md", "markdown"})


def extract_file(body: bytes, suffix: str, first_page: int, page_count: int) -> ExtractedText:
    """Return the text of some pages of a PDF, or of all of another file. Raise NotReadable.

    `is_cut` says that there is more of the file. The text is empty where all pages are pictures."""
    if is_pdf(body):
        found = read_pdf(body, max_text=MAX_FILE_TEXT, first_page=first_page, page_count=page_count)
        return tidied(found, MAX_FILE_TEXT)
    if is_picture(body):
        return describe_pictures(body)
    found = tidied(_read_whole(body, suffix), MAX_FILE_TEXT)
    if is_blank(found.text):
        raise NotReadable("empty")
    return found


def _read_whole(body: bytes, suffix: str, depth: int = 0) -> ExtractedText:
    if body.startswith(ZIP):
        return read_packed(body, max_text=MAX_FILE_TEXT)
    if is_ole(body) and suffix in OTHER_FILES["wps"].endings:
        raise NotReadable("wps")
    refuse_binary(body)
    if suffix == "eml":
        return read_eml(body, partial(_read_attached, depth=depth + 1))
    text = decode_body(body, "text/plain")
    refuse_garbage(text)
    if suffix in _PAGES or (suffix not in _TEXTS | _TABLES and MARKUP.match(text)):
        return read_saved_page(text)
    if suffix in _TABLES:
        return read_csv(text, max_text=MAX_FILE_TEXT)
    return read_markdown(text) if suffix in {"md", "markdown"} else read_text(text)


def _read_attached(body: bytes, suffix: str, depth: int) -> ExtractedText:
    """Return the text of a file that is attached to a mail. Raise NotReadable."""
    if depth > MAX_DEPTH:
        raise NotReadable("complex")
    if is_pdf(body):
        return read_pdf(body, max_text=MAX_FILE_TEXT)
    return _read_whole(body, suffix, depth)
