"""Dates in a text, with Chinese or Arabic figures: 二〇二四年三月五日, 2024年上半年, 去年3月, Jan 1, 2021, 3 小时前."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from core.base.chinese.numerals import to_int
from core.base.chinese.script import comparison_form

_FIGURES = "〇○零一二三四五六七八九"
_NUMBER = rf"[{_FIGURES}十\d]{{1,3}}"
_BLANKS = r"\s{0,2}"
_YEAR = rf"(?P<year>(?<!\d)[12]\d{{3}}|[一二][{_FIGURES}]{{3}}){_BLANKS}年度?|(?P<relative>去年|今年|前年|明年|上年)"
_MONTH = rf"(?<![\d.])(?P<month>{_NUMBER}){_BLANKS}月(?!度?[薪租供球亮])份?"
_MONTHS = rf"(?P<first>{_NUMBER})\s?月?\s?[-–~～至到]\s?(?P<last>{_NUMBER}){_BLANKS}月份?"
_DAY = rf"(?P<day>{_NUMBER})(?:{_BLANKS}[日号]|(?(named)$|(?!)))"
_PART = r"(?P<part>上半年|下半年|第?[一二三四1-4]季度|年初|年底|年末|初|底|末)"
_DATE = re.compile(
    rf"(?=[\d{_FIGURES}十去今前明上])"
    r"(?:(?<!\d)(?P<y>[12]\d{3})\s?[-/.]\s?(?P<m>\d{1,2})(?:\s?[-/.]\s?(?P<d>\d{1,2}))?(?!\.?\d)"
    rf"|(?:(?P<named>{_YEAR}){_BLANKS}的?)?"
    rf"(?:(?(named){_MONTHS}|(?!))|{_MONTH}(?:{_BLANKS}{_DAY})?|(?(named){_PART}?|(?!))))"
)
_SIDE = re.compile("(?:之|以)(前|后)")
_RELATIVE = {"去年": -1, "上年": -1, "今年": 0, "前年": -2, "明年": 1}
_PARTS = {"上半年": (1, 6), "下半年": (7, 12), "初": (1, 3), "底": (10, 12), "末": (10, 12)}

_ENGLISH = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WORD = rf"(?P<month>{'|'.join(_ENGLISH)})[a-z]*\.?"
_MONTH_FIRST = re.compile(rf"\b{_WORD} (?P<day>\d{{1,2}}),? (?P<year>\d{{4}})\b", re.IGNORECASE | re.ASCII)
_DAY_FIRST = re.compile(rf"\b(?P<day>\d{{1,2}}) {_WORD},? (?P<year>\d{{4}})\b", re.IGNORECASE | re.ASCII)
_AGO = re.compile(
    r"(\d{1,3}) ?(?:(分钟|minutes?|mins?)|(小时|hours?)|(天|days?)) ?(?:前|ago)", re.IGNORECASE | re.ASCII
)
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A day, or a period of months or years, as a text writes it. Parts that the text leaves open are None."""

    start: int
    end: int
    text: str
    year: int | None
    months: tuple[int, int] | None = None
    day: int | None = None
    side: str = ""
    """Side of the date on which something lies: 前 in 2020 年之前, 后 in 2020 年以后."""

    @property
    def iso(self) -> str | None:
        """The day in ISO notation; None without a year, a month or a day, and for 2月31日."""
        if self.year is None or self.months is None or self.day is None:
            return None
        return _iso(self.year, self.months[0], self.day)


def dates_in(text: str, this_year: int | None = None) -> list[WrittenDate]:
    """Return the dates of a text in their order. 去年 is the year before `this_year`; without that, its `year` is None."""
    found = []
    for match in _DATE.finditer(comparison_form(text)):
        try:
            year, months, day = _read(match, this_year)
        except ValueError:
            continue
        end = match.start() + len(match[0].rstrip("的 \n"))
        side = _SIDE.match(match.string, match.end())
        written = text[match.start() : end]
        found.append(WrittenDate(match.start(), end, written, year, months, day, side[1] if side else ""))
    return found


def _read(match: re.Match[str], this_year: int | None) -> tuple[int | None, tuple[int, int] | None, int | None]:
    year = to_int(match["y"] or match["year"]) if match["y"] or match["year"] else None
    if match["relative"] and this_year is not None:
        year = this_year + _RELATIVE[match["relative"]]
    if match["part"]:
        return year, _part(match["part"]), None
    first, last = match["first"] or match["month"] or match["m"], match["last"]
    day = match["day"] or match["d"]
    months = (_parse_at_most(12, first), _parse_at_most(12, last or first)) if first else None
    return year, months, _parse_at_most(31, day) if day else None


def _part(word: str) -> tuple[int, int]:
    if "季度" not in word:
        return _PARTS[word.removeprefix("年")]
    quarter = to_int(word.removeprefix("第")[0])
    return 3 * quarter - 2, 3 * quarter


def _parse_at_most(limit: int, numeral: str) -> int:
    value = to_int(numeral)
    if not 1 <= value <= limit:
        raise ValueError(numeral)
    return value


def iso_day(text: object, now: datetime | None = None) -> str | None:
    """Return the day at the start of a text in ISO notation, or one that is in English or counted back from `now`.
    None for anything else: two weeks ago is no day."""
    if not isinstance(text, str):
        return None
    if ago := _AGO.search(text):
        number, minutes, hours, _ = ago.groups()
        unit = timedelta(minutes=1) if minutes else timedelta(hours=1) if hours else timedelta(days=1)
        return ((now or datetime.now()) - int(number) * unit).date().isoformat()
    first = next(iter(dates_in(text.strip()[:_LONGEST])), None)
    if first and first.start == 0 and first.day:
        return first.iso
    if found := _MONTH_FIRST.search(text) or _DAY_FIRST.search(text):
        return _iso(int(found["year"]), _ENGLISH.index(found["month"][:3].lower()) + 1, int(found["day"]))
    return None


def _iso(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None
