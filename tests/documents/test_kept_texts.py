"""Texts of documents that are kept with answers go with the document, and no other text does."""

from __future__ import annotations

import pytest

from core.answer.message import Message
from core.base.settings import Settings
from core.documents import Access, DocumentLibrary
from core.reading import Page
from core.store import ConversationStore, Database, ReadPageStore, new_conversation_id
from support.web_pages import found

OWNER, READER = Access("owner"), "reader"


@pytest.mark.parametrize("how", ["document", "collection"])
def test_a_deleted_document_is_in_no_conversation_any_more(
    library: DocumentLibrary, values: Settings, how: str
) -> None:
    id = library.create_collection("合同", OWNER).id
    document = library.add_document(id, "租约.txt", "租金每月 8,500 元。".encode(), OWNER)
    other = library.add_document(library.create_collection("其他", OWNER).id, "二.txt", "押金两个月。".encode(), OWNER)
    for one in (document, other):
        assert library.wait_until_indexed(one.collection_id, OWNER, seconds=60)
    web = Page.from_search_result(found("https://document.example/1"))
    pages = {1: library.read_text(document.id, OWNER), 2: library.read_text(other.id, OWNER), 3: web}
    database = Database.from_settings(values)
    conversations, kept = ConversationStore(database), ReadPageStore(database)
    conversation = new_conversation_id()
    conversations.create(visitor_id=READER, id=conversation)
    conversations.save(conversation, Message("assistant", "租金每月 8,500 元[1]。", id="a"), visitor_id=READER)
    kept.save(conversation, "a", pages, visitor_id=READER)
    assert set(kept.load(conversation, "a", visitor_id=READER)) == {1, 2, 3}
    if how == "document":
        library.delete_document(document.id, OWNER)
    else:
        library.delete_collection(id, OWNER)
    assert set(kept.load(conversation, "a", visitor_id=READER)) == {2, 3}
    database.close()
