"""The base of Chat mode and Agent mode: accepts a question and starts its answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, field, replace
from datetime import date
from typing import ClassVar, TypeVar

from core.answer.checked import AnswerCheck, SourceText
from core.answer.events import Answer, RunEvent
from core.answer.message import Message, Mode
from core.base.settings import Settings
from core.base.threads import LoopThread
from core.llm.model import Model
from core.reading import Reader
from core.run.admission import Admission, Place
from core.run.checking import Texts, checked
from core.run.configured import Configured
from core.run.judging import Review, judged
from core.run.mending import Mended, mended
from core.run.question import AnswerOptions, Question, accept
from core.run.run import GRACE_SECONDS, OnAnswer, Run

T = TypeVar("T")


@dataclass(kw_only=True, eq=False)
class AnswerService(ABC):
    """The service of a mode, one for the whole process. Data of one question is in the Question. `today` is an argument
    for tests."""

    mode: ClassVar[Mode]
    configured: Callable[[], Configured] = field(kw_only=False)
    """Returns the parts of the current settings."""
    loop: LoopThread
    today: Callable[[], date] = date.today
    reader: Reader | None = None
    admission: Admission | None = None
    on_answer: OnAnswer = lambda run: None

    def question(self, text: str, history: Sequence[Message] = (), options: AnswerOptions | None = None) -> Question:
        """Accept and count a question, and return it with its settings. Raises an InputError that says why it cannot be
        sent."""
        options = options or AnswerOptions()
        now = self.configured()
        accepted = accept(text, limit=now.settings.chat.max_question_length)
        self._count(options)
        settings, model = _meant(now, options)
        return Question(accepted, history, options, now, settings, model)

    def _count(self, options: AnswerOptions) -> None:
        if self.admission is not None:
            self.admission.count(options.user)

    def start(self, question: Question, *, grace: float = GRACE_SECONDS) -> Run:
        """Answer in the background when it is the question's turn. The page follows the returned run."""
        place = Place(question.options.user)
        return Run(
            self.loop,
            lambda: self._in_turn(question, place),
            mode=self.mode,
            model=question.model.label,
            grace=grace,
            on_end=self.on_answer,
            place=place,
            evidence=question.evidence,
        )

    def model_for(self, options: AnswerOptions) -> Model:
        """Return the model that would answer now."""
        return _meant(self.configured(), options)[1]

    def review(self, check: AnswerCheck, sources: Sequence[SourceText], options: AnswerOptions) -> Future[AnswerCheck]:
        """Start 让模型复核 of a finished answer. Counts as a question, or raises an InputError. The future may raise a
        ModelError."""
        self._count(options)
        model = self.model_for(options)
        return self.loop.submit(self._when_called(options, lambda: judged(check, sources, model)))

    def mend(self, message: Message, check: AnswerCheck, texts: Texts, options: AnswerOptions) -> Future[Mended]:
        """Start 按核对结果改写 of a finished answer. Counted like a second opinion, with the same errors."""
        self._count(options)
        model = self.model_for(options)
        return self.loop.submit(self._when_called(options, lambda: mended(message, check, texts, model)))

    async def _when_called(self, options: AnswerOptions, ask: Callable[[], Awaitable[T]]) -> T:
        async with self._turn(Place(options.user)):
            return await ask()

    def _turn(self, place: Place) -> AbstractAsyncContextManager[None]:
        return self.admission.turn(place) if self.admission else nullcontext()

    async def _in_turn(self, question: Question, place: Place) -> AsyncIterator[RunEvent]:
        review = Review(question)
        async with self._turn(place), aclosing(self.events(question)) as events:  # type: ignore[type-var]
            async for event in events:
                if isinstance(event, Answer) and (found := await checked(event, question.evidence)):
                    review.take(found)
                    yield found
                review.take(event)
                yield event
            for later in await review.events():
                yield later

    def stream(
        self, text: str, history: Sequence[Message] = (), options: AnswerOptions | None = None
    ) -> Generator[RunEvent]:
        """Answer a question as a plain generator of events. Closing it cancels the run."""
        return self.start(self.question(text, history, options), grace=0.0).drained()

    @abstractmethod
    def events(self, question: Question) -> AsyncIterator[RunEvent]: ...


def _meant(now: Configured, options: AnswerOptions) -> tuple[Settings, Model]:
    """Return the settings with the reader's choices, and the model that these mean."""
    if options.own_model is None:
        settings, model = options.choices.applied_to(now.settings), now.model
    else:
        settings, model = replace(options.choices, model=None).applied_to(options.own_model.settings), options.own_model
    return settings, model.under(settings)
