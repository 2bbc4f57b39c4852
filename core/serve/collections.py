"""The caller's own collections of documents, for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from core.base.errors import InputError
from core.base.text import is_blank, one_line
from core.documents import Collection, CollectionNotFound, Document, DocumentError, DocumentNotFound, PassageHit
from core.serve.access import Caller, Scope

if TYPE_CHECKING:
    from core.app import App


def list_collections(app: App, caller: Caller) -> dict[str, Any]:
    """Return the collections that the caller may read."""
    caller.require(Scope.DOCUMENTS)
    return {"collections": [collection_json(one) for one in app.documents.list_collections(caller.access)]}


def collection_json(collection: Collection) -> dict[str, Any]:
    return {
        "name": collection.name,
        "files": collection.documents,
        "pages": collection.pages,
        "bytes": collection.size,
        "unfinished": collection.unfinished,
        "unreadable": collection.unreadable,
        "mayChange": collection.may_change,
        "shared": bool(collection.share),
    }


def document_json(document: Document) -> dict[str, Any]:
    return {
        "file": document.name,
        "state": document.state.value,
        "reason": document.reason,
        "pages": document.pages,
        "bytes": document.size,
        "modified": document.modified,
        "outdated": document.is_outdated,
    }


def list_files(app: App, caller: Caller, collection: str) -> dict[str, Any]:
    """Return the files of a collection that the caller may read. Raise CollectionNotFound."""
    caller.require(Scope.DOCUMENTS)
    found = find_collection(app, caller, collection)
    files = app.documents.list_documents(found.id, caller.access)
    return {"collection": found.name, "files": [document_json(one) for one in files]}


def add_file(
    app: App, caller: Caller, collection: str, name: str, body: bytes, modified: date | None = None
) -> dict[str, Any]:
    """Store a file in the caller's collection, created if there is none, and return it. It is read in the background.
    Raise DocumentError."""
    caller.require(Scope.CHANGE_DOCUMENTS)
    place = own_collection(app, caller, collection)
    day = modified.isoformat() if modified else None
    added = app.documents.add_document(place.id, name, body, caller.access, modified=day)
    return {"collection": place.name, **document_json(added)}


def remove_file(app: App, caller: Caller, collection: str, name: str) -> dict[str, Any]:
    """Delete a file for good. Raise CollectionNotFound or DocumentNotFound."""
    caller.require(Scope.CHANGE_DOCUMENTS)
    place = find_collection(app, caller, collection)
    files = app.documents.list_documents(place.id, caller.access)
    found = next((one for one in files if one.name == one_line(name)), None)
    if found is None:
        raise DocumentNotFound(f"「{place.name}」里没有「{one_line(name)[:80]}」。", cure="请先列出其中的文件。")
    app.documents.delete_document(found.id, caller.access)
    return {"collection": place.name, "removed": 1, "files": [found.name]}


def remove_collection(app: App, caller: Caller, collection: str) -> dict[str, Any]:
    """Delete a collection with all its files for good. Raise CollectionNotFound."""
    caller.require(Scope.CHANGE_DOCUMENTS)
    place = find_collection(app, caller, collection)
    files = app.documents.list_documents(place.id, caller.access)
    app.documents.delete_collection(place.id, caller.access)
    return {"collection": place.name, "removed": len(files), "files": [one.name for one in files]}


def search_documents(
    app: App, caller: Caller, query: str, collections: Sequence[str] = (), limit: int = 10
) -> dict[str, Any]:
    """Return passages of the caller's documents with file and page; of the named collections, else of all."""
    caller.require(Scope.DOCUMENTS)
    if is_blank(query):
        raise InputError("没有写要查什么。", cure="请写关键词或问题。")
    chosen = [find_collection(app, caller, name) for name in dict.fromkeys(collections)]
    chosen = chosen or list(app.documents.list_collections(caller.access))
    hits = app.documents.search(query, caller.access, collections=[one.id for one in chosen], limit=limit)
    waiting = sum(one.unfinished for one in chosen)
    return {
        "query": query,
        "results": [hit_json(hit) for hit in hits],
        "collections": [one.name for one in chosen],
        "notRead": waiting,
    }


def hit_json(hit: PassageHit) -> dict[str, Any]:
    return {
        "file": hit.document.name,
        "page": hit.place.page if hit.place else None,
        "place": hit.place.label if hit.place else "",
        "text": hit.text,
        "collection": hit.collection_name,
        "modified": hit.document.modified,
        "outdated": hit.document.is_outdated,
    }


def find_collection(app: App, caller: Caller, name: str) -> Collection:
    """Return the collection with this name, of two the caller's own. Raise CollectionNotFound."""
    wanted = one_line(name)
    open_ones = app.documents.list_collections(caller.access)
    found = max((one for one in open_ones if one.name == wanted), key=lambda one: one.may_change, default=None)
    if found is None:
        known = "、".join(f"「{one.name}」" for one in open_ones)
        raise CollectionNotFound(
            f"没有叫「{wanted[:80]}」的资料集。", cure=f"现有的是{known}。" if known else "请先导入。"
        )
    return found


def own_collection(app: App, caller: Caller, name: str) -> Collection:
    """Return the caller's own collection with this name, created if there is none. Raise DocumentError."""

    def find() -> Collection | None:
        named = (one for one in app.documents.list_collections(caller.access) if one.name == one_line(name))
        return next((one for one in named if one.may_change), None)

    if found := find():
        return found
    try:
        return app.documents.create_collection(name, caller.access)
    except DocumentError:
        if found := find():  # another request has just created it
            return found
        raise
