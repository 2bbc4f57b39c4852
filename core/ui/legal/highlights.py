"""Highlights of the reader's search words in a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from markupsafe import Markup, escape

from core.base.chinese.script import to_simplified
from core.base.chinese.sentences import best_passage
from core.base.text import one_line
from core.legal import find_citations, search_terms


def query_words(query: str) -> list[str]:
    """Return the words of a query that results may share: not the laws that it cites, nor legal terms added for its
    words."""
    words = to_simplified(query)
    for citation in reversed(find_citations(words)):
        words = f"{words[: citation.start]} {words[citation.end :]}"
    return [word for word, weight in search_terms(words).items() if weight == 1.0]


def best_excerpt(text: str, words: Iterable[str], length: int) -> str:
    """Return the part of a text that has most of the words."""
    return best_passage(one_line(text), dict.fromkeys(words, 1.0), length)


def highlight(text: str, words: Iterable[str]) -> Markup:
    marked = {at for start, end in _find_matches(text, words) for at in range(start, end)}
    if not marked:
        return escape(text)
    groups = groupby(range(len(text)), marked.__contains__)
    pieces = ((is_marked, "".join(text[at] for at in places)) for is_marked, places in groups)
    return Markup().join(Markup("<mark>%s</mark>") % piece if marks else escape(piece) for marks, piece in pieces)


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
