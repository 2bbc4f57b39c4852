"""The messages of a conversation, and the message that a finished run becomes."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import Literal

from core.answer.check_results import AnswerCheck, InventedCitation
from core.answer.citation_verdicts import agreeing_sources, places_by_source
from core.answer.citations import Cut, apply_cuts, cited_sources, unsourced_cuts
from core.answer.events import (
    INVENTED_KIND,
    Answer,
    Checked,
    Notice,
    PageRead,
    RunEvent,
    RunFailed,
    RunStopped,
    SearchFinished,
    SourcesFound,
    SourcesGiven,
    TextDelta,
    Thought,
    ToolStarted,
    Usage,
    invented_notice,
    is_damaged,
)
from core.base.settings import EMBEDDED_LABEL
from core.base.text import clean
from core.reading import Place
from core.search.types import Source

Role = Literal["user", "assistant", "note"]
"""The author of a message. A note is from the program: shown, stored, and never sent to a model."""
Mode = Literal["chat", "agent"]


def new_id() -> str:
    return secrets.token_urlsafe(9)


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    text: str
    events: tuple[RunEvent, ...] = ()
    """All events of the run except the text deltas. Every rerun draws them again."""
    cited: tuple[Source, ...] = ()
    seconds: float = 0.0
    id: str = field(default_factory=new_id)
    model: str = ""
    """The model that answered, by the name that readers know."""
    mode: Mode = "chat"
    """The mode in which it was answered."""
    created: float = field(default_factory=time.time, compare=False)
    before: str = ""
    """The text before a revision, as long as the reader may want it back."""
    suggestions: tuple[str, ...] = ()
    """Questions that the model suggests to ask next."""
    files: tuple[str, ...] = ()
    """The names of the files attached to a question."""
    before_invented: tuple[InventedCitation, ...] = ()
    """The citations of sources that do not exist in the text before a revision."""

    @property
    def sources(self) -> tuple[Source, ...]:
        return sources_in(self.events)

    @property
    def unsourced_cuts(self) -> list[Cut]:
        """The places of the cleaned text that cite what is not a source. Only messages of earlier versions have some."""
        return unsourced_cuts(clean(self.text), {source.number for source in self.sources})

    @property
    def shown_text(self) -> str:
        """The text as the page shows it: an answer without citations that have no source."""
        return apply_cuts(clean(self.text), self.unsourced_cuts if self.role == "assistant" else [])

    @property
    def searches(self) -> tuple[SearchFinished, ...]:
        return tuple(event for event in self.events if isinstance(event, SearchFinished))

    @property
    def is_unsourced(self) -> bool:
        """True if the answer has no sources at all, only a model's own words. The agent says so itself, the embedded
        model has no words of its own, and a damaged record does not count."""
        alone = self.role == "assistant" and self.mode == "chat" and self.model != EMBEDDED_LABEL
        has_sources = self.searches or self.sources or any(map(is_damaged, self.events))
        return alone and bool(self.text.strip()) and not has_sources

    @property
    def tool_calls(self) -> int:
        return sum(isinstance(event, ToolStarted) for event in self.events)

    @property
    def is_whole(self) -> bool:
        """True if no part is missing. An agent that was stopped by a limit still wrote its answer."""
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
        """The last Usage event, which includes later calls of a model."""
        return next((event for event in reversed(self.events) if isinstance(event, Usage)), None)

    @property
    def check(self) -> AnswerCheck | None:
        """The result of 依据核验, computed when the answer was complete."""
        return next((event.check for event in reversed(self.events) if isinstance(event, Checked)), None)

    @property
    def invented(self) -> tuple[InventedCitation, ...]:
        """The citations of sources that do not exist. The text is without them."""
        return next((event.invented for event in self.events if isinstance(event, Answer)), ())

    @property
    def agreeing(self) -> tuple[Source, ...]:
        """The sources that the text does not cite although they say some of it."""
        return agreeing_sources(self.check, self.sources, self.cited)

    @property
    def places(self) -> dict[int, tuple[Place, ...]]:
        """The places that the answer rests on, by the number of the source."""
        return places_by_source(self.check)

    def with_check(self, check: AnswerCheck | None) -> Message:
        """Return the message with this check instead of its own."""
        others = (event for event in self.events if not isinstance(event, Checked))
        return replace(self, events=(*others, *([Checked(check)] if check else [])))

    def with_added_usage(self, input: int, output: int, *, estimated: bool) -> Message:
        """Return the message with the tokens of a further model call added."""
        others = (event for event in self.events if not isinstance(event, Usage))
        return replace(self, events=(*others, (self.usage or Usage(0, 0)).plus(input, output, estimated=estimated)))

    def with_repeated_check(self, check: AnswerCheck | None) -> Message:
        """Return the message with a check that was made again. An answer of an earlier version, which still has its
        citations of sources that do not exist, gets the notice on them."""
        invented = [cut.invented for cut in self.unsourced_cuts if cut.invented is not None]
        if not invented or self.role != "assistant" or any(one.kind == INVENTED_KIND for one in self.notices):
            return self.with_check(check)
        notice = invented_notice(set(chain(*invented)), has_sources=bool(self.sources))
        return replace(self, events=(*self.events, notice)).with_check(check)

    def with_revision(self, text: str, invented: tuple[InventedCitation, ...]) -> Message:
        """Return the message with another version of its text. The first one is kept: the reader may want it back."""
        before, of_before = (self.before, self.before_invented) if self.before else (self.text, self.invented)
        return replace(self.with_text(text, before=before, invented=invented), before_invented=of_before)

    def without_revision(self) -> Message:
        """Return the message with the text that it had before it was revised."""
        old = self.with_text(self.before, before="", invented=self.before_invented)
        return replace(old, before_invented=())

    def with_text(self, text: str, *, before: str, invented: tuple[InventedCitation, ...] = ()) -> Message:
        """Return the message with another text and the sources it cites. The new text is not checked yet."""
        answer = Answer(text, cited_sources(text, self.sources), invented)
        events = [answer if isinstance(event, Answer) else event for event in self.events]
        kept = [event for event in events if not (isinstance(event, Notice) and event.kind == INVENTED_KIND)]
        if invented:
            kept.append(invented_notice(answer.invented_numbers, has_sources=bool(self.sources)))
        return replace(self, text=text, cited=answer.sources, events=tuple(kept), before=before).with_check(None)

    @property
    def ending(self) -> RunFailed | RunStopped | None:
        """The event that ended the answer early, if any."""
        return next((event for event in self.events if isinstance(event, RunFailed | RunStopped)), None)

    @property
    def stop_note(self) -> str:
        """The sentence on an answer that its reader stopped. An answer stopped by a limit has a notice instead."""
        if not isinstance(self.ending, RunStopped) or self.ending.reason != "user":
            return ""
        return "已停止，以上是停止前写出的内容。" if self.text.strip() else "已停止，还没有写出内容。"


def questions_by_answer(messages: Iterable[Message]) -> dict[str, str]:
    """Return the question of each answer, by the answer's id."""
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
    is_growing: bool = False,
) -> Message:
    """Return the assistant's message: the whole answer if there is one, else the text so far. The citations of a
    growing answer are not resolved: parsing all of it every second would cost more and more."""
    written: list[str] = []
    invented: list[tuple[int, ...]] = []
    kept: list[RunEvent] = []
    for event in events:
        match event:
            case TextDelta(text=text):
                written.append(text)
                invented += [event.invented] if event.invented is not None else []
            case SearchFinished(amends=True):
                _replace_last_search(kept, event)
            case ToolStarted():
                kept.append(event)
                written.clear()  # the text before a tool call is shown as a thought
                invented.clear()
            case _:
                kept.append(event)
    kept = list(_join_thoughts(kept))
    answer = next((event for event in reversed(kept) if isinstance(event, Answer)), None)
    if invented and not answer:
        kept.append(invented_notice(set(chain(*invented)), has_sources=bool(sources_in(kept))))
    text = answer.text if answer else "".join(written)
    cited = answer.sources if answer else () if is_growing else cited_sources(text, sources_in(kept))
    return Message("assistant", text, tuple(kept), cited, seconds, id or new_id(), model, mode)


def _join_thoughts(events: Iterable[RunEvent]) -> Iterator[RunEvent]:
    for kind, group in groupby(events, key=type):
        if kind is Thought:
            thoughts = [event for event in group if isinstance(event, Thought)]
            yield Thought("".join(one.text for one in thoughts), sum(one.seconds for one in thoughts))
        else:
            yield from group


def _replace_last_search(events: list[RunEvent], search: SearchFinished) -> None:
    search = replace(search, amends=False)
    places = [n for n, one in enumerate(events) if isinstance(one, SearchFinished) and one.call_id == search.call_id]
    if places:
        events[places[-1]] = search
    else:
        events.append(search)


def sources_in(events: Iterable[RunEvent]) -> tuple[Source, ...]:
    """Return every source that the model was shown, as it is after all reading, ordered by number."""
    shown: dict[int, Source] = {}
    for event in events:
        if isinstance(event, SearchFinished | SourcesFound):
            shown |= {source.number: source for source in event.sources}
        elif isinstance(event, PageRead):
            shown[event.source.number] = event.source
        elif isinstance(event, SourcesGiven):
            shown |= {source.number: source for source in event.sources if source.number in shown}
    return tuple(shown[number] for number in sorted(shown))
