"""A message as the database keeps it: JSON that gives back exactly what was shown.

Not the public JSON of events (`to_json`): this one keeps everything, and nobody outside reads it. A stored document
may be damaged or come from a newer version; reading it never fails.
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from core.answer.events import (
    Answer,
    Notice,
    RunEvent,
    RunFailed,
    RunStopped,
    SearchFinished,
    SearchStarted,
    TextDelta,
    Thought,
    ToolFinished,
    ToolStarted,
    Usage,
)
from core.answer.message import Message, Role
from core.base.text import clean
from core.search.types import Source

log = logging.getLogger(__name__)

VERSION = 1

EVENTS: dict[str, type[RunEvent]] = {
    event.type: event
    for event in (
        SearchStarted,
        SearchFinished,
        Thought,
        ToolStarted,
        ToolFinished,
        TextDelta,
        Notice,
        Answer,
        Usage,
        RunStopped,
        RunFailed,
    )
}

DAMAGED = Notice(kind="damaged", text="这条消息保存的搜索记录或来源已损坏，只能显示其余部分。")
NO_TEXT = "（这条消息已损坏，无法显示。）"


def encode(message: Message) -> str:
    """Everything but id, role, text and time, which the database keeps in columns of their own."""
    document = {
        "version": VERSION,
        "events": [{"type": event.type, **asdict(event)} for event in message.events],
        "cited": [asdict(source) for source in message.cited],
        "seconds": message.seconds,
        "model": message.model,
    }
    return json.dumps(_cleaned(document), ensure_ascii=False, separators=(",", ":"))


def decode(document: object, *, id: str, role: str, text: object, created: object) -> Message:
    """The message again. `object`: where a disk has turned some bits, a column may hold anything."""
    events: tuple[RunEvent, ...] = ()
    cited: tuple[Source, ...] = ()
    seconds, model = 0.0, ""
    shown = text if isinstance(text, str) else ""
    time = float(created) if isinstance(created, int | float) else 0.0
    try:
        found = json.loads(_text(document))
        events = _events(found["events"])
        seconds, model = float(found["seconds"]), str(found["model"])
        cited = tuple(_readers()["source"].validate_python(source) for source in found["cited"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        log.warning("a stored message is damaged; what is left of it is shown")
        events = (*(event for event in events if event != DAMAGED), DAMAGED)
        shown = shown or NO_TEXT
    known: Role = "user" if role == "user" else "note" if role == "note" else "assistant"
    return Message(known, shown, events, cited, seconds, str(id), model, time)


def _events(stored: list[dict[str, Any]]) -> tuple[RunEvent, ...]:
    """Fields and types of event that this version does not know are left out; a field that it misses has its default."""
    events: list[RunEvent] = []
    for entry in stored:
        if entry["type"] not in EVENTS:
            log.info("a stored event of type %.40r is unknown to this version", entry["type"])
            continue
        try:
            events.append(_readers()[entry["type"]].validate_python(entry))
        except ValueError:
            log.warning("a stored %s event is damaged and is left out", entry["type"])
            if DAMAGED not in events:
                events.append(DAMAGED)
    return tuple(events)


@cache
def _readers() -> dict[str, TypeAdapter[Any]]:
    """Built on first use: it takes a tenth of a second."""
    return {"source": TypeAdapter(Source)} | {name: TypeAdapter(kind) for name, kind in EVENTS.items()}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    return value


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return clean(value)
        case dict():
            return {clean(key): _cleaned(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_cleaned(inner) for inner in value]
    return value
