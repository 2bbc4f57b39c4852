"""Files that a reader attaches to a question, as pages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

from core.base.text import one_line, shorten
from core.reading.errors import FileError
from core.reading.extraction_types import ExtractedText
from core.reading.file_kinds import KINDS_IN_WORDS, UPLOAD_KINDS
from core.reading.page import MAX_TITLE, Page

_SCHEME = "attachment:"


def check_file(name: str, size: int, *, megabytes: int) -> str:
    """Return the name as it is shown. Raise FileError for a file of another kind or size, which is not read."""
    shown = shorten(one_line(PurePath(name.replace("\\", "/")).name), MAX_TITLE) or "未命名"
    if shown.rpartition(".")[2].lower() not in UPLOAD_KINDS:
        raise FileError("kind", name=shown, kinds=KINDS_IN_WORDS)
    if size > megabytes * 1024 * 1024:
        raise FileError("large", name=shown)
    return shown


def is_attachment(page: Page) -> bool:
    return page.address.startswith(_SCHEME)


def file_page(name: str, extracted: ExtractedText) -> Page:
    """Return the file as a page. Its address is not one of the web, and has the hash of the text: names may repeat."""
    page = replace(extracted, title=name, published=None).page("", "")
    address = f"{_SCHEME}{page.hash[:16]}/{name}"
    return replace(page, address=address, final_address=address)
