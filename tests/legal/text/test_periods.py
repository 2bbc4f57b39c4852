"""The time that a question, an address or a draft names."""

from __future__ import annotations

from datetime import date

import pytest

from core.legal.text.periods import find_periods, parse_period, past_periods

TODAY = date(2026, 3, 1)


@pytest.mark.parametrize(
    ("written", "first", "last", "iso", "words"),
    [
        ("2019", "2019-01-01", "2019-12-31", "2019", "2019 年"),
        ("2020-02", "2020-02-01", "2020-02-29", "2020-02", "2020 年 2 月"),
        ("2019-05-01", "2019-05-01", "2019-05-01", "2019-05-01", "2019-05-01"),
        ("2019年5月1日", "2019-05-01", "2019-05-01", "2019-05-01", "2019-05-01"),
        ("二〇一九年五月", "2019-05-01", "2019-05-31", "2019-05", "2019 年 5 月"),
        ("２０１９/5/1", "2019-05-01", "2019-05-01", "2019-05-01", "2019-05-01"),
        ("2019-5-1", "2019-05-01", "2019-05-01", "2019-05-01", "2019-05-01"),
        ("二〇一九年五月一日", "2019-05-01", "2019-05-01", "2019-05-01", "2019-05-01"),
    ],
)
def test_a_day_a_month_and_a_year(written: str, first: str, last: str, iso: str, words: str) -> None:
    period = parse_period(written)
    assert period is not None
    assert (period.first, period.last, period.iso, str(period)) == (first, last, iso, words)


@pytest.mark.parametrize("written", ["", "去年", "2019-13", "2019-02-30", "1200", "2019-5-1-1", "20190501", "x2019"])
def test_what_is_no_time(written: str) -> None:
    assert parse_period(written) is None


@pytest.mark.parametrize(
    ("question", "time"),
    [
        ("2019年签订的合同违反灯塔法第二条怎么办", "2019 年"),
        ("2019 年 3 月 5 日施工受伤，怎么赔", "2019-03-05"),
        ("我二〇一九年五月买的房", "2019 年 5 月"),
        ("灯塔法（2010年公布）第二条", None),
        ("2019年的《灯塔法》第二条", None),
        ("2020年8月8日修正的灯塔法怎么说", None),
        ("自2019年5月1日起施行的规定", None),
        ("（2021）闽民终345号", None),
        ("2026年的事", None),
        ("2019年度报告", None),
        ("2019年底签的合同", "2019 年"),
        ("2019年第三季度签的合同", "2019 年"),
        ("2019.5签的合同", "2019 年 5 月"),
        ("第2019条", None),
    ],
)
def test_the_time_that_a_question_is_about(question: str, time: str | None) -> None:
    assert [str(found) for found in past_periods(question, TODAY)] == ([time] if time else [])


def test_the_same_time_twice_is_one_time() -> None:
    assert [str(time) for time in past_periods("2019年签的合同，2019年能解除吗", TODAY)] == ["2019 年"]
    assert [str(time) for time in past_periods("2015年签订、2019年违约", TODAY)] == ["2015 年", "2019 年"]
    assert [text.start for text in find_periods("前言。2015年签、2019年违约")] == [3, 10]
