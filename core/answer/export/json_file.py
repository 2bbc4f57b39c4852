"""The JSON export, version 1. Fields may be added; none changes its meaning without a new version:
    {"format": "wenyuan-conversation", "version": 1, "title", "exported",
     "messages": [{"id", "role": "user"|"assistant", "label": "问"|"答", "text", "created",
        (of a question with attachments:) "files": [name],
        (of an answer:) "model", "seconds", "complete",
        "references": [{"number", "title", "url", "domain", "snippet", "summary" (the same), "published", "read", "accessed",
            (of a file with pages that the answer rests on:) "pages": [number], (of any with places:) "places": [label]}],
        (where a source says statements without a number and is cited nowhere:) "agreeing": [as in references],
        "check": null or {"version", "statements": [{"text", "verdict", ("by": "model",) "score", "reason", "evidence": [{"source", "start", "end", "text", (of a page or slide:) "page": number, (of any place:) "place": label, (of a picture's text:) "recognized": true}], "citations", …}], "uncited": [{"text", ("agreesWith": number, "check",) ("invented": [number of a source that does not exist],) …}],
            (where a sentence without a number names articles that were looked up:) "statutes": [{"text", "statute": {"mark", "meaning", "cited", "note"}, …}],
            (where sources are cited that do not exist:) "invented": [{"at": place in the text, "numbers"}],
            (where a model was asked:) "opinion": {"model", "asked", "accepted", "tokens", "estimated"}},
        "statutes": [{"mark": "✓"|"○"|"≠"|"✗"|"⌛"|"？", "meaning", "cited", "lawName", "articleNumber", "text", "quote", "claim", "note", …}],
        "searches": [{"query", ("asked": the question, where it was searched for in other words,) "type", "provider", "results", "seconds", "fromCache"}],
        "notices": [text]}]}
Times are ISO 8601 with an offset. `text` is Markdown in which `[n]` cites the reference with that number."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Any, TypeVar

from core.answer.check_results import AnswerCheck, CitationCheck, StatementCheck, UncitedStatement
from core.answer.citation_verdicts import with_statutes
from core.answer.citations import Cut
from core.answer.events import BROKEN_OFF_KINDS, SearchFinished
from core.answer.export import common
from core.answer.message import Message
from core.base.text import clean, one_line
from core.base.web_addresses import host_of
from core.reading import Place
from core.search.types import Source

FORMAT = "wenyuan-conversation"
VERSION = 1

Placed = TypeVar("Placed", StatementCheck, CitationCheck, UncitedStatement)


def as_json(
    title: str,
    messages: Iterable[Message],
    *,
    zone: tzinfo | None = None,
    check_statutes: common.CheckStatutes = common.no_statute_check,
) -> str:
    document = {
        "format": FORMAT,
        "version": VERSION,
        "title": one_line(title) or common.UNTITLED,
        "exported": datetime.now(zone).astimezone(zone).isoformat(timespec="seconds"),
        "messages": [_message_json(message, zone, check_statutes) for message in common.exported_messages(messages)],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _message_json(message: Message, zone: tzinfo | None, check_statutes: common.CheckStatutes) -> dict[str, Any]:
    shared = {
        "id": message.id,
        "role": message.role,
        "label": common.LABELS[message.role],
        "text": message.shown_text,
        "created": common.local_time(message.created, zone).isoformat(timespec="seconds"),
    }
    if message.role == "user":
        return shared | ({"files": [one_line(name) for name in message.files]} if message.files else {})
    accessed, places = common.format_day(message, zone), message.places
    check = with_statutes(message.check, check_statutes(message))
    agreeing = [_reference_json(source, accessed, places.get(source.number, ())) for source in message.agreeing]
    cases = common.case_findings(message, check_statutes)
    return shared | {
        "model": clean(message.model),
        "seconds": round(message.seconds, 1),
        "complete": message.ending is None and all(notice.kind not in BROKEN_OFF_KINDS for notice in message.notices),
        "references": [_reference_json(one, accessed, places.get(one.number, ())) for one in message.cited],
        **({"agreeing": agreeing} if agreeing else {}),
        "check": _move_places(check, message.unsourced_cuts).to_json() if check else None,
        "statutes": [verdict.to_json() for verdict in common.statute_findings(message, check_statutes)],
        **({"cases": [one.to_json() for one in cases]} if cases else {}),
        "searches": [_search_json(search) for search in message.searches],
        "notices": [*common.unsourced_notes(message), *(clean(notice.text) for notice in message.notices)],
    }


def _move_places(check: AnswerCheck, cuts: Sequence[Cut]) -> AnswerCheck:
    """Return the check with its places in the exported text, which has no citations without a source."""

    def moved(place: int) -> int:
        return place - sum(cut.end - cut.start - len(cut.replacement) for cut in cuts if cut.end <= place)

    def move(one: Placed) -> Placed:
        return replace(one, start=moved(one.start), end=moved(one.end))

    statements = (replace(move(one), citations=tuple(map(move, one.citations))) for one in check.statements)
    invented = (replace(one, at=moved(one.at)) for one in check.invented)
    return replace(
        check, statements=tuple(statements), uncited=tuple(map(move, check.uncited)), invented=tuple(invented)
    )


def _reference_json(source: Source, accessed: str, places: Sequence[Place]) -> dict[str, Any]:
    pages = [one.page for one in places if one.page is not None]
    where = {**({"pages": pages} if pages else {}), **({"places": [one.label for one in places]} if places else {})}
    return {
        "number": source.number,
        "title": one_line(source.title),
        "url": "" if source.read == "file" else clean(source.url),
        "domain": host_of(source.url),
        "summary": one_line(source.snippet),
        "snippet": one_line(source.snippet),
        "published": source.published,
        "read": source.read,
        "accessed": accessed,
        **(source.given_json() if source.given else {}),
        **where,
    }


def _search_json(search: SearchFinished) -> dict[str, Any]:
    response = search.response
    asked = {"asked": clean(search.asked)} if search.asked else {}
    return {
        "query": clean(response.query.text),
        **asked,
        "type": response.query.type.value,
        "provider": response.provider,
        "results": len(response.results),
        "seconds": round(response.search_time, 2),
        "fromCache": response.from_cache,
    }
