"""A stranger reaches nothing, by any method of the library, and cannot tell what exists from what does not."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from core.documents import Access, CollectionNotFound, DocumentError, DocumentLibrary, DocumentNotFound

OWNER = Access("owner")
MADE_UP = "an-id-of-24-characters-_"
STRANGERS = {
    "another reader": Access("stranger"),
    "nobody": Access(),
    "one with an empty name": Access(""),
    "one who names the digest of the owner": Access("4c1029697ee358715d3a14a2add817c4b01651440de808371f78165ac90dc581"),
    "one with keys that are made up": Access("stranger", shares=("", "%", "' OR 1=1 --", MADE_UP)),
}
IDS = {
    "a made-up id": MADE_UP,
    "no id": "",
    "a pattern": "%",
    "a path": "../../database",
    "a NUL": "\0" * 24,
}

Attempt = Callable[[DocumentLibrary, str, str, Access], object]
"""What a stranger tries with the id of a collection and of a file."""

ATTEMPTS: dict[str, Attempt] = {
    "open_collection": lambda library, id, _, who: library.open_collection(id, who),
    "rename_collection": lambda library, id, _, who: library.rename_collection(id, "mine", who),
    "delete_collection": lambda library, id, _, who: library.delete_collection(id, who),
    "share_collection": lambda library, id, _, who: library.share_collection(id, who),
    "unshare_collection": lambda library, id, _, who: library.unshare_collection(id, who),
    "add_document": lambda library, id, _, who: library.add_document(id, "a.txt", b"mine", who),
    "list_documents": lambda library, id, _, who: library.list_documents(id, who),
    "wait_until_indexed": lambda library, id, _, who: library.wait_until_indexed(id, who, seconds=0),
    "search": lambda library, id, _, who: library.search("灯塔", who, collections=[id]),
    "open_document": lambda library, _, id, who: library.open_document(id, who),
    "read_text": lambda library, _, id, who: library.read_text(id, who),
    "read_bytes": lambda library, _, id, who: library.read_bytes(id, who),
    "draw_page": lambda library, _, id, who: library.draw_page(id, 1, who),
    "reindex_document": lambda library, _, id, who: library.reindex_document(id, who),
    "delete_document": lambda library, _, id, who: library.delete_document(id, who),
}
WITHOUT_IDS = {
    "from_settings": "builds the library",
    "start": "is called by the App",
    "tidy": "is called by the upkeep",
    "close": "is called by the App",
    "list_collections": "has a test of its own below",
    "create_collection": "creates the caller's own",
    "find_shared": "has a test of its own below",
}
CHANGES = {
    name for name in ATTEMPTS if name.split("_")[0] in {"rename", "delete", "share", "unshare", "add", "reindex"}
}


def filled(library: DocumentLibrary) -> tuple[str, str]:
    collection = library.create_collection("灯塔", OWNER)
    document = library.add_document(collection.id, "灯塔.txt", "灯塔每年十月检修一次。".encode(), OWNER)
    assert library.wait_until_indexed(collection.id, OWNER, seconds=60)
    return collection.id, document.id


def outcome(attempt: Attempt, library: DocumentLibrary, collection: str, document: str, who: Access) -> tuple[str, str]:
    """What the caller learns from an attempt that must fail."""
    with pytest.raises(DocumentError) as caught:
        attempt(library, collection, document, who)
    assert isinstance(caught.value, CollectionNotFound | DocumentNotFound)
    return type(caught.value).__name__, str(caught.value)


def test_every_method_is_tried() -> None:
    methods = {name for name, _ in inspect.getmembers(DocumentLibrary, callable) if not name.startswith("_")}
    assert methods == ATTEMPTS.keys() | WITHOUT_IDS.keys()


def test_strangers_reach_nothing(library: DocumentLibrary) -> None:
    collection, document = filled(library)
    library.share_collection(collection, OWNER)
    before = state(library, collection)
    for name, attempt in ATTEMPTS.items():
        for who in STRANGERS.values():
            learned = outcome(attempt, library, collection, document, who)
            for made_up in IDS.values():
                assert outcome(attempt, library, made_up, made_up, who) == learned, name
    assert state(library, collection) == before
    for who in STRANGERS.values():
        assert library.list_collections(who) == ()


def test_the_owner_finds_no_ids_that_are_made_up(library: DocumentLibrary) -> None:
    filled(library)
    for attempt in ATTEMPTS.values():
        for made_up in IDS.values():
            outcome(attempt, library, made_up, made_up, OWNER)


def test_a_guest_with_a_share_changes_nothing(library: DocumentLibrary) -> None:
    collection, document = filled(library)
    guest = Access("guest", shares=(library.share_collection(collection, OWNER),))
    before = state(library, collection)
    for name in sorted(CHANGES):
        outcome(ATTEMPTS[name], library, collection, document, guest)
    for name in sorted(ATTEMPTS.keys() - CHANGES - {"draw_page"}):
        ATTEMPTS[name](library, collection, document, guest)
    assert state(library, collection) == before
    library.unshare_collection(collection, OWNER)
    for attempt in ATTEMPTS.values():
        outcome(attempt, library, collection, document, guest)


@pytest.mark.parametrize("share", ["", "%", "' OR 1=1 --", MADE_UP])
def test_shares_that_are_made_up_open_nothing(library: DocumentLibrary, share: str) -> None:
    filled(library)
    with pytest.raises(CollectionNotFound):
        library.find_shared(share)


def test_one_collection_that_is_not_the_readers_spoils_a_search(library: DocumentLibrary) -> None:
    theirs, _ = filled(library)
    mine = library.create_collection("我的", Access("stranger"))
    with pytest.raises(CollectionNotFound):
        library.search("灯塔", Access("stranger"), collections=[mine.id, theirs])


def state(library: DocumentLibrary, collection: str) -> object:
    documents = library.list_documents(collection, OWNER)
    return (
        library.open_collection(collection, OWNER),
        documents,
        [library.read_bytes(one.id, OWNER) for one in documents],
    )
