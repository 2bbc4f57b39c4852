"""Numbers as people and statutes write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.chinese.numerals import LARGEST, to_chinese, to_float, to_int


@given(st.integers(min_value=0, max_value=LARGEST))
def test_every_number_survives_the_round_trip(number: int) -> None:
    assert to_int(to_chinese(number)) == number


@given(st.integers(min_value=0, max_value=LARGEST))
def test_arabic_and_full_width_digits_mean_the_same(number: int) -> None:
    wide = str(number).translate({48 + digit: 0xFF10 + digit for digit in range(10)})
    assert to_int(str(number)) == to_int(wide) == number


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (10, "十"),
        (15, "十五"),
        (20, "二十"),
        (101, "一百零一"),
        (110, "一百一十"),
        (115, "一百一十五"),
        (1010, "一千零一十"),
        (1079, "一千零七十九"),
        (1001, "一千零一"),
        (10010, "一万零一十"),
        (0, "零"),
    ],
)
def test_written_form(number: int, written: str) -> None:
    assert to_chinese(number) == written


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("三十八", 38),
        ("两百零五", 205),
        ("一百十五", 115),
        ("一二〇", 120),
        ("一○二", 102),
        ("二千", 2000),
        (" ３８ ", 38),
        ("一万二", 12_000),
        ("十三万五", 135_000),
        ("一万零二", 10_002),
        ("一千零二", 1_002),
        ("三亿五", 350_000_000),
    ],
)
def test_what_people_write(written: str, number: int) -> None:
    assert to_int(written) == number


@pytest.mark.parametrize(
    "text",
    ["", "条", "一百二", "十百", "一一十", "万", "一万二万", "一千零零一", "-3", "3.5", "九" * 20, "九" * 9, "1" * 9],
)
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        to_int(text)


@pytest.mark.parametrize("number", [-1, 10**8])
def test_what_no_statute_numbers_is_not_written(number: int) -> None:
    with pytest.raises(ValueError, match=str(number)):
        to_chinese(number)


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
        ("一万二", 12_000),
        ("一○二", 102),
        ("百万", 1_000_000),
        ("二〇二四", 2_024),
        ("十五", 15),
        ("一万二千三百四十五", 12_345),
        ("三亿零五万", 300_050_000),
        ("1.5 million", 1_500_000),
    ],
)
def test_a_number_has_one_value_however_it_is_written(written: str, value: float) -> None:
    assert to_float(written) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "点五", "abc", "。"])
def test_what_is_no_number_at_all_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        to_float(text)
