"""The numbers of articles."""

from __future__ import annotations

import pytest

from core.base.chinese.numerals import to_chinese
from core.legal.article_numbers import ArticleNumber, parse_article_number


def test_the_first_1299_articles_are_written_as_statutes_write_them() -> None:
    assert all(parse_article_number(f"第{to_chinese(n)}条") == ArticleNumber(n) for n in range(1, 1300))


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


def test_articles_are_named_and_sorted_as_in_the_law() -> None:
    numbers = [ArticleNumber(121), ArticleNumber(120, 2), ArticleNumber(120)]
    assert [str(number) for number in sorted(numbers)] == ["第一百二十条", "第一百二十条之二", "第一百二十一条"]
    assert str(ArticleNumber(0)) == ""


@pytest.mark.parametrize("text", ["第一百二条", "第一万二条", "第条", "第三十八款"])
def test_what_numbers_no_article(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_article_number(text)
