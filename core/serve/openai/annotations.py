"""The citations of an answer as annotations: OpenAI's `url_citation`, with what is known of each source and its verdict."""

from __future__ import annotations

from typing import Any

from core.answer import CitationVerdict, cited_places
from core.answer.message import Message
from core.base.text import clean

Annotation = dict[str, Any]


def annotations_of(message: Message, offset: int = 0) -> list[Annotation]:
    """Return one annotation for each number in the text, in its order. `start_index` and `end_index` count characters.
    `offset`: where the text begins in what the client gets."""
    sources = {source.number: source for source in message.cited}
    verdicts = _verdicts(message)
    return [
        {
            "type": "url_citation",
            "start_index": offset + place.start,
            "end_index": offset + place.end,
            **sources[place.number].to_json(),
            **_verdict_json(verdicts.get((place.start, place.number))),
        }
        for place in cited_places(message.text, sources)
    ]


def _verdicts(message: Message) -> dict[tuple[int, int], CitationVerdict]:
    """Return the worst verdict on a number at each place: a bracket may stand for several sentences."""
    if message.check is None or clean(message.text) != message.text:  # the places of a check are those of a clean text
        return {}
    found: dict[tuple[int, int], CitationVerdict] = {}
    for statement in message.check.statements:
        for citation in statement.citations:
            verdict = CitationVerdict.from_citation(statement, citation)
            for place in range(citation.start, citation.end):  # adjoining brackets are one citation
                worst = min(found.get((place, citation.number), verdict), verdict, key=lambda one: one.severity_key)
                found[place, citation.number] = worst
    return found


def _verdict_json(verdict: CitationVerdict | None) -> dict[str, str | None]:
    if verdict is None:
        return {"verdict": None, "label": None, "reason": None}
    return {"verdict": verdict.verdict.value, "label": verdict.label, "reason": verdict.reason}
