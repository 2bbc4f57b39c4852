"""Marks in the text of a source, at the passages that the check has compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from core.answer.checked import AnswerCheck, Evidence
from core.answer.claims import BAD_FIRST, MARKS, Claim


@dataclass(frozen=True, slots=True)
class Place:
    start: int
    end: int
    claim: Claim


def places(check: AnswerCheck, number: int, text: str) -> list[Place]:
    """Return the compared spans in the order of the text, without overlaps. If two begin together, the worse verdict
    wins."""
    found = [place for claim, evidence in _compared(check, number) if (place := _place(claim, evidence, text))]
    found.sort(key=lambda place: (place.start, BAD_FIRST.index(place.claim.verdict)))
    apart: list[Place] = []
    for place in found:
        start = max(place.start, apart[-1].end) if apart else place.start
        if start < place.end:
            apart.append(Place(start, place.end, place.claim))
    return apart


def _compared(check: AnswerCheck, number: int) -> Iterator[tuple[Claim, Evidence]]:
    for statement in check.statements:
        for citation in statement.citations:
            for evidence in citation.check.evidence:
                if citation.number == number == evidence.source:
                    yield Claim.of(statement, citation), evidence


def _place(claim: Claim, evidence: Evidence, text: str) -> Place | None:
    """Find the passage by its words, because the text may have changed since the check."""
    wanted = evidence.text.rstrip()
    fits = evidence.start >= 0 and text.startswith(wanted, evidence.start)
    start = evidence.start if fits else text.find(wanted)
    return Place(start, start + len(wanted), claim) if wanted and start >= 0 else None


def marked_html(text: str, marked: Sequence[Place], *, anchor: str) -> Markup:
    """Return the text as HTML with the spans marked. The first span can be reached as `#anchor`."""
    pieces, begin = [], 0
    for place in marked:
        identity = Markup("") if begin else Markup(' id="%s"') % anchor
        pieces += [escape(text[begin : place.start]), _mark(text, place, identity)]
        begin = place.end
    return Markup().join([*pieces, escape(text[begin:])])


def _mark(text: str, place: Place, identity: Markup) -> Markup:
    verdict = place.claim.verdict
    said = f"{verdict.label}：{place.claim.statement}"
    return Markup('<mark class="%s"%s title="%s">%s<i aria-hidden="true">%s</i></mark>') % (
        verdict,
        identity,
        said,
        text[place.start : place.end],
        MARKS[verdict],
    )
