"""An answer in the pieces that both interfaces send: reasoning, text, and at the end what belongs to the whole."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.answer.check_texts import source_words
from core.answer.events import Answer, Notice, RunEvent, RunFailed, RunStopped, TextDelta, Thought, ToolStarted, Usage
from core.answer.message import Message, message_from_run
from core.app import App
from core.base.errors import AppError
from core.legal import StatuteCheck
from core.run import Run
from core.serve.access import Caller
from core.serve.answers import Ask, answer_document, start_in_thread, stream_answer_events
from core.serve.errors import RequestTimedOut, error_of_run
from core.serve.openai.annotations import Annotation, annotations_of
from core.serve.openai.appendix import appendix_of
from core.serve.openai.errors import AnswerBrokenOff
from core.serve.openai.nothing_loaded import NothingLoaded
from core.serve.openai.steps import StepText
from core.serve.threads import run_in_service_thread

NOT_SEARCHED_KIND = "not_searched"


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ContentPiece:
    text: str


@dataclass(frozen=True, slots=True)
class EndPiece:
    """The end of an answer."""

    annotations: Sequence[Annotation]
    """The citations in the text."""
    document: dict[str, Any]
    """What this program knows beyond OpenAI's interface: sources, checks, searches, notices."""
    usage: Usage
    finish_reason: str
    """stop, length or content_filter."""


@dataclass(frozen=True, slots=True)
class FailurePiece:
    """The end of a run that failed. What was written before stays."""

    error: AppError


Piece = ReasoningPiece | ContentPiece | EndPiece | FailurePiece


async def stream_pieces(app: App, caller: Caller, make_ask: Callable[[], Ask]) -> AsyncGenerator[Piece]:
    """Start the answer and yield its pieces. Closing the generator ends the run. Raise an AppError where it is refused.
    `make_ask` is called in a thread: it may read files."""
    ask, run = await start_in_thread(app, caller, make_ask)
    pieces = AnswerPieces(app, ask, run)
    async with aclosing(stream_answer_events(app, ask, run, with_review=False)) as batches:
        async for batch in batches:
            for piece in pieces.add(batch):
                yield piece
    for piece in await run_in_service_thread(caller, pieces.end):
        yield piece


class AnswerPieces:
    """Turns the events of one run into pieces. An agent's text is the answer only when no tool can follow: before that it
    is shown as a draft, among the reasoning."""

    def __init__(self, app: App, ask: Ask, run: Run) -> None:
        self._app = app
        self._ask = ask
        self._run = run
        self._events: list[RunEvent] = []
        self._steps = StepText()
        self._reasoning = NothingLoaded()
        self._text = NothingLoaded()
        self._sent = ""
        """The text that was sent, as it was written."""
        self._draft = ""
        """The text since the last tool call, as long as it may be a thought."""
        self._is_draft_taken_back = False
        self._answer_start = 0
        """Where the answer begins in the text that was sent."""
        self._is_out_of_time = False
        self._is_cut_off = False
        """True if a limit of the run has ended the answer while it was written."""

    def add(self, events: Sequence[RunEvent]) -> list[Piece]:
        """Return the pieces of the next events."""
        return [piece for event in events for piece in self._pieces_of(event)]

    def _pieces_of(self, event: RunEvent) -> Iterator[Piece]:
        self._events.append(event)
        match event:
            case TextDelta(text=text) if event.may_be_thought or self._draft:
                yield from self._add_draft(text)
            case TextDelta(text=text):
                yield from self._send(text)
            case Thought(text=text) if self._draft and text.startswith(self._draft):
                self._is_draft_taken_back = True
                yield from self._reason(self._steps.add(Thought(text.removeprefix(self._draft))))
            case Answer() | RunFailed():
                yield from self._send_rest(self._message.text)
            case _:
                if isinstance(event, ToolStarted):
                    self._draft, self._is_draft_taken_back = "", False
                if isinstance(event, RunStopped):
                    self._is_out_of_time = event.reason == "time"
                    self._is_cut_off = bool(self._draft or self._sent)
                yield from self._reason(self._steps.add(event))

    def end(self) -> list[Piece]:
        """Return the last pieces, once the run is over. Looks up statutes, which takes a moment."""
        message = self._message
        if error := self._failure(message):
            return [*self._end_text(), FailurePiece(error)]
        words = partial(source_words, message.sources, lambda: self._run.pages)
        statutes = self._app.check_statutes(message.text, self._ask.question, words)
        below = appendix_of(message, statutes, self._notices(message))
        end = EndPiece(
            annotations_of(message, self._answer_start),
            self._document(statutes),
            message.usage or Usage(0, 0, estimated=True),
            self._finish_reason(message),
        )
        return [*self._send_rest(message.text), *self._end_text(), *_content(below), end]

    def _failure(self, message: Message) -> AppError | None:
        """Return why there is no answer. What was written when the time was over is one that was cut off."""
        ending = message.ending
        if isinstance(ending, RunFailed):
            return error_of_run(ending)
        if any(isinstance(event, Answer) for event in self._events) or (self._is_out_of_time and message.text):
            return None
        return RequestTimedOut() if self._is_out_of_time else AnswerBrokenOff()

    @property
    def _message(self) -> Message:
        run = self._run
        return message_from_run(self._events, seconds=run.seconds, id=run.id, model=run.model, mode=self._ask.mode)

    def _reason(self, text: str) -> Iterator[Piece]:
        """Yield more of the reasoning. After the beginning of the text clients would take it for another answer."""
        if not self._sent and (shown := self._reasoning.add(text)):
            yield ReasoningPiece(shown)

    def _end_reasoning(self) -> Iterator[Piece]:
        if not self._sent and (rest := self._reasoning.end()):
            yield ReasoningPiece(rest)

    # ── Text ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _send(self, text: str) -> Iterator[Piece]:
        if text:
            yield from self._end_reasoning()
            self._sent += text
            yield from _content(self._text.add(text))

    def _add_draft(self, text: str) -> Iterator[Piece]:
        if text and not self._is_draft_taken_back:
            heading = "" if self._draft else self._steps.begin_draft()
            yield from self._reason(heading + self._steps.add(Thought(text)))
            self._draft += text

    def _send_rest(self, text: str) -> Iterator[Piece]:
        """Send what is missing of the text. Where another text was sent before, the whole follows that."""
        sent = self._sent[self._answer_start :]
        if sent.rstrip() == text.rstrip():
            return
        if not text.startswith(sent):
            yield from self._send("\n\n")
            self._answer_start, sent = len(self._sent), ""
        yield from self._send(text.removeprefix(sent))

    def _end_text(self) -> Iterator[Piece]:
        yield from self._end_reasoning()
        yield from _content(self._text.end())

    def _notices(self, message: Message) -> list[Notice]:
        """Return the notices for the reader. Whoever wants no search need not be told that nothing was searched."""
        wants_sources = self._ask.search or self._ask.mode == "agent"
        return [notice for notice in message.notices if wants_sources or notice.kind != NOT_SEARCHED_KIND]

    # ── The end ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _document(self, statutes: StatuteCheck | None) -> dict[str, Any]:
        whole = answer_document(self._ask, self._run, self._events)
        names = ("mode", "model", "sources", "checked", "searches", "notices", "seconds", "complete", "stopped")
        return {
            **{name: whole[name] for name in names if name in whole},
            "statutes": [finding.to_json() for finding in statutes.findings] if statutes else [],
            "cases": [finding.to_json() for finding in statutes.cases] if statutes else [],
        }

    def _finish_reason(self, message: Message) -> str:
        reasons = (notice.finish_reason for notice in message.notices if notice.finish_reason)
        return next(reasons, "length" if self._is_cut_off else "stop")


def _content(text: str) -> Iterator[Piece]:
    if text:
        yield ContentPiece(text)
