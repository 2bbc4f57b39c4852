"""Each method of the document library by which somebody may reach a collection or a file of it."""

from __future__ import annotations

from collections.abc import Callable

from core.documents import Access, Collection, CollectionNotFound, Document, DocumentLibrary, DocumentNotFound

MINE = "m" * 32
OWNER = Access(MINE)
FILE = "钥匙.pdf"
NOT_FOUND = (CollectionNotFound, DocumentNotFound)
Way = Callable[[DocumentLibrary, Collection, Document, Access], object]

READING: dict[str, Way] = {
    "open the collection": lambda library, collection, _, who: library.open_collection(collection.id, who),
    "list its files": lambda library, collection, _, who: library.list_documents(collection.id, who),
    "wait for it": lambda library, collection, _, who: library.wait_until_indexed(collection.id, who, seconds=0),
    "open a file": lambda library, _, document, who: library.open_document(document.id, who),
    "read its text": lambda library, _, document, who: library.read_text(document.id, who),
    "download it": lambda library, _, document, who: library.read_bytes(document.id, who),
    "see a page": lambda library, _, document, who: library.draw_page(document.id, 1, who),
    "see a passage on a page": lambda library, _, document, who: library.draw_page(document.id, 1, who, [(0, 5)]),
}
CHANGING: dict[str, Way] = {
    "rename it": lambda library, collection, _, who: library.rename_collection(collection.id, "x", who),
    "delete it": lambda library, collection, _, who: library.delete_collection(collection.id, who),
    "share it": lambda library, collection, _, who: library.share_collection(collection.id, who),
    "withdraw its share": lambda library, collection, _, who: library.unshare_collection(collection.id, who),
    "add a file": lambda library, collection, _, who: library.add_document(collection.id, "x.txt", b"x", who),
    "replace a file": lambda library, collection, _, who: library.add_document(collection.id, FILE, b"x", who),
    "replace it by itself": lambda library, collection, document, who: library.add_document(
        collection.id, FILE, library.read_bytes(document.id, OWNER), who
    ),
    "read a file again": lambda library, _, document, who: library.reindex_document(document.id, who),
    "delete a file": lambda library, _, document, who: library.delete_document(document.id, who),
}
