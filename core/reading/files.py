"""Files that a reader attaches to a question, as pages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePath

from core.base.text import one_line, shorten
from core.reading.errors import FileError
from core.reading.extracted import Extracted
from core.reading.page import MAX_TITLE, Page

KINDS = ("txt", "md", "docx", "pdf")
_SCHEME = "attachment:"


def accepted_name(name: str, size: int, *, megabytes: int) -> str:
    """Return the name as it is shown. Raise FileError for a file of another kind or size, which is not read."""
    shown = shorten(one_line(PurePath(name.replace("\\", "/")).name), MAX_TITLE) or "未命名"
    if shown.rpartition(".")[2].lower() not in KINDS:
        raise FileError("kind", name=shown, kinds="、".join(KINDS))
    if size > megabytes * 1024 * 1024:
        raise FileError("large", name=shown)
    return shown


def is_file(page: Page) -> bool:
    return page.address.startswith(_SCHEME)


def file_page(name: str, found: Extracted) -> Page:
    """Return the file as a page. Its address is not one of the web. Two files of one name differ by the hash of their
    text."""
    page = Page("", "", name, found.text, None, found.kind, datetime.now(UTC), found.instructions, found.is_cut)
    address = f"{_SCHEME}{page.hash[:16]}/{name}"
    return replace(page, address=address, final_address=address)
