"""The events of a run.

Chat mode and Agent mode emit them; the page draws them, the command line prints them, the history stores them. The
names and fields of `to_json` are a public contract.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from core.answer.check_results import AnswerCheck, InventedCitation, invented_sentence
from core.base.web_addresses import canonical_url
from core.search.types import Pause, SearchResponse, SearchResult, Source


@dataclass(frozen=True, slots=True)
class _Event:
    type: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, **{name: getattr(self, name) for name in self.__dataclass_fields__}}


def _unless_empty(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


@dataclass(frozen=True, slots=True)
class SearchStarted(_Event):
    type = "search_started"
    query: str
    asked: str = ""
    """The reader's own words, if other words were searched for."""
    call_id: str = ""
    """The tool call that asked for it, as in ToolStarted; empty where the program itself did."""

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, "query": self.query} | _unless_empty(asked=self.asked, callId=self.call_id)


@dataclass(frozen=True, slots=True)
class SearchFinished(_Event):
    type = "search_finished"
    response: SearchResponse
    sources: tuple[Source, ...] = ()
    """The results that were given to the model, with the numbers it may cite."""
    amends: bool = False
    """True if this is an update of the last search, and replaces it."""
    asked: str = ""
    """The same as in SearchStarted."""
    call_id: str = ""

    @property
    def unnumbered_results(self) -> tuple[SearchResult, ...]:
        """The results that the model was not shown. They have no number."""
        shown = {canonical_url(source.url) for source in self.sources}
        return tuple(result for result in self.response.results if canonical_url(result.url) not in shown)

    def to_json(self) -> dict[str, Any]:
        found = self.response.to_json()
        optional = _unless_empty(asked=self.asked, callId=self.call_id)
        return {"type": self.type, "searchType": found.pop("type"), **found} | optional


@dataclass(frozen=True, slots=True)
class ReadingStarted(_Event):
    type = "reading_started"
    sources: tuple[Source, ...]
    """The sources whose pages are being opened, all at once."""
    call_id: str = ""

    def to_json(self) -> dict[str, Any]:
        sources = [source.to_json() for source in self.sources]
        return {"type": self.type, "sources": sources} | _unless_empty(callId=self.call_id)


@dataclass(frozen=True, slots=True)
class PageRead(_Event):
    """The end of opening one page. A reader's own file was opened before the question was sent."""

    type = "page_read"
    source: Source
    """The source after reading: read, or with the reason why not."""
    instructions: int = 0
    """The number of places that look like instructions to a model."""
    call_id: str = ""

    @property
    def ok(self) -> bool:
        return self.source.read in {"page", "file"}

    def to_json(self) -> dict[str, Any]:
        source = self.source
        page = {"characters": source.characters, "instructions": self.instructions}
        outcome = page if self.ok else {"reason": source.unread}
        document = {"type": self.type, "number": source.number, "url": source.url, "ok": self.ok, **outcome}
        return document | _unless_empty(callId=self.call_id)


@dataclass(frozen=True, slots=True)
class SourcesGiven(_Event):
    """How much of the texts that were read went into the prompt: the sources as they are with it."""

    type = "sources_given"
    sources: tuple[Source, ...]
    call_id: str = ""

    def to_json(self) -> dict[str, Any]:
        given = [{"number": source.number, **source.given_json()} for source in self.sources]
        return {"type": self.type, "sources": given} | _unless_empty(callId=self.call_id)


@dataclass(frozen=True, slots=True)
class PartsStarted(_Event):
    """A file that does not fit a prompt is being read part by part, for a question about the whole."""

    type = "parts_started"
    source: Source
    parts: int

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, "number": self.source.number, "parts": self.parts}


@dataclass(frozen=True, slots=True)
class PartRead(_Event):
    """The end of reading one part: the model has taken notes of it, or could not."""

    type = "part_read"
    source: Source
    part: int
    """Its number, from 1."""
    parts: int
    """The number of parts of the file."""
    places: str = ""
    """The places of the part, where the file has some: 第 3–9 页."""
    problem: str = ""
    """The sentence on why it could not be read; empty if it was."""

    def to_json(self) -> dict[str, Any]:
        part = {"number": self.source.number, "part": self.part, "parts": self.parts, "ok": not self.problem}
        return {"type": self.type, **part} | _unless_empty(places=self.places, reason=self.problem)


@dataclass(frozen=True, slots=True)
class Thought(_Event):
    type = "thought"
    text: str
    seconds: float = 0.0
    """Seconds until the next event, once they are known."""

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, "text": self.text}


@dataclass(frozen=True, slots=True)
class ToolStarted(_Event):
    type = "tool_started"
    tool: str
    input: str
    """The values of all arguments in one line."""
    call_id: str = ""
    arguments: dict[str, str] = field(default_factory=dict)
    server: str = ""
    """The foreign MCP server whose tool it is; empty for the agent's own."""

    def to_json(self) -> dict[str, Any]:
        optional = _unless_empty(callId=self.call_id, arguments=self.arguments, server=self.server)
        return {"type": self.type, "tool": self.tool, "input": self.input} | optional


@dataclass(frozen=True, slots=True)
class ToolFinished(_Event):
    type = "tool_finished"
    tool: str
    ok: bool
    summary: str
    call_id: str = ""
    seconds: float = 0.0
    """Seconds that a foreign tool took, with the wait for the reader's approval."""

    def to_json(self) -> dict[str, Any]:
        document = {"type": self.type, "tool": self.tool, "ok": self.ok, "summary": self.summary}
        return document | _unless_empty(callId=self.call_id, seconds=round(self.seconds, 3))


@dataclass(frozen=True, slots=True)
class SourcesFound(_Event):
    """Links and texts that a foreign tool has brought, with the numbers that the model may cite."""

    type = "sources_found"
    sources: tuple[Source, ...]
    call_id: str = ""

    def to_json(self) -> dict[str, Any]:
        sources = [source.to_json() for source in self.sources]
        return {"type": self.type, "sources": sources} | _unless_empty(callId=self.call_id)


@dataclass(frozen=True, slots=True)
class ApprovalAsked(_Event):
    """The reader is asked whether a foreign tool that is not read-only may be used. The run waits."""

    type = "approval_asked"
    tool: str
    arguments: str
    """All of them, as JSON."""
    seconds: float
    """Seconds after which no answer counts as a refusal."""
    call_id: str = ""

    def to_json(self) -> dict[str, Any]:
        document = {"type": self.type, "tool": self.tool, "arguments": self.arguments, "seconds": self.seconds}
        return document | _unless_empty(callId=self.call_id)


ApprovalOutcome = Literal["allowed", "refused", "timeout", "nobody"]
"""`nobody`: there is no reader who could be asked."""


@dataclass(frozen=True, slots=True)
class ApprovalAnswered(_Event):
    type = "approval_answered"
    tool: str
    outcome: ApprovalOutcome
    call_id: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, "tool": self.tool, "outcome": self.outcome} | _unless_empty(callId=self.call_id)


@dataclass(frozen=True, slots=True)
class TextDelta(_Event):
    type = "text_delta"
    text: str
    invented: tuple[int, ...] | None = None
    """The numbers of citations before the end of this text that were dropped, because there is no such source."""
    may_be_thought: bool = False
    """True if a tool call may still show that this text only announced it."""

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, "text": self.text}


@dataclass(frozen=True, slots=True)
class Notice(_Event):
    """A sentence for the reader about the run; never an error that ended it."""

    type = "notice"
    kind: str
    text: str
    """What happened, what was done instead, what the reader can do. Lines with four spaces before them are to be pasted into
    a file."""
    pause: Pause | None = None
    """The pause of the search engine that it is about, for readers to be told on their own clock."""
    finish_reason: str = ""
    """The reason of the service, if it ended the answer early: length or content_filter."""

    def to_json(self) -> dict[str, Any]:
        optional = _unless_empty(finishReason=self.finish_reason)
        pause = self.pause.to_json() if self.pause else {}
        return {"type": self.type, "kind": self.kind, "text": self.text} | pause | optional


CUT_OFF_KIND = "cut_off"
"""The kind of the notice on an answer that the service ended early."""
UNFINISHED = Notice("unfinished", "这条回答在写完之前中断了，以上是已保存的部分。")
"""The notice on an answer that was saved while it grew, and whose end never came: the program was ended."""
BROKEN_OFF_KINDS = frozenset({CUT_OFF_KIND, UNFINISHED.kind})
"""The kinds of the notices on a text whose end is missing."""
DAMAGED = Notice("damaged", "这条消息保存的搜索记录或来源已损坏，只能显示其余部分。")


def is_damaged(event: _Event) -> bool:
    return isinstance(event, Notice) and event.kind == DAMAGED.kind


INVENTED_KIND = "invented_source"
"""The kind of the notice on citations of sources that do not exist."""
KINDS_BELOW_TEXT = BROKEN_OFF_KINDS | {INVENTED_KIND}
"""The kinds of notices that speak of the text and are drawn below it."""


def invented_notice(numbers: Collection[int], *, has_sources: bool) -> Notice:
    """Return the notice on citations of sources that do not exist."""
    points = "" if has_sources else "，这次没有任何来源"
    return Notice(INVENTED_KIND, f"{invented_sentence(numbers)}{points}；这些编号不指向任何内容，已经去掉。")


_CUT_OFF_TEXTS = {
    "length": "回答达到了模型输出长度的上限，没有写完。",
    "content_filter": "模型服务的内容过滤中断了回答，没有写完。",
}


def cut_off_notices(reason: str) -> tuple[Notice, ...]:
    """Return the notice for this `finish_reason`; none if the answer is complete."""
    known = reason in _CUT_OFF_TEXTS
    return (Notice(CUT_OFF_KIND, _CUT_OFF_TEXTS[reason], finish_reason=reason),) if known else ()


@dataclass(frozen=True, slots=True)
class Checked(_Event):
    """The result of 依据核验. A model's second opinion comes as another one, which replaces the first."""

    type = "checked"
    check: AnswerCheck

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, **self.check.to_json()}


@dataclass(frozen=True, slots=True)
class Answer(_Event):
    """The whole answer with `[n]` in it, and the sources that it really cites."""

    type = "answer"
    text: str
    sources: tuple[Source, ...] = ()
    invented: tuple[InventedCitation, ...] = ()
    """The citations of sources that do not exist. The text is without them."""

    @property
    def invented_numbers(self) -> tuple[int, ...]:
        return tuple(sorted({number for one in self.invented for number in one.numbers}))

    def to_json(self) -> dict[str, Any]:
        sources = [source.to_json() for source in self.sources]
        invented = _unless_empty(invented=list(self.invented_numbers))
        return {"type": self.type, "text": self.text, "sources": sources} | invented


@dataclass(frozen=True, slots=True)
class Usage(_Event):
    """The tokens of the whole run so far. The last one counts."""

    type = "usage"
    input: int
    output: int
    estimated: bool = False
    parts: dict[str, int] = field(default_factory=dict)
    """Agent mode: tokens for thinking, tools and answer."""
    iterations: int = 0
    """Agent mode: the number of model calls."""
    reasoning: int = 0
    """The output tokens spent on reasoning before the answer, where the service counts them."""

    @property
    def total(self) -> int:
        return self.input + self.output

    def plus(self, input: int, output: int, *, estimated: bool) -> Usage:
        input, output = self.input + input, self.output + output
        return replace(self, input=input, output=output, estimated=self.estimated or estimated)

    def to_json(self) -> dict[str, Any]:
        tokens = {"input": self.input, "output": self.output, "total": self.total}
        return {"type": self.type, **tokens, "estimated": self.estimated} | _unless_empty(reasoning=self.reasoning)


@dataclass(frozen=True, slots=True)
class RunStopped(_Event):
    type = "run_stopped"
    reason: Literal["iterations", "time", "loop", "user"]


@dataclass(frozen=True, slots=True)
class RunFailed(_Event):
    type = "run_failed"
    kind: str
    message: str


RunEvent = (
    SearchStarted
    | SearchFinished
    | ReadingStarted
    | PageRead
    | SourcesGiven
    | PartsStarted
    | PartRead
    | Thought
    | ToolStarted
    | ToolFinished
    | SourcesFound
    | ApprovalAsked
    | ApprovalAnswered
    | TextDelta
    | Notice
    | Checked
    | Answer
    | Usage
    | RunStopped
    | RunFailed
)
"""The union of all events. Code that draws, prints or exports a run handles each; the type checker finds gaps."""
