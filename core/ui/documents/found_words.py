"""The words of a search in what it found."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from core.base.chinese.script import to_simplified
from core.base.chinese.sentences import best_passage, key_terms
from core.base.text import one_line, terms

SHOWN_LENGTH = 160


def query_words(query: str) -> list[str]:
    """Return the words that a query asks for; all of it where it has nothing but question words."""
    return list(dict.fromkeys(key_terms(query) or terms(query)))


def best_part(text: str, words: list[str]) -> str:
    """Return the sentences of a passage that have most of the words."""
    return best_passage(one_line(text), dict.fromkeys(words, 1.0), SHOWN_LENGTH)


def mark_words(text: str, words: list[str]) -> Markup:
    searched = to_simplified(text).casefold()
    if not words or len(searched) != len(text):
        return escape(text)
    longest_first = sorted(words, key=len, reverse=True)
    marked = {at for word in longest_first for found in _occurrences(searched, word) for at in range(*found)}
    return Markup().join(_piece(text, span, is_marked=span[0] in marked) for span in _runs(marked, len(text)))


def _occurrences(text: str, word: str) -> list[tuple[int, int]]:
    """Return where a word stands, also within its overlap with itself. A word of letters stands alone."""
    edge = r"(?<![a-z0-9])", r"(?![a-z0-9])"
    pattern = f"(?={edge[0]}{re.escape(word)}{edge[1]})" if word.isascii() else f"(?={re.escape(word)})"
    return [(found.start(), found.start() + len(word)) for found in re.finditer(pattern, text)]


def _runs(marked: set[int], length: int) -> list[tuple[int, int]]:
    edges = [at for at in range(1, length) if (at in marked) != (at - 1 in marked)]
    return list(zip([0, *edges], [*edges, length], strict=True)) if length else []


def _piece(text: str, span: tuple[int, int], *, is_marked: bool) -> Markup:
    piece = text[slice(*span)]
    return Markup("<mark>%s</mark>") % piece if is_marked else escape(piece)
