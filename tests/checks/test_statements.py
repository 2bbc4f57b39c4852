"""An answer as statements, and which numbers stand for which."""

from __future__ import annotations

import pytest

from core.checks.statements import Statement, find_statements


def told(markdown: str) -> list[tuple[str, list[int]]]:
    return [(found.text, [mark.number for mark in found.marks]) for found in find_statements(markdown)]


def test_each_sentence_has_its_own_number() -> None:
    assert told("甲公司成立于北京[1]。乙公司成立于上海[2]。") == [
        ("甲公司成立于北京。", [1]),
        ("乙公司成立于上海。", [2]),
    ]


def test_a_number_behind_the_full_stop_belongs_to_the_sentence_before_it() -> None:
    assert told("甲公司成立于北京。[1] 乙公司成立于上海。[2][3]") == [
        ("甲公司成立于北京。", [1]),
        ("乙公司成立于上海。", [2, 3]),
    ]


def test_a_trailing_number_covers_what_stands_before_it_in_the_paragraph() -> None:
    first, second, third = find_statements("甲在北京。乙在上海[1]。\n\n丙在广州。")
    assert [mark.number for mark in first.marks] == [1]
    assert first.shares_marks
    assert not second.shares_marks
    assert third.marks == ()


def test_one_sentence_may_be_two_statements() -> None:
    assert told("甲公司收入增长两成[1]，但乙公司收入下降一成[2]。") == [
        ("甲公司收入增长两成", [1]),
        ("但乙公司收入下降一成。", [2]),
    ]


@pytest.mark.parametrize(
    ("markdown", "numbers"),
    [
        ("根据年度报告[1]，甲公司收入增长两成。", [1]),
        ("苹果公司[1]、香蕉公司[2]都是水果公司。", [1, 2]),
        ("甲公司收入增长[1][2, 3]。", [1, 2, 3]),
        ("甲公司收入增长[1-3]。", [1, 2, 3]),
    ],
)
def test_one_statement_may_have_several_numbers(markdown: str, numbers: list[int]) -> None:
    assert [found for _, found in told(markdown)] == [numbers]


def test_the_number_of_an_introduction_stands_for_the_items_without_one() -> None:
    intro, first, second, nested, after = find_statements(
        "分三个阶段[1]：\n- 甲阶段要准备\n- 乙阶段要执行[2]\n  - 丙阶段收尾\n\n丁不在其中。"
    )
    assert not intro.is_checkable
    assert [mark.number for mark in first.marks] == [1]
    assert first.shares_marks
    assert [mark.number for mark in second.marks] == [2]
    assert [mark.number for mark in nested.marks] == [1]
    assert after.marks == ()


def test_a_row_with_one_number_is_one_statement() -> None:
    table = "| 公司 | 收入 | 利润 |\n|---|---|---|\n| 甲 | 5 亿 | 1 亿[1] |\n"
    assert told(table) == [("甲，5 亿，1 亿", [1])]


def test_cells_with_numbers_are_statements_about_their_row_and_column() -> None:
    table = "| 公司 | 收入 | 利润 |\n|---|---|---|\n| 甲 | 5 亿[1] | 1 亿[2] |\n"
    found = find_statements(table)
    assert [(one.compared_text, [mark.number for mark in one.marks]) for one in found] == [
        ("甲，收入，5 亿", [1]),
        ("甲，利润，1 亿", [2]),
    ]
    assert [table[one.start : one.end] for one in found] == ["5 亿[1]", "1 亿[2]"]


def test_headings_and_code_are_none_and_brackets_in_code_cite_nothing() -> None:
    markdown = "# 标题[1]\n\n```\nx = a[1]\n```\n\n用 `a[1]` 取出第一个元素[2]。"
    assert told(markdown) == [("用 a[1] 取出第一个元素。", [2])]


def test_places_are_those_of_the_answer() -> None:
    markdown = (
        "# 题\n\n> **甲公司**在[北京](https://a.example)成立[1]。\n> 乙&amp;丙在上海[2]。\n\n1. 丁在 *广州* [3]\n"
    )
    found = find_statements(markdown)
    assert [markdown[one.start : one.end] for one in found] == [
        "甲公司**在[北京](https://a.example)成立[1]。",
        "乙&amp;丙在上海[2]。",
        "丁在 *广州* [3]",
    ]
    assert [markdown[mark.start : mark.end] for one in found for mark in one.marks] == ["[1]", "[2]", "[3]"]


@pytest.mark.parametrize(
    "text",
    [
        "以下是三点说明：",
        "您想了解哪一家公司？",
        "这样可以吗",
        "你好。",
        "希望以上内容对你有帮助。",
        "抱歉，没有找到。",
        "如有其他问题，请告诉我。",
        "好",
    ],
)
def test_what_says_nothing_gets_no_verdict(text: str) -> None:
    assert not Statement(0, 0, text).is_checkable


@pytest.mark.parametrize(
    "text",
    ["甲公司收入为 5 亿元。", "该法于2024年3月施行。", "用人单位不得扣押证件。", "老舍写了《茶馆》。", "增长了两成。"],
)
def test_figures_dates_titles_and_duties_want_a_source(text: str) -> None:
    assert Statement(0, 0, text).needs_source


@pytest.mark.parametrize(
    "text",
    [
        "天空是蓝色的。",
        "收入可能达到 5 亿元。",
        "2024年收入是多少？",
        "以下是 2024 年的数据：",
        "有两种办法。",
        "建议等待 3 天。",
    ],
)
def test_other_sentences_do_not(text: str) -> None:
    assert not Statement(0, 0, text).needs_source
