"""The words of a text in a form that can be compared: one key for all spellings of a number, a date or a judged synonym."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from core.base.chinese.calendar import WrittenDate
from core.base.chinese.numerals import to_float
from core.base.chinese.quantities import Quantity, find_quantities
from core.base.chinese.script import comparison_form
from core.comparison.lexicon import EVIDENCE, SPEECH, Meaning, meanings
from core.comparison.stated_dates import find_dates

VALUES = frozenset({"number", "date", "latin", "score", "ordinal"})
"""The kinds of words that have a value, or name something in letters."""
_ASIDE = re.compile(r"[(【\[][^()【】\[\]\n]{0,60}[)】\]]")
"""What stands in brackets: a year of birth, a short name, another language."""
_CLAUSE_END = re.compile(
    r"[，；：。！？!?;:\n…]+|(?<!\d),|,(?!\d)|(?<=[a-z])\.(?=\s|$)|-{2,}|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])"
)
"""The end of a clause. Pages put a space between Chinese characters where a heading or a table's cell ends."""
_SCORE = re.compile(
    r"(?<![\d.-])(\d{1,3})\s?[-:比]\s?(\d{1,3})(?![\d.%]|\s?[-:]|\s?[月年日岁万亿千百个次名人家元米公克毫厘分小天周倍时])"
)
"""A result of a game: 2-1, 2:1 and 2比1."""
_ORDINAL = re.compile(r"第\s?(\d{1,6}|[〇零一二两三四五六七八九十百千]{1,12})")
_RELATIVE = re.compile("去年|今年|前年|明年|上年")
_LATIN = re.compile(r"[a-z]+(?:['’&.+-]?[a-z0-9]+)*|\d+(?:[.:-]\d+)*%?[a-z]*")
_BEFORE_DATE = re.compile("(截至|截止到?)?(?:目前)?[自于从在到至]?$")
_BELOW_ZERO = re.compile(r"(?:(?<![\da-z%])[-−–]|零下|负)\s?$")
_NUMERALS = re.compile(r"[\d〇零一二两三四五六七八九十百千万亿半]|去年|今年|前年|明年|上年")
_LEAST_SAID = 4
"""The number of words behind a verb of saying that make a clause of their own."""
_PAUSES = frozenset("、/")


@dataclass(frozen=True, slots=True)
class Word:
    key: str
    """The same for all words that say the same."""
    start: int
    end: int
    kind: str = ""
    """One of VALUES, pause, a kind of turning word, or empty."""
    is_harmless: bool = False
    is_particle: bool = False
    is_aside: bool = False
    """True within brackets."""
    value: Quantity | WrittenDate | None = None
    text: str = ""
    """The word as it is written, in the form for comparing."""
    weight: float = field(init=False)
    """The number of characters that agree if the word does."""

    def __post_init__(self) -> None:
        weight = 0.3 if self.is_harmless else 3.0 if self.kind in VALUES else float(self.end - self.start)
        object.__setattr__(self, "weight", weight)

    @property
    def is_turning(self) -> bool:
        return self.kind not in VALUES and self.kind not in {"", "pause"}

    @property
    def is_single(self) -> bool:
        """True for one character of an unlisted word."""
        return not self.kind and not self.is_harmless and self.end - self.start == 1

    @property
    def unit(self) -> str | None:
        return self.value.unit if isinstance(self.value, Quantity) else None


def split_clauses(text: str, published: str | None = None) -> list[list[Word]]:
    """Return the words of each clause of a text. `published` is the day that 去年 is counted from."""
    plain = comparison_form(text)
    asides = [aside.span() for aside in _ASIDE.finditer(plain)]
    values = _values(plain, published)
    closed = [*asides, *((word.start, word.end) for word in values.values())]
    clauses: list[list[Word]] = []
    at = 0
    for end in _CLAUSE_END.finditer(plain + "\n"):
        if any(start < end.start() < last - 1 for start, last in closed):
            continue
        words = list(_words(plain, at, min(end.start(), len(plain)), values))
        clauses += filter(None, _split_after_speech(_mark_asides(words, asides)))
        at = end.end()
    return clauses


def _split_after_speech(words: list[Word]) -> tuple[list[Word], list[Word]]:
    """Return who says something, and what is said: 他表示将参加 is two clauses, as if a comma stood between."""
    for place, word in enumerate(words[:-_LEAST_SAID]):
        if (
            (word.key in SPEECH or word.key in EVIDENCE)
            and place
            and not any(one.is_aside for one in words[place : place + 2])
        ):
            return words[: place + 1], words[place + 1 :]
    return words, []


def _mark_asides(words: list[Word], asides: Sequence[tuple[int, int]]) -> list[Word]:
    if not asides:
        return words
    return [
        replace(word, is_aside=True) if any(start <= word.start < end for start, end in asides) else word
        for word in words
    ]


def _values(plain: str, published: str | None) -> dict[int, Word]:
    """Return scores, dates and quantities by their first position."""
    if not _NUMERALS.search(plain):
        return {}
    found: dict[int, Word] = {}
    rest = plain
    for score in _SCORE.finditer(plain):
        found[score.start()] = Word(f"{score[1]}-{score[2]}", *score.span(), "score", text=score[0])
        rest = _blank_out(rest, *score.span())
    for day in find_dates(rest, published):
        relative = _RELATIVE.match(day.text)
        if day.year is None and day.months is None and not relative:
            continue
        key = f"{relative[0] if relative else day.year}/{day.months}/{day.day}/{day.side}"
        before = _BEFORE_DATE.search(plain, max(0, day.start - 6), day.start)
        start = before.start() if before else day.start
        key += "截至" if before and before[1] else ""
        found[start] = Word(key, start, day.end, "date", value=day, text=day.text)
        rest = _blank_out(rest, day.start, day.end)
    for one in find_quantities(rest):
        if one.text in meanings():  # 一度, 一时
            continue
        below = _BELOW_ZERO.search(plain, max(0, one.start - 3), one.start)
        start = below.start() if below else one.start
        value = replace(one, low=-one.high, high=-one.low, exact=-one.exact) if below else one
        found[start] = Word(
            _quantity_key(value), start, one.end, "number", value=value, text=plain[start : one.end].strip()
        )
    return found


def _blank_out(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _quantity_key(quantity: Quantity) -> str:
    if quantity.exact == quantity.exact:  # not NaN
        return f"{quantity.exact:.9g}{quantity.unit}{quantity.sign}"
    return f"{quantity.low:.9g}-{quantity.high:.9g}{quantity.unit}{quantity.sign}"


@cache
def _words_by_first() -> dict[str, list[tuple[str, Meaning]]]:
    """Return the listed words by their first character, longer ones first."""
    by_first: defaultdict[str, list[tuple[str, Meaning]]] = defaultdict(list)
    for word, meaning in sorted(meanings().items(), key=lambda pair: -len(pair[0])):
        by_first[word[0]].append((word, meaning))
    return by_first


def _words(plain: str, start: int, end: int, values: dict[int, Word]) -> Iterator[Word]:
    at = start
    while at < end:
        word = values.get(at) or _latin_word(plain, at, end) or _chinese_word(plain, at, end)
        if word:
            yield word
        at = word.end if word else at + 1


def _latin_word(plain: str, at: int, end: int) -> Word | None:
    found = _LATIN.match(plain, at, end) if plain[at].isascii() else None
    if not found:
        return None
    known = meanings().get(found[0])
    if known:
        return Word(
            known.key, *found.span(), known.kind or "latin", known.is_harmless, known.is_particle, text=found[0]
        )
    return Word(found[0], *found.span(), "latin", text=found[0])


def _chinese_word(plain: str, at: int, end: int) -> Word | None:
    character = plain[at]
    ordinal = _ORDINAL.match(plain, at, end) if character == "第" else None
    shortest = len(ordinal[0]) if ordinal else 1
    for word, meaning in _words_by_first().get(character, ()):
        if shortest <= len(word) <= end - at and plain.startswith(word, at):
            return Word(
                meaning.key, at, at + len(word), meaning.kind, meaning.is_harmless, meaning.is_particle, text=word
            )
    if ordinal:
        return Word(f"第{to_float(ordinal[1]):.0f}", *ordinal.span(), "ordinal", text=ordinal[0])
    if character in _PAUSES:
        return Word("、", at, at + 1, "pause", is_harmless=True, is_particle=True)
    return Word(character, at, at + 1, text=character) if character.isalnum() else None
