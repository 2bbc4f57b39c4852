"""The parts of a text that can be compared exactly: quantities, dates and numbered names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.answer.checked import Difference
from core.base.chinese.calendar import WrittenDate
from core.base.chinese.quantities import Quantity, labels, quantities
from core.base.chinese.script import folded
from core.checks.dates import days, is_told, other_than, same_day
from core.checks.numbers import Agreement, agreement, best_agreement

_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_COUNTED = re.compile(r"[\d〇零一二两三四五六七八九十百千万亿点.,\s]")
_DATED = re.compile(r"[年月]|[12]\d{3}[-/.]")
_LABELLED = re.compile(r"[a-z第:]|\d\.")
_DIGIT = re.compile(r"[\d〇零一二两三四五六七八九十百千万亿半去今明前]")


@dataclass(frozen=True, slots=True)
class Facts:
    quantities: tuple[Quantity, ...] = ()
    days: tuple[WrittenDate, ...] = ()
    labels: tuple[str, ...] = ()
    digits: frozenset[str] = frozenset()
    """Every run of digits, whatever it means: a year may stand in a table without its 年."""

    def __bool__(self) -> bool:
        return bool(self.quantities or self.days or self.labels)

    @classmethod
    def of(cls, text: str, published: str | None = None) -> Facts:
        plain = folded(text)
        if not _DIGIT.search(plain):
            return _NONE
        dated = days(text, published) if _DATED.search(plain) else []
        rest = _without(text, dated)
        named = tuple(labels(rest)) if _LABELLED.search(plain) else ()
        return cls(tuple(quantities(rest)), tuple(dated), named, frozenset(_DIGITS.findall(plain)))

    @classmethod
    def joined(cls, parts: Iterable[Facts]) -> Facts:
        all_parts = list(parts)
        return cls(
            tuple(one for part in all_parts for one in part.quantities),
            tuple(one for part in all_parts for one in part.days),
            tuple(one for part in all_parts for one in part.labels),
            frozenset().union(*(part.digits for part in all_parts)),
        )


_NONE = Facts()


def _without(text: str, dated: Sequence[WrittenDate]) -> str:
    """Return the text with dates replaced by blanks. Positions stay, and 5 日 of 3 月 5 日 is not counted as five days."""
    for day in dated:
        text = text[: day.start] + " " * (day.end - day.start) + text[day.end :]
    return text


def differences(stated: Facts, source: Facts, nearest: Facts) -> Iterator[Difference]:
    """Yield the facts that the statement has and the source has not, with what the nearest passage says instead."""
    others = [
        quantity
        for quantity in stated.quantities
        if not is_weak(quantity) and best_agreement(quantity, source.quantities) is Agreement.OTHER
    ]
    unstated = _unstated(nearest, stated) if others else []
    for quantity in others:
        yield Difference("number", quantity.text, _instead(quantity, unstated))
    for day in stated.days:
        if not is_told(day, source.days) and not is_told(day, nearest.days) and not _is_bare_year(day, source):
            other = other_than(day, nearest.days)
            yield Difference("date", day.text, other.text if other else "")
    for label in stated.labels:
        if label not in source.labels and not _digits_of(label) <= source.digits:
            yield Difference("name", label, _same_shape(label, stated, nearest))


def spelled_as(text: str, stated: Facts, source: Facts) -> str:
    """Return the text with its numbers and dates spelled as in the source, where they are equal: 12000 万 as 1.2 亿."""
    same = [(one.start, one.end, _same(one, source.quantities)) for one in stated.quantities]
    same += ((one.start, one.end, same_day(one, source.days)) for one in stated.days)
    for start, end, spelling in sorted(same, key=lambda place: -place[0]):
        if spelling:
            text = text[:start] + spelling + text[end:]
    return text


def _same(stated: Quantity, source: Iterable[Quantity]) -> str:
    """Return the source's spelling of an equal number; empty if the source also has the statement's spelling."""
    same = [real.text for real in source if agreement(stated, real) is Agreement.SAME]
    return same[0] if same and folded(stated.text) not in map(folded, same) else ""


def is_weak(quantity: Quantity) -> bool:
    """Return whether the quantity only counts what a sentence lists, like 两个 or 三种. A source may list it without
    counting."""
    return not quantity.unit and quantity.low == quantity.high < 10 and not quantity.text[0].isdigit()


def near_misses(stated: Facts, source: Facts) -> list[Quantity]:
    """Return quantities whose number the source has under another bound: 100 万 where it says 不到 100 万."""
    return [
        quantity
        for quantity in stated.quantities
        if best_agreement(quantity, source.quantities) is Agreement.NEAR
        and any(
            agreement(quantity, real) is Agreement.NEAR and real.bound != quantity.bound and real.unit == quantity.unit
            for real in source.quantities
        )
    ]


def taken_from_elsewhere(stated: Facts, here: Facts) -> tuple[Quantity, Quantity] | None:
    """Return a number that is not in the clause of the statement, and the one of its kind that is. Of
    一年以上的不超过二个月；三年以上的不超过六个月, it is wrong to say 一年以上的不超过六个月, although every word is
    there."""
    left = [real for real in here.quantities if best_agreement(real, stated.quantities) is not Agreement.SAME]
    for quantity in stated.quantities:
        if best_agreement(quantity, here.quantities) is Agreement.SAME:
            continue
        for real in left:
            if _kind(quantity) and _kind(quantity) == _kind(real):
                return quantity, real
    return None


def _kind(quantity: Quantity) -> tuple[str, str] | None:
    """Return what is counted and the bound; None for a bare number. 九次 and 两次 are of one kind, 两次 and 两名 are
    not."""
    counted = quantity.unit or _COUNTED.sub("", quantity.text)
    return (counted, quantity.bound) if counted else None


def _unstated(source: Facts, stated: Facts) -> list[Quantity]:
    return [real for real in source.quantities if best_agreement(real, stated.quantities) is Agreement.OTHER]


def _instead(quantity: Quantity, unstated: Sequence[Quantity]) -> str:
    """Return the source's quantity in place of the stated one, preferring the same bound: for 不得超过三个月,
    不得超过二个月 rather than 三个月以上."""
    same_unit = [real for real in unstated if real.unit == quantity.unit]
    return min(same_unit, key=lambda real: real.bound != quantity.bound).text if same_unit else ""


def _is_bare_year(day: WrittenDate, source: Facts) -> bool:
    return day.year is not None and str(day.year) in source.digits and (day.months is None or _months_told(day, source))


def _months_told(day: WrittenDate, source: Facts) -> bool:
    return is_told(WrittenDate(0, 0, "", None, day.months, day.day), source.days)


def _digits_of(label: str) -> set[str]:
    return set(_DIGITS.findall(label)) or {""}


def _same_shape(label: str, stated: Facts, source: Facts) -> str:
    """Return a name of the source that differs only in its number: 第8次 for 第10次, GPT-3 for GPT-4."""
    shape = _DIGIT.sub("", label)
    return next((other for other in source.labels if _DIGIT.sub("", other) == shape and other not in stated.labels), "")
