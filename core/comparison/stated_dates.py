"""Whether a source tells the dates of a statement: 2024-03-05 = 2024年3月5日 lies in 2024年上半年.

去年 is the year before the source's day, and means nothing where that day is not known.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.base.chinese.calendar import WrittenDate, dates_in


def find_dates(text: str, published: str | None = None) -> list[WrittenDate]:
    """Return the dates of a text but for 2024.5, which is as often a number. `published` is the day of the text."""
    year = int(published[:4]) if published and published[:4].isdigit() else None
    return [one for one in dates_in(text, year) if one.day or not one.text[-1].isdigit()]


def source_has_date(stated: WrittenDate, source: Sequence[WrittenDate]) -> bool:
    """Return whether the source gives this date, in one place or its year in one and its day in another. A source that
    names the day and no year at all is believed."""
    years = {real.year for real in source if real.year is not None}
    if stated.side and stated.year is not None and any(_is_on_stated_side(stated, year) for year in years):
        return True
    if stated.year is not None and years and stated.year not in years:
        return False
    if stated.months is None:
        return stated.year is None or stated.year in years
    return any(_covers(stated, real) for real in source if real.year in {None, stated.year} or stated.year is None)


def _is_on_stated_side(stated: WrittenDate, year: int) -> bool:
    return stated.year is not None and (year <= stated.year if stated.side == "前" else year >= stated.year)


def _covers(stated: WrittenDate, real: WrittenDate) -> bool:
    """Return whether the source is as exact as the statement. A month is confirmed by one of its days."""
    if stated.months is None or real.months is None:
        return False
    within = stated.months[0] <= real.months[0] and real.months[1] <= stated.months[1]
    return within and stated.day in {None, real.day}


def is_same_date(stated: WrittenDate, real: WrittenDate) -> bool:
    return (real.year, real.months, real.day) == (stated.year, stated.months, stated.day)


def differing_date(stated: WrittenDate, source: Sequence[WrittenDate]) -> WrittenDate | None:
    """Return the source's date of the same kind, if it is a different one."""
    same_kind = [real for real in source if (real.months is None) == (stated.months is None) or real.year is not None]
    return next((real for real in same_kind if not source_has_date(stated, [real])), None)
