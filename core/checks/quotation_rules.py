"""Rules for a quotation that is said to support a statement in other words: what a model may not overrule."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from core.answer.check_results import SourceText
from core.base.chinese.script import comparison_form
from core.checks.check import compare
from core.checks.features import FUNCTION_CHARACTERS, ParsedStatement
from core.checks.source_index import IndexedSource
from core.checks.value_places import find_misplaced_value, is_relative_date
from core.checks.word_places import find_misplaced_words
from core.checks.wording import is_question, is_refutation
from core.comparison import ADDED, DROPPED, MAX_CLAUSES, PassageClause, StatementAlignment, Word, Words

MOST_CONTENT = 0.5
"""The share of the statement's content words that a quotation must have. A Chinese character counts as a word."""
SOME_PAIRS = 0.2
"""The share of the statement's pairs of neighbouring characters: a long quotation has many single characters by chance."""
MOST_REPEATED = 4_000
"""The number of pairs of equal characters up to which a statement and sentences are compared. Usual ones have fifty, long ones four hundred."""
_SHARED = 0.3
"""The share of a clause's words that the statement has, from which the clause is part of what is stated."""
_MAY_BE_ADDED = ADDED | {"cause:从而", "cause:为了", "time:仍", "quantifier:都", "attribution:据"}
"""The turning words that a statement may add."""
_NEVER_LEFT_OUT = frozenset({"negation", "modality", "condition"})
"""The kinds of turning words that it may not leave out."""
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


def find_objection(statement: str, quotation: SourceText, sentences: SourceText) -> str:
    """Return what is wrong with a quotation that is said to support the statement, or with its sentences; empty if nothing."""
    parsed = ParsedStatement(statement)
    if parsed.clauses_by_part.count > MAX_CLAUSES or _repeated(statement, sentences.text) > MOST_REPEATED:
        return "句子过长或重复，没有比较。"
    return next(
        chain(_objections(parsed, quotation), _objections(parsed, sentences), _misplaced(parsed, sentences)), ""
    )


def _repeated(one: str, other: str) -> int:
    """Return how many pairs of equal characters two texts have: that is what comparing them costs."""
    counts, others = Counter(one), Counter(other)
    return sum(count * others[character] for character, count in counts.items())


def _objections(parsed: ParsedStatement, source: SourceText) -> Iterator[str]:
    passage = IndexedSource(source).whole_passage()
    clauses = passage.clauses
    if not clauses:
        return
    other = StatementAlignment(parsed.clauses_by_part, passage).contradiction
    if other:
        yield f"回答说「{_written(other.stated)}」，来源说「{_written(other.found)}」。"
    for difference in compare(parsed.text, [source]).differences:
        yield f"来源的这一处没有「{difference.stated}」。"
    stated = [word for clause in parsed.clauses_by_part.clauses for word in clause]
    yield from (f"回答有「{word.text}」，来源的这一处没有。" for word in _added(stated, clauses))
    yield from (f"来源说「{word.text}」，回答没有说。" for word in _left_out(stated, clauses))
    if is_refutation(source.text) and not is_refutation(parsed.text):
        yield "原文附近有辟谣或否认的字样。"
    if is_question(source.text):
        yield "原文是提问或选项，没有下结论。"


def _misplaced(parsed: ParsedStatement, sentences: SourceText) -> Iterator[str]:
    stated, found = parsed.clauses_by_part.clauses, IndexedSource(sentences).whole_passage().clauses
    if value := find_misplaced_value(stated, found):
        yield f"来源的「{value}」说的是别的。"
    if words := find_misplaced_words(stated, found):
        yield f"来源的这几句没有这样说「{words}」。"


def _added(stated: Words, clauses: Sequence[PassageClause]) -> Iterator[Word]:
    """Yield the words of the statement that turn the meaning, or name something in letters, and are not in the passage."""
    there = {word.key for clause in clauses for word in clause.words}
    for word in stated:
        is_compared = word.is_turning or word.kind in {"latin", "score", "ordinal"} or is_relative_date(word)
        if is_compared and word.key not in there and word.key not in _MAY_BE_ADDED:
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
