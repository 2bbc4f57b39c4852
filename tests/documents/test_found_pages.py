"""Questions about invented files, in other words than theirs: the page with the answer is among the first five hits."""

from __future__ import annotations

from core.documents import Access, DocumentLibrary
from support.library_questions import invented_files

OWNER = Access("owner")
LEAST = 0.85


def test_pages_are_found_among_the_first_five(library: DocumentLibrary) -> None:
    files, questions = invented_files()
    assert (len(files), len(questions)) == (15, 113)
    id = library.create_collection("资料", OWNER).id
    for file in files:
        library.add_document(id, file.name, file.body, OWNER)
    assert library.wait_until_indexed(id, OWNER, seconds=120)
    missed = []
    for question in questions:
        hits = library.search(question.text, OWNER, collections=[id], limit=5)
        if (question.name, question.page) not in {(hit.document.name, hit.place.page) for hit in hits if hit.place}:
            missed.append(question.text)
    assert 1 - len(missed) / len(questions) >= LEAST, missed
