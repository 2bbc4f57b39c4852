"""The texts of pages that were read, saved with the answers that cite them: a page may change, or disappear."""

from __future__ import annotations

import logging
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sqlalchemy import Connection, and_, delete, func, insert, select

from core.base.compression import compress_text
from core.base.text import clean
from core.reading import Page, encode_sections
from core.search.types import Source
from core.store.conversations import is_readable_by
from core.store.database import Database
from core.store.stored_pages import StoredPage, is_page_of, load_attachments, load_source_pages
from core.store.tables import attached_files, conversations, messages, read_pages

log = logging.getLogger(__name__)


class ReadPageStore:
    """Saved texts of pages in the database."""

    def __init__(self, database: Database, *, max_file_bytes: int = 0) -> None:
        """`max_file_bytes`: the most that the files of one conversation take together; 0: none is kept."""
        self._database = database
        self._max_file_bytes = max_file_bytes

    def save(
        self,
        id: str,
        message_id: str,
        pages: Mapping[int, Page],
        *,
        visitor_id: str | None,
        bodies: Mapping[int, bytes] = MappingProxyType({}),
    ) -> None:
        """Replace the pages of this message. Nothing is saved if the message is gone. `bodies`: the bytes of those that are
        attached files; what is beyond the limit of the conversation is left out."""
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
                "sections": encode_sections(page.sections, page.uncertain),
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
            self._save_files(
                connection, id, message_id, {number: bodies[number] for number in pages if number in bodies}
            )

    def _save_files(self, connection: Connection, id: str, message_id: str, bodies: Mapping[int, bytes]) -> None:
        length = func.coalesce(func.sum(func.length(attached_files.c.body)), 0)
        of_conversation = select(length).where(attached_files.c.conversation_id == id)
        room = self._max_file_bytes - connection.execute(of_conversation).scalar_one() * 3 // 4
        for number, body in bodies.items():
            if len(body) <= room:
                room -= len(body)
                where = {"conversation_id": id, "message_id": clean(message_id), "number": number}
                connection.execute(insert(attached_files), {**where, "body": b64encode(body).decode("ascii")})

    def load_file(self, id: str, address: str, *, visitor_id: str | None, share: str = "") -> bytes | None:
        """Return the bytes of a file that was attached in this conversation; None if they are not kept, or not readable."""
        same = and_(*(attached_files.c[key.name] == key for key in read_pages.primary_key))
        query = select(attached_files.c.body).where(same, read_pages.c.conversation_id == id)
        with self._database.read() as connection:
            if not _is_readable(connection, id, visitor_id, share):
                return None
            body = connection.execute(query.where(read_pages.c.address == clean(address)).limit(1)).scalar()
        try:
            return None if body is None else b64decode(body, validate=True)
        except ValueError:
            log.warning("the bytes of an attached file are damaged")
            return None

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
