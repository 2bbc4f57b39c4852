"""Selection of the passages of a page that are about the question."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from core.base.chinese.sentences import coverage, idf_weights, key_terms, sentence_spans
from core.base.text import terms
from core.reading.page import Page

PASSAGE_CHARS = 300
"""Length of a passage: long enough to say something, short enough for several of them to fit."""
SNIPPET_WEIGHT = 0.5
"""Weight of the engine's snippet, which was chosen for the query too. The question itself counts more."""
MIN_SCORE_SHARE = 0.2
"""Share of the best score that a passage needs. One with less says nothing more about the question."""
FOUND_SCORE, NEIGHBOUR_SCORE = 5.0, 3.0
"""Scores of what a search found and of what stands beside it: above all others."""
Span = tuple[int, int]
_FULL_WIDTH = {code + 0xFEE0: code for code in range(0x21, 0x7F)}


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a page's text, and its score."""

    start: int
    end: int
    """Position in the page's text, like `start`."""
    text: str
    score: float
    """Score from 0 to 1.5: how much of the question and of the engine's snippet the passage has; more if a search found it."""


def select_passages(
    page: Page, question: str, *, snippet: str = "", budget: int, found_spans: Sequence[Span] = ()
) -> list[Passage]:
    """Return whole sentences in page order, at most `budget` characters; the beginning of the page if nothing matches.
    `snippet` is the engine's: its place in the page is about the query. `found_spans` were found by a search in the text,
    best first: they go before all others, then what stands beside them. Neighbouring passages are joined."""
    longest = min(PASSAGE_CHARS, budget)
    return RankedPassages(page, question, snippet=snippet, found_spans=found_spans, longest=longest).select(budget)


class RankedPassages:
    """The passages of a page with their scores, from which as many are selected as there is room for."""

    def __init__(
        self,
        page: Page,
        question: str,
        *,
        snippet: str = "",
        found_spans: Sequence[Span] = (),
        longest: int = PASSAGE_CHARS,
    ) -> None:
        self._text = page.text
        self._pieces = list(_pieces(page.text, longest))
        own_scores = _scores(page.text, self._pieces, question, snippet)
        self._worth_telling = MIN_SCORE_SHARE * max(own_scores, default=0.0)
        self._scores = _prefer_found(self._pieces, own_scores, found_spans)
        nexts = [start for start, _ in self._pieces[1:]] + [len(page.text)]
        # Neighbours are joined with what stands between them.
        self._lengths = [next - start for next, (start, _) in zip(nexts, self._pieces, strict=False)]
        self._best_first = sorted(range(len(self._pieces)), key=lambda index: (-self._scores[index], index))

    def select(self, budget: int, *, fills_up: bool = False) -> list[Passage]:
        """Return the best passages in page order, at most `budget` characters. `fills_up`: also those that say nothing
        about the question, as long as there is room."""
        chosen: list[int] = []
        left = budget
        for index in self._best_first:
            is_wanted = fills_up or self._scores[index] >= self._worth_telling
            if is_wanted and (self._lengths[index] <= left or not chosen):
                chosen.append(index)
                left -= self._lengths[index]
        return list(_join_neighbours(self._text, self._pieces, self._scores, sorted(chosen)))


def _pieces(text: str, limit: int) -> Iterator[Span]:
    """Yield spans of whole sentences. Only a sentence longer than the limit is cut."""
    begun: Span | None = None
    for start, end in _sentence_spans(text, limit):
        if begun and end - begun[0] > limit:
            yield begun
            begun = None
        begun = (begun[0] if begun else start, end)
    if begun:
        yield begun


def _sentence_spans(text: str, limit: int) -> Iterator[Span]:
    for start, end in sentence_spans(text):
        for cut in range(start, end, limit):
            yield cut, min(cut + limit, end)


def _scores(text: str, pieces: Sequence[Span], question: str, snippet: str) -> list[float]:
    asked, quoted = set(key_terms(question) or terms(question)), set(terms(snippet))
    present: list[set[str]] = [set() for _ in pieces]
    starts = [start for start, _ in pieces]
    folded = text.replace("\u0130", "i").translate(_FULL_WIDTH).lower()  # one character stays one character
    for term in asked | quoted:
        for position in _positions(folded, term):
            present[bisect_right(starts, position) - 1].add(term)
    about_question, about_snippet = idf_weights(asked, present), idf_weights(quoted, present)
    return [coverage(about_question, found) + SNIPPET_WEIGHT * coverage(about_snippet, found) for found in present]


def _prefer_found(pieces: Sequence[Span], scores: Sequence[float], found_spans: Sequence[Span]) -> list[float]:
    """Return the scores, with the pieces of the found spans first, those of an earlier span before those of a later one."""
    preferred, starts = list(scores), [start for start, _ in pieces]
    for rank, (start, end) in enumerate(found_spans):
        first, last = max(bisect_right(starts, start) - 1, 0), bisect_right(starts, end - 1) - 1
        for index in range(max(first - 1, 0), min(last + 2, len(pieces))):
            score = FOUND_SCORE if first <= index <= last else NEIGHBOUR_SCORE
            preferred[index] = max(preferred[index], score - rank / (rank + 1))
    return preferred


def _positions(text: str, term: str) -> Iterator[int]:
    """Yield the positions of the term: Chinese anywhere, other words only as whole words."""
    # A regular expression for each term would take longer to compile than to use.
    position = text.find(term)
    while position >= 0:
        end = position + len(term)
        if not term.isascii() or not (_is_letter(text[position - 1 : position]) or _is_letter(text[end : end + 1])):
            yield position
        position = text.find(term, end)


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _join_neighbours(text: str, pieces: list[Span], scores: list[float], chosen: list[int]) -> Iterator[Passage]:
    for _, run in groupby(enumerate(chosen), key=lambda entry: entry[1] - entry[0]):
        indexes = [index for _, index in run]
        start, end = pieces[indexes[0]][0], pieces[indexes[-1]][1]
        yield Passage(start, end, text[start:end], max(scores[index] for index in indexes))
