"""The texts of pages that were read, saved with the answers that cite them: a page may change, or disappear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, delete, insert, select

from core.base.compression import compress_text
from core.base.text import clean
from core.reading import Page
from core.search.types import Source
from core.store.conversations import is_readable_by
from core.store.database import Database
from core.store.stored_pages import StoredPage, is_page_of, load_attachments, load_source_pages
from core.store.tables import conversations, messages, read_pages


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
                "cut": page.is_cut,
            }
            for number, page in pages.items()
        ]
        with self._database.write() as connection:
            message = select(messages.c.id).where(messages.c.conversation_id == id, messages.c.id == clean(message_id))
            theirs = message.where(messages.c.conversation_id == conversations.c.id, is_readable_by(id, visitor_id))
            if not rows or connection.execute(theirs).first() is None:
                return
            connection.execute(delete(read_pages).where(is_page_of(id, message_id)))
            connection.execute(insert(read_pages), rows)

    def load(
        self, id: str, message_id: str, *, visitor_id: str | None, share: str = "", sources: Sequence[Source] = ()
    ) -> dict[int, StoredPage]:
        """Return the pages by number, and with the `sources` of the answer also the attached files among them."""
        with self._database.read() as connection:
            is_readable = _is_readable(connection, id, visitor_id, share)
            return load_source_pages(connection, id, message_id, sources) if is_readable else {}

    def load_attachments(self, id: str, *, visitor_id: str | None, share: str = "") -> dict[str, list[StoredPage]]:
        """Return the files that were attached to the questions of a conversation, by the id of the message."""
        files: dict[str, list[StoredPage]] = {}
        with self._database.read() as connection:
            if _is_readable(connection, id, visitor_id, share):
                for message_id, file in load_attachments(connection, id):
                    files.setdefault(message_id, []).append(file)
        return files


def _is_readable(connection: Connection, id: str, visitor_id: str | None, share: str) -> bool:
    readable = select(conversations.c.id).where(is_readable_by(id, visitor_id, share))
    return connection.execute(readable).first() is not None
