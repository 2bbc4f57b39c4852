"""Days, months, halves and years in a text: 2024-03-05 = 2024年3月5日 lies in 2024年上半年.

去年 is the year before the source's day, and means nothing where that day is not known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.base.script import folded
from core.checks.numbers import number

_D = r"[〇零一二三四五六七八九十\d]"
_YEAR = r"(?P<year>(?<!\d)[12]\d{3}|[一二][〇零一二三四五六七八九]{3})\s?年度?"
_PART = r"(?P<part>上半年|下半年|第?[一二三四1-4]季度|年初|年底|年末|初|底|末)"
_MONTH = rf"(?<![\d.])(?P<month>{_D}{{1,3}})\s?月(?!度?[薪租供球亮])份?"
_MONTHS = rf"(?P<first>{_D}{{1,3}})\s?月?\s?[-–~～至到]\s?(?P<last>{_D}{{1,3}})\s?月份?"
_DAY = rf"(?P<day>{_D}{{1,3}})\s?[日号]"
_DATE = re.compile(
    rf"(?=[\d〇零一二三四五六七八九十去今前明上])(?:(?<!\d)(?P<y>[12]\d{{3}})\s?[-/.]\s?(?P<m>\d{{1,2}})\s?[-/.]\s?(?P<d>\d{{1,2}})(?![\d.])"
    rf"|(?:{_YEAR}|(?P<relative>去年|今年|前年|明年|上年))\s?的?(?:{_MONTHS}|{_MONTH}(?:\s?{_DAY})?|{_PART})?"
    .replace("?P<month>", "?P<ymonth>").replace("?P<day>", "?P<yday>")
    + rf"|{_MONTH}\s?{_DAY}|{_MONTH.replace('?P<month>', '?P<only>')})"
)  # fmt: skip
_SIDE = re.compile("(?:之|以)(前|后)")
_RELATIVE = {"去年": -1, "上年": -1, "今年": 0, "前年": -2, "明年": 1}
_PARTS = {"上半年": (1, 6), "下半年": (7, 12), "年初": (1, 3), "初": (1, 3), "年底": (10, 12), "底": (10, 12), "年末": (10, 12), "末": (10, 12)}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Day:
    """A day or a stretch of months; what the text leaves open is None."""

    start: int
    end: int
    text: str
    year: int | None
    months: tuple[int, int] | None = None
    day: int | None = None
    side: str = ""
    """前 or 后 for 2020 年之前 and 2020 年以后, which say on which side of the date something lies."""


def days(text: str, published: str | None = None) -> list[Day]:
    """In their order. A relative year that cannot be told is left out of the comparison: its `year` is None."""
    found = []
    for match in _DATE.finditer(folded(text)):
        try:
            year, months, day = _parts(match, published)
        except ValueError:
            continue
        side = _SIDE.match(match.string, match.end())
        written = text[match.start() : match.end()].strip()
        found.append(Day(match.start(), match.end(), written, year, months, day, side[1] if side else ""))
    return found


def _parts(match: re.Match[str], published: str | None) -> tuple[int | None, tuple[int, int] | None, int | None]:
    if match["y"]:
        month = _month(match["m"])
        return int(match["y"]), (month, month), _day(match["d"])
    year = int(number(match["year"])) if match["year"] else _relative_year(match["relative"], published)
    if match["first"]:
        return year, (_month(match["first"]), _month(match["last"])), None
    if match["part"]:
        return year, _part(match["part"]), None
    written = match["ymonth"] or match["month"] or match["only"]
    day = match["yday"] or match["day"]
    months = (_month(written), _month(written)) if written else None
    return year, months, _day(day) if day else None


def _relative_year(word: str | None, published: str | None) -> int | None:
    return int(published[:4]) + _RELATIVE[word] if word and published and published[:4].isdigit() else None


def _part(word: str) -> tuple[int, int]:
    if word in _PARTS:
        return _PARTS[word]
    quarter = int(number(word.removeprefix("第")[0]))
    return 3 * quarter - 2, 3 * quarter


def _month(text: str) -> int:
    return _at_most(12, text)


def _day(text: str) -> int:
    return _at_most(31, text)


def _at_most(limit: int, text: str) -> int:
    value = int(number(text))
    if not 1 <= value <= limit:
        raise ValueError(text)
    return value


def is_told(stated: Day, source: Sequence[Day]) -> bool:
    """Whether the source tells this date, in one place or its year in one and its day in another.

    A source that names the day and no year at all is taken at its word.
    """
    years = {real.year for real in source if real.year is not None}
    if stated.side and stated.year is not None and any(_lies_beside(stated, year) for year in years):
        return True
    if stated.year is not None and years and stated.year not in years:
        return False
    if stated.months is None:
        return stated.year is None or stated.year in years
    return any(_agrees(stated, real) for real in source if real.year in {None, stated.year} or stated.year is None)


def _lies_beside(stated: Day, year: int) -> bool:
    return stated.year is not None and (year <= stated.year if stated.side == "前" else year >= stated.year)


def _agrees(stated: Day, real: Day) -> bool:
    """What the statement says exactly the source must say as exactly; a month is told by one of its days."""
    if stated.months is None or real.months is None:
        return False
    within = stated.months[0] <= real.months[0] and real.months[1] <= stated.months[1]
    return within and stated.day in {None, real.day}


def same_day(stated: Day, source: Sequence[Day]) -> str:
    """How the source writes exactly this date, where it never writes it in the same way."""
    told = (stated.year, stated.months, stated.day)
    same = [real.text for real in source if (real.year, real.months, real.day) == told]
    return same[0] if same and folded(stated.text) not in map(folded, same) else ""


def other_than(stated: Day, source: Sequence[Day]) -> Day | None:
    """The source's date of the same kind, where it is another one."""
    same_kind = [real for real in source if (real.months is None) == (stated.months is None) or real.year is not None]
    return next((real for real in same_kind if not is_told(stated, [real])), None)
