"""Whether the numbers and dates of a statement stand beside the same things in a passage.

一段线 437 分，控制线 513 分 has both the value and the words of 一段线 513 分, and says something else. Only where the passage has
another value of the same kind can a value belong to something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

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
    return next((wrong for clause in stated for wrong in _misplaced_values(clause, passage)), "")


def _misplaced_values(stated: Words, passage: Sequence[PassageClause]) -> Iterator[str]:
    values = [word for word in stated if is_value(word)]
    strange = [[is_value(word) and not _is_any(word, values) for word in clause.words] for clause in passage]
    for value in values:
        others = [
            [is_strange and is_other_value(value, word) for word, is_strange in zip(clause.words, flags, strict=True)]
            for clause, flags in zip(passage, strange, strict=True)
        ]
        if not any(map(any, others)):
            continue
        beside = list(_labels_beside(value, passage, others))
        if beside or value.kind == "date":
            elsewhere = {label for clause in passage for label in _labels(clause.words)}.difference(*beside)
            yield from (value.text for label in _labels(stated) if label in elsewhere)


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


def _labels_beside(
    value: Word, passage: Sequence[PassageClause], others: Sequence[Sequence[bool]]
) -> Iterator[set[Label]]:
    """Yield the labels of each place of the value: of its clause and of those around it, up to the next other value."""
    for place, clause in enumerate(passage):
        for at, word in enumerate(clause.words):
            if is_value(word) and is_same_value(value, word):
                start, end = _own_words(clause.words, at, others[place])
                around = _clauses_around(place, others, back=start == 0, ahead=end == len(clause.words))
                subject = () if any(_labels(clause.words[:at])) else _subject(clause.sentence, passage)
                words = clause.words[start:end], subject, *(passage[number].words for number in around)
                yield {label for some in words for label in _labels(some)}


def _subject(sentence: int, passage: Sequence[PassageClause]) -> Words:
    """Return the words before the first value of a sentence: what its later clauses say without a subject, they say of it."""
    words = (word for clause in passage if clause.sentence == sentence for word in clause.words)
    return [*takewhile(lambda word: not is_value(word), words)]


def _own_words(words: Words, at: int, others: Sequence[bool]) -> tuple[int, int]:
    """Return where the words of the clause begin and end that belong to the value. Between two values they belong to the
    second one if the first one has words before it."""
    start = max((place + 1 for place in range(at) if others[place]), default=0)
    end = min((place for place in range(at + 1, len(words)) if others[place]), default=len(words))
    first = others.index(True) if any(others) else at
    is_named_before = any(_labels(words[: min(first, at)]))
    if is_named_before and end < len(words):
        end = at + 1
    if not is_named_before and start > 0:
        start = at
    return start, end


def _clauses_around(place: int, others: Sequence[Sequence[bool]], *, back: bool, ahead: bool) -> Iterator[int]:
    sides = (range(place - 1, -1, -1) if back else (), range(place + 1, len(others)) if ahead else ())
    for side in sides:
        yield from takewhile(lambda number: not any(others[number]), side)


def _labels(words: Words) -> Iterator[Label]:
    """Yield the pairs of neighbouring characters, and the listed words."""
    own = [word for word in words if not word.is_harmless]
    yield from ((one.key, two.key) for one, two in pairwise(own) if one.is_single and two.is_single)
    yield from ((word.key,) for word in own if word.kind in _LABELS and not word.is_single)
