"""Scans in the document library: recognized by the real models, behind the files that have a text."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator

import pypdfium2
import pytest

from core.base.http import Deadline
from core.documents import Access, Document, DocumentLibrary, DocumentNotFound, DocumentState
from core.reading import RecognizedPage
from core.reading import reader as reader_module
from support.pdf_files import pdf_file
from support.scans import file_of, one_recognizer, scan
from support.waiting import until

OWNER = Access("owner")
RENT = "承租方每月支付租金人民币48,600元。"
LIGHT = "灯塔的灯每晚六点点亮，早上七点熄灭。"


@pytest.fixture
def library(open_library: Callable[[], DocumentLibrary]) -> Iterator[DocumentLibrary]:
    with one_recognizer():
        library = open_library()
        yield library
        library._reader.close()


def joined(*files: bytes) -> bytes:
    whole, out = pypdfium2.PdfDocument.new(), io.BytesIO()
    for file in files:
        whole.import_pages(pypdfium2.PdfDocument(file))
    whole.save(out)
    return out.getvalue()


def add(library: DocumentLibrary, name: str, body: bytes) -> tuple[str, Callable[[], Document]]:
    collection = library.create_collection("扫描", OWNER)
    document = library.add_document(collection.id, name, body, OWNER)
    return collection.id, lambda: library.open_document(document.id, OWNER)


def test_a_scan_is_found_with_its_page_and_says_that_it_was_recognized(library: DocumentLibrary) -> None:
    body = joined(pdf_file(["第一页有文字层，写着灯塔的守则。" * 3]), file_of("PDF", scan(RENT), scan(LIGHT)))
    id, now = add(library, "合同.pdf", body)
    assert library.wait_until_indexed(id, OWNER, seconds=120)
    assert (now().state, now().reason, now().pages, now().pages_done) == (DocumentState.INDEXED, "", 3, 3)
    found = {words: library.search(words, OWNER, collections=[id])[0].place for words in ("租金人民币", "点亮", "守则")}
    assert {words: place and (place.page, place.is_recognized) for words, place in found.items()} == {
        "租金人民币": (2, True),
        "点亮": (3, True),
        "守则": (1, False),
    }
    text = library.read_text(now().id, OWNER)
    assert text.text.endswith(f"{RENT}\n\n{LIGHT}")


def test_a_text_does_not_wait_for_scans(library: DocumentLibrary) -> None:
    id, scanned = add(library, "扫描.pdf", file_of("PDF", *[scan(RENT, LIGHT)] * 8))
    until(lambda: scanned().state is DocumentState.RECOGNIZING, 60)
    text = library.add_document(id, "说明.txt", "钥匙由港务局保管。".encode(), OWNER)
    until(lambda: library.open_document(text.id, OWNER).state is DocumentState.INDEXED, 60)
    assert scanned().state is DocumentState.RECOGNIZING
    assert scanned().pages_done < 8


def test_a_scan_that_is_deleted_meanwhile_is_gone(library: DocumentLibrary) -> None:
    id, scanned = add(library, "扫描.pdf", file_of("PDF", *[scan(RENT, LIGHT)] * 8))
    until(lambda: scanned().pages_done > 0, 60)
    library.delete_document(scanned().id, OWNER)
    assert library.wait_until_indexed(id, OWNER, seconds=60)
    with pytest.raises(DocumentNotFound):
        scanned()
    assert library.search("租金", OWNER, collections=[id]) == ()


def test_what_the_end_of_the_program_interrupts_goes_on_at_the_next_start(
    library: DocumentLibrary, open_library: Callable[[], DocumentLibrary], monkeypatch: pytest.MonkeyPatch
) -> None:
    recognize = library._reader.recognize_pages

    def held(name: str, body: bytes, numbers: Iterable[int], *, deadline: Deadline) -> Iterator[RecognizedPage]:
        """The pages, with the end of the program behind the first."""
        for page in recognize(name, body, numbers, deadline=deadline):
            yield page
            until(lambda: deadline.cancelled, 60)

    with monkeypatch.context() as patch:
        patch.setattr(library._reader, "recognize_pages", held)
        id, scanned = add(library, "扫描.pdf", file_of("PDF", *[scan(RENT)] * 3))
        until(lambda: (scanned().state, scanned().pages_done) == (DocumentState.RECOGNIZING, 1), 60)
        library.close()
    assert (scanned().state, scanned().pages_done) == (DocumentState.RECOGNIZING, 1)
    again = open_library()
    again.start()
    assert again.wait_until_indexed(id, OWNER, seconds=120)
    assert [hit.place and hit.place.page for hit in again.search("租金", OWNER, collections=[id])]


def test_without_the_extra_it_is_said_what_is_missing(
    open_library: Callable[[], DocumentLibrary], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_module, "is_recognition_installed", lambda: False)
    library = open_library()
    mixed = joined(pdf_file(["第一页有文字层，写着灯塔的守则。" * 3]), file_of("PDF", scan(RENT)))
    id, some = add(library, "合同.pdf", mixed)
    whole = library.add_document(id, "扫描.pdf", file_of("PDF", scan(RENT)), OWNER)
    assert library.wait_until_indexed(id, OWNER, seconds=60)
    assert some().state is DocumentState.INDEXED
    assert "有 1 页只有图像，没有文字层（第 2 页）。" in some().reason
    unread = library.open_document(whole.id, OWNER)
    assert unread.state is DocumentState.UNREADABLE
    assert "是扫描件，没有文字层" in unread.reason
    assert all("pip install -r requirements-ocr.txt" in one.reason for one in (some(), unread))
