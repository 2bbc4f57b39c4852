"""The check of a statement against its sources: a probability, then exact comparisons that can only lower the verdict."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from core.answer.check_results import (
    AnswerCheck,
    CitationCheck,
    Difference,
    QuotedPassage,
    SourceCheck,
    SourceText,
    StatementCheck,
    Verdict,
)
from core.checks.facts import find_misplaced_quantity, quantities_with_other_bound, respell_as_source
from core.checks.features import LONGEST_STATEMENT, ParsedStatement, SourceComparison
from core.checks.scoring import ABSENT_UP_TO, SCORING_MODEL, SUPPORTED_FROM, ScoringModel
from core.checks.source_index import IndexedSource, Window, find_context
from core.checks.statements import Statement, find_statements
from core.checks.uncited import find_uncited
from core.checks.wording import compact, find_glosses, find_quotations, find_titles, is_refutation, nearest_wording

SAME_TOPIC_SHARE = 0.5
"""The share of the statement's pairs from which a passage speaks of the same thing. Another number in it is then a
contradiction."""
LITERAL_SHARE = 0.9
"""The share of the statement's pairs from which a snippet alone is enough."""
MIN_ADDED_SHARE = 0.15
"""The share of the statement's pairs that a further passage must add to be shown."""
MAX_CONTRADICTED_SCORE = 0.2
"""The highest score that a contradicted statement can have."""
MAX_SOURCES_PER_STATEMENT = 8
"""The number of sources that are compared with one statement. Further ones are ignored."""
MAX_COMPARISONS = 500
"""The number of comparisons of a statement with a source in one answer. The rest is reported as unchecked."""


def compare(statement: str, sources: Sequence[SourceText]) -> SourceComparison:
    return _compare_parsed(ParsedStatement(statement), [IndexedSource(source) for source in sources])


def check_statement(
    statement: str, sources: SourceText | Sequence[SourceText], model: ScoringModel = SCORING_MODEL
) -> SourceCheck:
    """Check one statement against one source, or against several together."""
    given = [sources] if isinstance(sources, SourceText) else sources
    return check_parsed_statement(ParsedStatement(statement), [IndexedSource(source) for source in given], model)


def _compare_parsed(statement: ParsedStatement, sources: Sequence[IndexedSource]) -> SourceComparison:
    comparison = _compare_once(statement, sources)
    if not statement.facts or not comparison.context.windows:
        return comparison
    respelled = respell_as_source(statement.text, statement.facts, comparison.context.facts)
    return comparison if respelled == statement.text else _compare_once(ParsedStatement(respelled), sources)


def _compare_once(statement: ParsedStatement, sources: Sequence[IndexedSource]) -> SourceComparison:
    for source in sources:
        source.index(statement.pair_codes)
    return SourceComparison(statement, find_context(statement.pair_codes, sources))


def check_answer(text: str, sources: Sequence[SourceText]) -> AnswerCheck:
    """Check every cited statement against its sources. Linear in the length of the answer and of the cited texts."""
    all_statements = find_statements(text)
    known = {source.number: source for source in sources}
    cited = [(one, numbers) for one in all_statements if one.is_checkable and (numbers := _cited_numbers(one, known))]
    so_far = list(accumulate(len(numbers) for _, numbers in cited))
    within = cited[: bisect_right(so_far, MAX_COMPARISONS)]
    claims = [ParsedStatement(one.compared_text) for one, _ in within]
    indexed = _index_sources(known, list(zip(claims, (numbers for _, numbers in within), strict=True)))
    checked = [
        _statement_check(one, _check_sources(claim, [indexed[number] for number in numbers]))
        for (one, numbers), claim in zip(within, claims, strict=True)
    ]
    checked += (
        _statement_check(one, _StatementResults(_TOO_LONG, dict.fromkeys(numbers, _TOO_LONG)))
        for one, numbers in cited[len(within) :]
    )
    uncited = find_uncited(all_statements, sources, check_parsed_statement, indexed)
    return AnswerCheck(tuple(checked), tuple(uncited))


def _cited_numbers(statement: Statement, known: Mapping[int, SourceText]) -> list[int]:
    numbers = dict.fromkeys(mark.number for mark in statement.marks if mark.number in known)
    return list(numbers)[:MAX_SOURCES_PER_STATEMENT]


def _index_sources(
    known: Mapping[int, SourceText], statements: Sequence[tuple[ParsedStatement, Sequence[int]]]
) -> dict[int, IndexedSource]:
    """Return each cited source, indexed once for all statements that cite it."""
    pairs: dict[int, set[int]] = {}
    for claim, numbers in statements:
        for number in numbers:
            pairs.setdefault(number, set()).update(claim.pair_codes)
    indexed = {number: IndexedSource(known[number]) for number in pairs}
    for number, source in indexed.items():
        source.index(pairs[number])
    return indexed


class _StatementResults(NamedTuple):
    combined: SourceCheck
    per_source: dict[int, SourceCheck]
    """The results by the source's number."""


_TOO_LONG = SourceCheck(Verdict.UNCHECKED, 0.5, "回答过长，后面的部分没有核对。")


def _check_sources(statement: ParsedStatement, sources: Sequence[IndexedSource]) -> _StatementResults:
    """Check a statement against each source alone. If no single source supports it, check them together."""
    alone = {source.number: check_parsed_statement(statement, [source]) for source in sources}
    best = max(alone.values(), key=lambda check: (check.verdict is Verdict.SUPPORTED, check.score))
    if best.verdict is Verdict.SUPPORTED or len(sources) == 1:
        return _StatementResults(best, alone)
    return _StatementResults(check_parsed_statement(statement, sources), alone)


def _statement_check(statement: Statement, results: _StatementResults) -> StatementCheck:
    together, alone = results
    if statement.shares_marks:
        together, alone = _soften_absent(together), {number: _soften_absent(check) for number, check in alone.items()}
    own = {number: _credit_partial_support(check, together, number) for number, check in alone.items()}
    marks = [mark for mark in statement.marks if mark.number in own]
    citations = tuple(CitationCheck(mark.number, mark.start, mark.end, own[mark.number]) for mark in marks)
    return StatementCheck(statement.start, statement.end, statement.text, together, citations, statement.shares_marks)


def _soften_absent(check: SourceCheck) -> SourceCheck:
    """Return ABSENT as UNCHECKED: a number behind a later sentence may not have been meant for this one."""
    if check.verdict is not Verdict.ABSENT:
        return check
    return replace(check, verdict=Verdict.UNCHECKED, reason="编号在后文，未必包括这一句。")


def _credit_partial_support(own: SourceCheck, combined: SourceCheck, number: int) -> SourceCheck:
    """Return the check of one source. Where several support the statement together, each supporting source gets credit."""
    shown = [evidence for evidence in combined.evidence if evidence.source == number]
    if combined.verdict is not Verdict.SUPPORTED or own.verdict in {Verdict.SUPPORTED, Verdict.CONTRADICTED}:
        return own
    if shown:
        return replace(combined, evidence=tuple(shown), reason="与其他来源合起来，原文如此。")
    return replace(own, verdict=Verdict.UNCHECKED, reason="另一来源已说明，此来源未见同样说法。")


def check_parsed_statement(
    statement: ParsedStatement, sources: Sequence[IndexedSource], model: ScoringModel = SCORING_MODEL
) -> SourceCheck:
    """Check a parsed statement against indexed sources."""
    comparison = _compare_parsed(statement, sources)
    score = model.probability(comparison.features())
    if reason := _reason_not_checkable(statement, sources):
        return SourceCheck(Verdict.UNCHECKED, score, reason)
    is_full = all(source.is_full for source in sources)
    if differences := tuple(_find_differences(comparison)):
        verdict, reason = _judge_differences(differences, comparison.coverage, score, is_full)
        score = min(score, MAX_CONTRADICTED_SCORE) if is_full else score
    else:
        verdict, reason = _judge_score(comparison, score, is_full)
    return SourceCheck(verdict, score, reason, _quoted_passages(comparison), differences)


def find_objection(statement: str, source: SourceText) -> str:
    """Return what is wrong with a passage that is said to support the statement; empty if nothing."""
    comparison = compare(statement, [source])
    if missing := _find_differences(comparison):
        return _both_wordings(missing[0]) if missing[0].found else f"来源的这一处没有「{missing[0].stated}」。"
    return _reason_for_doubt(comparison) if comparison.context.windows else ""


def _reason_not_checkable(statement: ParsedStatement, sources: Sequence[IndexedSource]) -> str:
    if not any(source.spans for source in sources):
        return "来源没有可供核对的文字。"
    if len(statement.text) > 2 * LONGEST_STATEMENT:
        return "句子过长，没有核对。"
    if not any(source.is_chinese == statement.is_chinese for source in sources):
        return "来源是另一种语言，没有核对。"
    return ""


def _judge_score(comparison: SourceComparison, score: float, is_full: bool) -> tuple[Verdict, str]:
    if ABSENT_UP_TO < score < SUPPORTED_FROM:
        return Verdict.UNCHECKED, "原文说法相近，但不足以断定。"
    if not is_full and (score <= ABSENT_UP_TO or comparison.coverage < LITERAL_SHARE):
        return Verdict.UNCHECKED, "只有摘要，未读全文。"
    if score <= ABSENT_UP_TO:
        return Verdict.ABSENT, "通读来源，没有找到这样的说法。"
    if reason := _reason_for_doubt(comparison):
        return Verdict.UNCHECKED, reason
    return Verdict.SUPPORTED, "原文如此。"


def _reason_for_doubt(comparison: SourceComparison) -> str:
    """Return why the source may not say so although the words agree; empty if there is no such reason."""
    context, text, facts = comparison.context, comparison.statement.text, comparison.statement.facts
    if is_refutation(context.text_around(context.windows[0])) and not is_refutation(text):
        return "原文附近有辟谣或否认的字样。"
    if comparison.is_question:
        return "原文是提问或选项，没有下结论。"
    if conflicts := comparison.conflicts:
        return f"回答说「{conflicts[0].stated}」，原文说「{conflicts[0].found}」。"
    if facts and (near := quantities_with_other_bound(facts, context.facts)):
        return f"「{near[0].text}」与原文的约、超过、不到等限定不同。"
    if facts and (misplaced := find_misplaced_quantity(facts, comparison.nearest_clause_facts)):
        return f"「{misplaced[0].text}」在原文的另一处，相应的地方是「{misplaced[1].text}」。"
    if missing := [title for title in find_titles(text) if compact(title) not in context.compact_text]:
        return f"原文相近处没有《{missing[0]}》。"
    if missing := [name for name in find_glosses(text) if compact(name) not in context.compact_text]:
        return f"原文相近处没有译名 {missing[0]}。"
    return ""


def _judge_differences(
    differences: Sequence[Difference], coverage: float, score: float, is_full: bool
) -> tuple[Verdict, str]:
    if not is_full:
        return Verdict.UNCHECKED, "与摘要有出入，未读全文。"
    contradicting = next((difference for difference in differences if difference.found), None)
    if coverage >= SAME_TOPIC_SHARE and contradicting:
        return Verdict.CONTRADICTED, _both_wordings(contradicting)
    if coverage >= SAME_TOPIC_SHARE or score <= ABSENT_UP_TO:
        return Verdict.ABSENT, f"来源中没有「{differences[0].stated}」。"
    return Verdict.UNCHECKED, f"相近处没有「{differences[0].stated}」，不足以断定。"


def _both_wordings(difference: Difference) -> str:
    return f"回答说「{difference.stated}」，来源说「{difference.found}」。"


def _find_differences(comparison: SourceComparison) -> list[Difference]:
    differences = list(comparison.differences)
    if comparison.coverage >= SAME_TOPIC_SHARE:
        differences += (Difference("wording", one.stated, one.found) for one in comparison.conflicts if one.is_opposite)
        differences += _altered_quotes(comparison.statement.text, comparison.context.compact_text)
    return differences


def _altered_quotes(statement: str, passages: str) -> Iterable[Difference]:
    for quote in find_quotations(statement):
        words = compact(quote)
        if words not in passages and (real := nearest_wording(words, passages)):
            yield Difference("quote", quote, real)


def _quoted_passages(comparison: SourceComparison) -> tuple[QuotedPassage, ...]:
    shown: list[QuotedPassage] = []
    before = 0
    for window, covered in zip(comparison.context.windows, comparison.context.covered_pairs, strict=True):
        if shown and (covered & ~before).bit_count() < MIN_ADDED_SHARE * len(comparison.statement.pairs):
            break
        shown.append(_narrow_window(window, comparison))
        before = covered
    return tuple(shown)


def _narrow_window(window: Window, comparison: SourceComparison) -> QuotedPassage:
    """Return one sentence of the window's two if the other adds no pairs."""
    first, last = (window.source.compact_sentence(place) for place in (window.first, window.last))
    in_first = {pair for pair in comparison.statement.pairs if pair in first}
    in_last = {pair for pair in comparison.statement.pairs if pair in last}
    if in_last <= in_first:
        return window.source.quoted_passage(window.first, window.first)
    if in_first <= in_last:
        return window.source.quoted_passage(window.last, window.last)
    return window.source.quoted_passage(window.first, window.last)
