"""The parts of a text that can be compared exactly: quantities, dates and numbered names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.answer.check_results import Difference
from core.base.chinese.calendar import WrittenDate
from core.base.chinese.quantities import Quantity, find_numbered_names, find_quantities
from core.base.chinese.script import comparison_form
from core.comparison.numbers import QuantityMatch, best_match, counted_thing, match_quantity
from core.comparison.stated_dates import differing_date, find_dates, is_same_date, source_has_date

_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_DATED = re.compile(r"[年月]|[12]\d{3}[-/.]")
_LABELLED = re.compile(r"[a-z第:]|\d\.")
_DIGIT = re.compile(r"[\d〇零一二两三四五六七八九十百千万亿半去今明前]")


@dataclass(frozen=True, slots=True)
class Facts:
    quantities: tuple[Quantity, ...] = ()
    dates: tuple[WrittenDate, ...] = ()
    numbered_names: tuple[str, ...] = ()
    digits: frozenset[str] = frozenset()
    """Every run of digits, whatever it means: a year may stand in a table without its 年."""

    def __bool__(self) -> bool:
        return bool(self.quantities or self.dates or self.numbered_names)

    @classmethod
    def from_text(cls, text: str, published: str | None = None) -> Facts:
        plain = comparison_form(text)
        if not _DIGIT.search(plain):
            return _NONE
        dated = find_dates(text, published) if _DATED.search(plain) else []
        rest = _blank_out_dates(text, dated)
        named = tuple(find_numbered_names(rest)) if _LABELLED.search(plain) else ()
        return cls(tuple(find_quantities(rest)), tuple(dated), named, frozenset(_DIGITS.findall(plain)))

    @classmethod
    def merge(cls, parts: Iterable[Facts]) -> Facts:
        all_parts = list(parts)
        return cls(
            tuple(one for part in all_parts for one in part.quantities),
            tuple(one for part in all_parts for one in part.dates),
            tuple(one for part in all_parts for one in part.numbered_names),
            frozenset().union(*(part.digits for part in all_parts)),
        )


_NONE = Facts()


def _blank_out_dates(text: str, dates: Sequence[WrittenDate]) -> str:
    """Return the text with dates replaced by blanks. Positions stay, and 5 日 of 3 月 5 日 is not counted as five days."""
    for day in dates:
        text = text[: day.start] + " " * (day.end - day.start) + text[day.end :]
    return text


def find_differences(stated: Facts, source: Facts, nearest_passage: Facts) -> Iterator[Difference]:
    """Yield the facts that the statement has and the source has not, with what the nearest passage says instead."""
    others = [
        quantity
        for quantity in stated.quantities
        if not is_incidental_count(quantity) and best_match(quantity, source.quantities) is QuantityMatch.OTHER
    ]
    passage = nearest_passage.quantities if others else ()
    unstated = [real for real in passage if best_match(real, stated.quantities) is QuantityMatch.OTHER]
    for quantity in others:
        yield Difference("number", quantity.text, _counterpart(quantity, unstated))
    for day in stated.dates:
        is_dated = source_has_date(day, source.dates) or source_has_date(day, nearest_passage.dates)
        if not is_dated and not _is_bare_year(day, source):
            other = differing_date(day, nearest_passage.dates)
            yield Difference("date", day.text, other.text if other else "")
    for label in stated.numbered_names:
        if label not in source.numbered_names and not _digits_of(label) <= source.digits:
            yield Difference("name", label, _similar_name(label, stated, nearest_passage))


def respell_as_source(text: str, stated: Facts, source: Facts) -> str:
    """Return the text with its numbers and dates spelled as in the source, where they are equal: 12000 万 as 1.2 亿."""
    quantities, dates = source.quantities, source.dates
    same: list[tuple[Quantity | WrittenDate, list[str]]] = [
        (one, [real.text for real in quantities if match_quantity(one, real) is QuantityMatch.SAME])
        for one in stated.quantities
    ]
    same += ((one, [real.text for real in dates if is_same_date(one, real)]) for one in stated.dates)
    for one, spellings in sorted(same, key=lambda pair: -pair[0].start):
        if spellings and comparison_form(one.text) not in map(comparison_form, spellings):
            text = text[: one.start] + spellings[0] + text[one.end :]
    return text


def is_incidental_count(quantity: Quantity) -> bool:
    """Return whether the quantity only counts what a sentence lists, like 两个: a source may list without counting."""
    return not quantity.unit and quantity.low == quantity.high < 10 and not quantity.text[0].isdigit()


def quantities_with_other_bound(stated: Facts, source: Facts) -> list[Quantity]:
    """Return quantities whose number the source has under another bound: 100 万 where it says 不到 100 万."""
    return [
        quantity
        for quantity in stated.quantities
        if best_match(quantity, source.quantities) is QuantityMatch.NEAR
        and any(
            match_quantity(quantity, real) is QuantityMatch.NEAR
            and real.bound != quantity.bound
            and real.unit == quantity.unit
            for real in source.quantities
        )
    ]


def find_misplaced_quantity(stated: Facts, clause: Facts) -> tuple[Quantity, Quantity] | None:
    """Return a number that is not in the clause of the statement, and the one of its kind that is. Of
    一年以上的不超过二个月；三年以上的不超过六个月, it is wrong to say 一年以上的不超过六个月, although every word is
    there."""
    left = [real for real in clause.quantities if best_match(real, stated.quantities) is not QuantityMatch.SAME]
    for quantity in stated.quantities:
        if best_match(quantity, clause.quantities) is QuantityMatch.SAME:
            continue
        for real in left:
            if _quantity_kind(quantity) and _quantity_kind(quantity) == _quantity_kind(real):
                return quantity, real
    return None


def _quantity_kind(quantity: Quantity) -> tuple[str, str] | None:
    """Return what is counted and the bound; None for a bare number. 九次 is of the kind of 两次, 两名 is not."""
    counted = counted_thing(quantity)
    return (counted, quantity.bound) if counted else None


def _counterpart(quantity: Quantity, unstated: Sequence[Quantity]) -> str:
    """Return the source's quantity in place of the stated one, preferring the same bound: for 不得超过三个月,
    不得超过二个月 rather than 三个月以上."""
    same_unit = [real for real in unstated if counted_thing(real) == counted_thing(quantity)]
    return min(same_unit, key=lambda real: real.bound != quantity.bound).text if same_unit else ""


def _is_bare_year(day: WrittenDate, source: Facts) -> bool:
    if day.year is None or str(day.year) not in source.digits:
        return False
    without_year = WrittenDate(0, 0, "", None, day.months, day.day)
    return day.months is None or source_has_date(without_year, source.dates)


def _digits_of(label: str) -> set[str]:
    return set(_DIGITS.findall(label)) or {""}


def _similar_name(label: str, stated: Facts, source: Facts) -> str:
    """Return a name of the source that differs only in its number: 第8次 for 第10次, GPT-3 for GPT-4."""
    shape = _DIGIT.sub("", label)
    others = (name for name in source.numbered_names if name not in stated.numbered_names)
    return next((name for name in others if _DIGIT.sub("", name) == shape), "")
