"""The rows of files: added, listed and removed."""

from __future__ import annotations

import time
from collections.abc import Callable
from collections.abc import Collection as SizedCollection
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, delete, insert, select, update

from core.base.settings import DocumentSettings
from core.documents.access import is_id, is_open_to, is_owned_by
from core.documents.collection_rows import UNFINISHED, require_owned
from core.documents.errors import DocumentNotFound
from core.documents.kept_texts import delete_kept_texts
from core.documents.limits import require_room
from core.documents.types import Access, Document, DocumentState
from core.documents.versions import decode_traits, outdated_ids
from core.store import Database
from core.store.tables import collections, document_removals, document_texts, documents

Removal = tuple[str, str]
"""Ids of a collection and of one of its files to be removed from index and disk; without a file, of the whole collection."""


class DocumentRows:
    """Files in the database. Every method raises DocumentNotFound or CollectionNotFound for what is not the reader's."""

    def __init__(self, database: Database, limits: DocumentSettings, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._limits = limits
        self._clock = clock

    def find(self, collection_id: str, name: str, access: Access) -> Document | None:
        """Return the file with this name in a collection that the reader may change."""
        with self._database.write() as connection:
            require_owned(connection, collection_id, access)
            return _find(connection, collection_id, name)

    def add(self, new: Document, access: Access) -> None:
        """Add a file that waits to be read, in place of the one with the same name. Raise DocumentError for a limit."""
        with self._database.erase() as connection:
            require_owned(connection, new.collection_id, access)
            if old := _find(connection, new.collection_id, new.name):
                remove(connection, old)
            require_room(connection, new, access, self._limits)
            row = {name: getattr(new, name) for name in _STORED}
            connection.execute(
                insert(documents).values(**row, title="", traits="", claim="", claimed_until=0, attempts=0)
            )
            self._touch(connection, new.collection_id)

    def list_in(self, collection_id: str, access: Access) -> tuple[Document, ...]:
        query = _opened(access).where(documents.c.collection_id == collection_id).order_by(documents.c.name)
        with self._database.read() as connection:
            return tuple(map(document_of, connection.execute(query)))

    def open(self, id: str, access: Access) -> Document:
        with self._database.read() as connection:
            found = connection.execute(_opened(access).where(documents.c.id == (id if is_id(id) else ""))).first()
        if found is None:
            raise DocumentNotFound
        return document_of(found)

    def open_many(self, ids: SizedCollection[str], access: Access) -> dict[str, Document]:
        """Return those of the files that the reader may see."""
        with self._database.read() as connection:
            rows = connection.execute(_opened(access).where(documents.c.id.in_(set(ids))))
            return {row.id: document_of(row) for row in rows}

    def reset(self, id: str, access: Access) -> Document:
        """Let a file wait to be read again, without what was read of it."""
        with self._database.write() as connection:
            document = self._owned(connection, id, access)
            connection.execute(delete(document_texts).where(document_texts.c.document_id == id))
            waiting = {"state": DocumentState.WAITING, "pages_done": 0, "characters": 0, "reason": "", "attempts": 0}
            connection.execute(
                update(documents).where(documents.c.id == id).values(**waiting, claim="", claimed_until=0)
            )
        return document

    def delete(self, id: str, access: Access) -> Document:
        """Delete the rows. What is left in the index and the files is noted in document_removals."""
        with self._database.erase() as connection:
            document = self._owned(connection, id, access)
            remove(connection, document)
            delete_kept_texts(connection, [id])
            self._touch(connection, document.collection_id)
        return document

    def exists(self, id: str) -> bool:
        with self._database.read() as connection:
            return connection.execute(select(documents.c.id).where(documents.c.id == id)).first() is not None

    def has_unfinished(self, collection_id: str, *, besides: str = "") -> bool:
        c = documents.c
        query = select(c.id).where(c.state.in_(UNFINISHED), c.collection_id == collection_id, c.id != besides)
        with self._database.read() as connection:
            return connection.execute(query.limit(1)).first() is not None

    def with_text(self, collection_id: str = "") -> list[tuple[str, str, str]]:
        """Return collection, id and name of the files, of one collection or of all, whose texts are stored."""
        c = documents.c
        is_read = and_(c.state == DocumentState.INDEXED, c.characters > 0)
        query = select(c.collection_id, c.id, c.name).where(is_read).order_by(c.collection_id, c.created)
        if collection_id:
            query = query.where(c.collection_id == collection_id)
        with self._database.read() as connection:
            return [(row.collection_id, row.id, row.name) for row in connection.execute(query)]

    def refresh_versions(self, collection_id: str) -> None:
        """Look again which files of a collection are older versions of others."""
        c = documents.c
        read = select(c.id, c.traits, c.modified, c.is_outdated).where(c.collection_id == collection_id, c.traits != "")
        with self._database.read() as connection:
            rows = connection.execute(read).all()
        outdated = outdated_ids(filter(None, (decode_traits(row.id, row.traits, row.modified) for row in rows)))
        changed = {row.id: row.id in outdated for row in rows if bool(row.is_outdated) != (row.id in outdated)}
        if changed:
            with self._database.write() as connection:
                for id, is_outdated in changed.items():
                    connection.execute(update(documents).where(c.id == id).values(is_outdated=is_outdated))

    def pending_removals(self) -> list[Removal]:
        """Return what is to be removed from the index and the files; files before their collection."""
        c = document_removals.c
        query = select(c.collection_id, c.document_id).order_by(c.collection_id, c.document_id.desc())
        with self._database.read() as connection:
            return [(row.collection_id, row.document_id) for row in connection.execute(query)]

    def note_removal(self, removal: Removal) -> None:
        """Note what is to be removed although its row is gone."""
        with self._database.write() as connection:
            connection.execute(delete(document_removals).where(_is_removal(removal)))
            connection.execute(insert(document_removals).values(collection_id=removal[0], document_id=removal[1]))

    def forget_removal(self, removal: Removal) -> None:
        with self._database.erase() as connection:
            connection.execute(delete(document_removals).where(_is_removal(removal)))

    def _owned(self, connection: Connection, id: str, access: Access) -> Document:
        same = documents.c.id == (id if is_id(id) else "")
        found = connection.execute(_opened(access).where(same, is_owned_by(access))).first()
        if found is None:
            raise DocumentNotFound
        return document_of(found)

    def _touch(self, connection: Connection, collection_id: str) -> None:
        changed = update(collections).where(collections.c.id == collection_id)
        connection.execute(changed.values(updated=self._clock()))


_STORED = (
    *("id", "collection_id", "name", "size", "hash", "state", "created", "kind", "pages", "pages_done", "characters"),
    *("reason", "modified", "is_outdated"),
)


def remove(connection: Connection, document: Document) -> None:
    """Delete the row of a file, with its text, and note what is left elsewhere."""
    connection.execute(delete(documents).where(documents.c.id == document.id))
    left = {"collection_id": document.collection_id, "document_id": document.id}
    connection.execute(insert(document_removals).values(left))


def document_of(row: Row[Any]) -> Document:
    values = {name: getattr(row, name) for name in _STORED}
    return Document(**{**values, "state": DocumentState(row.state), "is_outdated": bool(row.is_outdated)})


def _opened(access: Access) -> Select[Any]:
    joined = documents.join(collections, documents.c.collection_id == collections.c.id)
    return select(*(documents.c[name] for name in _STORED)).select_from(joined).where(is_open_to(access))


def _find(connection: Connection, collection_id: str, name: str) -> Document | None:
    same = and_(documents.c.collection_id == collection_id, documents.c.name == name)
    found = connection.execute(select(documents).where(same)).first()
    return document_of(found) if found else None


def _is_removal(removal: Removal) -> ColumnElement[bool]:
    c = document_removals.c
    return and_(c.collection_id == removal[0], c.document_id == removal[1])
