"""Relevance of cases: every part of a case is searched, rare words decide, and words of no case find nothing."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from core.legal.errors import IMPORT_CASES
from core.legal.library.case_relevance import Relevance, case_terms
from core.legal.library.case_search import CaseService
from core.legal.library.index import LegalLibrary
from core.search.types import SearchQuery, SearchResponse
from support import invented
from support.guiding_cases import JUDGMENT, write_guiding_cases

WRECK = {
    "caseName": "丁某案",
    "caseNumber": "（2022）闽01刑初7号",
    "案情": "丁某在KTV饮酒后驾船出海，一艘渔船搁浅。",
    "裁判结果": "丁某犯破坏交通设施罪，判处有期徒刑三年。",
    "全文": "本院认为，航标属于交通设施。被告人系自首。",
}
TAIWANESE = {"caseName": "戊某案", "text": "船員擱淺後拋錨，貨櫃落海。"}
LAND = [
    {"caseName": f"某村诉某县土地补偿案{n}", "text": f"征收土地{n}亩，补偿数额由评估决定，双方对数额有争议。"}
    for n in range(12)
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> CaseService:
    folder = tmp_path_factory.mktemp("relevance")
    source = invented.jsonl(folder / "a.jsonl", WRECK, TAIWANESE, *LAND)
    return CaseService(invented.library(folder / "data", source))


@pytest.mark.parametrize(
    "query",
    [
        "破坏交通设施罪",
        "KTV",
        "ktv",
        "航标",
        "自首",
        "渔船搁浅",
        "有没有关于渔船搁浅的案例",
        "破坏交通设施罪的判例",
        "类似破坏交通设施罪的案件",
        "渔船 搁浅 保险",
        "酒后驾船出海撞上礁石，船搁浅了，还弄坏了航标，会不会判刑，自首能不能从轻",
    ],
)
def test_each_part_of_a_case_is_searched(service: CaseService, query: str) -> None:
    assert service.search(query).results[0].name == "丁某案"


def test_a_text_in_traditional_characters_is_found(service: CaseService) -> None:
    assert [case.name for case in service.search("拋錨").results] == ["戊某案"]
    assert [case.name for case in service.search("货柜落海").results] == ["戊某案"]


@pytest.mark.parametrize(
    "query",
    ["盗窃罪 数额 量刑", "毒品犯罪 数额", "竞业限制 补偿", "GDPR 被遗忘权", "专利侵权 争议", "天气怎么样", "案例"],
)
def test_common_words_alone_find_nothing(service: CaseService, query: str) -> None:
    assert service.search(query).results == ()


def test_common_words_find_what_is_about_them(service: CaseService) -> None:
    assert len(service.search("土地补偿 数额", limit=20).results) == len(LAND)


def test_rare_words_count_more_and_joints_of_words_do_not() -> None:
    counts = {"公司": 40, "股东": 2, "责任": 50}
    relevance = Relevance(case_terms("公司股东责任"), lambda term: counts.get(term, 0), 100)
    assert relevance.share("公司股东须负责任") == 1.0
    assert relevance.share("股東") > relevance.share("公司。责任") / 1.5
    assert relevance.share("别的") == 0.0


@pytest.fixture(scope="module")
def guiding(tmp_path_factory: pytest.TempPathFactory) -> LegalLibrary:
    folder = tmp_path_factory.mktemp("guiding")
    return invented.library(folder / "data", write_guiding_cases(folder / "g.jsonl"))


SPELLINGS = ["指导性案例24号", "指导案例24号", "第24号指导案例", "指导案例第二十四号", "最高法指导案例 24 号"]


@pytest.mark.parametrize("query", [*SPELLINGS, "请查指导案例24号的裁判要点", "指導性案例２４號"])
def test_a_guiding_case_by_its_number(guiding: LegalLibrary, query: str) -> None:
    service = CaseService(guiding)
    assert [case.number for case in service.search(query).results] == ["指导性案例24号"]
    assert [case.number for case in service.find(query)] == ["指导性案例24号"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("指导案例124号", ["指导性案例124号"]),
        ("指导案例2号", ["指导性案例2号"]),
        ("指导案例14号", []),
        ("检例第24号", []),
    ],
)
def test_a_number_means_one_case(guiding: LegalLibrary, query: str, found: list[str]) -> None:
    assert [case.number for case in CaseService(guiding).search(query).results] == found


def test_the_number_of_a_judgment_finds_the_guiding_case_that_names_it(guiding: LegalLibrary) -> None:
    assert [case.number for case in CaseService(guiding).search(JUDGMENT).results] == ["指导性案例24号"]
    assert CaseService(guiding).search("（2011）海刑初字第2号").results == ()


def test_an_index_in_which_guiding_cases_have_no_key(tmp_path: Path) -> None:
    library = invented.library(tmp_path / "data", write_guiding_cases(tmp_path / "g.jsonl"))
    database = sqlite3.connect(library.folder / str(library.version) / "laws.sqlite3")
    database.execute("UPDATE court_case SET number_key = NULL")
    database.commit()
    database.close()
    old = CaseService(LegalLibrary(tmp_path / "data"))
    assert [case.number for case in old.search("指导案例24号").results] == ["指导性案例24号"]


def test_the_same_guiding_case_imported_again_replaces_itself(tmp_path: Path) -> None:
    source = write_guiding_cases(tmp_path / "g.jsonl")
    assert invented.opened(tmp_path / "data", source, source).counts()["cases"] == 5


def test_an_empty_library_says_what_fills_it_and_what_is_searched(tmp_path: Path) -> None:
    law = {"name": "灯塔法", "articles": [{"number": "第一条", "text": "点灯。"}]}
    library = invented.library(tmp_path / "data", invented.jsonl(tmp_path / "a.jsonl", law))
    alone = CaseService(library).search("点灯")
    assert (alone.results, alone.origin) == ((), "index")
    assert IMPORT_CASES in alone.note
    assert "没有可用的网络搜索引擎" in alone.note
    by_web = CaseService(library, lambda query, limit: SearchResponse(SearchQuery(query))).search("点灯")
    assert (by_web.origin, IMPORT_CASES in by_web.note, "改用网络搜索" in by_web.note) == ("web", True, True)
