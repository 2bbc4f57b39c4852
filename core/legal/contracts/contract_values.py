"""Values in the sentences of a contract: durations in months, amounts, shares, and rates per year."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from core.base.chinese.calendar import dates_in
from core.base.chinese.quantities import Quantity, find_quantities

_DAYS_PER_MONTH = 30.4375
_DAYS_PER_YEAR = 365
_MONTHS = {"年": 12.0, "月": 1.0, "日": 1 / _DAYS_PER_MONTH, "工作日": 1 / 21.75}
_LEAST_BARE = 1_000
"""Smallest number that is read as an amount without 元 behind it."""
_FRACTION = re.compile(r"(?<=[的为])([1-8])/([2-9])(?![\d/])")
"""A fraction such as 1/4; it is as long as 25%, so that places stay the same."""
_BARE = re.compile(r"\d+(?:\.\d+)?万?|[一二两三四五六七八九十百千]{1,8}万")
TOLERANCE = 0.1
"""Difference in months that counts as none: 62 days are two months, 365 days are a year."""
_PERIODS = {
    "日": r"(?:每|按|逐)[^,。\d%]{0,6}?[日天]|日(?:利率|息|利)|(?:逾期|迟延|晚|拖)(?:一|1)[日天]|[日天](?=(?:按|支付|加收|的|万分|千分|百分|\d))|/[日天]",
    "月": r"(?:每|按|逐)个?月(?!租|工资|薪|均)|月(?:利率|息|利)|/月",
    "年": r"(?:每|按)年|年(?:利率|化|息|利)|/年|p\.?a",
}
_PER_YEAR = {"日": _DAYS_PER_YEAR, "月": 12, "年": 1}
_PERIOD = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _PERIODS.items()))
_BEFORE = 24
_AFTER = 6
_FEN = re.compile(
    r"(?P<period>月|年)(?:息|利率?|利息)(?:为|按|是|:|约定)*(?P<number>[\d.]{1,4}|[一二两三四五六七八九半])(?P<unit>分|厘|个点)(?P<half>半|五)?"
)
_DIGITS = dict(zip("一二三四五六七八九", range(1, 10), strict=True)) | {"两": 2, "半": 0.5}


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of an amount that falls due per day, month or year."""

    start: int
    text: str
    annual: float
    """The rate per year, in per cent."""
    period: str
    """日, 月 or 年, as it is written."""


def quantities(text: str) -> list[Quantity]:
    """Return the quantities of a text; the numbers of its dates are none."""
    for one in reversed(dates_in(text)):
        if one.year or one.day:
            text = text[: one.start] + "□" * (one.end - one.start) + text[one.end :]
    # A number after a colon would be read as a name, 支 of 5%支付 as a unit, 三年期 as a name too, and 双倍 as no number.
    text = text.replace(":", "。").replace("支付", "交付").replace("双倍", "二倍")
    text = re.sub("(?<=[年月])期(?![间限])", "□", text)
    return find_quantities(_FRACTION.sub(lambda one: f"{100 * int(one[1]) / int(one[2]):02.0f}%", text))


def months_of(quantity: Quantity) -> float | None:
    """Return a duration in months, None for other quantities. Of 不超过六个月 it is six."""
    factor = _MONTHS.get(quantity.unit)
    return None if factor is None else _number(quantity) * factor


def hours_of(quantity: Quantity) -> float | None:
    return _number(quantity) / 3600 if quantity.unit == "秒" else None


def durations(text: str) -> list[tuple[Quantity, float]]:
    return [(one, months) for one in quantities(text) if (months := months_of(one)) is not None]


def months_between_dates(text: str) -> float | None:
    """Return the months between the first two days of a text, both of them included; None where there are not two."""
    days = _days(text)
    if len(days) < 2 or days[1] <= days[0]:
        return None
    return ((days[1] - days[0]).days + 1) / _DAYS_PER_MONTH


def _days(text: str) -> list[date]:
    """Return the days of a text. One without a year is in the year of the one before it: 2025年3月1日至8月31日."""
    found: list[date] = []
    for one in dates_in(text):
        written = one if one.year or not found else replace(one, year=found[-1].year)
        if written.iso:
            found.append(date.fromisoformat(written.iso))
    return found


def amounts(text: str) -> list[Quantity]:
    return [one for one in quantities(text) if one.unit == "元" and _number(one) > 0]


def shares(text: str) -> list[Quantity]:
    """Return the shares of a text in per cent. 一半 and 倍 are counted too."""
    return [one for one in quantities(text) if one.unit in {"%", "倍"}]


def per_cent(quantity: Quantity) -> float:
    return _number(quantity) * (100 if quantity.unit == "倍" else 1)


def value_of(quantity: Quantity) -> float:
    return _number(quantity)


def number_in(words: str) -> float:
    """Return the one number in the words of an article: 20 for 不得超过…百分之二十, 2 for 不得超过二年."""
    return _number(quantities(words)[-1])


def amount_after(label: re.Pattern[str], text: str, within: int = 25) -> float | None:
    """Return the first amount of money that stands shortly after a label. It may lack 元 if it is large."""
    for found in label.finditer(text):
        for one in quantities(text[found.end() : found.end() + within + 30]):
            is_money = one.unit == "元" or (not one.unit and _BARE.fullmatch(one.text) and _number(one) >= _LEAST_BARE)
            if is_money and _number(one) > 0 and one.start <= within:
                return _number(one)
    return None


def rates(text: str) -> Iterator[Rate]:
    """Yield the rates of a text. A share without a day, month or year before or behind it is none."""
    for found in _FEN.finditer(text):
        number = found["number"]
        value = _DIGITS[number] if number in _DIGITS else _float(number)
        value += 0.5 if found["half"] else 0
        scale = (0.1 if found["unit"] == "厘" else 1) * (
            10 if found["period"] == "年" and found["unit"] != "个点" else 1
        )
        yield Rate(found.start(), found[0], value * scale * _PER_YEAR[found["period"]], found["period"])
    for one in quantities(text):
        if one.unit == "%" and (period := _period(text, one)):
            yield Rate(
                one.start,
                f"{text[max(0, one.start - 6) : one.start]}{one.text}",
                _number(one) * _PER_YEAR[period],
                period,
            )


def _period(text: str, one: Quantity) -> str | None:
    if re.search("(?:不超过|最高|上限|封顶|累计)[^,。]{0,10}$", text[: one.start]):
        return None
    before = list(_PERIOD.finditer(text[max(0, one.start - _BEFORE) : one.start]))
    after = _PERIOD.match(text[one.end : one.end + _AFTER].lstrip("的(,"))
    found = after or (before[-1] if before else None)
    return found.lastgroup if found else None


def _number(quantity: Quantity) -> float:
    return quantity.exact if quantity.exact == quantity.exact else quantity.high


def _float(digits: str) -> float:
    try:
        return float(digits)
    except ValueError:
        return 0.0
