"""One conversation: its messages, and what a finished run leaves behind as a message."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal, assert_never

from core.answer.checked import AnswerCheck
from core.answer.citations import cited_sources
from core.answer.events import (
    Answer,
    Checked,
    Notice,
    PageRead,
    ReadingStarted,
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
    is_damaged,
)
from core.base.settings import EMBEDDED_LABEL
from core.search.types import Source

Role = Literal["user", "assistant", "note"]
"""A note is a word of the program's: shown, kept, and never sent to a model."""
Mode = Literal["chat", "agent"]


def new_id() -> str:
    return secrets.token_urlsafe(9)


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    text: str
    events: tuple[RunEvent, ...] = ()
    """Everything the run told, except the text piece by piece: what every rerun draws again."""
    cited: tuple[Source, ...] = ()
    seconds: float = 0.0
    id: str = field(default_factory=new_id)
    model: str = ""
    """Who answered, as the reader knows it."""
    mode: Mode = "chat"
    """How it was answered."""
    created: float = field(default_factory=time.time, compare=False)
    before: str = ""
    """The text that a rewriting has replaced, as long as it may be wanted back."""
    suggestions: tuple[str, ...] = ()
    """What the model suggests to ask next."""
    files: tuple[str, ...] = ()
    """The names of what was attached to a question."""

    @property
    def found(self) -> tuple[Source, ...]:
        return sources_in(self.events)

    @property
    def searches(self) -> tuple[SearchFinished, ...]:
        return tuple(event for event in self.events if isinstance(event, SearchFinished))

    @property
    def looked_nothing_up(self) -> bool:
        """A model's own words, which nobody can trace. The agent says that itself, the embedded model has no such words,
        and of a damaged record nobody knows."""
        alone = self.role == "assistant" and self.mode == "chat" and self.model != EMBEDDED_LABEL
        told_of = self.searches or self.found or any(map(is_damaged, self.events))
        return alone and bool(self.text.strip()) and not told_of

    @property
    def tool_calls(self) -> int:
        return sum(isinstance(event, ToolStarted) for event in self.events)

    @property
    def whole(self) -> bool:
        """Nothing is missing: an agent that was stopped by a limit still wrote its answer."""
        ending = self.ending
        return ending is None or (isinstance(ending, RunStopped) and ending.reason != "user")

    @property
    def thought(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, Thought))

    @property
    def notices(self) -> tuple[Notice, ...]:
        return tuple(event for event in self.events if isinstance(event, Notice))

    @property
    def usage(self) -> Usage | None:
        """The last word about it: what a model was asked afterwards is added."""
        return next((event for event in reversed(self.events) if isinstance(event, Usage)), None)

    @property
    def check(self) -> AnswerCheck | None:
        """依据核对, as it was made when the answer was complete."""
        return next((event.check for event in reversed(self.events) if isinstance(event, Checked)), None)

    def rechecked(self, check: AnswerCheck | None) -> Message:
        """With this check in place of its own."""
        others = (event for event in self.events if not isinstance(event, Checked))
        return replace(self, events=(*others, *([Checked(check)] if check else [])))

    def costing(self, input: int, output: int, *, estimated: bool) -> Message:
        """After a further call of the model."""
        others = (event for event in self.events if not isinstance(event, Usage))
        return replace(self, events=(*others, (self.usage or Usage(0, 0)).plus(input, output, estimated=estimated)))

    def rewritten(self, text: str, *, before: str) -> Message:
        """With another text, and the numbers in it resolved again. It has not been checked yet."""
        cited = cited_sources(text, self.found)
        events = (Answer(text, cited) if isinstance(event, Answer) else event for event in self.events)
        return replace(self, text=text, cited=cited, events=tuple(events), before=before).rechecked(None)

    @property
    def ending(self) -> RunFailed | RunStopped | None:
        """Set when the answer is not whole."""
        return next((event for event in self.events if isinstance(event, RunFailed | RunStopped)), None)

    @property
    def stopped(self) -> str:
        """What is to be said of an answer that its reader has stopped; a limit has a notice of its own."""
        match self.ending:
            case RunStopped(reason="user"):
                return "已停止，以上是停止前写出的内容。" if self.text.strip() else "已停止，还没有写出内容。"
        return ""


def questions_of(messages: Iterable[Message]) -> dict[str, str]:
    """What each answer answers, by the answer's id."""
    found, asked = {}, ""
    for message in messages:
        if message.role == "user":
            asked = message.text
        elif message.role == "assistant":
            found[message.id] = asked
    return found


def message_from_run(
    events: Iterable[RunEvent],
    *,
    seconds: float,
    id: str = "",
    model: str = "",
    mode: Mode = "chat",
    growing: bool = False,
) -> Message:
    """The assistant's message: the whole answer if there is one, else as much of it as was written.

    What a growing one cites is left open: to look through all of it once a second would cost more the longer it is.
    """
    written: list[str] = []
    kept: list[RunEvent] = []
    answer: Answer | None = None
    for event in events:
        match event:
            case TextDelta(text=text):
                written.append(text)
            case SearchFinished(amends=True):
                _amend(kept, event)
            case ToolStarted():
                kept.append(event)
                written.clear()  # what the model announced before it called a tool is told as a thought
            case Answer():
                kept.append(event)
                answer = event
            case SearchStarted() | SearchFinished() | ReadingStarted() | PageRead() | Checked():
                kept.append(event)
            case Thought() | ToolFinished() | Notice() | Usage() | RunStopped() | RunFailed():
                kept.append(event)
            case _:
                assert_never(event)
    kept = list(_thoughts_joined(kept))
    found = sources_in(kept)
    text = answer.text if answer else "".join(written)
    cited = answer.sources if answer else () if growing else cited_sources(text, found)
    return Message("assistant", text, tuple(kept), cited, seconds, id or new_id(), model, mode)


def _thoughts_joined(events: Iterable[RunEvent]) -> Iterator[RunEvent]:
    for kind, group in groupby(events, key=type):
        if kind is Thought:
            thoughts = [event for event in group if isinstance(event, Thought)]
            yield Thought("".join(one.text for one in thoughts), sum(one.seconds for one in thoughts))
        else:
            yield from group


def _amend(events: list[RunEvent], search: SearchFinished) -> None:
    search = replace(search, amends=False)
    told = [n for n, one in enumerate(events) if isinstance(one, SearchFinished) and one.call_id == search.call_id]
    if told:
        events[told[-1]] = search
    else:
        events.append(search)


def sources_in(events: Iterable[RunEvent]) -> tuple[Source, ...]:
    """Every source that the model was shown, each number once, ascending, as it is after all reading."""
    shown: dict[int, Source] = {}
    for event in events:
        if isinstance(event, SearchFinished):
            shown |= {source.number: source for source in event.sources}
        elif isinstance(event, PageRead):
            shown[event.source.number] = event.source
    return tuple(shown[number] for number in sorted(shown))
