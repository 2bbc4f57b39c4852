"""Whether a quotation speaks of what a statement says, or only stands in the same source."""

from __future__ import annotations

import re

from core.base.chinese.script import comparison_form
from core.checks.features import FUNCTION_CHARACTERS, ParsedStatement

MOST_CONTENT = 0.5
"""The share of the statement's content words that a quotation must have. A Chinese character counts as a word."""
SOME_PAIRS = 0.2
"""The share of the statement's pairs of neighbouring characters: a long quotation has many single characters by chance."""
_WORD = re.compile(r"[a-z]+|[^\W\d_a-z]")
_FUNCTION_WORDS = FUNCTION_CHARACTERS | {
    *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "in", "is", "it", "its", "of"),
    *("on", "or", "that", "the", "this", "to", "was", "were", "will", "with"),
}


def is_about(quotation: str, statement: str) -> bool:
    """Return whether the quotation has most of what the statement speaks of. Numbers are compared elsewhere."""
    wanted, pairs = _content_words(statement), ParsedStatement(statement).pairs
    if not wanted or not pairs:
        return False
    there = comparison_form(quotation)
    return len(wanted & _content_words(quotation)) >= MOST_CONTENT * len(wanted) and sum(
        pair in there for pair in pairs
    ) >= SOME_PAIRS * len(pairs)


def _content_words(text: str) -> set[str]:
    return set(_WORD.findall(comparison_form(text))) - _FUNCTION_WORDS
