"""What is taken away: complete, importable again, and without anything that another program would run."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from core.legal import legal_export
from core.legal.entities import LawStatus
from core.legal.library.article_index import StoredArticle
from core.legal.library.case_search import CaseService
from core.legal.library.index import LegalLibrary
from core.legal.library.law_index import LawVersion
from core.legal.library.statutes import RegulationService
from core.legal.verify import StatuteFinding, StatuteMark
from support import invented

ATTACK = "<script>alert(1)</script>![x](http://evil.example/y)[l](http://evil.example) "


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> LegalLibrary:
    folder = tmp_path_factory.mktemp("export")
    hostile = {
        "name": f"{ATTACK}条例",
        "articles": [{"number": "第一条", "path": [ATTACK], "text": f"{ATTACK}航标灯。"}],
    }
    case = {"caseName": ATTACK, "text": f"{ATTACK}航标灯", "url": "https://court.example/<1>"}
    source = invented.jsonl(folder / "hostile.jsonl", hostile, case)
    return invented.library(folder / "data", invented.lawrefbook(folder / "laws"), source)


def law(library: LegalLibrary, name: str = "灯塔法") -> tuple[LawVersion, LawStatus, list[StoredArticle]]:
    index = library.index()
    assert index is not None
    found = index.resolve(name)
    assert found is not None
    return found, index.status(found), index.articles(found.id)


def test_a_law_can_be_imported_again(library: LegalLibrary, tmp_path: Path) -> None:
    file = tmp_path / "灯塔法.jsonl"
    file.write_text(legal_export.law_jsonl(*law(library)), "utf-8")
    copied, status, articles = law(invented.library(tmp_path / "data", file))
    original = law(library)
    assert (copied.name, copied.kind, copied.published, copied.effective, status) == (
        *(original[0].name, original[0].kind, original[0].published, original[0].effective),
        original[1],
    )
    assert [(a.number, a.path, a.text) for a in articles] == [(a.number, a.path, a.text) for a in original[2]]


def test_a_case_can_be_imported_again(library: LegalLibrary, tmp_path: Path) -> None:
    case = CaseService(library).find("（2021）闽民终345号")[0]
    file = tmp_path / "case.jsonl"
    file.write_text(legal_export.case_jsonl(case), "utf-8")
    copied = CaseService(invented.library(tmp_path / "data", file)).find("（2021）闽民终345号")[0]
    assert (copied.name, copied.court, copied.date, copied.type) == (case.name, case.court, case.date, case.type)
    assert (copied.summary, copied.verdict, copied.text) == (case.summary, case.verdict, case.text)


def test_a_law_as_markdown_has_its_headings_and_every_article(library: LegalLibrary) -> None:
    text = legal_export.law_markdown(*law(library))
    assert text.startswith("# 中华人民共和国灯塔法\n\n*法律 · 有效 · ")
    assert "\n## 第一章 总则\n" in text
    assert "\n### 第一节 亮度\n" in text
    assert "**第三条之一**　大雾期间，守塔人应当鸣笛" in text
    assert text.count("## 第一章") == 1


def test_an_article_brings_what_it_refers_to(library: LegalLibrary) -> None:
    article = RegulationService(library).search("灯塔法第五条").results[0]
    text = legal_export.article_markdown(article)
    assert text.startswith("# 《中华人民共和国灯塔法》第五条\n")
    assert "- 《中华人民共和国浮标法》第二条：浮标由船长登记。" in text


def test_a_source_has_its_plain_name_and_what_is_not_known_is_left_out(library: LegalLibrary) -> None:
    assert " · 公开的法律文本，多取自国家法律法规数据库（LawRefBook 整理）*\n" in legal_export.law_markdown(
        *law(library)
    )
    assert " · 公开的法律文本，多取自国家法律法规数据库（LawRefBook 整理）*\n" in legal_export.articles_markdown(
        RegulationService(library).search("灯塔法第五条")
    )
    cases = CaseService(library).search("浮标漂走")
    assert "\n*行政 · 公开的案例（LawRefBook 整理）*\n" in legal_export.cases_markdown(cases)
    assert "未知" not in legal_export.case_markdown(cases.results[0])


def test_no_text_of_a_corpus_becomes_a_link_or_a_tag(library: LegalLibrary) -> None:
    regulations = RegulationService(library).search("航标灯")
    cases = CaseService(library).search("航标灯")
    for text in (
        legal_export.law_markdown(*law(library, f"{ATTACK}条例")),
        legal_export.articles_markdown(regulations),
        legal_export.article_markdown(regulations.results[0]),
        legal_export.case_markdown(cases.results[0]),
        legal_export.cases_markdown(cases),
    ):
        shown = MarkdownIt("commonmark", {"html": True}).render(text)
        assert "alert(1)" in shown
        assert "<script" not in shown
        assert "<img" not in shown
        assert 'http://evil.example"' not in shown


def test_citations_as_a_table_in_which_nothing_is_a_formula() -> None:
    verdict = StatuteFinding(
        StatuteMark.DIFFERS, 0, 3, "=HYPERLINK(1)", "@灯塔法", "第三条", text="原文", quote="-引文", note="+说明"
    )
    text = legal_export.findings_csv([legal_export.CheckedDraft("=稿.docx", [verdict])])
    assert text.startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert rows[0]["引用"] == "'=HYPERLINK(1)"
    assert not any(value.startswith(("=", "+", "-", "@")) for value in rows[0].values())
    one = legal_export.CheckedDraft("稿.docx", [verdict])
    assert json.loads(legal_export.findings_json([one]))["counts"]["≠"] == 1
    assert [draft["file"] for draft in json.loads(legal_export.findings_json([one, one]))["drafts"]] == ["稿.docx"] * 2
