"""Collections of documents that were not shared, and strangers who know every id of them: each way in, named."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from core.app import App, build_app
from core.documents import Access, Collection, CollectionNotFound, Document, DocumentLibrary, DocumentNotFound
from core.run import ChosenCollections
from core.store import ChosenCollection
from support.app_server import AppServer
from support.base import loaded
from support.filled_collections import fill_collection
from support.forked_server import forked_server
from support.pdf_files import pdf_file
from support.ways_to_a_file import CHANGING, FILE, MINE, NOT_FOUND, OWNER, READING, Way
from support.wire import Wire

YOURS = "y" * 32
SECRET = "灯塔的钥匙放在第三块砖下面"
NAME = "只有我知道的资料"
WAYS = READING | CHANGING


def strangers(collection: Collection, document: Document) -> dict[str, Access]:
    return {
        "nobody": Access(),
        "empty": Access(""),
        "another": Access(YOURS),
        "upper case": Access(MINE.upper()),
        "padded": Access(f"{MINE} "),
        "cut": Access(MINE[:-1]),
        "as it is kept": Access(hashlib.sha256(MINE.encode()).hexdigest()),
        "a pattern": Access("%", ("%", "_" * 24, "*")),
        "SQL": Access("' OR 1=1 --", ("' OR 1=1 --",)),
        "half a character": Access(f"{MINE}\ud800", ("\ud800" * 24,)),
        "an id for a share": Access(YOURS, (collection.id, document.id, MINE)),
        "empty shares": Access(YOURS, ("", "\x00", "A" * 24, "A" * 100_000)),
    }


STRANGERS = [
    *("nobody", "empty", "another", "upper case", "padded", "cut", "as it is kept", "a pattern", "SQL"),
    *("half a character", "an id for a share", "empty shares"),
]


@dataclass
class Kept:
    app: App
    collection: Collection
    document: Document

    @property
    def library(self) -> DocumentLibrary:
        return self.app.documents

    def is_as_it_was(self) -> bool:
        here = self.library.open_collection(self.collection.id, OWNER)
        return here == self.collection and self.library.list_documents(here.id, OWNER) == (self.document,)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    app = build_app(loaded(DATA_DIR=str(tmp_path_factory.mktemp("private"))), engines=[])
    collection = fill_collection(app, NAME, OWNER, 钥匙_pdf=pdf_file([SECRET]))
    (document,) = app.documents.list_documents(collection.id, OWNER)
    yield Kept(app, collection, document)
    app.close()


# ── By their ids ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", STRANGERS)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_no_way_into_the_collection_of_another(kept: Kept, way: Way, name: str) -> None:
    who = strangers(kept.collection, kept.document)[name]
    with pytest.raises(NOT_FOUND):
        way(kept.library, kept.collection, kept.document, who)
    assert kept.is_as_it_was()
    assert kept.library.list_collections(who) == ()


@pytest.mark.parametrize("name", STRANGERS)
def test_a_search_finds_nothing_of_another(kept: Kept, name: str) -> None:
    who = strangers(kept.collection, kept.document)[name]
    try:
        found = kept.library.search(SECRET, who, collections=[kept.collection.id])
    except CollectionNotFound:
        found = ()
    assert found == ()
    assert kept.library.search(SECRET, OWNER, collections=[kept.collection.id]), "or nothing was tried"


@pytest.mark.parametrize("way", READING.values(), ids=READING)
def test_a_share_opens_it_for_reading_and_no_longer_when_withdrawn(kept: Kept, way: Way) -> None:
    share = kept.library.share_collection(kept.collection.id, OWNER)
    guest = Access(YOURS, (share,))
    way(kept.library, kept.collection, kept.document, guest)
    kept.library.unshare_collection(kept.collection.id, OWNER)
    with pytest.raises(NOT_FOUND):
        way(kept.library, kept.collection, kept.document, guest)
    assert kept.is_as_it_was()


@pytest.mark.parametrize("way", CHANGING.values(), ids=CHANGING)
def test_who_was_given_a_share_changes_nothing(kept: Kept, way: Way) -> None:
    share = kept.library.share_collection(kept.collection.id, OWNER)
    guest = Access(YOURS, (share,))
    assert not kept.library.open_collection(kept.collection.id, guest).may_change
    assert not kept.library.open_collection(kept.collection.id, guest).share, "nor hands the share on from here"
    with pytest.raises(NOT_FOUND):
        way(kept.library, kept.collection, kept.document, guest)
    kept.library.unshare_collection(kept.collection.id, OWNER)
    assert kept.is_as_it_was()


@pytest.mark.parametrize("name", STRANGERS)
def test_the_agents_tools_and_an_answer_are_given_nothing_of_another(kept: Kept, name: str) -> None:
    who = strangers(kept.collection, kept.document)[name]
    chosen = ChosenCollections.open(kept.library, who, [kept.collection.id, kept.document.id])
    assert (chosen.collections, chosen.names, chosen.list_documents()) == ((), (), ())
    assert chosen.search([SECRET], limit=5) == ()
    assert NAME not in "".join(chosen.problems)
    with pytest.raises(DocumentNotFound):
        chosen.open_file(kept.document)


# ── On the page, at the wire ──────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Served:
    server: AppServer
    collection: str
    document: str
    owner: Wire
    """The owner's page of the collection, which stays open."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = str(tmp_path_factory.mktemp("served"))
    app = build_app(loaded(DATA_DIR=folder), engines=[])
    collection = fill_collection(app, NAME, OWNER, 钥匙_pdf=pdf_file([SECRET]))
    (document,) = app.documents.list_documents(collection.id, OWNER)
    talk = app.store.create(visitor_id=MINE)
    app.store.set_collections(talk, [ChosenCollection(collection.id, NAME)], visitor_id=MINE)
    app.close()
    with (
        forked_server(SEARCH_PROVIDER_PRIORITY="bundled", DATA_DIR=folder) as server,
        Wire(server.url, page="documents", mark=MINE, query=f"collection={collection.id}") as owner,
    ):
        assert NAME in owner.news
        assert FILE in owner.news
        yield Served(server, collection.id, document.id, owner)


ADDRESSES = {
    "the collection": "collection={collection}",
    "a search in it": f"collection={{collection}}&q={SECRET}",
    "a file": "file={document}",
    "a passage": "file={document}&from=0&to=5",
    "the collection as a share": "share={collection}",
    "the file as a share": "share={document}",
    "its owner as a share": f"share={MINE}",
    "the list": "",
    "a search in all": f"q={SECRET}",
}


@pytest.mark.parametrize("mark", [YOURS, "", MINE.upper(), "x"])
@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_an_address_draws_nothing_of_it(served: Served, address: str, mark: str) -> None:
    query = address.format(collection=served.collection, document=served.document)
    nowhere = address.format(collection="A" * 24, document="A" * 24)
    with (
        Wire(served.server.url, page="documents", mark=mark, query=query) as stranger,
        Wire(served.server.url, page="documents", mark=mark, query=nowhere) as nobody,
    ):
        for secret in (NAME, FILE, "钥匙", "第三块砖"):
            assert secret not in stranger.news.replace(SECRET, ""), secret
        assert _sentences(stranger.news) == _sentences(nobody.news), "and not even that there is something"


def test_the_owner_sees_it_at_the_same_addresses(served: Served) -> None:
    for address, shown in (("collection={collection}", FILE), ("file={document}", SECRET), ("", NAME)):
        query = address.format(collection=served.collection, document=served.document)
        with Wire(served.server.url, page="documents", mark=MINE, query=query) as owner:
            assert shown in owner.news


@pytest.mark.parametrize("kind", ["button", "file_uploader", "text_input"])
def test_the_widgets_of_its_owner_do_nothing_in_another_session(served: Served, kind: str) -> None:
    """A stranger who has seen the messages of the owner's page sends the values of its widgets."""
    ids = {getattr(one, kind).id for one in served.owner._elements if one.HasField(kind)} - {""}
    with Wire(served.server.url, page="documents", mark=YOURS, query=f"collection={served.collection}") as stranger:
        assert ids, "or nothing is tried"
        for id in ids:
            for value in ({"trigger_value": True}, {"bool_value": True}, {"string_value": SECRET}):
                stranger._rerun(WidgetState(id=id, **value))
                assert NAME not in stranger.settle()
    with Wire(served.server.url, page="documents", mark=MINE, query=f"collection={served.collection}") as owner:
        assert NAME in owner.news
        assert FILE in owner.news


def test_a_stranger_cannot_choose_it_for_a_conversation(served: Served) -> None:
    with Wire(served.server.url, mark=YOURS) as stranger:
        stranger._rerun(WidgetState(id=f"$$ID-x-collection-{served.collection}", bool_value=True))
        assert NAME not in stranger.settle()
        stranger.ask(SECRET)
        news = stranger.settle()
        assert NAME not in news
        assert FILE not in news


def test_a_shared_reader_is_sent_no_way_to_change_it_and_uploads_nothing(served: Served) -> None:
    served.owner.click("分享")
    shown = served.owner.settle()
    share = shown.partition("share=")[2][:24]
    assert len(share) == 24
    with Wire(served.server.url, page="documents", mark=YOURS, query=f"share={share}") as guest:
        assert FILE in guest.news
        for words in ("改名", "删除", "file_uploader"):
            assert words not in guest.news
        assert guest.upload(10) == 403
        served.owner.click("撤回")
        served.owner.settle()
        guest._rerun()
        assert FILE not in guest.settle()
    with Wire(served.server.url, page="documents", mark=YOURS, query=f"share={share}") as late:
        assert NAME not in late.news


def test_the_page_of_a_file_is_sent_as_a_picture_and_has_no_address(served: Served) -> None:
    with Wire(served.server.url, page="documents", mark=MINE, query=f"file={served.document}") as owner:
        owner.use("button_group", "原页", string_array_value={"data": ["原页"]})
        news = owner.settle()
        assert "data:image/png;base64," in news
        assert "/media/" not in news


def _sentences(news: str) -> list[str]:
    return [line for line in news.splitlines() if "没有这个" in line or "失效" in line]
