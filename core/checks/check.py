"""The check of a statement against its sources: a probability, then exact comparisons that can only lower the verdict."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from core.answer.checked import (
    AnswerCheck,
    Check,
    CitationCheck,
    Difference,
    Evidence,
    SourceText,
    StatementCheck,
    Uncited,
    Verdict,
)
from core.checks.facts import near_misses, spelled_as, taken_from_elsewhere
from core.checks.features import LONGEST_STATEMENT, Claim, Comparison
from core.checks.model import ABSENT_UP_TO, MODEL, SUPPORTED_FROM, Model
from core.checks.passages import IndexedSource, Window, find_context
from core.checks.statements import Statement, statements
from core.checks.wording import compact, glosses, nearest, quoted, refutes, titles

SAME_MATTER = 0.5
"""The share of the statement's pairs from which a passage speaks of the same thing. Another number in it is then a
contradiction."""
LITERAL = 0.9
"""The share of the statement's pairs from which a snippet alone is enough."""
ADDS = 0.15
"""The share of the statement's pairs that a further passage must add to be shown."""
LOWERED = 0.2
"""The highest score that a contradicted statement can have."""
MOST_SOURCES = 8
"""The number of sources that are compared with one statement. Further ones are ignored."""
MOST_COMPARISONS = 500
"""The number of comparisons of a statement with a source in one answer. The rest is reported as unchecked."""


def compare(statement: str, sources: Sequence[SourceText]) -> Comparison:
    return _compared(Claim(statement), [IndexedSource(source) for source in sources])


def check_statement(statement: str, sources: SourceText | Sequence[SourceText], model: Model = MODEL) -> Check:
    """Check one statement against one source, or against several together."""
    given = [sources] if isinstance(sources, SourceText) else sources
    return check_claim(Claim(statement), [IndexedSource(source) for source in given], model)


def _compared(claim: Claim, sources: Sequence[IndexedSource]) -> Comparison:
    comparison = _beside(claim, sources)
    if not claim.facts or not comparison.context.windows:
        return comparison
    respelled = spelled_as(claim.text, claim.facts, comparison.context.facts)
    return comparison if respelled == claim.text else _beside(Claim(respelled), sources)


def _beside(claim: Claim, sources: Sequence[IndexedSource]) -> Comparison:
    for source in sources:
        source.index(claim.codes)
    return Comparison(claim, find_context(claim.codes, sources))


def check_answer(text: str, sources: Sequence[SourceText]) -> AnswerCheck:
    """Check every cited statement against its sources. Linear in the length of the answer and of the cited texts."""
    all_statements = statements(text)
    known = {source.number: source for source in sources}
    cited = [(one, numbers) for one in all_statements if one.is_claim and (numbers := _numbers(one, known))]
    so_far = list(accumulate(len(numbers) for _, numbers in cited))
    within = cited[: bisect_right(so_far, MOST_COMPARISONS)]
    claims = [Claim(one.claim) for one, _ in within]
    indexed = _indexed(known, list(zip(claims, (numbers for _, numbers in within), strict=True)))
    checked = [
        _checked(one, _checks(claim, [indexed[number] for number in numbers]))
        for (one, numbers), claim in zip(within, claims, strict=True)
    ]
    checked += (
        _checked(one, _Checks(_BEYOND, dict.fromkeys(numbers, _BEYOND))) for one, numbers in cited[len(within) :]
    )
    uncited = [Uncited(one.start, one.end, one.text) for one in all_statements if not one.marks and one.wants_source]
    return AnswerCheck(tuple(checked), tuple(uncited))


def _numbers(statement: Statement, known: Mapping[int, SourceText]) -> list[int]:
    return list(dict.fromkeys(mark.number for mark in statement.marks if mark.number in known))[:MOST_SOURCES]


def _indexed(
    known: Mapping[int, SourceText], claims: Sequence[tuple[Claim, Sequence[int]]]
) -> dict[int, IndexedSource]:
    """Return each cited source, indexed once for all statements that cite it."""
    pairs: dict[int, set[int]] = {}
    for claim, numbers in claims:
        for number in numbers:
            pairs.setdefault(number, set()).update(claim.codes)
    indexed = {number: IndexedSource(known[number]) for number in pairs}
    for number, source in indexed.items():
        source.index(pairs[number])
    return indexed


class _Checks(NamedTuple):
    together: Check
    alone: dict[int, Check]
    """The results by the source's number."""


_BEYOND = Check(Verdict.UNCHECKED, 0.5, "回答过长，后面的部分没有核对。")


def _checks(claim: Claim, sources: Sequence[IndexedSource]) -> _Checks:
    """Check a statement against each source alone. If no single source supports it, check them together."""
    alone = {source.number: check_claim(claim, [source]) for source in sources}
    best = max(alone.values(), key=lambda check: (check.verdict is Verdict.SUPPORTED, check.score))
    if best.verdict is Verdict.SUPPORTED or len(sources) == 1:
        return _Checks(best, alone)
    return _Checks(check_claim(claim, sources), alone)


def _checked(statement: Statement, checks: _Checks) -> StatementCheck:
    together, alone = checks
    if statement.shares_marks:
        together, alone = _softened(together), {number: _softened(check) for number, check in alone.items()}
    citations = tuple(
        CitationCheck(mark.number, mark.start, mark.end, _credited(alone[mark.number], together, mark.number))
        for mark in statement.marks
        if mark.number in alone
    )
    return StatementCheck(statement.start, statement.end, statement.text, together, citations, statement.shares_marks)


def _softened(check: Check) -> Check:
    """Return ABSENT as UNCHECKED: a number behind a later sentence may not have been meant for this one."""
    if check.verdict is not Verdict.ABSENT:
        return check
    return replace(check, verdict=Verdict.UNCHECKED, reason="编号在后文，未必包括这一句。")


def _credited(alone: Check, together: Check, number: int) -> Check:
    """Return the check of one source. Where several support the statement together, each supporting source gets credit."""
    shown = [evidence for evidence in together.evidence if evidence.source == number]
    if together.verdict is not Verdict.SUPPORTED or alone.verdict in {Verdict.SUPPORTED, Verdict.CONTRADICTED}:
        return alone
    if shown:
        return replace(together, evidence=tuple(shown), reason="与其他来源合起来，原文如此。")
    return replace(alone, verdict=Verdict.UNCHECKED, reason="另一来源已说明，此来源未见同样说法。")


def check_claim(claim: Claim, sources: Sequence[IndexedSource], model: Model = MODEL) -> Check:
    """Check a parsed statement against indexed sources."""
    comparison = _compared(claim, sources)
    score = model.probability(comparison.features())
    is_full = bool(sources) and all(source.is_full for source in sources)
    if reason := _cannot_tell(claim, sources):
        return Check(Verdict.UNCHECKED, score, reason)
    evidence = _evidence(comparison)
    found = _differences(comparison)
    if found:
        return _differing(found, score, is_full, evidence, comparison)
    if score >= SUPPORTED_FROM:
        return _supported(comparison, score, is_full, evidence)
    if score > ABSENT_UP_TO:
        return Check(Verdict.UNCHECKED, score, "原文说法相近，但不足以断定。", evidence)
    if not is_full:
        return Check(Verdict.UNCHECKED, score, "只有摘要，未读全文。", evidence)
    return Check(Verdict.ABSENT, score, "通读来源，没有找到这样的说法。", evidence)


def objection(statement: str, source: SourceText) -> str:
    """Return what the exact comparisons find wrong with a passage that is said to support the statement; empty if
    nothing."""
    comparison = compare(statement, [source])
    if missing := _differences(comparison):
        return _both(missing[0]) if missing[0].found else f"来源的这一处没有「{missing[0].stated}」。"
    return _doubt(comparison) if comparison.context.windows else ""


def _cannot_tell(claim: Claim, sources: Sequence[IndexedSource]) -> str:
    if not any(source.spans for source in sources):
        return "来源没有可供核对的文字。"
    if len(claim.text) > 2 * LONGEST_STATEMENT:
        return "句子过长，没有核对。"
    if not any(source.is_chinese == claim.is_chinese for source in sources):
        return "来源是另一种语言，没有核对。"
    return ""


def _supported(comparison: Comparison, score: float, is_full: bool, evidence: tuple[Evidence, ...]) -> Check:
    if not is_full and comparison.coverage < LITERAL:
        return Check(Verdict.UNCHECKED, score, "只有摘要，未读全文。", evidence)
    if reason := _doubt(comparison):
        return Check(Verdict.UNCHECKED, score, reason, evidence)
    return Check(Verdict.SUPPORTED, score, "原文如此。", evidence)


def _doubt(comparison: Comparison) -> str:
    """Return why the source may not say so although the words agree; empty if there is no such reason."""
    window = comparison.context.windows[0]
    if refutes(comparison.context.text_around(window)) and not refutes(comparison.claim.text):
        return "原文附近有辟谣或否认的字样。"
    if comparison.asked:
        return "原文是提问或选项，没有下结论。"
    if turned := comparison.conflicts:
        return f"回答说「{turned[0].stated}」，原文说「{turned[0].found}」。"
    if comparison.claim.facts and (near := near_misses(comparison.claim.facts, comparison.context.facts)):
        return f"「{near[0].text}」与原文的约、超过、不到等限定不同。"
    if comparison.claim.facts and (taken := taken_from_elsewhere(comparison.claim.facts, comparison.nearest_clause)):
        return f"「{taken[0].text}」在原文的另一处，相应的地方是「{taken[1].text}」。"
    if missing := [
        title for title in titles(comparison.claim.text) if compact(title) not in comparison.context.compact
    ]:
        return f"原文相近处没有《{missing[0]}》。"
    if missing := [name for name in glosses(comparison.claim.text) if compact(name) not in comparison.context.compact]:
        return f"原文相近处没有译名 {missing[0]}。"
    return ""


def _differing(
    found: Sequence[Difference], score: float, is_full: bool, evidence: tuple[Evidence, ...], comparison: Comparison
) -> Check:
    lowered = min(score, LOWERED)
    told = [difference for difference in found if difference.found]
    if not is_full:
        return Check(Verdict.UNCHECKED, score, "与摘要有出入，未读全文。", evidence, tuple(found))
    if comparison.coverage >= SAME_MATTER and told:
        return Check(Verdict.CONTRADICTED, lowered, _both(told[0]), evidence, tuple(found))
    if comparison.coverage >= SAME_MATTER or score <= ABSENT_UP_TO:
        return Check(Verdict.ABSENT, lowered, f"来源中没有「{found[0].stated}」。", evidence, tuple(found))
    return Check(Verdict.UNCHECKED, lowered, f"相近处没有「{found[0].stated}」，不足以断定。", evidence, tuple(found))


def _both(difference: Difference) -> str:
    return f"回答说「{difference.stated}」，来源说「{difference.found}」。"


def _differences(comparison: Comparison) -> list[Difference]:
    found = list(comparison.differences)
    if comparison.coverage < SAME_MATTER:
        return found
    passages = comparison.context.compact
    found += (Difference("wording", one.stated, one.found) for one in comparison.conflicts if one.is_opposite)
    return found + list(_altered_quotes(comparison.claim.text, passages))


def _altered_quotes(statement: str, passages: str) -> Iterable[Difference]:
    for quote in quoted(statement):
        words = compact(quote)
        if words not in passages and (real := nearest(words, passages)):
            yield Difference("quote", quote, real)


def _evidence(comparison: Comparison) -> tuple[Evidence, ...]:
    shown: list[Evidence] = []
    before = 0
    for window, covered in zip(comparison.context.windows, comparison.context.covered, strict=True):
        if shown and (covered & ~before).bit_count() < ADDS * len(comparison.claim.pairs):
            break
        shown.append(_narrowed(window, comparison))
        before = covered
    return tuple(shown)


def _narrowed(window: Window, comparison: Comparison) -> Evidence:
    """Return one sentence of the window's two if the other adds no pairs."""
    first, last = (window.source.compact(place) for place in (window.first, window.last))
    in_first = {pair for pair in comparison.claim.pairs if pair in first}
    in_last = {pair for pair in comparison.claim.pairs if pair in last}
    if in_last <= in_first:
        return window.source.evidence(window.first, window.first)
    if in_first <= in_last:
        return window.source.evidence(window.last, window.last)
    return window.source.evidence(window.first, window.last)
