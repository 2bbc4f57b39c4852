"""What is kept of a search and of an answer, and what is counted about it.

Each record is told as a few measures: how many, how long, how much, under some labels. Summed up over a minute, an hour
or a day they are what the dashboard reads; summed up since the start of the process, what Prometheus reads.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from core.answer.events import RunFailed, RunStopped, ToolStarted, Usage
from core.base.errors import AppError
from core.base.http import Cancelled
from core.base.text import clean, one_line, shorten
from core.run.run import Run
from core.search.errors import AllEnginesFailed, RateLimited
from core.search.types import Outcome, SearchEnd

QUERY_LENGTH = 200

FASTEST = 0.001
STEP = 1.1
"""Each step of a histogram of seconds ends where it began times this; its middle is at most 5 % away from anything in it."""


def step_of(seconds: float) -> int:
    return max(0, math.ceil(math.log(seconds / FASTEST, STEP))) if seconds > FASTEST else 0


def seconds_of(step: int) -> float:
    """The middle of a step."""
    return FASTEST * math.pow(STEP, step - 0.5)


class Measure(NamedTuple):
    series: str
    labels: tuple[str, ...]
    bucket: int = 0
    amount: float = 0.0
    """What is added up beside the number."""


SEARCH = "search"
"""Labels: type, engine, outcome, cache, kind."""
ATTEMPT = "attempt"
"""Labels: engine, outcome, kind, RELIEF where it was not the first."""
ENGINE_SECONDS = "engine_seconds"
"""Until an engine answered, with results or without. Labels: engine. Bucket: their step; amount: seconds."""
ANSWER = "answer"
"""Labels: mode, model, ending, kind."""
ANSWER_SECONDS = "answer_seconds"
"""Until an answer was complete. Labels: mode. Bucket: their step; amount: seconds."""
TOKENS = "tokens"
"""Labels: model, direction, ESTIMATED or nothing. Amount: tokens."""
AGENT = "agent"
"""Labels: model. Bucket: how often the model was asked; amount: calls of tools."""

RELIEF = "relief"
ESTIMATED = "estimated"
REFUSED = "refused"
CANCELLED = "cancelled"
INTERNAL = "internal"
OK, STOPPED, FAILED = "ok", "stopped", "failed"


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    engine: str
    outcome: str
    seconds: float
    kind: str


@dataclass(frozen=True, slots=True)
class SearchRecord:
    at: float
    type: str
    engine: str
    """Whose results they are, also when a cache had them."""
    outcome: str
    """ok, empty, failed, refused (by our own limit) or cancelled (the reader has gone)."""
    kind: str
    """Of the error, when it failed."""
    cache: str
    """The layer that answered, if any did."""
    cache_age: float | None
    seconds: float
    attempts: tuple[AttemptRecord, ...]
    query: str | None = None

    @classmethod
    def of(cls, end: SearchEnd, *, at: float, with_query: bool) -> SearchRecord:
        outcome, kind = _outcome(end)
        found = end.response
        return cls(
            at=at,
            type=end.query.type.value,
            engine=found.provider if found else "",
            outcome=outcome,
            kind=kind,
            cache=end.layer.value if found else "",
            cache_age=found.cache_age if found else None,
            seconds=end.seconds,
            attempts=tuple(
                AttemptRecord(attempt.engine, attempt.outcome.value, attempt.seconds, attempt.kind)
                for attempt in end.attempts
            ),
            query=shorten(one_line(end.query.text), QUERY_LENGTH) if with_query else None,
        )

    def row(self) -> dict[str, Any]:
        row = {name: getattr(self, name) for name in self.__slots__}
        return row | {"attempts": json.dumps([asdict(attempt) for attempt in self.attempts])}

    def measures(self) -> Iterator[Measure]:
        yield Measure(SEARCH, (self.type, self.engine, self.outcome, self.cache, self.kind))
        for place, attempt in enumerate(self.attempts):
            yield Measure(ATTEMPT, (attempt.engine, attempt.outcome, attempt.kind, RELIEF if place else ""))
            if attempt.outcome in _ANSWERED:
                yield Measure(ENGINE_SECONDS, (attempt.engine,), step_of(attempt.seconds), attempt.seconds)


def _outcome(end: SearchEnd) -> tuple[str, str]:
    match end.error:
        case None:
            return (Outcome.OK if end.response and end.response.results else Outcome.EMPTY).value, ""
        case RateLimited():
            return REFUSED, end.error.kind
        case Cancelled():
            return CANCELLED, ""
        case AllEnginesFailed():
            return FAILED, end.error.cause or end.error.kind
        case AppError():
            return FAILED, end.error.kind
        case _:
            return FAILED, INTERNAL


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    at: float
    mode: str
    model: str
    ending: str
    """ok, stopped (kind says by what; an agent that met a limit still answers) or failed."""
    kind: str
    seconds: float
    input: int
    output: int
    estimated: bool
    iterations: int
    """Agent mode: how often the model was asked."""
    tool_calls: int

    @classmethod
    def of(cls, run: Run, *, at: float) -> AnswerRecord:
        told = [event for event in run.events if type(event) in _COUNTED]  # a long answer has thousands of others
        usage = next((event for event in reversed(told) if isinstance(event, Usage)), None)
        ending, kind = OK, ""
        for event in told:
            if isinstance(event, RunFailed):
                ending, kind = FAILED, event.kind
            elif isinstance(event, RunStopped):
                ending, kind = STOPPED, event.reason
        return cls(
            at=at,
            mode=run.mode,
            model=shorten(clean(run.model), QUERY_LENGTH),
            ending=ending,
            kind=kind,
            seconds=run.seconds,
            input=usage.input if usage else 0,
            output=usage.output if usage else 0,
            estimated=bool(usage and usage.estimated),
            iterations=usage.iterations if usage else 0,
            tool_calls=sum(isinstance(event, ToolStarted) for event in told),
        )

    def row(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def measures(self) -> Iterator[Measure]:
        yield Measure(ANSWER, (self.mode, self.model, self.ending, self.kind))
        if self.ending == OK:
            yield Measure(ANSWER_SECONDS, (self.mode,), step_of(self.seconds), self.seconds)
        certainty = ESTIMATED if self.estimated else ""
        for direction, amount in (("input", self.input), ("output", self.output)):
            if amount:
                yield Measure(TOKENS, (self.model, direction, certainty), amount=amount)
        if self.iterations:
            yield Measure(AGENT, (self.model,), self.iterations, self.tool_calls)


_ANSWERED = frozenset({Outcome.OK.value, Outcome.EMPTY.value})
_COUNTED = frozenset({Usage, RunFailed, RunStopped, ToolStarted})

Record = SearchRecord | AnswerRecord
