"""Quantities that mean the same, and those that do not."""

from __future__ import annotations

import pytest

from core.checks.numbers import Agreement, Quantity, agreement, labels, number, quantities


def only(text: str) -> Quantity:
    (found,) = quantities(text)
    return found


def compared(stated: str, real: str) -> Agreement:
    return agreement(only(stated), only(real))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("一亿两千万", 120_000_000),
        ("1.2亿", 120_000_000),
        ("120,000,000", 120_000_000),
        ("12000万", 120_000_000),
        ("1.75万亿", 1_750_000_000_000),
        ("两千零五", 2_005),
        ("三点一四", 3.14),
        ("一百二", 120),
        ("二〇二四", 2_024),
        ("十五", 15),
        ("一万二千三百四十五", 12_345),
        ("三亿零五万", 300_050_000),
        ("1.5 million", 1_500_000),
    ],
)
def test_a_number_has_one_value_however_it_is_written(written: str, value: float) -> None:
    assert number(written) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "点五", "abc", "。"])
def test_what_is_no_number_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        number(text)


@pytest.mark.parametrize(
    ("stated", "real"),
    [
        ("一亿两千万元", "1.2 亿元"),
        ("1.2亿", "１２０，０００，０００"),
        ("两成", "20%"),
        ("百分之二十", "20％"),
        ("三分之一", "三分之一"),
        ("翻一番", "2倍"),
        ("¥500", "500元"),
        ("$500", "500美元"),
        ("3公里", "3000米"),
        ("半年", "0.5年"),
        ("一年半", "1.5年"),
        ("3-5万元", "3万至5万元"),
        ("约100万人", "98万人"),
        ("近百人", "98人"),
        ("超过100万", "120万"),
        ("30多万", "超过30万"),
        ("5家", "五个"),
        ("5周", "35天"),
    ],
)
def test_the_same_in_other_words(stated: str, real: str) -> None:
    assert compared(stated, real) is Agreement.SAME


@pytest.mark.parametrize(
    ("stated", "real"),
    [
        ("1.2亿", "1.23亿"),
        ("100万", "近100万"),
        ("100万", "超过100万"),
        ("不足3%", "3%"),
        ("18岁以上", "超过18岁"),
        ("800-1400美元", "800-1400"),
    ],
)
def test_neither_the_same_nor_wrong(stated: str, real: str) -> None:
    assert compared(stated, real) is Agreement.NEAR


@pytest.mark.parametrize(
    ("stated", "real"),
    [
        ("1.2亿", "1.3亿"),
        ("¥500", "$500"),
        ("20%", "20个百分点"),
        ("3年", "3个月"),
        ("130倍", "133倍"),
        ("约72%", "78%"),
        ("71%", "70%"),
        ("约6374千米", "约6371千米"),
        ("不到100万", "超过100万"),
        ("18岁以上", "18岁以下"),
        ("3-5万元", "3-6万元"),
        ("超过100万", "900万"),
        ("22多岁", "20多岁"),
    ],
)
def test_another_quantity(stated: str, real: str) -> None:
    assert compared(stated, real) is Agreement.OTHER


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
    assert quantities(text) == []


def test_a_quantity_knows_its_place() -> None:
    text = "收入约为 １．２ 亿元，增长20%。"
    assert [text[found.start : found.end] for found in quantities(text)] == ["约为 １．２ 亿元", "20%"]
    assert [found.text for found in quantities(text)] == ["约为 １．２ 亿元", "20%"]


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
    assert labels(text) == found
