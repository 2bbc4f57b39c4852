"""The texts of pages that were read, saved with the answers that cite them: a page may change, or disappear."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Row, Select, and_, delete, insert, select

from core.base.compression import compress_text, decompress_text
from core.base.text import clean
from core.reading import Page
from core.store.conversations import is_changeable_by, is_readable_by
from core.store.database import Database
from core.store.tables import conversations, messages, read_pages

log = logging.getLogger(__name__)


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

    def to_page(self) -> Page:
        """Return the saved file as a page, to be read again. Suspected instructions were reported the first time."""
        read = datetime.fromtimestamp(self.fetched, UTC)
        return Page(self.address, self.address, self.title, self.text, None, "text", read, instructions=0, is_cut=False)


class ReadPageStore:
    """Saved texts of pages in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, id: str, message_id: str, pages: Mapping[int, Page], *, visitor_id: str | None) -> None:
        """Replace the pages of this message. Nothing is saved if the message is gone."""
        rows = [
            {
                "conversation_id": id,
                "message_id": clean(message_id),
                "number": number,
                "address": clean(page.final_address),
                "title": clean(page.title),
                "fetched": page.fetched_at.timestamp(),
                "hash": page.hash,
                "text": compress_text(page.text),
            }
            for number, page in pages.items()
        ]
        with self._database.write() as connection:
            message = select(messages.c.id).where(messages.c.conversation_id == id, messages.c.id == clean(message_id))
            theirs = message.where(messages.c.conversation_id == conversations.c.id, is_changeable_by(id, visitor_id))
            if not rows or connection.execute(theirs).first() is None:
                return
            connection.execute(delete(read_pages).where(_message_condition(id, message_id)))
            connection.execute(insert(read_pages), rows)

    def load(self, id: str, message_id: str, *, visitor_id: str | None, share: str = "") -> dict[int, StoredPage]:
        """Return the pages by number. A damaged one is left out: no reader sees a text that the page may not have had."""
        query = _readable_pages(id, visitor_id, share).where(_message_condition(id, message_id))
        with self._database.read() as connection:
            pages = map(_stored_page, connection.execute(query))
            return {page.number: page for page in pages if page is not None}

    def load_attachments(self, id: str, *, visitor_id: str | None, share: str = "") -> dict[str, list[StoredPage]]:
        """Return the files that were attached to the questions of a conversation, by the id of the message."""
        same = and_(
            messages.c.conversation_id == read_pages.c.conversation_id, messages.c.id == read_pages.c.message_id
        )
        query = _readable_pages(id, visitor_id, share).where(same, messages.c.role == "user")
        files: dict[str, list[StoredPage]] = {}
        with self._database.read() as connection:
            for row in connection.execute(query.order_by(messages.c.position, read_pages.c.number)):
                if page := _stored_page(row):
                    files.setdefault(row.message_id, []).append(page)
        return files


def _readable_pages(id: str, visitor_id: str | None, share: str) -> Select[tuple[object, ...]]:
    is_readable = and_(read_pages.c.conversation_id == conversations.c.id, is_readable_by(id, visitor_id, share))
    return select(read_pages).where(is_readable)


def _message_condition(id: str, message_id: str) -> ColumnElement[bool]:
    return and_(read_pages.c.conversation_id == id, read_pages.c.message_id == clean(message_id))


def _stored_page(row: Row[tuple[object, ...]]) -> StoredPage | None:
    try:
        text = decompress_text(row.text)
    except (ValueError, TypeError):
        text = None
    if text is None or hashlib.sha256(text.encode()).hexdigest() != row.hash:
        log.warning("the text of a page that was read is damaged")
        return None
    return StoredPage(row.number, row.address, row.title, text, row.hash, row.fetched)
