"""Marks in the text of a source, at the passages that the check has compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from core.answer.check_results import AnswerCheck, QuotedPassage
from core.answer.citation_verdicts import MARKS, VERDICTS_WORST_FIRST, CitationVerdict


@dataclass(frozen=True, slots=True)
class TextSpan:
    start: int
    end: int
    citation_verdict: CitationVerdict


def compared_spans(check: AnswerCheck, number: int, text: str) -> list[TextSpan]:
    """Return the compared spans in the order of the text, without overlaps. If two begin together, the worse verdict
    wins."""
    found = [
        place
        for claim, evidence in _compared_passages(check, number)
        if (place := _locate_passage(claim, evidence, text))
    ]
    found.sort(key=lambda place: (place.start, VERDICTS_WORST_FIRST.index(place.citation_verdict.verdict)))
    apart: list[TextSpan] = []
    for place in found:
        start = max(place.start, apart[-1].end) if apart else place.start
        if start < place.end:
            apart.append(TextSpan(start, place.end, place.citation_verdict))
    return apart


def _compared_passages(check: AnswerCheck, number: int) -> Iterator[tuple[CitationVerdict, QuotedPassage]]:
    for statement in check.statements:
        for citation in statement.citations:
            for evidence in citation.check.evidence:
                if citation.number == number == evidence.source:
                    yield CitationVerdict.from_citation(statement, citation), evidence


def _locate_passage(citation_verdict: CitationVerdict, passage: QuotedPassage, text: str) -> TextSpan | None:
    """Find the passage by its words, because the text may have changed since the check."""
    wanted = passage.text.rstrip()
    fits = passage.start >= 0 and text.startswith(wanted, passage.start)
    start = passage.start if fits else text.find(wanted)
    return TextSpan(start, start + len(wanted), citation_verdict) if wanted and start >= 0 else None


def marked_html(text: str, spans: Sequence[TextSpan], *, anchor: str) -> Markup:
    """Return the text as HTML with the spans marked. The first span can be reached as `#anchor`."""
    pieces, begin = [], 0
    for place in spans:
        identity = Markup("") if begin else Markup(' id="%s"') % anchor
        pieces += [escape(text[begin : place.start]), _mark_html(text, place, identity)]
        begin = place.end
    return Markup().join([*pieces, escape(text[begin:])])


def _mark_html(text: str, span: TextSpan, identity: Markup) -> Markup:
    verdict = span.citation_verdict.verdict
    said = f"{verdict.label}：{span.citation_verdict.statement}"
    return Markup('<mark class="%s"%s title="%s">%s<i aria-hidden="true">%s</i></mark>') % (
        verdict,
        identity,
        said,
        text[span.start : span.end],
        MARKS[verdict],
    )
