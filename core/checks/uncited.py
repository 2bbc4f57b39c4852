"""Statements without a number: which source says them word by word.

Only what was read in full counts. An answer's pairs are indexed once for each source; a statement is then checked
against the few sources that have most of its pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from core.answer.check_results import InventedCitation, SourceCheck, SourceText, UncitedStatement, Verdict
from core.checks.features import ParsedStatement
from core.checks.source_index import IndexedSource, find_context
from core.checks.statements import Statement

CheckStatement = Callable[[ParsedStatement, IndexedSource], SourceCheck]
"""A function that checks a statement against a source."""

MIN_PAIRS = 6
"""The fewest pairs of a statement that is compared. A shorter one stands somewhere in any long text."""
MIN_SHARE = 0.7
"""The share of a statement's pairs from which a source may say it word by word."""
MAX_SOURCES = 2
"""The number of sources that are checked for one statement."""
MAX_STATEMENTS = 100
"""The number of statements in one answer that are compared."""


def find_uncited(
    statements: Sequence[Statement],
    sources: Sequence[SourceText],
    check: CheckStatement,
    indexed: dict[int, IndexedSource],
    invented: Sequence[InventedCitation] = (),
) -> Iterator[UncitedStatement]:
    """Yield the statements without a number that need a source, that a source says, or that cite a source that does not
    exist. `indexed`: the sources that are indexed already, by number."""
    uncited = [statement for statement in statements if not statement.marks and statement.is_checkable]
    agreeing = _find_agreeing(uncited, sources, check, indexed)
    for statement in uncited:
        found, numbers = agreeing.get(statement), _invented_numbers(statement, invented)
        if found or statement.is_conclusion or statement.needs_source or numbers is not None:
            place, is_conclusion = (statement.start, statement.end), statement.is_conclusion
            yield UncitedStatement(
                *place, statement.compared_text, found, is_conclusion=is_conclusion, invented=numbers
            )


def _invented_numbers(statement: Statement, invented: Sequence[InventedCitation]) -> tuple[int, ...] | None:
    """Return the numbers that the statement cites although there is no such source; None if it cites nothing."""
    cited = [one for one in invented if statement.start < one.at <= statement.end]
    return tuple(dict.fromkeys(number for one in cited for number in one.numbers)) if cited else None


def _find_agreeing(
    statements: Sequence[Statement],
    sources: Sequence[SourceText],
    check: CheckStatement,
    indexed: dict[int, IndexedSource],
) -> dict[Statement, SourceCheck]:
    """Return the check of each statement that a source says."""
    parsed = ((statement, ParsedStatement(statement.compared_text)) for statement in statements)
    claims = dict(islice((pair for pair in parsed if len(pair[1].pairs) >= MIN_PAIRS), MAX_STATEMENTS))
    pairs = {code for claim in claims.values() for code in claim.pair_codes}
    read = [_indexed(one, indexed) for one in sources if pairs and one.is_full and one.text]
    for source in read:
        source.index(pairs)
    checks = ((statement, _agreement(claim, read, check)) for statement, claim in claims.items())
    return {statement: found for statement, found in checks if found}


def _indexed(source: SourceText, indexed: dict[int, IndexedSource]) -> IndexedSource:
    if source.number not in indexed:
        indexed[source.number] = IndexedSource(source)
    return indexed[source.number]


def _agreement(claim: ParsedStatement, sources: Sequence[IndexedSource], check: CheckStatement) -> SourceCheck | None:
    """Return the check against the first of the nearest sources that says it."""
    checks = (check(claim, source) for source in _nearest_sources(claim, sources))
    return next((found for found in checks if found.verdict is Verdict.SUPPORTED and found.evidence), None)


def _nearest_sources(claim: ParsedStatement, sources: Sequence[IndexedSource]) -> list[IndexedSource]:
    """Return the sources one passage of which has most of the pairs, best first."""
    enough = MIN_SHARE * len(claim.pairs)
    having = (source for source in sources if sum(map(bool, map(source.sentences_with, claim.pair_codes))) >= enough)
    covered = {source: _covered_pairs(claim, source) for source in having}
    near = sorted((one for one in covered if covered[one] >= enough), key=lambda one: -covered[one])
    return near[:MAX_SOURCES]


def _covered_pairs(claim: ParsedStatement, source: IndexedSource) -> int:
    return next(iter(find_context(claim.pair_codes, [source]).covered_pairs), 0).bit_count()
