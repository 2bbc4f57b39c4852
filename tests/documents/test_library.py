"""The document library: files are added, read, found, opened and deleted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.documents import Access, CollectionNotFound, DocumentError, DocumentLibrary, DocumentNotFound, DocumentState
from support.pdf_files import pdf_file

OWNER, STRANGER = Access("owner"), Access("stranger")
LEASE = pdf_file(
    ["房屋租赁合同", "甲方把灯塔街 12 号的房屋租给乙方。"],
    ["第二条 租金", "月租金为人民币八千六百元，每季度首月五日前支付。"],
    ["第三条 押金", "押金相当于两个月的租金，退租时无息退还。"],
)


def filled(library: DocumentLibrary, **files: bytes) -> str:
    collection = library.create_collection("合同", OWNER)
    for name, body in files.items():
        library.add_document(collection.id, name.replace("_", "."), body, OWNER)
    assert library.wait_until_indexed(collection.id, OWNER, seconds=60)
    return collection.id


def test_a_passage_is_found_with_its_page(library: DocumentLibrary) -> None:
    id = filled(library, lease_pdf=LEASE, notes_txt="灯塔每年十月检修一次。".encode())
    (best, *_) = library.search("月租金是多少？", OWNER, collections=[id])
    assert "八千六百元" in best.text
    assert best.place is not None
    assert (best.place.page, best.place.label) == (2, "第 2 页")
    assert best.document.name == "lease.pdf"
    assert best.collection_name == "合同"
    page = library.read_text(best.document.id, OWNER)
    assert page.text[best.start : best.end] == best.text
    assert page.address == best.document.address


def test_a_collection_counts_its_files(library: DocumentLibrary) -> None:
    id = filled(library, lease_pdf=LEASE, broken_pdf=b"%PDF-1.4 nothing")
    collection = library.open_collection(id, OWNER)
    assert (collection.documents, collection.pages, collection.unreadable, collection.unfinished) == (2, 3, 1, 0)
    assert collection.size == len(LEASE) + len(b"%PDF-1.4 nothing")
    broken, lease = library.list_documents(id, OWNER)
    assert broken.state is DocumentState.UNREADABLE
    assert broken.reason.endswith("。")
    assert (lease.state, lease.pages, lease.pages_done, lease.kind, lease.reason) == ("indexed", 3, 3, "pdf", "")
    assert library.read_bytes(lease.id, OWNER) == LEASE


def test_the_same_file_is_added_once_and_a_changed_one_replaces_it(library: DocumentLibrary) -> None:
    id = filled(library, rent_txt="租金是八千元。".encode())
    (old,) = library.list_documents(id, OWNER)
    assert library.add_document(id, "rent.txt", "租金是八千元。".encode(), OWNER).id == old.id
    new = library.add_document(id, "rent.txt", "租金是九千元。".encode(), OWNER)
    assert library.wait_until_indexed(id, OWNER, seconds=60)
    assert [document.id for document in library.list_documents(id, OWNER)] == [new.id]
    assert [hit.text for hit in library.search("租金", OWNER, collections=[id])] == ["租金是九千元。"]
    with pytest.raises(DocumentNotFound):
        library.open_document(old.id, OWNER)


def test_several_collections_are_searched_at_once(library: DocumentLibrary) -> None:
    first = library.create_collection("一", OWNER)
    second = library.create_collection("二", OWNER)
    for number in range(30):
        library.add_document(first.id, f"{number}.txt", f"第 {number} 号会议纪要，讨论了租金。".encode(), OWNER)
    library.add_document(second.id, "rent.txt", "灯塔的租金是一枚贝壳。".encode(), OWNER)
    for each in (first, second):
        assert library.wait_until_indexed(each.id, OWNER, seconds=60)
    hits = library.search("灯塔的租金", OWNER, collections=[first.id, second.id])
    assert hits[0].collection_name == "二"
    assert {hit.collection_name for hit in hits} == {"一", "二"}


def test_the_same_words_are_shown_once(library: DocumentLibrary) -> None:
    id = filled(library, a_txt="租金是八千元。".encode(), b_txt="租金是八千元。".encode())
    assert len(library.search("租金", OWNER, collections=[id])) == 1


def test_a_page_of_a_pdf_is_drawn(library: DocumentLibrary) -> None:
    id = filled(library, lease_pdf=LEASE, notes_txt=b"no pages")
    (best, *_) = library.search("押金", OWNER, collections=[id])
    marks = [(best.start, best.end)]
    marked = library.draw_page(best.document.id, 3, OWNER, marks)
    assert marked.startswith(b"\x89PNG")
    assert marked != library.draw_page(best.document.id, 3, OWNER)
    with pytest.raises(DocumentError):
        library.draw_page(best.document.id, 9, OWNER)
    notes = next(one for one in library.list_documents(id, OWNER) if one.name == "notes.txt")
    with pytest.raises(DocumentError):
        library.draw_page(notes.id, 1, OWNER)


def test_what_is_deleted_is_not_found(library: DocumentLibrary) -> None:
    id = filled(library, lease_pdf=LEASE, notes_txt="灯塔每年检修一次。".encode())
    lease = next(one for one in library.list_documents(id, OWNER) if one.name == "lease.pdf")
    library.delete_document(lease.id, OWNER)
    assert library.search("押金", OWNER, collections=[id]) == ()
    with pytest.raises(DocumentNotFound):
        library.read_text(lease.id, OWNER)
    library.delete_collection(id, OWNER)
    assert library.list_collections(OWNER) == ()
    with pytest.raises(CollectionNotFound):
        library.search("灯塔", OWNER, collections=[id])


def test_a_file_is_read_again(library: DocumentLibrary) -> None:
    id = filled(library, lease_pdf=LEASE)
    (lease,) = library.list_documents(id, OWNER)
    library.reindex_document(lease.id, OWNER)
    assert library.wait_until_indexed(id, OWNER, seconds=60)
    assert [hit.place.page for hit in library.search("无息退还", OWNER, collections=[id]) if hit.place] == [3]
    assert library.open_document(lease.id, OWNER).state is DocumentState.INDEXED


def test_a_share_opens_a_collection_for_reading_until_it_is_withdrawn(library: DocumentLibrary) -> None:
    id = filled(library, lease_pdf=LEASE)
    key = library.share_collection(id, OWNER)
    assert library.share_collection(id, OWNER) == key
    guest = Access("stranger", shares=(key,))
    shared = library.find_shared(key)
    assert (shared.id, shared.may_change, shared.share) == (id, False, "")
    assert [each.id for each in library.list_collections(guest)] == [id]
    assert library.search("押金", guest, collections=[id])
    (lease,) = library.list_documents(id, guest)
    assert library.read_bytes(lease.id, guest) == LEASE
    for change in (library.delete_document, library.reindex_document):
        with pytest.raises(DocumentNotFound):
            change(lease.id, guest)
    with pytest.raises(CollectionNotFound):
        library.add_document(id, "mine.txt", b"mine", guest)
    library.unshare_collection(id, OWNER)
    with pytest.raises(CollectionNotFound):
        library.search("押金", guest, collections=[id])
    with pytest.raises(CollectionNotFound):
        library.find_shared(key)
    assert library.share_collection(id, OWNER) != key


def test_two_libraries_on_one_folder_see_each_others_files(open_library: Callable[[], DocumentLibrary]) -> None:
    one, other = open_library(), open_library()
    id = filled(one, lease_pdf=LEASE)
    assert other.search("押金", OWNER, collections=[id])
    other.add_document(id, "notes.txt", "灯塔每年检修一次。".encode(), OWNER)
    assert one.wait_until_indexed(id, OWNER, seconds=60)
    assert one.search("灯塔检修", OWNER, collections=[id])[0].document.name == "notes.txt"


@pytest.mark.parametrize("values", ["folder"], indirect=True)
def test_files_are_private_on_the_disk(library: DocumentLibrary, tmp_path: Path) -> None:
    filled(library, lease_pdf=LEASE)
    folder = tmp_path / "data" / "documents"
    for path in [folder / "files", *(folder / "files").rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize("name", ["", "   ", "../..", "/"])
def test_a_file_needs_a_name(library: DocumentLibrary, name: str) -> None:
    collection = library.create_collection("合同", OWNER)
    with pytest.raises(DocumentError):
        library.add_document(collection.id, name, b"words", OWNER)


def test_names_of_collections_say_which_is_which(library: DocumentLibrary) -> None:
    library.create_collection("合同", OWNER)
    with pytest.raises(DocumentError, match="已经有"):
        library.create_collection(" 合同 ", OWNER)
    with pytest.raises(DocumentError):
        library.create_collection("  ", OWNER)
    library.create_collection("合同", STRANGER)
