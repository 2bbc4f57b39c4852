"""A message as the database stores it: JSON from which exactly the shown message can be restored.

Not the public JSON of events (`to_json`): this one holds everything, and only this program reads it. A stored document
may be damaged or come from a newer version; reading it never fails.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache, lru_cache
from typing import Any, get_args

from pydantic import TypeAdapter

from core.answer.check_results import CHECKER_VERSION, InventedCitation
from core.answer.check_texts import (
    WITHDRAWN_VERSION,
    LoadTexts,
    TextsByNumber,
    restore_evidence,
    source_texts,
)
from core.answer.events import (
    DAMAGED,
    Answer,
    Checked,
    PageRead,
    ReadingStarted,
    RunEvent,
    SearchFinished,
    SearchStarted,
    ToolFinished,
    ToolStarted,
    Usage,
    is_damaged,
)
from core.answer.message import Message, Mode, Role, sources_in
from core.answer.stored_check import encode_check, expand_check, words_at
from core.base.text import clean
from core.search.types import Source

log = logging.getLogger(__name__)

VERSION = 4
"""1: a search, a reading and a page did not tell which tool call had asked for it. 2: events repeated the text, and named
their empty fields. 3: a check repeated its results, and the words of the sources."""

EVENT_TYPES: dict[str, type[RunEvent]] = {event.type: event for event in get_args(RunEvent)}

_AskedFor = SearchStarted | SearchFinished | ReadingStarted | PageRead

DAMAGED_TEXT = "（这条消息已损坏，无法显示。）"


def encode_message(message: Message) -> str:
    """Return the JSON of a message, without id, role, text and time: the database has columns for these. What repeats
    the text is left out, so that nobody pays for it twice; `decode_message` takes it from there."""
    text = clean(message.text)
    document = {
        "version": VERSION,
        "cited": _to_plain(message.cited),
        "seconds": message.seconds,
        "model": clean(message.model),
        "mode": message.mode,
    }
    optional = {
        "before": message.before,
        "suggestions": message.suggestions,
        "files": message.files,
        "before_invented": message.before_invented,
    }
    document |= {name: _to_plain(value) for name, value in optional.items() if value}
    return f'{_json(document)[:-1]},"events":[{",".join(_encode_event(event, text) for event in _shown_events(message))}]}}'


def _shown_events(message: Message) -> Iterator[RunEvent]:
    """Yield the events without a check that a later one has replaced."""
    shown = message.check
    return (event for event in message.events if not isinstance(event, Checked) or event.check is shown)


def _json(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


class _EventIdentity:
    """An event compared by identity: comparing its content would cost as much as encoding it."""

    def __init__(self, event: RunEvent) -> None:
        self.event = event

    def __hash__(self) -> int:
        return id(self.event)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _EventIdentity) and self.event is other.event


def _encode_event(event: RunEvent, text: str) -> str:
    match event:
        case Answer():
            entry = _plain_event(event)
            return _json({name: value for name, value in entry.items() if name != "text" or value != text})
        case Checked(check=check):
            return _json({"type": event.type, "check": _to_plain(encode_check(check, text))})
        case Usage():
            return _json(_plain_event(event))
    return _encode_event_once(_EventIdentity(event))


@lru_cache(maxsize=256)
def _encode_event_once(identity: _EventIdentity) -> str:
    """Encode an event once. A growing answer is saved every second, and its earlier events do not change."""
    return _json(_plain_event(identity.event))


def _plain_event(event: RunEvent) -> dict[str, Any]:
    return {"type": event.type, **_to_plain(event)}


def _with_text(entry: dict[str, Any], text: str) -> dict[str, Any]:
    """Return a stored event with what was left out of it because the text has it."""
    if entry["type"] == Answer.type:
        return {"text": text, **entry}
    if entry["type"] == Checked.type:
        check = entry["check"]
        return entry | {"check": expand_check(check, text) if "results" in check else _check_of_version_3(check, text)}
    return entry


def _check_of_version_3(check: dict[str, Any], text: str) -> dict[str, Any]:
    """Return a check that does not tell what its texts were: it is made again."""
    parts = {
        name: [{"text": words_at(text, part["start"], part["end"]), **part} for part in check.get(name, ())]
        for name in ("statements", "uncited")
    }
    return check | parts | {"version": WITHDRAWN_VERSION}


def _no_texts(sources: Sequence[Source]) -> TextsByNumber:
    return {}


def decode_message(
    document: object, *, id: str, role: str, text: object, created: object, load_texts: LoadTexts = _no_texts
) -> Message:
    """Return the stored message. Arguments are `object`, because a column may hold anything after a disk error.
    `load_texts` returns what was read of the sources; without it, no mark of the check is shown."""
    events: tuple[RunEvent, ...] = ()
    cited: tuple[Source, ...] = ()
    seconds, model, mode, before = 0.0, "", "", ""
    suggestions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    before_invented: tuple[InventedCitation, ...] = ()
    shown = text if isinstance(text, str) else ""
    time = float(created) if isinstance(created, int | float) else 0.0
    try:
        found = json.loads(_require_text(document))
        events = _decode_events(found["events"], _require_text(text))
        events = tuple(_with_call_ids(events)) if found.get("version") == 1 else events
        events = _with_evidence(events, load_texts)
        seconds, model, mode = float(found["seconds"]), str(found["model"]), str(found.get("mode", ""))
        before = str(found.get("before", ""))
        suggestions = tuple(map(_require_text, found.get("suggestions", ())))
        files = tuple(map(_require_text, found.get("files", ())))
        before_invented = tuple(
            InventedCitation(int(one["at"]), tuple(map(int, one["numbers"])))
            for one in found.get("before_invented", ())
        )
        cited = tuple(_type_adapters()["source"].validate_python(source) for source in found["cited"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        log.warning("a stored message is damaged; what is left of it is shown")
        events = (*(event for event in events if not is_damaged(event)), DAMAGED)
        shown = shown or DAMAGED_TEXT
    known: Role = "user" if role == "user" else "note" if role == "note" else "assistant"
    by: Mode = "agent" if mode == "agent" or (not mode and _is_from_agent(events)) else "chat"
    return Message(
        known, shown, events, cited, seconds, str(id), model, by, time, before, suggestions, files, before_invented
    )


def _with_evidence(events: tuple[RunEvent, ...], load_texts: LoadTexts) -> tuple[RunEvent, ...]:
    checks = [event.check for event in events if isinstance(event, Checked)]
    if not checks:
        return events
    sources = sources_in(events)
    is_current = any(check.version == CHECKER_VERSION for check in checks)
    texts = source_texts(sources, load_texts(sources)) if is_current else []
    return tuple(
        replace(event, check=restore_evidence(event.check, texts)) if isinstance(event, Checked) else event
        for event in events
    )


def _is_from_agent(events: Iterable[RunEvent]) -> bool:
    """Return whether the agent wrote a document without a mode: only the agent has tools and usage parts."""
    return any(isinstance(event, ToolStarted) or (isinstance(event, Usage) and event.parts) for event in events)


def _decode_events(stored: list[dict[str, Any]], text: str) -> tuple[RunEvent, ...]:
    """Decode the stored events. Unknown fields and types of event are left out; a missing field gets its default."""
    events: list[RunEvent] = []
    for entry in stored:
        if entry["type"] not in EVENT_TYPES:
            log.info("a stored event of type %.40r is unknown to this version", entry["type"])
            continue
        try:
            events.append(_type_adapters()[entry["type"]].validate_python(_with_text(entry, text)))
        except (ValueError, LookupError, TypeError, AttributeError):
            log.warning("a stored %s event is damaged and is left out", entry["type"])
            if not any(map(is_damaged, events)):
                events.append(DAMAGED)
    return tuple(events)


def _with_call_ids(events: Iterable[RunEvent]) -> Iterator[RunEvent]:
    """Yield the events of a document of version 1, each with the open call that most likely asked for it."""
    searching, reading, pages = dict[str, str](), dict[str, str](), dict[int, str]()
    for event in events:
        call_id = ""
        if isinstance(event, ToolStarted):
            (reading if event.tool == "read_page" else searching)[event.call_id] = event.input
        elif isinstance(event, ToolFinished):
            searching.pop(event.call_id, None)
            reading.pop(event.call_id, None)
        elif isinstance(event, SearchStarted):
            call_id = _first_asking(searching, event.query)
        elif isinstance(event, SearchFinished):
            call_id = _first_asking(searching, event.response.query.text)
            searching.pop(call_id, None)
        elif isinstance(event, ReadingStarted) and reading:
            call_id = next(iter(reading))
            del reading[call_id]
            pages |= {source.number: call_id for source in event.sources}
        elif isinstance(event, PageRead):
            call_id = pages.get(event.source.number, "")
        yield replace(event, call_id=call_id) if isinstance(event, _AskedFor) else event


def _first_asking(calls: dict[str, str], query: str) -> str:
    """Return the call whose input is the query, else one whose input begins with it, else the first one."""
    return min(calls, key=lambda one: (calls[one] != query, not calls[one].startswith(query)), default="")


@cache
def _type_adapters() -> dict[str, TypeAdapter[Any]]:
    """Return the pydantic adapters, built on first use: this takes a tenth of a second."""
    return {"source": TypeAdapter(Source)} | {name: TypeAdapter(kind) for name, kind in EVENT_TYPES.items()}


def _require_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    return value


def _to_plain(value: Any) -> Any:
    """Return the value as JSON types, without characters that a database refuses."""
    match value:
        case str():
            return clean(value)
        case dict():
            return {clean(key): _to_plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_to_plain(inner) for inner in value]
    if is_dataclass(value):
        return _plain_fields(value)
    return value


def _plain_fields(value: Any) -> dict[str, Any]:
    """Return the fields, without empty ones whose default is as empty. Other defaults may be different ones some day."""
    values = {name: getattr(value, name) for name in value.__dataclass_fields__}
    defaults = _empty_defaults(value.__class__)
    return {
        name: _to_plain(inner)
        for name, inner in values.items()
        if inner or name not in defaults or inner != defaults[name]
    }


@cache
def _empty_defaults(kind: type[Any]) -> dict[str, Any]:
    """Return the defaults that are empty, by the name of the field."""
    defaults: dict[str, Any] = {one.name: {} if one.default_factory is dict else one.default for one in fields(kind)}
    return {name: default for name, default in defaults.items() if not default}
