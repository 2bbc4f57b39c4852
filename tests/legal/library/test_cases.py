"""Case search: keyword, type, 案号, full text, and the web where the index has nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.legal.errors import NoLegalIndex
from core.legal.library.cases import CaseService
from core.legal.library.index import LegalLibrary
from core.search.errors import QueryError
from core.search.types import SearchQuery, SearchResponse, SearchResult
from support import invented


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> LegalLibrary:
    folder = tmp_path_factory.mktemp("case")
    more = {
        "caseName": "丙偷灯油案",
        "caseNumber": "(2020)闽01刑初9号",
        "text": "丙夜间偷灯油三桶。",
        "url": "https://court.example/9",
    }
    return invented.library(
        folder / "data", invented.lawrefbook(folder / "laws"), invented.jsonl(folder / "a.jsonl", more)
    )


def web(query: str, limit: int) -> SearchResponse:
    page = SearchResult("某案（2019）京01行终3号", "https://court.example/3", f"关于{query}", "court.example")
    return SearchResponse(SearchQuery(query), (page,), provider="fake")


def test_keyword_and_type(library: LegalLibrary) -> None:
    service = CaseService(library)
    assert service.search("渔船 搁浅").results[0].name == "甲某诉乙灯塔公司海上侵权纠纷案"
    assert [case.name for case in service.search("夜间偷灯油", "刑事").results] == ["丙偷灯油案"]
    assert service.search("渔船搁浅", "行政").results == ()


@pytest.mark.parametrize("number", ["（2021）闽民终345号", "(2021)闽民终345号", "〔２０２１〕闽 民终 345 号"])
def test_a_number_in_any_form_finds_its_case(library: LegalLibrary, number: str) -> None:
    (case,) = CaseService(library).search(f"请查 {number}").results
    assert case.court == "海天省高级人民法院"


def test_fields_of_the_answer_are_null_where_the_text_says_nothing(library: LegalLibrary) -> None:
    document = CaseService(library).search("浮标漂走").to_json()
    assert document["origin"] == "index"
    first = document["results"][0]
    assert {key for key, value in first.items() if value is None} == {
        "caseNumber",
        "court",
        "date",
        "cause",
        "gist",
        "verdict",
        "url",
    }
    assert (first["caseName"], first["caseType"]) == ("浮标漂走了谁负责", "行政")


def test_the_whole_document(library: LegalLibrary) -> None:
    service = CaseService(library)
    found = service.search("渔船搁浅").results[0]
    (case,) = service.known_as(found.number or "")
    assert "驳回" in case.text
    (unnumbered,) = service.known_as("浮标漂走了谁负责")
    assert unnumbered.text
    assert service.known_as("没有这个案例") == []


def test_the_web_says_only_what_its_page_says(tmp_path: Path) -> None:
    response = CaseService(LegalLibrary(tmp_path), web).search("拆迁", "行政")
    (case,) = response.results
    assert (response.origin, case.number, case.court, case.date) == ("web", "（2019）京01行终3号", None, None)
    assert case.type == "行政"
    assert case.summary == "关于拆迁 行政案件"


def test_the_web_is_asked_for_what_the_index_does_not_hold(library: LegalLibrary) -> None:
    assert CaseService(library, web).search("zzzz").origin == "web"
    assert CaseService(library).search("zzzz").results == ()


def test_nothing_asked_and_nowhere_to_look(tmp_path: Path, library: LegalLibrary) -> None:
    with pytest.raises(QueryError):
        CaseService(library).search(" ")
    with pytest.raises(NoLegalIndex):
        CaseService(LegalLibrary(tmp_path)).search("灯")
    with pytest.raises(ValueError, match="诗"):
        CaseService(library).search("灯", "诗")


def test_traditional_characters_find_the_same_cases(library: LegalLibrary) -> None:
    service = CaseService(library)
    assert service.search("漁船 擱淺").results == service.search("渔船 搁浅").results
    assert [case.name for case in service.search("（2020）閩01刑初9號").results] == ["丙偷灯油案"]
