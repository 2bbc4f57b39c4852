"""Dates that are the same, and those that are not."""

from __future__ import annotations

import pytest

from core.comparison.stated_dates import find_dates, source_has_date


@pytest.mark.parametrize(
    ("text", "year", "months", "day"),
    [
        ("2024-03-05", 2024, (3, 3), 5),
        ("2024/3/5", 2024, (3, 3), 5),
        ("2024-3-5", 2024, (3, 3), 5),
        ("2024年3月5日", 2024, (3, 3), 5),
        ("二〇二四年三月五日", 2024, (3, 3), 5),
        ("２０２４年３月５日", 2024, (3, 3), 5),
        ("2024年上半年", 2024, (1, 6), None),
        ("2024年1-6月", 2024, (1, 6), None),
        ("2024年第三季度", 2024, (7, 9), None),
        ("2024年底", 2024, (10, 12), None),
        ("2024年", 2024, None, None),
        ("3月5日", None, (3, 3), 5),
    ],
)
def test_a_date_is_read(text: str, year: int | None, months: tuple[int, int] | None, day: int | None) -> None:
    (found,) = find_dates(text)
    assert (found.year, found.months, found.day) == (year, months, day)


@pytest.mark.parametrize(
    "text", ["10个月", "2.5月", "2016/17赛季", "2024.5", "2011-12赛季", "13月40日", "每月", "月亮", "30日内"]
)
def test_what_only_looks_like_one(text: str) -> None:
    assert find_dates(text) == []


@pytest.mark.parametrize(
    ("stated", "source"),
    [
        ("2024-03-05", "2024年3月5日"),
        ("2024年3月", "2024年3月5日"),
        ("2024年上半年", "2024年1至6月"),
        ("2024年3月5日", "2024年发布，3月5日上市"),
        ("2024年3月5日", "3月5日上市"),
        ("2020年之前", "2011年6月"),
    ],
)
def test_a_date_is_told(stated: str, source: str) -> None:
    assert source_has_date(find_dates(stated)[0], find_dates(source))


@pytest.mark.parametrize(
    ("stated", "source"),
    [
        ("2024年", "2023年"),
        ("2024年上半年", "2024年下半年"),
        ("2024年3月5日", "2024年3月"),
        ("2024年3月5日", "2023年3月5日"),
        ("3月5日", "3月6日"),
        ("2020年之前", "2023年6月"),
    ],
)
def test_another_date_is_not(stated: str, source: str) -> None:
    assert not source_has_date(find_dates(stated)[0], find_dates(source))


def test_last_year_is_that_of_the_source() -> None:
    assert find_dates("去年3月", published="2024-05-01")[0].year == 2023
    assert find_dates("去年3月")[0].year is None
