"""The check of a statement against its sources.

有据 only if a passage says the statement word by word (`agreement`); 不符 only if it says it with a difference; 未见 only if
nothing near was found in a text that was read in full, in words or, with an embedding model, in meaning; else 未核.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby
from typing import NamedTuple

from core.answer.check_results import (
    AlignedWords,
    AnswerCheck,
    CitationCheck,
    Difference,
    InventedCitation,
    QuotedPassage,
    SourceCheck,
    SourceText,
    StatementCheck,
    Verdict,
)
from core.checks.facts import respell_as_source
from core.checks.features import LONGEST_STATEMENT, ParsedStatement, SourceComparison
from core.checks.meaning import MAX_ASKED, MeaningComparison, leave_open
from core.checks.scoring import ABSENT_UP_TO, SCORING_MODEL, SUPPORTED_FROM, ScoringModel
from core.checks.source_index import IndexedSource, Window, find_context
from core.checks.statements import Statement, find_statements
from core.checks.uncertain_values import leave_uncertain
from core.checks.uncited import find_uncited
from core.checks.wording import compact, find_quotations, is_refutation, is_taken_back, nearest_wording
from core.comparison import MAX_CLAUSES, Chain, ClauseSequence, Contradiction, Objection, StatementAlignment, Words

SAME_TOPIC_SHARE = 0.4
"""The share of the statement's pairs from which a passage speaks of the same thing. Another number in it is then a
contradiction."""
SAME_NUMBER_SHARE = 0.5
"""The share from which another number in the nearest clause contradicts, although the wording differs."""
NOTHING_NEAR_SHARE = 0.15
"""The share of the statement's pairs up to which no passage speaks of the same thing."""
MIN_ALIGNED_SHARE = 0.4
"""The share of the statement's pairs from which it is compared word by word."""
MIN_ADDED_SHARE = 0.15
"""The share of the statement's pairs that a further passage must add to be shown."""
MAX_CONTRADICTED_SCORE = 0.2
"""The highest score that a contradicted statement can have."""
MAX_OPEN_SCORE = 0.88
"""The highest score that a statement can have which is not supported."""
MAX_SOURCES_PER_STATEMENT = 8
"""The number of sources that are compared with one statement. Further ones are ignored."""
MAX_COMPARISONS = 500
"""The number of comparisons of a statement with a source in one answer. The rest is reported as unchecked."""
_OBJECTIONS = {
    "condition": "原文有条件「{}」，回答没有说。",
    "exception": "原文有例外「{}」，回答没有说。",
    "attribution": "原文是转述别人的话，回答没有说是谁说的。",
    "question": "原文是提问或选项，没有下结论。",
}


def compare(statement: str, sources: Sequence[SourceText]) -> SourceComparison:
    return _compare_parsed(ParsedStatement(statement), [IndexedSource(source) for source in sources])


def check_statement(
    statement: str, sources: SourceText | Sequence[SourceText], meaning: MeaningComparison | None = None
) -> SourceCheck:
    """Check one statement against one source, or against several of which one must say it."""
    given = [sources] if isinstance(sources, SourceText) else sources
    parsed = ParsedStatement(statement)
    return _best([_check_and_review(parsed, IndexedSource(source), meaning) for source in given])


def _check_and_review(
    statement: ParsedStatement, source: IndexedSource, meaning: MeaningComparison | None
) -> SourceCheck:
    found = check_parsed_statement(statement, source)
    return meaning.review_absent(found, statement, source) if meaning else found


def _best(checks: Iterable[SourceCheck]) -> SourceCheck:
    return max(checks, key=lambda check: (check.verdict is Verdict.SUPPORTED, check.score))


def _compare_parsed(statement: ParsedStatement, sources: Sequence[IndexedSource]) -> SourceComparison:
    comparison = _compare_once(statement, sources)
    if not statement.facts or not comparison.context.windows:
        return comparison
    respelled = respell_as_source(statement.text, statement.facts, comparison.context.facts)
    return comparison if respelled == statement.text else _compare_once(ParsedStatement(respelled), sources)


def _compare_once(statement: ParsedStatement, sources: Sequence[IndexedSource]) -> SourceComparison:
    for source in sources:
        source.index(statement.pair_codes)
    return SourceComparison(statement, find_context(statement.pair_codes, sources, statement.digits))


# ── A whole answer ────────────────────────────────────────────────────────────────────────────────────────────────────


class CheckMemory:
    """What is known of an answer that is being written: its statements are checked once, with the same sources."""

    def __init__(self) -> None:
        self.results: dict[tuple[str, int], SourceCheck] = {}
        """The results by the words of the statement and the number of the source."""
        self.reviewed: dict[tuple[str, int], SourceCheck] = {}
        """Those that were 未见, after the comparison in meaning."""
        self.indexed: dict[int, IndexedSource] = {}

    def check(self, statement: ParsedStatement, source: IndexedSource) -> SourceCheck:
        """Check a statement once."""
        key = (statement.text, source.number)
        if key not in self.results:
            self.results[key] = check_parsed_statement(statement, source)
        return self.results[key]

    def review(self, statement: ParsedStatement, source: IndexedSource, meaning: MeaningComparison) -> SourceCheck:
        """Compare a statement that is 未见 in meaning, once."""
        key = (statement.text, source.number)
        if key not in self.reviewed:
            self.reviewed[key] = meaning.review_absent(self.check(statement, source), statement, source)
        return self.reviewed[key]


def check_answer(
    text: str,
    sources: Sequence[SourceText],
    memory: CheckMemory | None = None,
    meaning: MeaningComparison | None = None,
    *,
    invented: Sequence[InventedCitation] = (),
) -> AnswerCheck:
    """Check every cited statement against its sources. Linear in the length of the answer and of the cited texts. With
    a memory of the same sources, only statements that it does not have are compared. With `meaning`, what would be
    未见 is compared in meaning too. `invented`: citations of sources that do not exist, taken out of the text before."""
    memory = memory or CheckMemory()
    all_statements = [_without_borrowed_numbers(one, invented) for one in find_statements(text)]
    known = {source.number: source for source in sources}
    cited = [(one, numbers) for one in all_statements if one.is_checkable and (numbers := _cited_numbers(one, known))]
    so_far = list(accumulate(len(numbers) for _, numbers in cited))
    within = cited[: bisect_right(so_far, MAX_COMPARISONS)]
    claims = [ParsedStatement(one.compared_text) for one, _ in within]
    _index_sources(known, list(zip(claims, (numbers for _, numbers in within), strict=True)), memory.indexed)
    found = [
        (one, claim, {number: memory.check(claim, memory.indexed[number]) for number in numbers})
        for (one, numbers), claim in zip(within, claims, strict=True)
    ]
    if meaning:
        _review_absent(found, memory, meaning)
    checked = [_statement_check(one, checks) for one, _, checks in found]
    checked += (_statement_check(one, dict.fromkeys(numbers, _TOO_LONG)) for one, numbers in cited[len(within) :])
    invented = sorted((*invented, *_citations_without_source(all_statements, known)), key=lambda one: one.at)
    without_source = [replace(one, marks=()) if not _cited_numbers(one, known) else one for one in all_statements]
    uncited = find_uncited(without_source, sources, memory.check, memory.indexed, invented)
    return AnswerCheck(tuple(checked), tuple(uncited), invented=tuple(invented))


def _without_borrowed_numbers(statement: Statement, invented: Sequence[InventedCitation]) -> Statement:
    """Return the statement without the numbers of a later sentence, if it had numbers of its own that were taken out."""
    has_own = any(statement.start < one.at <= statement.end for one in invented)
    return replace(statement, marks=(), shares_marks=False) if has_own and statement.shares_marks else statement


def _citations_without_source(statements: Iterable[Statement], known: Container[int]) -> Iterator[InventedCitation]:
    """Yield the citations that are still in the text although there is no such source, as in a text from elsewhere."""
    marks = {mark for one in statements if not one.shares_marks for mark in one.marks if mark.number not in known}
    by_place = sorted(marks, key=lambda mark: (mark.end, mark.number))
    for end, together in groupby(by_place, key=lambda mark: mark.end):
        yield InventedCitation(end, tuple(mark.number for mark in together))


def _review_absent(
    found: Iterable[tuple[Statement, ParsedStatement, dict[int, SourceCheck]]],
    memory: CheckMemory,
    meaning: MeaningComparison,
) -> None:
    """Compare in meaning what is 未见, the first of an answer: so it does not matter how much of it was checked before."""
    absent = (
        (claim, number, checks)
        for one, claim, checks in found
        if not one.shares_marks
        for number, check in checks.items()
        if check.verdict is Verdict.ABSENT
    )
    for place, (claim, number, checks) in enumerate(list(absent)):
        checks[number] = (
            memory.review(claim, memory.indexed[number], meaning) if place < MAX_ASKED else leave_open(checks[number])
        )


def _cited_numbers(statement: Statement, known: Mapping[int, SourceText]) -> list[int]:
    numbers = dict.fromkeys(mark.number for mark in statement.marks if mark.number in known)
    return list(numbers)[:MAX_SOURCES_PER_STATEMENT]


def _index_sources(
    known: Mapping[int, SourceText],
    statements: Sequence[tuple[ParsedStatement, Sequence[int]]],
    indexed: dict[int, IndexedSource],
) -> None:
    """Index each cited source once for all statements that cite it."""
    pairs: dict[int, set[int]] = {}
    for claim, numbers in statements:
        for number in numbers:
            pairs.setdefault(number, set()).update(claim.pair_codes)
    for number, wanted in pairs.items():
        if number not in indexed:
            indexed[number] = IndexedSource(known[number])
        indexed[number].index(wanted)


_TOO_LONG = SourceCheck(Verdict.UNCHECKED, 0.5, "回答过长，后面的部分没有核验。")


def _statement_check(statement: Statement, checks: Mapping[int, SourceCheck]) -> StatementCheck:
    """Return the check of a statement with those of its numbers. One source that says it is enough."""
    if statement.shares_marks:
        checks = {number: _soften_absent(check) for number, check in checks.items()}
    marks = [mark for mark in statement.marks if mark.number in checks]
    citations = tuple(CitationCheck(mark.number, mark.start, mark.end, checks[mark.number]) for mark in marks)
    text, best = statement.compared_text, _best(checks.values())
    return StatementCheck(statement.start, statement.end, text, best, citations, statement.shares_marks)


def _soften_absent(check: SourceCheck) -> SourceCheck:
    """Return ABSENT as UNCHECKED: a number behind a later sentence may not have been meant for this one."""
    if check.verdict is not Verdict.ABSENT:
        return check
    return replace(check, verdict=Verdict.UNCHECKED, reason="出处标在后文，不确定是否也指这一句。")


# ── A statement and a source ──────────────────────────────────────────────────────────────────────────────────────────


class _Finding(NamedTuple):
    verdict: Verdict
    reason: str
    differences: tuple[Difference, ...] = ()


def check_parsed_statement(
    statement: ParsedStatement, source: IndexedSource, model: ScoringModel = SCORING_MODEL
) -> SourceCheck:
    """Check a parsed statement against an indexed source."""
    return leave_uncertain(_check_as_read(statement, source, model), [source.given])


def _check_as_read(statement: ParsedStatement, source: IndexedSource, model: ScoringModel) -> SourceCheck:
    """Return the check of a statement as if every character of the source was certain."""
    comparison = _compare_parsed(statement, [source])
    if reason := _reason_not_checkable(statement, source):
        score = min(model.probability(comparison.features()), MAX_OPEN_SCORE)
        return SourceCheck(Verdict.UNCHECKED, score, reason)
    passage = source.passage(comparison.context.windows)
    alignment = StatementAlignment(statement.clauses_by_part, passage) if _is_near(comparison) else None
    said_by = alignment.agreement.chain if alignment else ()
    aligned = _aligned_words(said_by, passage)
    said_in = _sentences_of(said_by, aligned, passage, source)
    if said_in and not _is_doubted(statement.text, said_in, source):
        evidence = tuple(source.quoted_passage(first, last) for first, last in _neighbours(said_in))
        score = max(comparison.coverage, SUPPORTED_FROM)
        return SourceCheck(Verdict.SUPPORTED, score, "原文就是这么说的。", evidence, alignment=aligned)
    score = model.probability(comparison.features())
    found = _find_verdict(comparison, alignment, score, source)
    limit = MAX_CONTRADICTED_SCORE if found.differences and source.is_full else MAX_OPEN_SCORE
    return SourceCheck(found.verdict, min(score, limit), found.reason, _quoted_passages(comparison), found.differences)


def _is_near(comparison: SourceComparison) -> bool:
    clauses = comparison.statement.clauses_by_part
    return comparison.coverage >= MIN_ALIGNED_SHARE and clauses.count <= MAX_CLAUSES


def _find_verdict(
    comparison: SourceComparison, alignment: StatementAlignment | None, score: float, source: IndexedSource
) -> _Finding:
    """Return the verdict on a statement that is not said word by word."""
    if alignment and alignment.agreement.is_same:
        return _Finding(Verdict.UNCHECKED, "原文附近有辟谣或否认的字样。")
    differences = tuple(_find_differences(comparison, alignment.contradiction if alignment else None))
    if differences:
        return _judge_differences(differences, comparison, source)
    if score <= ABSENT_UP_TO and comparison.coverage <= NOTHING_NEAR_SHARE:
        if source.is_full:
            return _Finding(Verdict.ABSENT, "通读来源，没有找到这样的说法。")
        return _Finding(Verdict.UNCHECKED, "只有摘要，未读全文。")
    return _Finding(Verdict.UNCHECKED, _reason_open(alignment.agreement.objections if alignment else ()))


def _reason_open(objections: Sequence[Objection]) -> str:
    for objection in objections:
        if objection.kind in _OBJECTIONS:
            return _OBJECTIONS[objection.kind].format(_written(objection.found))
    return "原文说法相近，但不是逐词相同，程序判断不了。"


def _written(words: Words) -> str:
    return "".join(word.text for word in words)


def _reason_not_checkable(statement: ParsedStatement, source: IndexedSource) -> str:
    if not source.spans:
        return "来源没有可供核验的文字。"
    if len(statement.text) > 2 * LONGEST_STATEMENT:
        return "句子过长，没有核验。"
    if source.is_chinese != statement.is_chinese:
        return "来源是另一种语言，没有核验。"
    return ""


def _is_doubted(statement: str, parts: Sequence[int], source: IndexedSource) -> bool:
    """Return whether the source says beside the passage that it is not so, and the statement does not."""
    around, behind = source.text_between(parts[0] - 1, parts[-1] + 1), source.text_between(parts[-1], parts[-1] + 1)
    if is_refutation(statement) or is_taken_back(statement):
        return False
    return is_refutation(around) or is_taken_back(behind)


def _judge_differences(
    differences: tuple[Difference, ...], comparison: SourceComparison, source: IndexedSource
) -> _Finding:
    if not source.is_full:
        return _Finding(Verdict.UNCHECKED, "与摘要有出入，未读全文。", differences)
    contradicting = next((difference for difference in differences if difference.found), None)
    if contradicting and comparison.coverage >= SAME_TOPIC_SHARE:
        return _Finding(Verdict.CONTRADICTED, _both_wordings(contradicting), differences)
    return _Finding(Verdict.UNCHECKED, f"相近处没有「{differences[0].stated}」，程序判断不了。", differences)


def _both_wordings(difference: Difference) -> str:
    return f"回答说「{difference.stated}」，来源说「{difference.found}」。"


def _find_differences(comparison: SourceComparison, contradiction: Contradiction | None) -> Iterator[Difference]:
    if contradiction:
        yield Difference(contradiction.kind, _written(contradiction.stated), _written(contradiction.found))
        return
    is_same_topic = comparison.coverage >= SAME_NUMBER_SHARE
    for one in comparison.differences:
        yield one if is_same_topic and one.kind != "date" else replace(one, found="")
    if comparison.coverage >= SAME_TOPIC_SHARE:
        yield from _altered_quotes(comparison.statement.text, comparison.context.compact_text)


def _altered_quotes(statement: str, passages: str) -> Iterable[Difference]:
    for quote in find_quotations(statement):
        words = compact(quote)
        if words not in passages and (real := nearest_wording(words, passages)):
            yield Difference("quote", quote, real)


# ── Evidence ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _aligned_words(chain: Chain, passage: ClauseSequence) -> tuple[AlignedWords, ...]:
    """Return the words of the statement with their counterparts in the source, neighbours together."""
    aligned: list[AlignedWords] = []
    for word, place, counterpart in (pair for match in chain for pair in match.pairs):
        offset = passage.clauses[place].offset
        one = AlignedWords(word.start, word.end, counterpart.start + offset, counterpart.end + offset)
        if aligned and (aligned[-1].end, aligned[-1].found_end) == (one.start, one.found_start):
            one = AlignedWords(aligned[-1].start, one.end, aligned.pop().found_start, one.found_end)
        aligned.append(one)
    return tuple(aligned)


def _sentences_of(
    chain: Chain, aligned: Sequence[AlignedWords], passage: ClauseSequence, source: IndexedSource
) -> list[int]:
    """Return the sentences of the aligned words, and of the clauses that name their subject."""
    used = (passage.clauses[place] for match in chain for place in match.places)
    starts = [*(one.found_start for one in aligned), *(one.words[0].start + one.offset for one in used)]
    return sorted({source.sentence_at(start) for start in starts})


def _neighbours(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each run of neighbours."""
    first = numbers[0]
    for last, following in zip(numbers, [*numbers[1:], numbers[-1] + 2], strict=True):
        if following > last + 1:
            yield first, last
            first = following


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
