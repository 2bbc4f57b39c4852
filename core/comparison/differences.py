"""Differences that contradict: the same clause with another value, date, direction, polarity, or its parties exchanged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, islice, product
from typing import NamedTuple

from core.base.chinese.calendar import WrittenDate
from core.base.chinese.quantities import CURRENCIES, Quantity
from core.comparison.alignment import LINKS, ClauseMatch, Gap, Words
from core.comparison.lexicon import RANKS, are_opposite
from core.comparison.numbers import QuantityMatch, counted_thing, match_quantity
from core.comparison.words import VALUES, Word

_COMPARABLE = 0.5
"""The share of a clause's weight that must agree before a difference in the rest counts."""
_NEARLY_ALL = 0.65
"""The same for a negation, which may belong to what was left out."""
_ENOUGH = 4.0
"""The weight that must agree: fewer words stand in any text."""
_ENOUGH_BEHIND = 2.0
"""The same behind a clause that agrees."""
_MOST_LEFT = 6
"""The number of further words that may be left over on either side."""
_NEGATIONS = frozenset(
    f"negation:{word}" for word in ["不", "没有", "无", "并非", "无法", "不再", "不应", "禁止", "不予"]
)
_BESIDE_NEGATIONS = LINKS | {"quantifier:任何", "quantifier:都", "quantifier:完全", "time:已", "time:仍", "time:曾"}
_SHARED_BY_PARTIES = 0.9
"""The share of a clause's words that the other must have before its parties count as exchanged."""
_PREPOSITIONS = frozenset(["向", "对", "给", "从", "comparison:比", "voice:被"])
_NUMERALS = frozenset("一二三四五六七八九十两")
_LEAST_NAME = 2
"""Characters of a name that can be exchanged with another."""


class Contradiction(NamedTuple):
    kind: str
    stated: Words
    found: Words


def find_contradiction(match: ClauseMatch, *, follows: bool = False) -> Contradiction | None:
    """Return what contradicts the clause at this place. None if nothing does, or if too much else differs. `follows`:
    the clause before stands right before this place, so that fewer words are enough if only a value differs."""
    is_comparable = match.share >= _COMPARABLE and match.weight >= _ENOUGH
    if not is_comparable and not ((follows or len(match.gaps) == 1) and _differs_in_a_value(match)):
        return None
    return next(_contradictions(match), None)


def _differs_in_a_value(match: ClauseMatch) -> bool:
    left = [word for gap in match.gaps for word in gap.extra]
    return len(match.objections) == len(left) == 1 and left[0].kind in VALUES and match.weight >= _ENOUGH_BEHIND


def _contradictions(match: ClauseMatch) -> Iterator[Contradiction]:
    for first, second in combinations(match.gaps, 2):
        if are_exchanged(first, second):
            yield Contradiction("party", first.extra, second.extra)
    stated = [word for gap in match.gaps for word in gap.extra]
    for gap in match.gaps:
        others = [word for word in stated if word not in gap.extra]
        for one, other in product(gap.extra, _words_beside(gap)) if len(stated) <= _MOST_LEFT else ():
            if _differ(one.value, other.value) or _are_other_names(one, other, gap):
                yield Contradiction(one.kind or "number", (one,), (other,))
            elif are_opposite(one.text, other.text) and (
                min(len(one.text), len(other.text)) > 1 or _is_exchange_of_one(gap)
            ):
                yield Contradiction("wording", (one,), (other,))
        if match.share >= _NEARLY_ALL and len(others) <= 1 and _is_turned(gap):
            yield _with_next_word(gap, match)


def are_exchanged(one: Gap, other: Gap) -> bool:
    """Return whether what is stated in two places stands in each other's place."""
    first, second = [word.key for word in one.extra], [word.key for word in other.extra]
    there, back = [word.key for word in one.skipped], [word.key for word in other.skipped]
    is_named = all(word.kind in {"", "latin"} for word in (*one.extra, *other.extra))
    lengths = [sum(word.end - word.start for word in gap.extra) for gap in (one, other)]
    return (
        is_named and min(lengths) >= _LEAST_NAME and _opens_or_closes(there, second) and _opens_or_closes(back, first)
    )


def _opens_or_closes(words: list[str], part: list[str]) -> bool:
    return part in (words[: len(part)], words[len(words) - len(part) :])


def _is_exchange_of_one(gap: Gap) -> bool:
    return [sum(word.key not in LINKS for word in side) for side in (gap.extra, gap.skipped)] == [1, 1]


def _are_other_names(stated: Word, found: Word, gap: Gap) -> bool:
    """Return whether two scores, ordinals or single numerals differ: 第17 and 第13, 八大 and 六大."""
    if stated.kind == found.kind and stated.kind in {"score", "ordinal"}:
        return stated.key != found.key
    return _is_exchange_of_one(gap) and stated.text in _NUMERALS and found.text in _NUMERALS


def _words_beside(gap: Gap) -> Words:
    """Return the words of the passage beside the aligned ones."""
    return gap.skipped if gap.is_inside else [*gap.skipped[:_MOST_LEFT], *gap.skipped[-_MOST_LEFT:]]


def _is_turned(gap: Gap) -> bool:
    """Return whether one side only denies, and nothing else differs there."""
    negations = [sum(word.key in _NEGATIONS for word in side) for side in (gap.extra, gap.skipped)]
    sides = (gap.extra,) if negations[0] and not gap.is_inside else (gap.extra, gap.skipped)
    rest = [word for side in sides for word in side if word.key not in _NEGATIONS and word.key not in _BESIDE_NEGATIONS]
    return sum(negations) == 1 and not rest


def _with_next_word(gap: Gap, match: ClauseMatch) -> Contradiction:
    """Return a negation on one side with the word that it denies: 不适合 and 适合."""
    end, there = (max((word.end for word in words), default=-1) for words in (gap.extra, gap.skipped))
    behind = (
        (word, other)
        for word, _, other in match.pairs
        if not word.is_harmless and ((gap.extra and word.start >= end) or (gap.skipped and other.start >= there))
    )
    pairs = list(islice(behind, 2))
    stated, found = [word for word, _ in pairs], [other for _, other in pairs]
    return Contradiction("wording", [*gap.extra, *stated], [*gap.skipped, *found])


def _differ(stated: Quantity | WrittenDate | None, found: Quantity | WrittenDate | None) -> bool:
    if isinstance(stated, Quantity) and isinstance(found, Quantity):
        if stated.unit != found.unit:
            return {stated.unit, found.unit} <= CURRENCIES and stated.exact == found.exact
        is_other = match_quantity(stated, found) is QuantityMatch.OTHER
        return is_other and (bool(stated.unit) or counted_thing(stated) == counted_thing(found))
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
    counts = Counter(word.key for word in (*mine, *real))
    for place, there in product(range(1, len(mine) - 1), range(1, len(real) - 1)):
        size = _verb_length(mine[place:], real[there:]) if counts[mine[place].key] == 2 else 0
        behind, real_behind = mine[place + size :], real[there + size :]
        object_ = _common_name(behind, real[:there]) if size else ()
        subject = _common_name(real_behind, mine[:place]) if object_ else ()
        if subject and not _names(real_behind, object_) and not _names(behind, subject):
            return Contradiction("party", subject, object_)
    return None


def _names(words: Words, name: Words) -> bool:
    """Return whether a name, or most of it, stands among the words."""
    keys = {word.key for word in words}
    return sum(word.key in keys for word in name) > len(name) / 2


def _verb_length(stated: Words, found: Words) -> int:
    """Return the number of words of the verb or preposition with which both begin; 0 if they do not."""
    one = stated[0]
    if one.key != found[0].key or one.key in RANKS or one.kind in VALUES:
        return 0
    if one.end - one.start > 1 or one.key in _PREPOSITIONS:
        return 1
    is_verb = len(stated) > 1 and len(found) > 1 and stated[1].is_single and stated[1].key == found[1].key
    return 2 if is_verb else 0


def _may_be_named(word: Word) -> bool:
    return word.kind in {"", "latin"} and word.key not in RANKS


def _common_name(behind: Words, before: Words) -> Words:
    """Return the name right behind the verb on one side, if on the other it opens the clause or stands right before the
    verb. A name may have words for its rank before it."""
    length = 0
    while length < min(len(behind), len(before)) and _may_be_named(behind[length]):
        length += 1
    for size in range(length, 0, -1):
        keys = [word.key for word in behind[:size]]
        if sum(word.end - word.start for word in behind[:size]) < _LEAST_NAME:
            return ()
        if keys in ([word.key for word in before[:size]], [word.key for word in before[len(before) - size :]]):
            return behind[:size]
    return ()
