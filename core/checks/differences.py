"""Differences that contradict: the same clause with another value, date, direction, polarity, or its parties exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from core.base.chinese.calendar import WrittenDate
from core.base.chinese.quantities import Quantity
from core.checks.alignment import ClauseMatch, Gap, Words
from core.checks.lexicon import RANKS, are_opposite
from core.checks.numbers import QuantityMatch, match_quantity
from core.checks.words import VALUES, Word

_COMPARABLE = 0.6
"""The share of a clause's weight that must agree before a difference in the rest counts."""
_NEARLY_ALL = 0.75
"""The same for a negation, which may belong to what was left out."""
_ENOUGH = 4.0
"""The weight that must agree: fewer words stand in any text."""
_MOST_LEFT = 4
"""The number of further words that may be left over on either side."""
_NEGATIONS = frozenset(f"negation:{word}" for word in "不 没有 无 并非 无法 不再 不会 不应 禁止 不予".split())
_SHARED_BY_PARTIES = 0.75
"""The share of a clause's words that the other must have before its parties count as exchanged."""
_PREPOSITIONS = frozenset("向 对 给 从 comparison:比 voice:被".split())
_LEAST_NAME = 2
"""Characters of a name that can be exchanged with another."""


class Contradiction(NamedTuple):
    kind: str
    stated: Words
    found: Words


def find_contradiction(match: ClauseMatch) -> Contradiction | None:
    """Return what contradicts the clause at this place. None if nothing does, or if too much else differs."""
    if match.share < _COMPARABLE or match.weight < _ENOUGH:
        return None
    return next(_contradictions(match), None)


def _contradictions(match: ClauseMatch) -> Iterator[Contradiction]:
    stated = [word for gap in match.gaps for word in gap.extra]
    for gap in match.gaps:
        others = [word for word in stated if word not in gap.extra]
        for one, other in product(gap.extra, _near(gap)):
            if len(gap.extra) + len(others) > _MOST_LEFT:
                break
            if _differ(one.value, other.value) or (one.kind == other.kind == "score" and one.key != other.key):
                yield Contradiction(one.kind, (one,), (other,))
            elif are_opposite(one.text, other.text) and (len(one.text + other.text) > 2 or _is_exchange_of_one(gap)):
                yield Contradiction("wording", (one,), (other,))
        if match.share >= _NEARLY_ALL and len(others) <= 1 and _is_turned(gap):
            yield Contradiction("wording", gap.extra, gap.skipped)


def _is_exchange_of_one(gap: Gap) -> bool:
    return len(gap.extra) == len(gap.skipped) == 1


def _near(gap: Gap) -> Words:
    """Return the words of the passage beside the aligned ones."""
    return gap.skipped if gap.is_inside else [*gap.skipped[:_MOST_LEFT], *gap.skipped[-_MOST_LEFT:]]


def _is_turned(gap: Gap) -> bool:
    """Return whether one side only denies, and nothing else differs there."""
    sides = (gap.extra, gap.skipped) if gap.is_inside or not gap.extra else (gap.extra,)
    negations = [sum(word.key in _NEGATIONS for word in side) for side in (gap.extra, gap.skipped)]
    rest = [word for side in sides for word in side if word.key not in _NEGATIONS]
    return sum(negations) == 1 and not rest


def _differ(stated: Quantity | WrittenDate | None, found: Quantity | WrittenDate | None) -> bool:
    if isinstance(stated, Quantity) and isinstance(found, Quantity):
        return stated.unit == found.unit and match_quantity(stated, found) is QuantityMatch.OTHER
    if isinstance(stated, WrittenDate) and isinstance(found, WrittenDate):
        parts = [(stated.year, found.year), (stated.months, found.months), (stated.day, found.day)]
        known = [(one, other) for one, other in parts if one is not None and other is not None]
        return any(one != other for one, other in known) and not (stated.side or found.side)
    return False


def find_exchange(stated: Words, found: Words) -> Contradiction | None:
    """Return two parties that stand in each other's place around the same verb: A beats B, and B beats A."""
    mine, real = ([word for word in words if not word.is_harmless] for words in (stated, found))
    keys = {word.key for word in mine}
    if len(keys & {word.key for word in real}) < _SHARED_BY_PARTIES * len(keys):
        return None
    for place, there in product(range(1, len(mine) - 1), range(1, len(real) - 1)):
        if mine[place].key == real[there].key and _is_pivot(mine[place]):
            object_ = _common_name(mine[place + 1 :], real[:there])
            subject = _common_name(real[there + 1 :], mine[:place])
            if object_ and subject and not _has(real[there + 1 :], object_) and not _has(mine[place + 1 :], subject):
                return Contradiction("party", subject, object_)
    return None


def _has(words: Words, name: Words) -> bool:
    return not {word.key for word in name}.isdisjoint(word.key for word in words)


def _is_pivot(word: Word) -> bool:
    return word.key not in RANKS and word.kind not in VALUES and (word.end - word.start > 1 or word.key in _PREPOSITIONS)


def _is_name(word: Word) -> bool:
    """Return whether the word is not listed: names are not, and verbs mostly are."""
    return word.is_single or word.kind == "latin"


def _common_name(behind: Words, before: Words) -> Words:
    """Return the name right behind the verb on one side, if on the other it opens the clause or stands right before the
    verb. A name may have words for its rank before it."""
    length = 0
    while length < min(len(behind), len(before)) and _is_name(behind[length]):
        length += 1
    for size in range(length, 0, -1):
        keys = [word.key for word in behind[:size]]
        if sum(word.end - word.start for word in behind[:size]) < _LEAST_NAME:
            return ()
        if keys in ([word.key for word in before[:size]], [word.key for word in before[len(before) - size :]]):
            return behind[:size]
    return ()
