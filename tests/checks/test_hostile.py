"""Whatever stands in an answer or a source: no exception, and twice the text takes about twice the time."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.answer.check_results import SourceText
from core.checks import check_answer, check_statement

STATEMENT = "甲公司2024年收入为1.2亿元，不得增长两成，董事长说「甲乙丙丁戊己庚辛」第38条 GPT-4"
SIZE = 6_000
PIECES = [
    "1", "一", "万亿", "1,", "1.", "1:", "1至", "约", "第", "百分之", "一点", "2024-", "2024年", "3月", "a1-", "a", "元", "不", "年 ", "\n",
    "[", "]", "[1]", "甲[1]", "甲[1]，", "甲乙丙丁戊己[1]，", "[1] ", "[[", "「", "「（《“", "”", "的中国人民", "甲有5人。", "甲有5人[1]。", "- 甲乙丙丁戊1[1]\n", "|a", "&lt;", "*", "`", "#",
    "\ud800甲", "\u202e", "A甲B", " ", "。", "，", "网传", "臺灣", "５％", "> ", "  - ", "](", "$", "﷽",
]  # fmt: skip


def of_answer(text: str) -> object:
    return check_answer(
        text + "\n\n甲公司有5人[1]。", [SourceText(1, "甲公司有5人。中国人民。"), SourceText(2, text[:500])]
    )


def of_source(text: str) -> object:
    return check_statement(STATEMENT, SourceText(1, text, published="not a day"))


def seconds(run: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    run(text)
    return time.process_time() - started


@pytest.mark.parametrize("run", [of_answer, of_source])
@pytest.mark.parametrize("piece", PIECES)
def test_growth_is_linear(piece: str, run: Callable[[str], object]) -> None:
    """Four times the text: a quadratic would take sixteen times as long. What takes less than a twentieth of a second grows
    slowly enough; else the fastest of three counts."""
    short, long = piece * (SIZE // len(piece)), piece * (4 * SIZE // len(piece))
    took = seconds(run, long)
    if took >= 0.05:
        limit = 10 * min(seconds(run, short) for _ in range(3))
        assert took < limit or any(seconds(run, long) < limit for _ in range(2))


@pytest.mark.parametrize(
    "text", ["9" * 100_000, "[" * 100_000, "甲" * 2_000_000, "\ud800" * 100_000, "1" * 400 + "亿" * 400]
)
def test_megabytes_are_survived(text: str) -> None:
    of_answer(text)
    of_source(text)


def test_every_statement_against_every_page_is_bounded() -> None:
    """The same short sentence a thousand times, citing eight pages of nothing else."""
    pages = [SourceText(number, "甲有5人。" * 10_000) for number in range(1, 9)]
    checked = check_answer("甲公司有5人[1-8]。" * 1_000, pages)
    assert len(checked.statements) == 1_000


@settings(max_examples=150, deadline=None)
@given(
    st.text(st.characters() | st.sampled_from("".join(PIECES)), max_size=300),
    st.lists(st.sampled_from(PIECES), max_size=30),
)
def test_nothing_raises_and_places_hold(text: str, pieces: list[str]) -> None:
    answer, source = "".join(pieces) + text, text + "".join(pieces)
    checked = check_answer(answer + "[1]", [SourceText(1, source, is_full=False), SourceText(2, answer)])
    for statement in checked.statements:
        assert 0 <= statement.start <= statement.end
        for evidence in statement.check.evidence:
            assert {1: source, 2: answer}[evidence.source][evidence.start : evidence.end] == evidence.text
    checked.to_json()
