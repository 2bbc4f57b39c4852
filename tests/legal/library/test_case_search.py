"""Case search: keyword, type, 案号, full text, and the web where the index has nothing."""

from __future__ import annotations

import csv
import sqlite3
from pathlib import Path

import pytest

from core.legal.entities import CaseFilter, CaseType
from core.legal.errors import NoLegalIndex
from core.legal.imports.build import import_source
from core.legal.legal_export import case_parts
from core.legal.library.case_search import CaseService
from core.legal.library.index import LegalLibrary
from core.search.errors import QueryError
from core.search.types import SearchQuery, SearchResponse, SearchResult
from support import invented
from support.scripted_app import scripted_app


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


def test_facts_and_verdict_are_found_although_there_is_a_full_text(tmp_path: Path) -> None:
    case = {
        "caseName": "丁某案",
        "caseNumber": "(2022)闽01刑初7号",
        "text": "本院查明如下。",
        "summary": "一艘渔船搁浅。",
        "verdict": "犯破坏交通设施罪。",
    }
    service = CaseService(invented.library(tmp_path / "data", invented.jsonl(tmp_path / "a.jsonl", case)))
    for words in ("搁浅", "破坏交通设施罪", "本院查明"):
        assert [found.name for found in service.search(words).results] == ["丁某案"]


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
    (case,) = service.find(found.number or "")
    assert "驳回" in case.text
    (unnumbered,) = service.find("浮标漂走了谁负责")
    assert unnumbered.text
    assert service.find("没有这个案例") == []


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


JUDGMENTS = [
    {
        "案号": f"（{year}）京0{n}民初{n}号",
        "案件名称": f"甲与乙{cause}",
        "法院": court,
        "裁判日期": f"{year}年3月4日",
        "案由": cause,
        "裁判要旨": f"{cause}的要旨。" if n == 1 else "",
        "全文": f"原告主张返还借款。{cause}。依照《灯塔法》第三条、《灯塔法》第九十九条判决。",
    }
    for n, (year, cause, court) in enumerate(
        [
            (2021, "民间借贷纠纷", "北京市海淀区人民法院"),
            (2022, "民间借贷纠纷", "上海市高级人民法院"),
            (2022, "劳动争议", "北京市海淀区人民法院"),
        ],
        start=1,
    )
]


@pytest.fixture(scope="module", params=["jsonl", "csv", "gbk"])
def judgments(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LegalLibrary:
    """The same three in each of the documented forms."""
    folder = tmp_path_factory.mktemp("judgments")
    if request.param == "jsonl":
        source = invented.jsonl(folder / "firm.jsonl", *JUDGMENTS)
    else:
        source = folder / "firm.csv"
        with source.open("w", encoding="utf-8-sig" if request.param == "csv" else "gb18030", newline="") as file:
            table = csv.DictWriter(file, list(JUDGMENTS[0]))
            table.writeheader()
            table.writerows({**one, "全文": one["全文"].replace("。", "。\n")} for one in JUDGMENTS)
    return invented.library(folder / "data", invented.lawrefbook(folder / "laws"), source)


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        (CaseFilter(), {1, 2, 3}),
        (CaseFilter(cause="借贷"), {1, 2}),
        (CaseFilter(court="北京"), {1, 3}),
        (CaseFilter(year=2022), {2, 3}),
        (CaseFilter(CaseType.CIVIL, "民间借贷纠纷", "上海", 2022), {2}),
        (CaseFilter(CaseType.CRIMINAL), set()),
    ],
)
def test_filters(judgments: LegalLibrary, wanted: CaseFilter, numbers: set[int]) -> None:
    found = CaseService(judgments).search("返还借款", case_filter=wanted).results
    assert {int((case.number or "")[-2]) for case in found} == numbers
    assert all(case.type is CaseType.CIVIL for case in found)


def test_a_filter_alone_brings_the_newest_first(judgments: LegalLibrary) -> None:
    found = CaseService(judgments).search("", case_filter=CaseFilter(court="北京")).results
    assert [case.date for case in found] == ["2022-03-04", "2021-03-04"]


def test_a_filter_is_exact_however_many_others_fit_better(tmp_path: Path) -> None:
    others = [{"caseName": f"借款案{n}", "court": "甲法院", "text": "借款 借款 借款"} for n in range(300)]
    one = {"caseName": "某案", "court": "乙法院", "text": "争议很多，其中一句提到借款。" + "其他事实。" * 50}
    library = invented.library(tmp_path / "data", invented.jsonl(tmp_path / "a.jsonl", *others, one))
    assert [case.name for case in CaseService(library).search("借款", case_filter=CaseFilter(court="乙")).results] == [
        "某案"
    ]


def test_cases_about_something_else_are_not_found_and_the_web_is_asked(library: LegalLibrary) -> None:
    assert CaseService(library, web).search("盗窃罪 数额 量刑 灯油").origin == "web"


def test_judgments_that_are_called_alike_are_all_kept(tmp_path: Path) -> None:
    alike = [{"caseName": "民事判决书", "text": f"第{n}份判决，返还借款。"} for n in range(5)]
    source = invented.jsonl(tmp_path / "a.jsonl", *alike)
    index = invented.opened(tmp_path / "data", source, source)
    assert index.counts()["cases"] == 5


def test_what_a_case_cites_is_checked(judgments: LegalLibrary) -> None:
    (case,) = CaseService(judgments).find("（2021）京01民初1号")
    assert case.gist == "民间借贷纠纷的要旨。"
    assert case_parts(case)[0][0] == "裁判要旨"
    with scripted_app(says=[], DATA_DIR=str(judgments.folder.parent)) as (app, _):
        marks = [
            (verdict.mark.value, verdict.article_number)
            for verdict in app.legal.checks.findings_in_judgment(case.text, case.date)
        ]
    assert marks == [("○", "第三条"), ("✗", "第九十九条")]


def test_what_a_case_cites_is_the_law_of_its_day(tmp_path: Path) -> None:
    def law(published: str, text: str) -> dict[str, object]:
        return {"name": "航标法", "published": published, "articles": [{"number": "1", "text": text}]}

    laws = law("2001-01-01", "航标由船长看守。"), law("2020-01-01", "类别浮标另行规定。")
    library = invented.library(tmp_path / "data", invented.jsonl(tmp_path / "a.jsonl", *laws))
    with scripted_app(says=[], DATA_DIR=str(library.folder.parent)) as (app, _):
        for day, text in (("2010-05-05", "航标由船长看守。"), ("2021-05-05", "类别浮标另行规定。")):
            (found,) = app.legal.checks.findings_in_judgment("依照《航标法》第一条，判决如下。", day)
            assert found.text == text


def test_an_index_of_an_earlier_version_answers_and_learns(tmp_path: Path) -> None:
    source = invented.jsonl(tmp_path / "a.jsonl", JUDGMENTS[0])
    library = invented.library(tmp_path / "data", source)
    database = sqlite3.connect(library.folder / str(library.version) / "laws.sqlite3")
    database.execute("DROP INDEX case_facts")
    database.execute("DROP INDEX case_identity")
    for table, column in (
        ("court_case", "cause"),
        ("court_case", "gist"),
        ("court_case", "import_id"),
        ("import", "origin"),
        ("import", "sha256"),
    ):
        database.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    database.commit()
    database.close()
    old = LegalLibrary(tmp_path / "data")
    (case,) = CaseService(old).search("返还借款", case_filter=CaseFilter(cause="民间借贷")).results
    assert case.cause is None
    import_source(old.folder, source)
    (case,) = CaseService(old).search("返还借款", case_filter=CaseFilter(cause="民间借贷")).results
    assert case.cause == "民间借贷纠纷"
