"""Of a page that was read, what speaks about the question."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from core.base.chinese.sentences import coverage, key_terms, rarity, sentence_spans
from core.base.text import terms
from core.reading.page import Page

PASSAGE_CHARS = 300
"""Long enough to say something, short enough for several of them to fit."""
AROUND_WEIGHT = 0.5
"""What the engine quoted was chosen for the query, too; the question itself counts more."""
WORTH = 0.2
"""Of the best score: what has less says nothing about the question beside it."""
Span = tuple[int, int]
_FULL_WIDTH = {code + 0xFEE0: code for code in range(0x21, 0x7F)}


@dataclass(frozen=True, slots=True)
class Passage:
    start: int
    end: int
    """Into the page's text."""
    text: str
    score: float
    """0 to 1.5: how much of the question, and of the engine's snippet, stands there."""


def passages(page: Page, question: str, *, around: str = "", budget: int) -> list[Passage]:
    """Whole sentences in page order, at most `budget` characters, neighbours joined; the beginning where nothing fits.

    `around` is the engine's snippet: where it stands in the page, the page speaks about the query.
    """
    pieces = list(_pieces(page.text, min(PASSAGE_CHARS, budget)))
    scores = _scores(page.text, pieces, question, around)
    worth_telling = WORTH * max(scores, default=0.0)
    nexts = [start for start, _ in pieces[1:]] + [len(page.text)]
    chosen: list[int] = []
    left = budget
    for index in sorted(range(len(pieces)), key=lambda index: (-scores[index], index)):
        length = nexts[index] - pieces[index][0]  # neighbours are joined with what stands between them
        if scores[index] >= worth_telling and (length <= left or not chosen):
            chosen.append(index)
            left -= length
    return list(_joined(page.text, pieces, scores, sorted(chosen)))


def _pieces(text: str, limit: int) -> Iterator[Span]:
    """The text in spans of whole sentences; only a sentence that is longer than the limit is cut."""
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


def _scores(text: str, pieces: Sequence[Span], question: str, around: str) -> list[float]:
    asked, quoted = set(key_terms(question) or terms(question)), set(terms(around))
    present: list[set[str]] = [set() for _ in pieces]
    starts = [start for start, _ in pieces]
    folded = text.replace("\u0130", "i").translate(_FULL_WIDTH).lower()  # one character stays one character
    for term in asked | quoted:
        for position in _positions(folded, term):
            present[bisect_right(starts, position) - 1].add(term)
    about_question, about_snippet = rarity(asked, present), rarity(quoted, present)
    return [coverage(about_question, found) + AROUND_WEIGHT * coverage(about_snippet, found) for found in present]


def _positions(text: str, term: str) -> Iterator[int]:
    """Chinese anywhere, other words as whole words only. A pattern for each would take longer to compile than to use."""
    position = text.find(term)
    while position >= 0:
        end = position + len(term)
        if not term.isascii() or not (_is_letter(text[position - 1 : position]) or _is_letter(text[end : end + 1])):
            yield position
        position = text.find(term, end)


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _joined(text: str, pieces: Sequence[Span], scores: Sequence[float], chosen: Sequence[int]) -> Iterator[Passage]:
    for _, run in groupby(enumerate(chosen), key=lambda entry: entry[1] - entry[0]):
        indexes = [index for _, index in run]
        start, end = pieces[indexes[0]][0], pieces[indexes[-1]][1]
        yield Passage(start, end, text[start:end], max(scores[index] for index in indexes))
