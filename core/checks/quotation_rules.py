"""Rules for a quotation that is said to support a statement in other words: what a model may not overrule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.answer.check_results import SourceText
from core.base.chinese.script import comparison_form
from core.checks.agreement import StatementAlignment
from core.checks.alignment import Words
from core.checks.check import compare
from core.checks.features import FUNCTION_CHARACTERS, ParsedStatement
from core.checks.lexicon import ADDED, DROPPED
from core.checks.passages import PassageClause
from core.checks.source_index import IndexedSource
from core.checks.words import Word
from core.checks.wording import is_question, is_refutation

MOST_CONTENT = 0.5
"""The share of the statement's content words that a quotation must have. A Chinese character counts as a word."""
SOME_PAIRS = 0.2
"""The share of the statement's pairs of neighbouring characters: a long quotation has many single characters by chance."""
_SHARED = 0.3
"""The share of a clause's words that the statement has, from which the clause is part of what is stated."""
_ALWAYS_COMPARED = frozenset({"negation", "modality", "quantifier", "comparison", "condition", "attribution", "time"})
"""The kinds of turning words that a statement may not add."""
_NEVER_LEFT_OUT = frozenset({"negation", "modality", "condition"})
"""The kinds that it may not leave out either."""
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


def find_objection(statement: str, source: SourceText) -> str:
    """Return what is wrong with a passage that is said to support the statement; empty if nothing."""
    return next(_objections(statement, source), "")


def _objections(statement: str, source: SourceText) -> Iterator[str]:
    parsed, indexed = ParsedStatement(statement), IndexedSource(source)
    passage = indexed.whole_passage()
    clauses = passage.clauses
    if not clauses:
        return
    other = StatementAlignment(parsed.clauses_by_part, passage).contradiction
    if other:
        yield f"回答说「{_written(other.stated)}」，来源说「{_written(other.found)}」。"
    for difference in compare(statement, [source]).differences:
        yield f"来源的这一处没有「{difference.stated}」。"
    stated = [word for part in parsed.clauses_by_part.parts for clause in part for word in clause]
    yield from (f"回答有「{word.text}」，来源的这一处没有。" for word in _added(stated, clauses))
    yield from (f"来源说「{word.text}」，回答没有说。" for word in _left_out(stated, clauses))
    if is_refutation(source.text) and not is_refutation(statement):
        yield "原文附近有辟谣或否认的字样。"
    if is_question(source.text):
        yield "原文是提问或选项，没有下结论。"


def _added(stated: Words, clauses: Sequence[PassageClause]) -> Iterator[Word]:
    """Yield the words of the statement that turn the meaning, or name something in letters, and are not in the passage."""
    there = {word.key for clause in clauses for word in clause.words}
    for word in stated:
        is_compared = word.kind in _ALWAYS_COMPARED or word.kind in {"latin", "score", "ordinal"}
        if is_compared and word.key not in there and word.key not in ADDED and word.key not in DROPPED:
            yield word


def _left_out(stated: Words, clauses: Sequence[PassageClause]) -> Iterator[Word]:
    """Yield the turning words of the clauses that speak of the same, which the statement does not have."""
    mine = {word.key for word in stated}
    for clause in clauses:
        content = [word for word in clause.words if not word.is_harmless and not word.is_turning]
        if sum(word.key in mine for word in content) < _SHARED * max(1, len(content)):
            continue
        for word in clause.words:
            if word.kind in _NEVER_LEFT_OUT and word.key not in mine and word.key not in DROPPED and not word.is_aside:
                yield word


def _written(words: Words) -> str:
    return "".join(word.text for word in words)
