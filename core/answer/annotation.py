"""The Markdown of an answer with a mark at each place about which the check has something to say.

The marks are characters that `clean` removes from every text from outside, so that no other text can contain one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.answer.check_results import AnswerCheck, InventedCitation, StatuteVerdict, UncitedStatement
from core.answer.citation_verdicts import (
    CitationVerdict,
    list_agreements,
    list_verdicts,
    other_uncited,
)
from core.answer.inline_spans import places_outside
from core.base.text import clean

NOTE, END_OF_NOTE, NO_SOURCE, AGREES, MISSING = "\ufff0", "\ufff1", "\ufff2", "\ufff3", "\ufff4"
AGAINST_LAW = "\ufff5"

Notes = Mapping[int, CitationVerdict]
"""The verdicts on one bracket, by the number of the source."""


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    text: str
    notes: Sequence[Notes] = ()
    uncited: Sequence[UncitedStatement] = ()
    """The statements without a number, in the order of their marks."""
    missing: Sequence[InventedCitation] = ()
    """The citations of sources that do not exist, in the order of their marks."""
    statutes: Sequence[StatuteVerdict] = ()
    """What 法条核验 has against statements that a source says, in the order of their marks."""


def annotate(text: str, check: AnswerCheck | None) -> AnnotatedText:
    text = clean(text)
    if check is None:
        return AnnotatedText(text)
    by_bracket: dict[int, dict[int, CitationVerdict]] = {}
    for verdict in list_verdicts(check):
        bracket = by_bracket.setdefault(verdict.end, {})
        # A bracket that stands for several statements shows only the worst verdict.
        bracket[verdict.number] = min(bracket.get(verdict.number, verdict), verdict, key=lambda one: one.severity_key)
    brackets = [(end, f"{NOTE}{place}{END_OF_NOTE}") for place, end in enumerate(by_bracket)]
    uncited, agreeing, against = other_uncited(check), list(list_agreements(check)), check.against_law
    marks = [(one.end, f"{NO_SOURCE}{place}{END_OF_NOTE}") for place, one in enumerate(uncited)]
    marks += [(one.end, f"{AGREES}{place}{END_OF_NOTE}") for place, one in enumerate(agreeing, len(by_bracket))]
    marks += [(one.at, f"{MISSING}{place}{END_OF_NOTE}") for place, one in enumerate(check.unattached)]
    marks += [(one.end, f"{AGAINST_LAW}{place}{END_OF_NOTE}") for place, one in enumerate(against)]
    notes = [*by_bracket.values(), *({one.number: one} for one in agreeing)]
    placed = with_marks(text, sorted([*brackets, *_outside_code(text, marks)]))
    return AnnotatedText(placed, notes, uncited, check.unattached, [one.statute for one in against if one.statute])


def _outside_code(text: str, marks: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the marks, none of them within code, a link or a formula."""
    ordered = sorted(marks)
    ends = places_outside(text, [at for at, _ in ordered])
    return [(end, mark) for end, (_, mark) in zip(ends, ordered, strict=True)]


def with_marks(text: str, marks: Sequence[tuple[int, str]]) -> str:
    """Return the text with each mark inserted at its place. The places are in ascending order."""
    pieces, begin = [], 0
    for at, mark in marks:
        pieces += [text[begin:at], mark]
        begin = at
    return "".join([*pieces, text[begin:]])
