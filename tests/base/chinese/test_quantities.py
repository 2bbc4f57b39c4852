"""Quantities, and numbers that are names."""

from __future__ import annotations

import pytest

from core.base.chinese.quantities import find_numbered_names, find_quantities, sign_of


@pytest.mark.parametrize(
    "text",
    [
        "第三十八条",
        "GPT-4",
        "哈弗H6",
        "十分好",
        "万一",
        "四川",
        "一个人",
        "一起",
        "一种",
        "1）首先",
        "：2. 其次",
        "千万不要",
        "半导体",
    ],
)
def test_names_and_figures_of_speech_are_no_quantities(text: str) -> None:
    assert find_quantities(text) == []


def test_a_quantity_knows_its_place() -> None:
    text = "收入约为 １．２ 亿元，增长20%。"
    assert [text[found.start : found.end] for found in find_quantities(text)] == ["约为 １．２ 亿元", "20%"]
    assert [found.text for found in find_quantities(text)] == ["约为 １．２ 亿元", "20%"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("依第三十八条和第 38 条", ["第38条", "第38条"]),
        ("第一百二十条之一", ["第120条之一"]),
        ("第十次", ["第10"]),
        ("GPT-4 与 gpt 4", ["gpt4", "gpt4"]),
        ("19:55 开始", ["19:55"]),
        ("1080P", ["1080p"]),
        ("第一次", []),
    ],
)
def test_numbers_that_are_names(text: str, found: list[str]) -> None:
    assert find_numbered_names(text) == found


@pytest.mark.parametrize(
    ("bound", "sign"),
    [
        ("以上", "≥"),
        ("或者以上", "≥"),
        ("不得少于", "≥"),
        ("最长不得超过", "≤"),
        ("未超过", "≤"),
        ("超过", ">"),
        ("不满", "<"),
        ("将近", "<"),
        ("约", "≈"),
        ("", ""),
    ],
)
def test_what_a_word_makes_of_a_number(bound: str, sign: str) -> None:
    assert sign_of(bound) == sign
