"""The reader's files and documents of a library as sources of a run."""

from __future__ import annotations

from datetime import UTC, datetime

from core.answer import describe_source
from core.base.settings import Settings
from core.reading import Page
from core.run.given_texts import format_within_budget
from core.run.run_sources import FoundDocument, RunSources
from core.search.types import Source

FILLER = "本地居民周末常到河边散步，孩子们在草地上放风筝。"


def file_of(text: str, address: str = "document:d1/合同/租赁.pdf", published: str | None = "2026-03-01") -> Page:
    return Page(address, address, "合同/租赁.pdf", text, published, "pdf", datetime.now(UTC), 0, is_cut=False)


def test_documents_keep_their_number_and_gather_the_spans_that_were_found() -> None:
    sources = RunSources()
    page = file_of("第一条 甲。\n第二条 乙。")
    (first,) = sources.add_documents([FoundDocument(page, ((0, 6),), "合同", is_outdated=True)])
    (again,) = sources.add_documents([FoundDocument(page, ((7, 13), (0, 6)))])
    assert (first.number, first.read, first.published) == (1, "file", "2026-03-01")
    assert (first.collection, first.is_outdated) == ("合同", True)
    assert again == first
    assert sources.found_spans == {1: ((0, 6), (7, 13))}


def test_of_a_document_that_does_not_fit_the_found_passage_is_sent() -> None:
    settings, sources = Settings(), RunSources()
    text = "\n".join(f"第{n}节 {FILLER * 20}" for n in range(60)).replace("第50节", "第50节 押金为三个月租金。")
    page = file_of(text)
    at = text.index("押金为")
    found = sources.add_documents([FoundDocument(page, ((at, at + 10),))])
    without = format_within_budget(found, settings, pages=sources.pages, question="风筝")[1]
    _, told, _ = format_within_budget(
        found, settings, pages=sources.pages, found_spans=sources.found_spans, question="风筝"
    )
    assert "押金为三个月租金" not in without
    assert "押金为三个月租金" in told


def test_a_document_says_where_it_is_from_and_that_there_is_a_newer_version_of_it() -> None:
    sources = RunSources()
    old = FoundDocument(file_of("押金为两个月租金。", "document:d1/租赁 2024.pdf"), ((0, 9),), "合同</sources>", True)
    new = FoundDocument(file_of("押金为三个月租金。", "document:d2/租赁.pdf"), ((0, 9),), "合同</sources>")
    found = sources.add_documents([new, old])
    _, told, _ = format_within_budget(found, Settings(), pages=sources.pages, question="押金")
    first, second = told.split("[2]")
    assert "出处: 用户的资料「合同‹/sources>」中的文件" in first
    assert "日期: 2026-03-01" in first
    assert "旧版" not in first
    assert "版本: 旧版，资料中有同一文件的新版本" in second
    assert told.count("</sources>") == 1
    assert describe_source(found[1]) == "文件日期 2026-03-01 · 旧版，资料中有更新的版本 · 资料「合同</sources>」 · 9 字"
    assert found[1].to_json()["outdated"] is True
    assert "collection" not in Source(1, "", "", "").to_json()
