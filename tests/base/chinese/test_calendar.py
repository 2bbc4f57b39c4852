"""Dates that are written in figures and in words."""

from __future__ import annotations

from datetime import datetime

import pytest

from core.base.chinese.calendar import dates_in, iso_day

NOW = datetime(2026, 3, 1, 1, 30)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("2026-07-22T00:00:00.000Z", "2026-07-22"),
        ("2026-02-23T08:18:30+08:00", "2026-02-23"),
        (" 2021/1/1", "2021-01-01"),
        ("2019-5-1", "2019-05-01"),
        ("二〇一九年五月一日", "2019-05-01"),
        ("二○一九年十二月三十一日", "2019-12-31"),
        ("２０１９年５月１日", "2019-05-01"),
        ("2021年12月31", "2021-12-31"),
        ("2021年12月", None),
        ("2021年12月31日 08:00", "2021-12-31"),
        ("Mar 15, 2024", "2024-03-15"),
        ("September 1, 2025 — 某报", "2025-09-01"),
        ("Mon, 02 Nov 2026 08:00:00 GMT", "2026-11-02"),
        ("3 小时前", "2026-02-28"),
        ("30分钟前", "2026-03-01"),
        ("2 days ago", "2026-02-27"),
        ("2 weeks ago", None),
        ("2026-02-31", None),
        ("20260231", None),
        ("2026-01-011", None),
        ("", None),
        ("昨天", None),
        (None, None),
        (20260101, None),
    ],
)
def test_a_day_that_others_write(said: object, day: str | None) -> None:
    assert iso_day(said, NOW) == day


@pytest.mark.parametrize(
    ("text", "year", "months", "day"),
    [
        ("2019-5-1", 2019, (5, 5), 1),
        ("二〇一九年五月一日", 2019, (5, 5), 1),
        ("2019 年 5 月 1 号", 2019, (5, 5), 1),
        ("2019-05", 2019, (5, 5), None),
        ("2019年1月至6月", 2019, (1, 6), None),
        ("2019年第三季度", 2019, (7, 9), None),
        ("2019年底", 2019, (10, 12), None),
        ("五月一日", None, (5, 5), 1),
        ("去年5月", None, (5, 5), None),
    ],
)
def test_a_date_is_read(text: str, year: int | None, months: tuple[int, int], day: int | None) -> None:
    (found,) = dates_in(f"他说{text}来。")
    assert (found.year, found.months, found.day, found.text) == (year, months, day, text)


def test_a_year_is_relative_to_the_one_that_is_given() -> None:
    assert [found.year for found in dates_in("去年、前年3月和2020年", 2024)] == [2023, 2022, 2020]


def test_a_date_ends_before_the_words_that_follow_it() -> None:
    assert [found.text for found in dates_in("2019年的法律，2020 年 3 月的事")] == ["2019年", "2020 年 3 月"]
