"""The part of an article that matches the reader's search, and highlights of the search words in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from markupsafe import Markup, escape

from core.base.chinese.script import to_simplified
from core.base.chinese.sentences import best_passage
from core.base.text import one_line, terms
from core.legal import added_phrases, find_citations, search_terms, split_paragraphs

Frequency = Callable[[str], int]
"""How many articles of the library have a pair of letters."""

_ABOUT_AS_OFTEN = 0.8
_MUCH_MORE_OFTEN = 2.5
_TELLING = 5
"""Letters of the law's words that are marked for those of the reader. 用人单位 for 公司 would be marked everywhere."""
_PARTICLES = "的了和或与及在对由从以为是其等之所将被向按并而于"
"""Letters that are words of their own: what stands beside them is whole."""


class Marker:
    """Finds and marks what a query asked for, in the words of the reader or in those of the law. Laws that the query cites do
    not count."""

    def __init__(self, query: str, frequency: Frequency) -> None:
        query = _without_citations(query)
        added = (phrase for phrase in added_phrases(query) if len(phrase) >= _TELLING)
        self.words = [*_own_words(query, frequency), *added]
        self._weights = search_terms(query)
        self._frequency = frequency

    def matching_lines(self, text: str, length: int) -> list[str]:
        """Return the lines of the 款 that has most of the query: of one with items its first line and the best item."""
        parts = [_part(paragraph, self._weights, length) for paragraph in split_paragraphs(text)]
        return max(parts, key=lambda lines: _score("".join(lines), self._weights), default=[])

    def mark(self, text: str) -> Markup:
        return highlight(text, self.words, self._frequency)


def _own_words(query: str, frequency: Frequency) -> list[str]:
    """Return the reader's own terms, without pairs of letters that belong to two words: 欠工 in 拖欠工资."""
    own = [term for term, weight in search_terms(query).items() if weight == 1.0]
    return [term for term in own if not _joins_words(query, query.find(term), len(term), frequency)]


def _joins_words(query: str, at: int, length: int, frequency: Frequency) -> bool:
    return (
        at > 0
        and _is_letter(query[at + length : at + length + 1])
        and _cuts_words(query, range(at, at + length), frequency)
    )


def _without_citations(query: str) -> str:
    words = to_simplified(query)
    for citation in reversed(find_citations(words)):
        words = f"{words[: citation.start]} {words[citation.end :]}"
    return words


# ── The part that matches ─────────────────────────────────────────────────────────────────────────────────────────


def _part(paragraph: Sequence[str], weights: Mapping[str, float], length: int) -> list[str]:
    opening, items = best_passage(one_line(paragraph[0]), weights, length), paragraph[1:]
    if not items:
        return [opening]
    best = max(items, key=lambda item: _score(item, weights))
    omitted = "…" if best != items[0] else ""
    return [opening, f"{omitted}{best_passage(one_line(best), weights, length)}"]


def _score(text: str, weights: Mapping[str, float]) -> float:
    """Return how much of the query a text has. The reader's own words count twice."""
    found = [weights.get(term, 0.0) for term in set(terms(text))]
    return sum(weight * (2 if weight == 1.0 else 1) for weight in found)


# ── Highlights ────────────────────────────────────────────────────────────────────────────────────────────────────


def highlight(text: str, words: Iterable[str], frequency: Frequency | None = None) -> Markup:
    """Mark the words. With `frequency` no pair of letters is marked that belongs to two words: 民法 in 人民法院."""
    marked = {at for start, end in _find_matches(text, words) for at in range(start, end)}
    groups = [(is_marked, list(places)) for is_marked, places in groupby(range(len(text)), marked.__contains__)]
    pieces = (
        (is_marked and not (frequency and _cuts_words(text, places, frequency)), text[places[0] : places[-1] + 1])
        for is_marked, places in groups
    )
    return Markup().join(Markup("<mark>%s</mark>") % piece if marks else escape(piece) for marks, piece in pieces)


def _cuts_words(text: str, places: Sequence[int], frequency: Frequency) -> bool:
    """Return whether a pair of letters is the end of one word and the beginning of another: the pairs that overlap it are
    words then, about as frequent in laws. At the end of a clause the second word has a single letter."""
    if len(places) != 2:
        return False
    start, end = places[0], places[-1] + 1
    own = frequency(text[start:end])
    before = frequency(text[start - 1 : start + 1]) if _is_letter(text[start - 1 : start]) else 0
    if not _is_letter(text[end : end + 1]):
        return before > own * _MUCH_MORE_OFTEN
    return min(before, frequency(text[end - 1 : end + 1])) > own * _ABOUT_AS_OFTEN


def _is_letter(letter: str) -> bool:
    return letter.isalpha() and letter not in _PARTICLES


def count_matches(text: str, words: Iterable[str]) -> int:
    return sum(1 for _ in _find_matches(text, words))


def _find_matches(text: str, words: Iterable[str]) -> Iterator[tuple[int, int]]:
    searched = text.casefold()
    if len(searched) != len(text):  # a letter that grows when its case is folded would move the marks
        searched = text
    for word in filter(None, map(str.casefold, words)):
        at = searched.find(word)
        while at >= 0:
            yield at, at + len(word)
            at = searched.find(word, at + 1)
