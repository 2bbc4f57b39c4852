"""Marks in the text of a source, at the passages that the check has compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.answer.check_results import AnswerCheck, QuotedPassage
from core.answer.citation_verdicts import VERDICTS_WORST_FIRST, CitationVerdict


@dataclass(frozen=True, slots=True)
class TextSpan:
    start: int
    end: int
    citation_verdict: CitationVerdict


def compared_spans(check: AnswerCheck, number: int, text: str) -> list[TextSpan]:
    """Return the compared spans in the order of the text, without overlaps. The worse of two that begin together wins."""
    located = (locate_passage(verdict, passage, text) for verdict, passage in _compared_passages(check, number))
    spans = [span for span in located if span]
    spans.sort(key=lambda span: (span.start, VERDICTS_WORST_FIRST.index(span.citation_verdict.verdict)))
    apart: list[TextSpan] = []
    for span in spans:
        start = max(span.start, apart[-1].end) if apart else span.start
        if start < span.end:
            apart.append(TextSpan(start, span.end, span.citation_verdict))
    return apart


def _compared_passages(check: AnswerCheck, number: int) -> Iterator[tuple[CitationVerdict, QuotedPassage]]:
    for statement in check.statements:
        for citation in statement.citations:
            for evidence in citation.check.evidence:
                if citation.number == number == evidence.source:
                    yield CitationVerdict.from_citation(statement, citation), evidence
    for uncited in check.agreeing:
        if uncited.check and uncited.agreeing_source == number:
            yield CitationVerdict.from_agreement(uncited, uncited.check), uncited.check.evidence[0]


def locate_passage(citation_verdict: CitationVerdict, passage: QuotedPassage, text: str) -> TextSpan | None:
    """Find the passage by its words, because the text may have changed since the check."""
    wanted = passage.text.rstrip()
    fits = passage.start >= 0 and text.startswith(wanted, passage.start)
    start = passage.start if fits else text.find(wanted)
    return TextSpan(start, start + len(wanted), citation_verdict) if wanted and start >= 0 else None
