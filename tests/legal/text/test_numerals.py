"""Numbers as statutes write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.legal.text.numerals import LARGEST, ArticleNumber, parse_article_number, plain, to_chinese, to_int


@given(st.integers(min_value=0, max_value=LARGEST))
def test_every_number_survives_the_round_trip(number: int) -> None:
    assert to_int(to_chinese(number)) == number


@given(st.integers(min_value=0, max_value=LARGEST))
def test_arabic_and_full_width_digits_mean_the_same(number: int) -> None:
    wide = str(number).translate({48 + digit: 0xFF10 + digit for digit in range(10)})
    assert to_int(str(number)) == to_int(wide) == number


def test_the_first_1299_articles_are_written_as_statutes_write_them() -> None:
    assert all(parse_article_number(f"第{to_chinese(n)}条") == ArticleNumber(n) for n in range(1, 1300))


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
    ],
)
def test_what_people_write(written: str, number: int) -> None:
    assert to_int(written) == number


@pytest.mark.parametrize(
    "text", ["", "条", "一百二", "十百", "一一十", "万", "一千零零一", "-3", "3.5", "九" * 20, "九" * 9, "1" * 9]
)
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        to_int(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("第38条", (38, 0)),
        ("三十八", (38, 0)),
        ("第１２０条之一", (120, 1)),
        ("笫五条", (5, 0)),
        ("第 12 条 之 2", (12, 2)),
    ],
)
def test_notations_of_an_article(text: str, number: tuple[int, int]) -> None:
    assert parse_article_number(text) == number


@pytest.mark.parametrize("number", [-1, 10**8])
def test_what_no_statute_numbers_is_not_written(number: int) -> None:
    with pytest.raises(ValueError, match=str(number)):
        to_chinese(number)


def test_articles_are_named_and_sorted_as_in_the_law() -> None:
    numbers = [ArticleNumber(121), ArticleNumber(120, 2), ArticleNumber(120)]
    assert [str(number) for number in sorted(numbers)] == ["第一百二十条", "第一百二十条之二", "第一百二十一条"]
    assert str(ArticleNumber(0)) == ""


@given(st.text())
def test_plain_keeps_every_place(text: str) -> None:
    assert len(plain(text)) == len(text)
