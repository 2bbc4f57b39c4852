"""案号核验: form, presence in the library, literal 裁判要旨, and the sources that contain a number."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from core.legal.case_check import CaseChecker, CaseFinding, with_sources
from core.legal.library.index import LegalLibrary
from support import invented
from support.guiding_cases import GIST, JUDGMENT, write_guiding_cases
from support.scripted_app import scripted_app

TODAY = date(2026, 11, 18)
FIRST, SECOND = (f"{sentence}。" for sentence in GIST.rstrip("。").split("。"))
REASONING = "法院生效裁判认为：鸣笛是守塔人的义务。"
FALSE = "塔主在任何情形下都不承担赔偿责任，船长自行负责。"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> LegalLibrary:
    folder = tmp_path_factory.mktemp("checked")
    bare = {"caseName": "己某案", "caseNumber": "（2021）闽民终345号", "text": "渔船搁浅。塔主应当赔偿船东的全部损失。"}
    return invented.library(
        folder / "data", write_guiding_cases(folder / "g.jsonl"), invented.jsonl(folder / "a.jsonl", bare)
    )


@pytest.fixture(scope="module")
def checker(library: LegalLibrary) -> CaseChecker:
    return CaseChecker(library)


def only(checker: CaseChecker, text: str) -> CaseFinding:
    (finding,) = checker.check(text, TODAY)
    return finding


@pytest.mark.parametrize(
    ("text", "mark", "meaning"),
    [
        ("参照指导案例24号处理。", "○", "库中有这个案件"),
        ("见(2021)闽民终345号判决。", "○", "库中有这个案件"),
        (f"见{JUDGMENT}判决。", "○", "库中另一案例写到此案号"),
        ("见指导案例25号。", "？", "库中没有这个案件，未能核验（不等于不存在）"),
        ("见（2023）京01民终12号。", "？", "库中没有这个案件，未能核验（不等于不存在）"),
        ("见检例第24号。", "？", "库中没有这个案件，未能核验（不等于不存在）"),
        ("见（2031）京01民终12号。", "✗", "案号形式有误"),
        ("见（2023）京99民终12号。", "✗", "案号形式有误"),
        ("见（2023）京01号。", "✗", "案号形式有误"),
    ],
)
def test_form_and_presence(checker: CaseChecker, text: str, mark: str, meaning: str) -> None:
    finding = only(checker, text)
    assert (finding.mark, finding.meaning) == (mark, meaning)
    assert text[finding.start : finding.end] == finding.cited


@pytest.mark.parametrize(
    "text",
    [
        f"指导案例24号指出：“{GIST}”[1]",
        f"指导性案例24号的裁判要点：{GIST}",
        f"**指导性案例24号**\n\n**裁判要点**：{FIRST}[2]\n\n其他。",
        f"第24号指导案例明确，「{FIRST.rstrip('。')}」。",
        f"指导案例24号\n\n> 裁判要旨：\n> {SECOND}",
        f"“{FIRST}”（指导性案例24号）",
        f"{JUDGMENT}确立的规则是：“{FIRST}”",
        "指导案例24号的裁判要旨是“守塔人明知有雾而不鸣笛……塔主应当承担赔偿责任”。",
    ],
)
def test_a_literal_quotation_agrees(checker: CaseChecker, text: str) -> None:
    finding = only(checker, text)
    assert (finding.mark, finding.meaning) == ("✓", "引述与裁判要旨一致")
    assert finding.case
    assert finding.case.number == "指导性案例24号"


@pytest.mark.parametrize(
    "text",
    [
        f"指导案例24号指出：“{FALSE}”",
        f"指导性案例24号的裁判要点：{FALSE}",
        f"“{FALSE}”（指导性案例24号）",
        f"指导案例24号指出：“{FIRST[:-1]}，但“大雾”除外。”",
        f"指导案例24号指出：“{GIST.replace('可以减轻', '应当减轻')}”",
    ],
)
def test_other_words_are_shown_beside_the_original(checker: CaseChecker, text: str) -> None:
    finding = only(checker, text)
    assert (finding.mark, finding.meaning) == ("≠", "与裁判要旨不一致")
    assert finding.sentence == f"与裁判要旨不一致：原文是「{GIST}」"


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (f"指导案例24号认为：“{REASONING}”", "引述的话在全文中，不在裁判要旨中。"),
        (f"指导性案例24号裁判要旨：{FIRST}我认为可以参照。", "引述的第一句与原文一致，其余不在裁判要旨中。"),
        ("（2021）闽民终345号认为：“塔主应当赔偿船东的全部损失”", "库中此案没有裁判要旨，引述的话在全文中。"),
        ("参照指导案例9号处理。", "此案自 2021 年 1 月 1 日起不再参照（最高人民法院法〔2020〕343号）。"),
    ],
)
def test_what_is_neither_right_nor_wrong_is_said(checker: CaseChecker, text: str, note: str) -> None:
    finding = only(checker, text)
    assert (finding.mark, finding.note) == ("○", note)


@pytest.mark.parametrize(
    "text",
    [
        "指导案例24号的裁判要旨表明，塔主不得推卸任何责任，船长也不得。",
        "指导案例24号认为“明知有雾而仍然不肯鸣笛”的情形要赔偿。",
        f"指导案例24号已经公布。\n\n另外，甲公司主张：“{FALSE}”",
        "指导案例24号讲的是“雾号”。",
    ],
)
def test_what_is_not_quoted_from_the_case_is_not_compared(checker: CaseChecker, text: str) -> None:
    finding = only(checker, text)
    assert (finding.mark, finding.quote) == ("○", None)


def test_words_that_no_full_text_has(checker: CaseChecker) -> None:
    finding = only(checker, f"（2021）闽民终345号指出：“{FALSE}”")
    assert (finding.mark, finding.sentence) == ("≠", "与此案全文不一致：库中此案的文字里没有这段话。")


def test_each_quotation_belongs_to_its_own_number(checker: CaseChecker) -> None:
    text = f"指导案例24号、指导案例124号指出：“{GIST}”，而指导案例2号指出：“{FALSE}”"
    found = {finding.number: finding.mark.value for finding in checker.check(text, TODAY)}
    assert found == {"指导性案例24号": "○", "指导性案例124号": "≠", "指导性案例2号": "≠"}


def test_the_same_case_is_one_finding(checker: CaseChecker) -> None:
    text = f"指导案例24号。指导性案例24号指出：“{GIST}”。第24号指导案例。"
    assert [finding.mark.value for finding in checker.check(text, TODAY)] == ["✓"]


def test_sources_that_contain_the_number(checker: CaseChecker) -> None:
    findings = checker.check("见（2023）京01民终12号和指导案例25号。", TODAY)
    texts = {1: "别的", 2: "法院作出(2023)京01民终12号判决", 3: "第二十五号指导性案例", 5: "〔2023〕京01民终12号之外"}
    first, second = with_sources(findings, texts)
    assert (first.sources, second.sources) == ((2, 5), (3,))
    assert first.sentence == "库中没有这个案件，未能核验（不等于不存在）。来源 [2][5] 中有此案号。"
    assert with_sources(findings, {})[0].source_note == ""


@pytest.mark.parametrize("has_laws", [True, False])
def test_without_cases_nothing_is_claimed(tmp_path: Path, has_laws: bool) -> None:
    law = {"name": "灯塔法", "articles": [{"number": "第一条", "text": "点灯。"}]}
    if has_laws:
        invented.library(tmp_path, invented.jsonl(tmp_path / "a.jsonl", law))
    checker = CaseChecker(LegalLibrary(tmp_path))
    assert only(checker, "见指导案例24号。").sentence == "还没有导入案例，未能核验（不等于不存在）。"
    assert only(checker, "见（2031）京01民终12号。").mark == "✗"


def test_an_answer_is_checked_with_its_statutes(library: LegalLibrary) -> None:
    with scripted_app(says=[], DATA_DIR=str(library.folder.parent)) as (app, _):
        loaded: list[int] = []

        def load() -> dict[int, str]:
            loaded.append(1)
            return {3: "指导性案例24号"}

        check = app.check_statutes("参照指导案例24号。", "", load)
        assert check
        assert (check.findings, [one.sources for one in check.cases], check.has_index) == ((), [(3,)], True)
        assert app.check_statutes("没有案号。", "", load) is None
        assert app.check_statutes("法释〔2020〕17号。", "", load) is None
        assert loaded == [1], "texts of sources are loaded only for a case"


def test_hostile_texts_are_read_once(checker: CaseChecker) -> None:
    many = "".join(f"（2023）京01民终{n}号" for n in range(2_000))
    assert len(checker.check(many, TODAY)) == 2_000
    for text in ("（2023）" * 20_000, "指导案例" * 20_000 + "24号", "“" * 50_000 + "指导案例24号：" + "“" * 50_000):
        checker.check(text, TODAY)
