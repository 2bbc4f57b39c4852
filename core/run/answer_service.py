"""The base of Chat mode and Agent mode: accepts a question and starts its answer."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import ClassVar, TypeVar

from core.answer import SourcedEvents
from core.answer.check_results import AnswerCheck, SourceText
from core.answer.events import Answer, Checked, Notice, RunEvent
from core.answer.message import Message, Mode
from core.base.errors import AppError
from core.base.settings import Settings
from core.base.threads import LoopThread
from core.llm import Model
from core.reading import Reader
from core.run.admission import Admission, QueueTicket
from core.run.answer_checking import AnswerChecks, TextsByNumber
from core.run.approvals import Approvals
from core.run.configured import Configured
from core.run.question import AnswerOptions, Question, validate_question
from core.run.revision import Revision, revise_answer
from core.run.run import GRACE_SECONDS, OnRunEnd, Run
from core.run.second_opinion import get_second_opinion, review_answer, wants_review

T = TypeVar("T")

REVIEWS_AT_ONCE = 4
"""The number of automatic reviews that ask the model at once. Answers go first."""
SOURCES_UNUSED = Notice(
    "sources_unused", "这个回答没有引用找到的来源：与所读原文相符的句子由程序标出，其余内容没有核验过。"
)


@dataclass(kw_only=True, eq=False)
class AnswerService(ABC):
    """The service of a mode, one for the whole process. Data of one question is in the Question."""

    mode: ClassVar[Mode]
    configured: Callable[[], Configured] = field(kw_only=False)
    """Returns the parts of the current settings."""
    loop: LoopThread
    today: Callable[[], date] = date.today
    reader: Reader | None = None
    admission: Admission | None = None
    checks: AnswerChecks = field(default_factory=AnswerChecks)
    on_run_end: OnRunEnd = lambda run: None
    _review_slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(REVIEWS_AT_ONCE), init=False)

    def accept_question(
        self, text: str, history: Sequence[Message] = (), options: AnswerOptions | None = None
    ) -> Question:
        """Accept and count a question, and return it with its settings. Raises an InputError if it cannot be sent."""
        options = options or AnswerOptions()
        now = self.configured()
        accepted = validate_question(text, limit=now.settings.chat.max_question_length)
        self._count(options)
        settings, model = _settings_and_model(now, options)
        approvals = Approvals(has_reader=options.has_reader)
        return Question(accepted, history, options, now, settings, model, approvals=approvals)

    def _count(self, options: AnswerOptions) -> None:
        if self.admission is not None:
            self.admission.count_question(options.visitor)

    def start(self, question: Question, *, grace: float = GRACE_SECONDS) -> Run:
        """Answer in the background when it is the question's turn. The page follows the returned run."""
        ticket = QueueTicket(question.options.visitor)
        return Run(
            self.loop,
            lambda: self._events_in_turn(question, ticket),
            mode=self.mode,
            model=question.model.label,
            grace=grace,
            on_end=self.on_run_end,
            ticket=ticket,
            run_sources=question.run_sources,
            approvals=question.approvals,
            review=partial(self._review, question) if wants_review(question) else None,
        )

    async def _review(self, question: Question, events: Sequence[RunEvent]) -> Checked | None:
        """Review an answer outside of its turn, which the reader's next question may take."""
        async with self._review_slots:
            return await review_answer(question, events)

    def model_for(self, options: AnswerOptions) -> Model:
        """Return the model that would answer now."""
        return _settings_and_model(self.configured(), options)[1]

    def start_second_opinion(
        self, check: AnswerCheck, sources: Sequence[SourceText], options: AnswerOptions
    ) -> Future[AnswerCheck]:
        """Start 让模型复核 of an answer. Counts as a question, or raises an InputError. The future may raise a ModelError."""
        return self._start_in_turn(options, lambda model: get_second_opinion(check, sources, model))

    def start_revision(
        self, message: Message, check: AnswerCheck, texts: TextsByNumber, options: AnswerOptions
    ) -> Future[Revision]:
        """Start 按核验结果改写 of a finished answer. Counted like a second opinion, with the same errors."""
        return self._start_in_turn(
            options, lambda model: revise_answer(message, check, texts, model, self.checks.meaning)
        )

    def _start_in_turn(self, options: AnswerOptions, ask: Callable[[Model], Awaitable[T]]) -> Future[T]:
        self._count(options)
        model = self.model_for(options)

        async def ask_in_turn() -> T:
            async with self._wait_for_turn(QueueTicket(options.visitor)):
                return await ask(model)

        return self.loop.submit(ask_in_turn())

    def _wait_for_turn(self, ticket: QueueTicket) -> AbstractAsyncContextManager[None]:
        return self.admission.wait_for_turn(ticket) if self.admission else nullcontext()

    async def _events_in_turn(self, question: Question, ticket: QueueTicket) -> AsyncGenerator[RunEvent]:
        check = self.checks.begin(question.run_sources)
        async with self._wait_for_turn(ticket), aclosing(self._sourced_events(question)) as events:
            async for event in events:
                check.record_event(event)
                if isinstance(event, Answer) and (found := await check.finish(event)):
                    yield found
                yield event

    async def _sourced_events(self, question: Question) -> AsyncGenerator[RunEvent]:
        """Yield the events without citations that have no source. A failure still brings the text that was held back."""
        run = SourcedEvents()
        async with aclosing(self.events(question)) as events:
            try:
                async for event in events:
                    for sourced in run.sourced(event):
                        if _cites_nothing(sourced, question) and run.has_sources:
                            yield SOURCES_UNUSED
                        yield sourced
            except AppError:
                for sourced in run.rest():
                    yield sourced
                raise
            for sourced in run.rest():
                yield sourced

    def stream(
        self, text: str, history: Sequence[Message] = (), options: AnswerOptions | None = None
    ) -> Generator[RunEvent]:
        """Answer a question as a plain generator of events. Closing it cancels the run."""
        return self.start(self.accept_question(text, history, options), grace=0.0).iter_events()

    @abstractmethod
    def events(self, question: Question) -> AsyncGenerator[RunEvent]: ...


def _cites_nothing(event: RunEvent, question: Question) -> bool:
    """Return whether this is an answer without a citation. The embedded model says so in its own words."""
    return isinstance(event, Answer) and not event.sources and not question.model.choice.is_embedded


def _settings_and_model(now: Configured, options: AnswerOptions) -> tuple[Settings, Model]:
    """Return the settings with the reader's choices, and the model that they name."""
    if options.own_model is None:
        settings, model = options.choices.apply_to(now.settings), now.model
    else:
        settings, model = replace(options.choices, model=None).apply_to(options.own_model.settings), options.own_model
    return settings, model.for_settings(settings)
