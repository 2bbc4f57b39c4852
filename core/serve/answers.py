"""Answers for other programs: a question is asked as on a page, and its events become JSON."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.answer import NO_SOURCES_NOTE, with_statutes
from core.answer.events import Answer, Checked, Notice, RunEvent, RunFailed, RunStopped, SearchFinished
from core.answer.message import Message, Mode, message_from_run
from core.base.errors import InputError
from core.reading import Page
from core.run import AnswerOptions, Choices
from core.search.types import TimeRange
from core.serve.access import Caller, Scope
from core.serve.collections import find_collection
from core.serve.threads import run_in_service_thread

if TYPE_CHECKING:
    from core.answer.check_results import AnswerCheck
    from core.app import App
    from core.run import AnswerService, Run


LAST_SECONDS = 2.0
"""Seconds of a request in which an answer that has no more time is brought to its end."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question of a program, with everything that the answer may use."""

    question: str
    mode: Mode = "chat"
    search: bool = False
    """Chat mode: search the web first."""
    model: str = ""
    """The model that answers; empty: the configured one."""
    history: Sequence[Message] = ()
    files: tuple[Page, ...] = ()
    collections: Sequence[str] = ()
    """Names of the caller's collections."""
    time_range: TimeRange | None = None
    instructions: str = ""
    """What the caller wishes of the answer: the system messages of a program."""
    has_reader: bool = False
    """True if somebody follows who can be asked whether a tool may be used."""
    may_be_reviewed: bool = True
    """True if somebody will see 让模型复核."""


def start_answer(app: App, caller: Caller, ask: Ask, *, grace: float = 0.0) -> Run:
    """Start the answer: it is counted and waits for its turn like a page's question. Raise an AppError if it is refused."""
    caller.require(Scope.ASK)
    if ask.collections:
        caller.require(Scope.DOCUMENTS)
    service: AnswerService = app.agent if ask.mode == "agent" else app.chat
    options = AnswerOptions(
        search=ask.search,
        visitor=caller.visitor,
        files=ask.files,
        collections=tuple(find_collection(app, caller, name).id for name in ask.collections),
        access=caller.access,
        choices=Choices(model=ask.model or None, time_range=ask.time_range),
        instructions=ask.instructions,
        has_reader=ask.has_reader,
        may_be_reviewed=ask.may_be_reviewed,
    )
    return service.start(service.accept_question(ask.question, ask.history, options), grace=grace)


async def start_in_thread(app: App, caller: Caller, make_ask: Callable[[], Ask]) -> tuple[Ask, Run]:
    """Make the question, which may read files, and start its answer, in a thread. If the client goes meanwhile, the answer
    is stopped. Raise an AppError if it is refused."""
    is_given_up = False

    def start() -> tuple[Ask, Run]:
        ask = make_ask()
        run = start_answer(app, caller, ask)
        if is_given_up:
            run.cancel()
        return ask, run

    try:
        return await run_in_service_thread(caller, start)
    except BaseException:
        is_given_up = True
        raise


def require_offered_model(app: App, name: str) -> None:
    """Raise InputError for a model that the operator does not offer to readers."""
    offered = (app.model.choice.name, app.settings.llm.model, *app.settings.llm.models)
    if name and name not in offered:
        known = "、".join(dict.fromkeys(filter(None, offered)))
        raise InputError(f"没有名为「{name[:80]}」的模型。", cure=f"可以用的有：{known}；不写时用默认的。")


class EventOrder:
    """The events of a run in the order in which programs get them: the check comes with the answer, whose text names the
    statutes, and notices that a message shows come as events."""

    def __init__(self, app: App, mode: Mode, question: str) -> None:
        self._app = app
        self._mode = mode
        self._question = question
        self._events: list[RunEvent] = []
        self._check: AnswerCheck | None = None

    def next_events(self, event: RunEvent) -> Iterator[RunEvent]:
        """Yield what programs get for the next event of the run. May look up statutes, which takes a moment."""
        self._events.append(event)
        match event:
            case Checked(check=check) if self._check is None:
                self._check = check
            case Checked(check=check):
                yield self._with_statutes(check)
            case Answer():
                if self.message.is_unsourced:
                    yield Notice("not_searched", NO_SOURCES_NOTE)
                if self._check:
                    yield self._with_statutes(self._check)
                yield event
            case RunFailed():
                told = [one for one in self._events if isinstance(one, Notice)]
                yield from (notice for notice in self.message.notices if notice not in told)
                yield event
            case _:
                yield event

    @property
    def message(self) -> Message:
        """The message that the run becomes."""
        return message_from_run(self._events, seconds=0.0, model=self._app.model.label, mode=self._mode)

    def _with_statutes(self, check: AnswerCheck) -> Checked:
        """Return the check with the verdicts on the statutes that sentences without a number name."""
        return Checked(with_statutes(check, self._app.check_statutes(self.message.text, self._question)) or check)


def iter_answer_events(app: App, ask: Ask, run: Run) -> Iterator[RunEvent]:
    """Yield the events of a run for a program, one by one. Closing the generator ends the run."""
    order = EventOrder(app, ask.mode, ask.question)
    for event in run.iter_events():
        yield from order.next_events(event)


async def stream_answer_events(
    app: App, ask: Ask, run: Run, *, with_review: bool = True
) -> AsyncGenerator[list[RunEvent]]:
    """Yield the same in batches to a coroutine. `with_review`: also what follows the end, 让模型复核, which takes a while.
    Closing the generator ends run and review. A run is stopped shortly before the request would be out of time."""
    order = EventOrder(app, ask.mode, ask.question)
    limit = asyncio.get_running_loop().call_later(app.settings.api.timeout - LAST_SECONDS, run.cancel, "time")

    def in_order(batch: Iterable[RunEvent]) -> list[RunEvent]:
        return [shown for event in batch for shown in order.next_events(event)]

    try:
        async with aclosing(run.follow_async()) as batches:
            async for batch in batches:
                has_lookups = any(isinstance(event, Answer | Checked) for event in batch)
                yield await asyncio.to_thread(in_order, batch) if has_lookups else in_order(batch)
        if with_review and (later := await asyncio.wrap_future(run.review_future)) is not None:
            yield await asyncio.to_thread(in_order, [later])
    finally:
        limit.cancel()
        run.cancel()
        run.cancel_review()


def answer_document(ask: Ask, run: Run, events: Iterable[RunEvent]) -> dict[str, Any]:
    """Return one JSON document on a whole answer, from the events that programs get."""
    events = list(events)
    message = message_from_run(events, seconds=run.seconds, id=run.id, model=run.model, mode=ask.mode)
    answer = next((event for event in events if isinstance(event, Answer)), None)
    ending = message.ending
    return {
        "question": ask.question,
        "mode": ask.mode,
        "model": run.model,
        "text": message.text,
        "sources": [source.to_json() for source in message.cited],
        **({"invented": list(answer.invented_numbers)} if answer and answer.invented else {}),
        "checked": message.check.to_json() if message.check else None,
        "searches": [event.to_json() for event in events if isinstance(event, SearchFinished)],
        "notices": [{"kind": notice.kind, "text": notice.text} for notice in message.notices],
        "usage": message.usage.to_json() if message.usage else None,
        "seconds": round(run.seconds, 2),
        "complete": message.is_whole,
        **({"stopped": ending.reason} if isinstance(ending, RunStopped) else {}),
        **({"error": {"kind": ending.kind, "message": ending.message}} if isinstance(ending, RunFailed) else {}),
    }
