"""A passage says what a statement says, or speaks of it, or only stands in the same source."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from core.checks import is_about, says_the_same
from core.comparison.alignment import LONGEST_STATEMENT


@pytest.mark.parametrize(
    ("quotation", "statement", "expected"),
    [
        ("费用由市财政承担，居民不需要付费", "换水表的费用由财政出，居民不用付费。", True),
        ("費用由市財政承擔，居民不需要付費", "换水表的费用由财政出，居民不用付费。", True),
        ("本页面内容仅供参考", "换水表的费用由财政出，居民不用付费。", False),
        ("费用由市财政承担", "林远因为水费涨价的事被免去了局长职务。", False),
        ("its readers borrow books for free", "Readers can borrow books for free.", True),
        ("the library of the town is open", "The mayor of the town is a thief.", False),
        (
            "民居付费换表水不由政财用出",
            "换水表的费用由财政出，居民不用付费。",
            False,
        ),  # the characters without their order
        ("一二三", "。", False),
        ("", "换水表的费用由财政出。", False),
    ],
)
def test_most_of_what_is_said_must_be_there(quotation: str, statement: str, expected: bool) -> None:
    assert is_about(quotation, statement) is expected


NEWS = (
    "其次，贝林厄姆的商业价值不容小觑。2023年游泳世锦赛将在日本福冈举行，2024年的赛事将在卡塔尔多哈举行。"
    "董事会周一宣布任命周岚为公司首席执行官，原首席执行官陈默将留任董事。公司（2001年成立）去年收入三百亿元，同比增长12%。"
    "有网友称总部将迁往海宁市，公司予以否认。如果监管部门批准，公司明年可能在香港上市。功耗降低至60%。"
    "绿色款 mini，售价5199元起 绿色款，售价5999元起。但同样好于市场预期。The library does not open on Sundays."
)


@pytest.mark.parametrize(
    "statement",
    [
        "2023年游泳世锦赛将在日本福冈举行。",
        "董事会宣布任命周岚为首席执行官，原首席执行官陈默将留任董事。",
        "公司去年收入三百亿元，同比增长12%。",
        "公司去年的收入是三百亿元，同比增长了12%。",
        "去年收入三百亿元。",
        "好于市场预期。",
        "公司，去年收入三百亿元。",
        "董事會宣布任命周嵐為首席執行官。",
        "The library does not open on Sundays.",
    ],
)
def test_what_the_passage_says(statement: str) -> None:
    assert says_the_same(NEWS, statement)


@pytest.mark.parametrize(
    "statement",
    [
        "2023年游泳世锦赛将在卡塔尔多哈举行。",  # the subject of one clause, the place of another
        "2024年游泳世锦赛将在日本福冈举行。",
        "董事会宣布任命陈默为首席执行官。",
        "首席执行官任命周岚为董事会。",
        "陈默将不再留任董事。",
        "公司去年收入三百亿元，同比下降12%。",
        "公司去年收入三百亿美元。",
        "公司去年收入三百二十亿元。",
        "公司去年收入超过三百亿元。",
        "总部将迁往海宁市。",  # somebody says so
        "监管部门批准，公司明年在香港上市。",
        "公司明年在香港上市。",
        "功耗降低了60%。",
        "绿色款售价5199元起。",
        "The library opens on Sundays.",
        "董事会周一宣布任命周岚为公司首席执行官，同比增长12%。",  # far apart
        "",
        "。",
    ],
)
def test_what_it_does_not_say(statement: str) -> None:
    assert not says_the_same(NEWS, statement)


@pytest.mark.parametrize("text", ["水" * 100_000, "一，" * 50_000, "甲乙，" * 30_000, "a" * 100_000, "1," * 50_000])
def test_any_text_is_compared_in_bounded_time(text: str) -> None:
    began = time.thread_time()
    for statement in (text, text[:LONGEST_STATEMENT]):
        says_the_same(text, statement)
        says_the_same(text[::-1], statement)
    assert time.thread_time() - began < 20


def test_hand_written_pairs(shared: Path) -> None:
    """None of the statements that were made false by one change are said; half of the nearly verbatim ones are."""
    lines = (shared / "data" / "claims" / "minimal_pairs.dev.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    false = [
        row["id"] for row in rows if row["label"] != "supported" and says_the_same(row["source"], row["statement"])
    ]
    near = [says_the_same(row["source"], row["statement"]) for row in rows if row["distance"] == "near"]
    assert len(false) <= 2
    assert sum(near) >= 0.5 * len(near)
