"""Whether two quantities say the same: 一亿两千万 = 1.2 亿 = 120,000,000, 两成 = 20 %."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from enum import IntEnum

from core.base.chinese.quantities import BOUND_WORDS, Quantity, is_just_below
from core.base.chinese.script import comparison_form

_OPPOSITE = {(one, other) for above in "≥>" for below in "≤<" for one, other in ((above, below), (below, above))}


_NUMERALS = re.compile(r"[\d〇零一二两三四五六七八九十百千万亿点.,\s]")


class QuantityMatch(IntEnum):
    """The match of a stated quantity with one of the source, best last."""

    OTHER = 0
    """Another value, or a value of something else."""
    NEAR = 1
    """Rounded, or without its 约 or 超过: neither the same nor wrong."""
    SAME = 2


def match_quantity(stated: Quantity, real: Quantity) -> QuantityMatch:
    """Return how well the source's quantity matches the stated one."""
    if not is_comparable(stated, real) or (stated.sign, real.sign) in _OPPOSITE:
        return QuantityMatch.OTHER
    if stated.unit != real.unit:
        return QuantityMatch.NEAR if _same_number(stated, real) else QuantityMatch.OTHER
    is_within = real.low >= stated.low and real.high <= stated.high
    if _same_number(stated, real):
        same_bound = stated.sign == real.sign
        return QuantityMatch.SAME if same_bound or (is_within and not real.sign) else QuantityMatch.NEAR
    if real.sign in {"≤", "≥"}:  # a limit is exact: 不超过二个月 is not 不超过三个月
        return QuantityMatch.OTHER
    if stated.bound and is_within and _is_close(stated, real, 0.5):
        return QuantityMatch.SAME if _is_close(stated, real, 0.0) and not real.sign else QuantityMatch.NEAR
    return QuantityMatch.NEAR if _is_rounded(stated, real) else QuantityMatch.OTHER


def best_match(stated: Quantity, source: Iterable[Quantity]) -> QuantityMatch:
    return max((match_quantity(stated, real) for real in source), default=QuantityMatch.OTHER)


def is_comparable(one: Quantity, other: Quantity) -> bool:
    """Return whether the units allow a comparison. A number without a unit may have lost it in a table."""
    return one.unit == other.unit or not one.unit or not other.unit


def counted_thing(quantity: Quantity) -> str:
    """Return the unit, or the word for what is counted: 次 of 九次."""
    return quantity.unit or _NUMERALS.sub("", BOUND_WORDS.sub("", comparison_form(quantity.text)))


def _is_close(stated: Quantity, real: Quantity, tolerance: float) -> bool:
    """Return whether the stated number is near enough. 超过 100 万 may stand for 120 万, not for 900 万; 约 72 % not
    for 78 %."""
    away = abs(real.exact - stated.exact)
    if stated.sign in {"≈", ""} or is_just_below(stated.bound):
        return away <= stated.step
    return away <= max(stated.step, abs(stated.exact) * tolerance)


def _is_rounded(stated: Quantity, real: Quantity) -> bool:
    """Return whether the statement rounds the source's number: 1.2 亿 for 1.23 亿. 130 for 133 needs a 约."""
    near = stated.step > real.step and abs(stated.exact - real.exact) <= stated.step / 2
    return near and bool(stated.bound or re.search(r"[.万亿]", stated.text))


def _same_number(one: Quantity, other: Quantity) -> bool:
    return _equal(one.exact, other.exact) or (_equal(one.low, other.low) and _equal(one.high, other.high))


def _equal(one: float, other: float) -> bool:
    return one == other or math.isclose(one, other, rel_tol=1e-9)
