"""Text of a reader's own file, extracted in a worker. The bytes decide the kind; the name decides between kinds of text."""

from __future__ import annotations

from dataclasses import replace

from core.base.text import is_blank
from core.reading.charset_detection import decode_body
from core.reading.extract import ZIP, is_pdf, refuse_binary, refuse_garbage, tidied
from core.reading.extraction_types import ExtractedText, NotReadable
from core.reading.page import MAX_FILE_TEXT
from core.reading.pdf_text import read_pdf
from core.reading.plain_text import read_text
from core.reading.word_document import is_docx, read_docx


def extract_file(body: bytes, suffix: str, first_page: int, page_count: int) -> ExtractedText:
    """Return the text of some pages of a PDF, or of all of another file. Raise NotReadable.

    `is_cut` says that there is more of the file. The text is empty where all pages are pictures."""
    if is_pdf(body):
        found = read_pdf(body, max_text=MAX_FILE_TEXT, first_page=first_page, page_count=page_count)
        return tidied(found, MAX_FILE_TEXT)
    found = tidied(_read_whole(body, suffix), MAX_FILE_TEXT)
    if is_blank(found.text):
        raise NotReadable("empty")
    return found


def _read_whole(body: bytes, suffix: str) -> ExtractedText:
    if body.startswith(ZIP) and is_docx(body):
        return read_docx(body)
    refuse_binary(body)
    text = decode_body(body, "text/plain")
    refuse_garbage(text)
    return replace(read_text(text), kind="markdown") if suffix == "md" else read_text(text)
