"""Values that were recognized and may be wrong: they are no ground for a verdict, and everything else is as it was."""

from __future__ import annotations

import pytest

from core.answer.check_results import SourceText, Verdict
from core.answer.check_texts import source_texts
from core.checks import check_answer, check_statement
from core.llm.pieces import TokenUsage
from core.reading.recognition_types import RecognizedLine
from core.reading.recognized_text import recognized_page
from core.run.second_opinion import apply_reply, judged_citations
from core.search.types import Source
from support.sectioned import sectioned_page

SCAN = (
    "海州灯塔租赁合同。承租方每月支付租金人民币48,600元，押金为人民币5,000元。"
    "未满十八周岁的学徒不得单独登塔作业。灯塔的钥匙由港务局保管，承租方不得另配。"
)


def read(*uncertain: str, text: str = SCAN) -> SourceText:
    """The source, with the first places of these words uncertain."""
    spans = tuple((at := text.index(words), at + len(words)) for words in uncertain)
    return SourceText(1, text, uncertain=spans)


RENT = "承租方每月支付租金人民币48,600元"
OTHER_RENT = "承租方每月支付租金人民币43,600元"


@pytest.mark.parametrize(
    ("statement", "uncertain", "expected"),
    [
        (RENT, (), Verdict.SUPPORTED),
        (RENT, ("48,600",), Verdict.UNCHECKED),
        (RENT, ("5,000",), Verdict.SUPPORTED),  # another value of the sentence
        ("押金为人民币5,000元", ("48,600",), Verdict.SUPPORTED),
        ("押金为人民币5,000元", ("5,000",), Verdict.UNCHECKED),
        ("灯塔的钥匙由港务局保管", ("48,600", "5,000"), Verdict.SUPPORTED),
        ("未满十八周岁的学徒不得单独登塔作业", ("十八",), Verdict.UNCHECKED),
        ("未满十八周岁的学徒不得单独登塔作业", ("不",), Verdict.UNCHECKED),
        (OTHER_RENT, (), Verdict.CONTRADICTED),
        (OTHER_RENT, ("48,600",), Verdict.UNCHECKED),
        ("未满十八周岁的学徒可以单独登塔作业", (), Verdict.CONTRADICTED),
        ("未满十八周岁的学徒可以单独登塔作业", ("不",), Verdict.UNCHECKED),
    ],
)
def test_no_verdict_stands_on_an_uncertain_value(statement: str, uncertain: tuple[str, ...], expected: Verdict) -> None:
    assert check_statement(f"{statement}。", read(*uncertain)).verdict is expected


@pytest.mark.parametrize("statement", [RENT, OTHER_RENT])
def test_it_says_which_value(statement: str) -> None:
    check = check_statement(f"{statement}。", read("48,600"))
    assert check.reason == "原文是从图像识别的，「48,600」不确定，请看原页。"
    assert not check.differences
    assert any("48,600" in passage.text for passage in check.evidence)  # the reader sees the place


def test_another_source_with_a_certain_value_is_enough() -> None:
    sure = SourceText(2, SCAN)
    (statement,) = check_answer(f"{RENT}[1][2]。", [read("48,600"), sure]).statements
    assert [citation.check.verdict for citation in statement.citations] == [Verdict.UNCHECKED, Verdict.SUPPORTED]
    assert statement.check.verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(("uncertain", "expected"), [((), Verdict.SUPPORTED), (("48,600",), Verdict.UNCHECKED)])
def test_a_model_does_not_make_it_certain(uncertain: tuple[str, ...], expected: Verdict) -> None:
    source = read(*uncertain)
    answer = "租金人民币48,600元由承租方每月支付[1]。"
    check = check_answer(answer, [source])
    assert check.statements[0].check.verdict is Verdict.UNCHECKED
    said = "1｜支持｜「承租方每月支付租金人民币48,600元」"
    spent = TokenUsage(90, 10, estimated=False)
    judged = apply_reply(check, judged_citations(check, [source]), said, model="模型甲", usage=spent)
    assert judged.statements[0].check.verdict is expected


def test_the_values_of_a_page_reach_the_check() -> None:
    from dataclasses import replace

    page = sectioned_page("合同.pdf", [SCAN], recognized=[1])
    start = SCAN.index("48,600")
    page = replace(page, uncertain=((start, start + 6),))
    source = Source(1, "合同.pdf", page.address, "", read="file")
    (text,) = source_texts([source], {1: page})
    assert check_statement(f"{RENT}。", text).verdict is Verdict.UNCHECKED
    assert check_statement("押金为人民币5,000元。", text).verdict is Verdict.SUPPORTED


# ── Which values are uncertain ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "doubted", "expected"),
    [
        ("租金48,600元", "6", ["48,600"]),
        ("2026年3月15日", "3", ["3"]),
        ("编号LH-2047号", "L", ["LH-2047"]),
        ("第十八条", "八", ["十八"]),
        ("比例为3.5%", "%", ["3.5%"]),
        ("承租方不得另配", "不", ["不"]),
        ("承租方不得另配", "配", []),
        ("一式三份，自签字之日起", "，", []),
        ("金额1，284元", "，", ["1，284"]),
    ],
)
def test_a_value_is_uncertain_as_a_whole(text: str, doubted: str, expected: list[str]) -> None:
    confidences = [0.99] * len(text)
    confidences[text.index(doubted)] = 0.6
    page = recognized_page(1, [RecognizedLine(text, tuple(confidences), (0, 0, 500, 30))])
    assert [page.text[start:end] for start, end in page.uncertain] == expected


def test_confidences_stay_with_their_characters_in_rows_and_lines() -> None:
    lines = [
        RecognizedLine("数量", (0.5, 0.5), (0, 50, 60, 80)),
        RecognizedLine("单价35", (1, 1, 1, 0.5), (200, 2, 320, 32)),
        RecognizedLine("数量12", (1, 1, 1, 1), (0, 0, 120, 30)),
        RecognizedLine("78", (0.3, 1), (200, 50, 260, 80)),
    ]
    page = recognized_page(3, lines)
    assert page.text == "数量12 单价35\n数量 78"
    assert [page.text[start:end] for start, end in page.uncertain] == ["35", "78"]
