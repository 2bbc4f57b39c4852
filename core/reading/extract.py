"""Text extraction from untrusted bytes. It runs in a worker (worker.py), which may be killed at any moment.

The bytes decide the kind. Only between HTML and plain text, where both are possible, does the header decide.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import replace

from core.base.text import is_blank, one_line, shorten
from core.reading.charset_detection import decode_body
from core.reading.extraction_types import ExtractedText, NotReadable
from core.reading.file_kinds import other_kind
from core.reading.html_text import read_html
from core.reading.packed_documents import read_packed
from core.reading.packed_files import ZIP
from core.reading.page import MAX_TEXT, MAX_TITLE
from core.reading.pdf_text import read_pdf
from core.reading.plain_text import read_feed, read_text
from core.reading.prompt_injection import count_instructions
from core.reading.sections import clean_with_sections

_HEAD = 1_024
_NOT_TEXT = (ZIP, b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"RIFF", b"\x7fELF")
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_FEED = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:rss|feed|rdf:RDF)\b", re.DOTALL)
MARKUP = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype html|!--|html|head|body|title|meta|script|style|link|div|p|h[1-6]|table|article|main|a|br|span|font|iframe)\b",
    re.IGNORECASE,
)
GARBAGE_SHARE = 0.1


def extract_text(body: bytes, content_type: str) -> ExtractedText:
    """Return the text of a PDF, Office file, book, feed, web page or plain text. Raise NotReadable."""
    if is_pdf(body):
        found = read_pdf(body, max_text=MAX_TEXT)
        if not found.text:
            raise NotReadable("scanned")
    elif body.startswith(ZIP):
        found = read_packed(body, max_text=MAX_TEXT)
    else:
        refuse_binary(body)
        found = _read_markup_or_text(decode_body(body, content_type), content_type.lower())
    found = tidied(found, MAX_TEXT)
    if is_blank(found.text):
        raise NotReadable("empty")
    return found


def is_pdf(body: bytes) -> bool:
    return b"%PDF-" in body[:_HEAD] and not body.startswith(ZIP)


def refuse_binary(body: bytes) -> None:
    """Raise NotReadable for bytes that are no text."""
    if kind := other_kind(body):
        raise NotReadable(kind)
    if body.startswith(_NOT_TEXT) or (b"\0" in body[:_HEAD] and not body.startswith(_UTF_16)):
        raise NotReadable("binary")


def tidied(found: ExtractedText, limit: int) -> ExtractedText:
    """Return at most `limit` characters of a text without invisible ones, and its places that look like instructions."""
    text, sections = clean_with_sections(found.text, found.sections, limit=limit)
    return replace(
        found,
        text=text,
        sections=sections,
        title=shorten(one_line(found.title), MAX_TITLE),
        instructions=count_instructions(text),
        is_cut=found.is_cut or len(found.text) > limit,
    )


def _read_markup_or_text(text: str, content_type: str) -> ExtractedText:
    refuse_garbage(text)
    if _FEED.match(text):
        return read_feed(text)
    says_text = content_type.startswith(("text/plain", "text/markdown"))
    if not says_text and "<" in text and ("html" in content_type or MARKUP.match(text)):
        return read_html(text)
    return read_text(text)


def refuse_garbage(text: str) -> None:
    """Raise NotReadable for decoded bytes that were no text."""
    head = text[:_HEAD]
    unprintable = sum(not (c.isprintable() or c.isspace()) or c == "\ufffd" for c in head)
    if unprintable > GARBAGE_SHARE * len(head):
        raise NotReadable("binary")
