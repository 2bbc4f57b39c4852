"""The rows of pages that were read, as the texts they hold."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, exists, select

from core.base.compression import decompress_text
from core.base.text import clean
from core.reading import Page, TextSection, decode_sections
from core.search.types import Source
from core.store.tables import attached_files, messages, read_pages

log = logging.getLogger(__name__)

_HAS_FILE = (
    exists()
    .where(*(attached_files.c[key.name] == key for key in read_pages.primary_key))
    .correlate(read_pages)
    .label("has_file")
)


@dataclass(frozen=True, slots=True)
class StoredPage:
    """The saved text of a page or an attached file."""

    number: int
    """Number of the source."""
    address: str
    """Address of the text, after every redirect."""
    title: str
    text: str
    hash: str
    """SHA-256 of the text."""
    fetched: float
    is_cut: bool = False
    """True if the page was longer."""
    sections: tuple[TextSection, ...] = ()
    uncertain: tuple[tuple[int, int], ...] = ()
    """`sections` and `uncertain` are those of `Page`."""
    has_file: bool = False
    """True if the bytes of the attached file are kept."""

    def to_page(self) -> Page:
        """Return the saved file as a page, to be read again. Suspected instructions were reported the first time."""
        read = datetime.fromtimestamp(self.fetched, UTC)
        return Page(
            self.address,
            self.address,
            self.title,
            self.text,
            None,
            "text",
            read,
            instructions=0,
            is_cut=self.is_cut,
            sections=self.sections,
            uncertain=self.uncertain,
        )


def load_source_pages(
    connection: Connection, id: str, message_id: str, sources: Sequence[Source]
) -> dict[int, StoredPage]:
    """Return what was read of the sources of an answer, by number. Attached files are stored with their question."""
    pages = {page.number: page for page in _stored_pages(connection, is_page_of(id, message_id))}
    numbers = {source.url: source.number for source in sources if source.read == "file"}
    files = load_attachments(connection, id) if numbers else ()
    attached = ((numbers[file.address], file) for _, file in files if file.address in numbers)
    return pages | {number: replace(file, number=number) for number, file in attached}


def load_attachments(connection: Connection, id: str) -> Iterator[tuple[str, StoredPage]]:
    """Yield the files that were attached to the questions of a conversation, each with the id of the message."""
    same = and_(messages.c.conversation_id == read_pages.c.conversation_id, messages.c.id == read_pages.c.message_id)
    query = select(read_pages, _HAS_FILE).where(read_pages.c.conversation_id == id, same, messages.c.role == "user")
    for row in connection.execute(query.order_by(messages.c.position, read_pages.c.number)):
        if page := _stored_page(row):
            yield row.message_id, page


def is_page_of(id: str, message_id: str) -> ColumnElement[bool]:
    return and_(read_pages.c.conversation_id == id, read_pages.c.message_id == clean(message_id))


def _stored_pages(connection: Connection, condition: ColumnElement[bool]) -> Iterable[StoredPage]:
    """Return the pages. A damaged one is left out: no reader sees a text that the page may not have had."""
    query: Select[Any] = select(read_pages, _HAS_FILE).where(condition)
    return filter(None, map(_stored_page, connection.execute(query)))


def _stored_page(row: Row[tuple[object, ...]]) -> StoredPage | None:
    try:
        text = decompress_text(row.text)
    except (ValueError, TypeError):
        text = None
    if text is None or hashlib.sha256(text.encode()).hexdigest() != row.hash:
        log.warning("the text of a page that was read is damaged")
        return None
    sections, uncertain = _stored_sections(row.sections)
    return StoredPage(
        row.number,
        row.address,
        row.title,
        text,
        row.hash,
        row.fetched,
        bool(row.cut),
        sections,
        uncertain,
        bool(row.has_file),
    )


def _stored_sections(stored: object) -> tuple[tuple[TextSection, ...], tuple[tuple[int, int], ...]]:
    """Return the sections. Without them a passage has no page, which is better than a wrong one."""
    try:
        return decode_sections(stored if isinstance(stored, str) else "")
    except ValueError:
        log.warning("the sections of a page that was read are damaged")
        return (), ()
