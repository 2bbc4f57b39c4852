"""What is said of a file and a collection in a few words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.documents import Collection, Document, DocumentState
from core.ui.documents.collection_facts import facts_of, marks_html, size_words, state_words

SCAN = Document("d", "c", "扫描.pdf", 2_500_000, "", DocumentState.READING, 0.0, pages=300, pages_done=3)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (SCAN, "正在读取 3/300 页"),
        (replace(SCAN, state=DocumentState.RECOGNIZING, pages_done=12), "正在识别 12/300 页"),
        (replace(SCAN, pages_done=0), "正在读取"),
        (replace(SCAN, state=DocumentState.WAITING), "等待读取"),
        (replace(SCAN, state=DocumentState.INDEXED, pages_done=300), "已索引"),
        (replace(SCAN, state=DocumentState.UNREADABLE), "无法读取"),
    ],
)
def test_the_state_of_a_file_says_how_far_it_is(document: Document, words: str) -> None:
    assert state_words(document) == words


def test_only_what_is_not_as_it_should_be_is_marked() -> None:
    indexed = replace(SCAN, state=DocumentState.INDEXED)
    assert marks_html(indexed) == ""
    assert "旧版" in marks_html(replace(indexed, is_outdated=True))
    assert "正在读取 3/300 页" in marks_html(SCAN)


@pytest.mark.parametrize(("size", "words"), [(15, "15 字节"), (2_500, "2.5 KB"), (2_500_000, "2.5 MB")])
def test_a_size_is_said_in_its_unit(size: int, words: str) -> None:
    assert size_words(size) == words


def test_a_collection_counts_what_is_in_it() -> None:
    empty = Collection("c", "合同", 0.0, 0.0)
    assert facts_of(empty) == ["还没有文件"]
    full = replace(empty, documents=1_200, pages=34_000, size=120_000_000, unfinished=3, unreadable=2)
    assert facts_of(full) == ["1,200 个文件", "34,000 页", "120.0 MB", "3 个还没有读完", "2 个无法读取"]
