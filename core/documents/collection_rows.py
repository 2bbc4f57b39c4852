"""The rows of collections: created, shared and counted."""

from __future__ import annotations

import time
from collections.abc import Callable
from collections.abc import Collection as SizedCollection
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, case, delete, func, insert, literal, select, update

from core.base.text import one_line, shorten
from core.documents.access import is_id, is_open_to, is_owned_by, is_public
from core.documents.errors import CollectionNotFound, DocumentError
from core.documents.kept_texts import delete_kept_texts
from core.documents.types import Access, Collection, DocumentState
from core.store import Database, new_conversation_id
from core.store.tables import collections, document_removals, documents

NAME_LENGTH = 60
UNFINISHED = (DocumentState.WAITING, DocumentState.READING, DocumentState.RECOGNIZING)


class CollectionRows:
    """Collections in the database. Every method raises CollectionNotFound for one that is not the reader's."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def list_open(self, access: Access) -> tuple[Collection, ...]:
        query = _counted(access).where(is_open_to(access)).order_by(collections.c.updated.desc(), collections.c.id)
        with self._database.read() as connection:
            return tuple(map(_collection, connection.execute(query)))

    def open(self, id: str, access: Access) -> Collection:
        with self._database.read() as connection:
            found = connection.execute(_counted(access).where(_is(id), is_open_to(access))).first()
        if found is None:
            raise CollectionNotFound
        return _collection(found)

    def find_shared(self, share: str) -> Collection:
        query = _counted(Access()).where(collections.c.share == (share if is_id(share) else ""))
        with self._database.read() as connection:
            found = connection.execute(query).first()
        if found is None:
            raise CollectionNotFound
        return _collection(found)

    def create(self, name: str, access: Access) -> str:
        if not access.owner:
            raise DocumentError("认不出这个浏览器，资料集无法归属。", cure="请允许本站的 Cookie，或登录后再试。")
        id, now = new_conversation_id(), self._clock()
        with self._database.write() as connection:
            shown = _free_name(connection, name, access)
            row = {"id": id, "owner": access.owner, "name": shown, "created": now, "updated": now}
            connection.execute(insert(collections).values(row))
        return id

    def rename(self, id: str, name: str, access: Access) -> None:
        with self._database.write() as connection:
            require_owned(connection, id, access)
            shown = _free_name(connection, name, access, other_than=id)
            connection.execute(update(collections).where(_is(id)).values(name=shown))

    def delete(self, id: str, access: Access) -> None:
        """Delete the rows. What is left in the index and the files is noted in document_removals."""
        with self._database.erase() as connection:
            require_owned(connection, id, access)
            _delete(connection, id)

    def delete_unchanged_since(self, before: float) -> list[str]:
        """Delete the collections that nobody has changed since then and that are not shared. Return their ids."""
        is_old = and_(collections.c.updated < before, collections.c.share.is_(None), ~is_public())
        with self._database.read() as connection:
            ids = [row.id for row in connection.execute(select(collections.c.id).where(is_old))]
        for id in ids:
            with self._database.erase() as connection:
                if connection.execute(select(collections.c.id).where(collections.c.id == id, is_old)).first():
                    _delete(connection, id)
        return ids

    def share(self, id: str, access: Access) -> str:
        key = func.coalesce(collections.c.share, new_conversation_id())
        with self._database.write() as connection:
            require_owned(connection, id, access)
            connection.execute(update(collections).where(_is(id)).values(share=key))
            return str(connection.execute(select(collections.c.share).where(_is(id))).scalar())

    def unshare(self, id: str, access: Access) -> None:
        with self._database.write() as connection:
            require_owned(connection, id, access)
            connection.execute(update(collections).where(_is(id)).values(share=None))

    def open_names(self, ids: SizedCollection[str], access: Access) -> dict[str, str]:
        """Return the names of these collections, all of which must be open to the reader."""
        wanted = {id for id in ids if is_id(id)}
        query = select(collections.c.id, collections.c.name).where(collections.c.id.in_(wanted), is_open_to(access))
        with self._database.read() as connection:
            names = {row.id: row.name for row in connection.execute(query)}
        if len(names) < len(set(ids)):
            raise CollectionNotFound
        return names


def _delete(connection: Connection, id: str) -> None:
    theirs = select(documents.c.collection_id, documents.c.id).where(documents.c.collection_id == id)
    connection.execute(insert(document_removals).from_select(["collection_id", "document_id"], theirs))
    connection.execute(insert(document_removals).values(collection_id=id, document_id=""))
    delete_kept_texts(connection, select(documents.c.id).where(documents.c.collection_id == id))
    connection.execute(delete(collections).where(collections.c.id == id))


def require_owned(connection: Connection, id: str, access: Access) -> None:
    """Raise CollectionNotFound unless the collection is the reader's own. Its row is locked."""
    query = select(collections.c.id).where(_is(id), is_owned_by(access)).with_for_update()
    if not is_id(id) or connection.execute(query).first() is None:
        raise CollectionNotFound


def _is(id: str) -> Any:
    return collections.c.id == (id if is_id(id) else "")


def _free_name(connection: Connection, name: str, access: Access, *, other_than: str = "") -> str:
    """Return the name as it is stored. Raise DocumentError if it says nothing, or another collection of the reader has it."""
    shown = shorten(one_line(name), NAME_LENGTH)
    if not shown:
        raise DocumentError("资料集还没有名字。", cure="请写一个名字。")
    same = select(collections.c.id).where(collections.c.name == shown, is_owned_by(access))
    if connection.execute(same.where(collections.c.id != other_than)).first():
        raise DocumentError(f"已经有叫「{shown}」的资料集。", cure="请换一个名字，或者把文件加到那里。")
    return shown


def _counted(access: Access) -> Select[Any]:
    """Return the statement for collections with the sums of their files."""
    c = documents.c
    columns = (
        *collections.c,
        is_owned_by(access).label("may_change"),
        is_public().label("is_public"),
        func.count(c.id).label("documents"),
        func.coalesce(func.sum(c.pages), 0).label("pages"),
        func.coalesce(func.sum(c.size), 0).label("size"),
        func.count(case((c.state.in_(UNFINISHED), literal(1)))).label("unfinished"),
        func.count(case((c.state == DocumentState.UNREADABLE, literal(1)))).label("unreadable"),
    )
    joined = collections.outerjoin(documents, c.collection_id == collections.c.id)
    return select(*columns).select_from(joined).group_by(collections.c.id)


def _collection(row: Row[Any]) -> Collection:
    mine = bool(row.may_change)
    return Collection(
        row.id,
        row.name,
        row.created,
        row.updated,
        share=(row.share or "") if mine else "",
        may_change=mine,
        is_public=bool(row.is_public),
        documents=row.documents,
        pages=int(row.pages),
        size=int(row.size),
        unfinished=row.unfinished,
        unreadable=row.unreadable,
    )
