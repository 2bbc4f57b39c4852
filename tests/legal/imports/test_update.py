"""Keeping the library current: what an update reads, what it leaves as it is, and what it reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.command_line import main
from core.legal.errors import CorpusError, NoLegalIndex
from core.legal.imports.import_run import law_import
from core.legal.legal_services import LegalServices
from core.legal.library.index import LegalLibrary
from core.legal.library.statutes import RegulationService
from core.legal.text.amendments import amended_law_names
from support import invented
from support.scripted_app import scripted_app

OLD = {
    "name": "灯塔法",
    "published": "2020-01-01",
    "articles": [{"number": "第一条", "text": "灯塔由人看守。"}],
}
NEW = {
    "name": "灯塔法",
    "published": "2024-01-01",
    "articles": [{"number": "第一条", "text": "灯塔由机器看守。"}],
}
SAME = {"name": "浮标法", "published": "2015-01-01", "articles": [{"number": "第一条", "text": "浮标分为两色。"}]}
ADDED = {
    "name": "航道法",
    "published": "2024-05-05",
    "articles": [{"number": "第一条", "text": "航道应当畅通。《浮标法》同时废止。"}],
}
CASE = {"caseName": "甲诉乙", "caseNumber": "（2023）京01民终1号", "text": "判决返还。"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return invented.jsonl(tmp_path / "laws.jsonl", OLD, SAME, CASE)


@pytest.fixture
def library(tmp_path: Path, source: Path) -> LegalLibrary:
    made = LegalLibrary(tmp_path / "data", today=lambda: invented.TODAY)
    law_import(made, str(source))
    return made


def test_an_update_without_a_path_brings_what_changed_where_the_library_came_from(
    library: LegalLibrary, source: Path
) -> None:
    invented.jsonl(source, NEW, SAME, ADDED, CASE)
    report = law_import(library, "", update=True)
    assert report.to_json()["changed"] == [
        {"lawName": "灯塔法", "change": "修改", "before": "2020-01-01", "after": "2024-01-01"},
        {"lawName": "航道法", "change": "新增", "before": None, "after": "2024-05-05"},
        {"lawName": "浮标法", "change": "废止", "before": "2015-01-01", "after": None},
    ]
    assert report.unchanged == 2
    index = library.index()
    assert index is not None
    assert len(index.versions("灯塔法")) == 2


def test_where_nothing_changed_the_index_stays_the_same(library: LegalLibrary, source: Path) -> None:
    before = library.version
    report = law_import(library, "", update=True)
    assert (report.up_to_date, report.changes) == (True, [])
    assert law_import(library, str(source), update=True).up_to_date
    invented.jsonl(source, SAME, OLD, CASE)
    report = law_import(library, str(source), update=True)
    assert (report.unchanged, report.changes) == (3, [])
    assert library.version == before


def test_the_same_words_in_another_file_are_nothing_new(library: LegalLibrary, tmp_path: Path) -> None:
    before = library.version
    again = invented.jsonl(tmp_path / "again.jsonl", SAME, OLD)
    assert law_import(library, str(again), update=True).changes == []
    assert library.version == before


def test_a_source_that_is_gone_is_named_and_costs_nothing(library: LegalLibrary, source: Path) -> None:
    before = library.version
    source.unlink()
    report = law_import(library, "", update=True)
    assert f"找不到 {source}" in report.to_json()["sources"][0]["problem"]
    assert report.up_to_date
    assert library.version == before


def test_later_sources_stand_over_earlier_ones_after_an_update_too(
    library: LegalLibrary, source: Path, tmp_path: Path
) -> None:
    better = {**OLD, "articles": [{"number": "第一条", "text": "灯塔由守塔人看守。"}]}
    law_import(library, str(invented.jsonl(tmp_path / "better.jsonl", better)))
    invented.jsonl(source, OLD, SAME, CASE, ADDED)
    (change,) = law_import(library, "", update=True).changes[:1]
    assert change.law == "航道法"
    (article,) = RegulationService(library).search("灯塔法第一条").results
    assert article.content == "灯塔由守塔人看守。"


def test_an_update_needs_to_know_where_from(tmp_path: Path, library: LegalLibrary) -> None:
    with pytest.raises(NoLegalIndex):
        law_import(LegalLibrary(tmp_path / "empty"), "", update=True)
    passing = LegalLibrary(tmp_path / "passing")
    law_import(passing, str(invented.jsonl(tmp_path / "upload.jsonl", OLD)), temporary=True)
    with pytest.raises(CorpusError, match="没有记下"):
        law_import(passing, "", update=True)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("not json\nnor this", "2 处无法读取"),
        (json.dumps({"name": "空法", "articles": []}), "articles"),
        ('{"caseName": "没有正文"}', "text"),
        ("x" * 9_000_000, "超过 8 MB"),
    ],
)
def test_what_brings_nothing_fails_with_a_sentence_and_the_old_index_stays(
    library: LegalLibrary, tmp_path: Path, content: str, reason: str
) -> None:
    before = library.version
    bad = tmp_path / "bad.jsonl"
    bad.write_text(content, "utf-8")
    with pytest.raises(CorpusError, match=reason):
        law_import(library, str(bad))
    assert library.version == before
    assert library.index() is not None
    assert [path.name for path in library.folder.iterdir() if path.is_dir()] == [before]


def test_more_than_a_hundred_megabytes_of_records_are_read(tmp_path: Path) -> None:
    long = {"caseName": "长案", "text": "判" * 1_000_000}
    wordy = {"caseName": "短案", "text": "判", "of no use": "字" * 1_000_000}
    large = tmp_path / "large.jsonl"
    with large.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in (long, *[wordy] * 34))
    assert large.stat().st_size > 100_000_000
    library = LegalLibrary(tmp_path / "data")
    assert law_import(library, str(large)).cases == 35


def test_the_command_reports_laws_line_by_line(
    tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "cli"))
    assert main(["law", "import", str(source), "--json"]) == 0
    invented.jsonl(source, NEW, SAME)
    capsys.readouterr()
    assert main(["law", "import", "--update"]) == 0
    assert capsys.readouterr().out == "有变化的法规：1 部\n修改　《灯塔法》（2020-01-01 → 2024-01-01）\n"
    assert main(["law", "import", "--update"]) == 0
    assert "没有变化。" in capsys.readouterr().out
    source.unlink()
    assert main(["law", "import", "--update"]) == 1
    said = capsys.readouterr().out
    assert "不知道法规有没有变化" in said
    assert "没有变化。" not in said.replace("有没有变化。", "")
    with pytest.raises(SystemExit):
        main(["law", "import"])


def test_what_the_library_holds_and_how_old_it_is_in_one_line(tmp_path: Path) -> None:
    coming = {**NEW, "published": "2999-01-01"}
    invented.library(tmp_path / "data", invented.jsonl(tmp_path / "laws.jsonl", OLD, SAME, coming))
    with scripted_app(says=[], DATA_DIR=str(tmp_path / "data")) as (app, _):
        assert app.legal.library_summary == "法规库：2 部，截至 2020-01-01"
    with scripted_app(says=[], DATA_DIR=str(tmp_path / "none")) as (app, _):
        assert isinstance(app.legal, LegalServices)
        assert app.legal.library_summary == ""


AMENDMENT = {"name": "灯塔法修正案（二）", "published": "2023-03-03", "articles": [{"text": "一、删去第一条。"}]}
EARLIER = {"name": "关于修改《灯塔法》的决定", "published": "2019-03-03", "articles": [{"text": "作如下修改。"}]}


def test_a_text_that_was_amended_later_says_so(tmp_path: Path) -> None:
    library = invented.library(tmp_path / "a", invented.jsonl(tmp_path / "a.jsonl", OLD, SAME, AMENDMENT, EARLIER))
    (law,) = RegulationService(library).search("灯塔法第一条").results
    assert law.later_amendment == "这是 2020-01-01 公布的文本；《灯塔法修正案（二）》（2023-03-03 公布）之后改过它。"
    assert law.to_json()["amendedLater"] == law.later_amendment
    assert RegulationService(library).search("浮标法第一条").results[0].later_amendment == ""
    coming = {**NEW, "published": "2026-02-01", "effective": "2027-01-01"}
    library = invented.library(tmp_path / "b", invented.jsonl(tmp_path / "b.jsonl", OLD, coming))
    law = RegulationService(library).search("灯塔法第一条").results[0]
    assert law.later_amendment == "这是 2020-01-01 公布的文本；修改后的文本已于 2026-02-01 公布，2027-01-01 起施行。"


@pytest.mark.parametrize(
    ("name", "laws"),
    [
        ("中华人民共和国刑法修正案（十二）", ("中华人民共和国刑法",)),
        ("最高人民法院关于修改《关于甲的规定》的决定", ("关于甲的规定", "最高人民法院关于甲的规定")),
        ("最高人民法院关于修改《甲》等十八件司法解释的决定", ()),
        ("中华人民共和国刑法", ()),
    ],
)
def test_which_law_an_amendment_amends(name: str, laws: tuple[str, ...]) -> None:
    assert amended_law_names(name) == laws
