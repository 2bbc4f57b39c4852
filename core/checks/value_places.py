"""Whether the numbers and dates of a statement stand beside the same things in a passage.

一段线 437 分，控制线 513 分 has both the value and the words of 一段线 513 分, and says something else. Only where the passage has
another value of the same kind can a value belong to something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from core.base.chinese.calendar import WrittenDate
from core.base.chinese.quantities import Quantity
from core.comparison import PassageClause, Word, Words
from core.comparison.numbers import QuantityMatch, match_quantity

_VALUES = frozenset({"number", "date", "score", "ordinal"})
_LABELS = frozenset({"", "latin", "time", "comparison", "quantifier"})
"""The kinds of words that say what a value is about: 北京时间, 至少."""

Label = tuple[str, ...]


def find_misplaced_value(stated: Sequence[Words], passage: Sequence[PassageClause]) -> str:
    """Return the first value of the statement that belongs to something else in the passage; empty if none does."""
    parts = [_Part(part, clause.sentence) for clause in passage for part in _split_at_pauses(clause.words)]
    return next((wrong for clause in stated for wrong in _misplaced_values(clause, parts)), "")


class _Part(NamedTuple):
    """The words of a clause between two 、, with the number of its sentence."""

    words: Words
    sentence: int


def _split_at_pauses(words: Words) -> Iterator[Words]:
    """Yield the words between two 、: each item of a list has a value of its own."""
    ends = [-1, *(place for place, word in enumerate(words) if word.kind == "pause"), len(words)]
    yield from (words[one + 1 : two] for one, two in pairwise(ends) if two > one + 1)


def _misplaced_values(clause: Words, parts: Sequence[_Part]) -> Iterator[str]:
    values = [word for word in clause if is_value(word)]
    strange = [[is_value(word) and not _is_any(word, values) for word in part.words] for part in parts]
    for value in values:
        others = [
            [is_strange and is_other_value(value, word) for word, is_strange in zip(part.words, flags, strict=True)]
            for part, flags in zip(parts, strange, strict=True)
        ]
        if not any(map(any, others)):
            continue
        beside = list(_labels_beside(value, parts, others))
        if beside or value.kind == "date":
            elsewhere = {label for part in parts for label in _labels(part.words)}.difference(*beside)
            yield from (value.text for label in _labels(clause) if label in elsewhere)


def is_value(word: Word) -> bool:
    """Return whether a word is a number, a score, an ordinal or a date of the calendar: not 当年."""
    return word.kind in _VALUES and (word.kind != "date" or word.value is not None)


def is_relative_date(word: Word) -> bool:
    """Return whether nobody knows the day: 当年, or 去年6月 on a page without a day."""
    year = word.value.year if isinstance(word.value, WrittenDate) else None
    return word.kind == "date" and year is None and (word.value is None or "年" in word.text)


def _is_any(word: Word, values: Sequence[Word]) -> bool:
    return any(is_same_value(value, word) for value in values)


def is_same_value(stated: Word, found: Word) -> bool:
    """Return whether the passage's value is the stated one, as exact or rounded."""
    one, other = stated.value, found.value
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return match_quantity(one, other) is not QuantityMatch.OTHER
    known = _known_parts(stated, found)
    return stated.key == found.key or (bool(known) and all(known))


def is_other_value(value: Word, word: Word) -> bool:
    """Return whether a word is another value of the same kind: of the same unit, or a date with another year, month or day."""
    if word.kind != value.kind or is_same_value(value, word):
        return False
    if word.kind == "date":
        return bool(_known_parts(value, word)) or is_relative_date(value) or is_relative_date(word)
    return value.unit == word.unit


def _known_parts(stated: Word, found: Word) -> list[bool]:
    """Return whether year, month and day are the same, as far as both dates have them."""
    one, other = stated.value, found.value
    if not (isinstance(one, WrittenDate) and isinstance(other, WrittenDate)):
        return []
    if is_relative_date(stated) or is_relative_date(found):
        return []
    parts = ((one.year, other.year), (one.months, other.months), (one.day, other.day))
    return [mine == real for mine, real in parts if mine is not None and real is not None]


def _labels_beside(value: Word, parts: Sequence[_Part], others: Sequence[Sequence[bool]]) -> Iterator[set[Label]]:
    """Yield the labels of each place of the value: of its part and of those around it, up to the next other value."""
    for place, (part, sentence) in enumerate(parts):
        for at, word in enumerate(part):
            if is_value(word) and is_same_value(value, word):
                start, end = _own_words(part, at, others[place])
                around = _parts_around(place, others, back=start == 0, ahead=end == len(part))
                subject = () if any(_labels(part[:at])) else _subject(sentence, parts)
                words = part[start:end], subject, *(parts[number].words for number in around)
                yield {label for some in words for label in _labels(some)}


def _subject(sentence: int, parts: Sequence[_Part]) -> Words:
    """Return the words before the first value of a sentence: what its later clauses say without a subject, they say of it."""
    words = (word for part in parts if part.sentence == sentence for word in part.words)
    return [*takewhile(lambda word: not is_value(word), words)]


def _own_words(part: Words, at: int, others: Sequence[bool]) -> tuple[int, int]:
    """Return the words of the part that belong to the value. Between two values they belong to the second one if the
    first one has words before it."""
    start = max((place + 1 for place in range(at) if others[place]), default=0)
    end = min((place for place in range(at + 1, len(part)) if others[place]), default=len(part))
    first = others.index(True) if any(others) else at
    is_named_before = bool(set(_labels(part[: min(first, at)])))
    if is_named_before and end < len(part):
        end = at + 1
    if not is_named_before and start > 0:
        start = at
    return start, end


def _parts_around(place: int, others: Sequence[Sequence[bool]], *, back: bool, ahead: bool) -> Iterator[int]:
    sides = (range(place - 1, -1, -1) if back else (), range(place + 1, len(others)) if ahead else ())
    for side in sides:
        for number in side:
            if any(others[number]):
                break
            yield number


def _labels(words: Words) -> Iterator[Label]:
    """Yield the pairs of neighbouring characters, and the listed words."""
    own = [word for word in words if not word.is_harmless]
    yield from ((one.key, two.key) for one, two in pairwise(own) if one.is_single and two.is_single)
    yield from ((word.key,) for word in own if word.kind in _LABELS and not word.is_single)
