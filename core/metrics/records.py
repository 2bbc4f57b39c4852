"""Records of searches, answers and requests, as they are stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from core.answer.events import RunFailed, RunStopped, ToolStarted, Usage
from core.base.errors import AppError
from core.base.http import Cancelled
from core.base.text import clean, one_line, shorten
from core.search.errors import AllEnginesFailed, RateLimited
from core.search.types import AttemptOutcome

if TYPE_CHECKING:
    from core.run import Run
    from core.search.types import SearchEnd

QUERY_LENGTH = 200

REFUSED = "refused"
CANCELLED = "cancelled"
INTERNAL = "internal"
OK, STOPPED, FAILED = "ok", "stopped", "failed"


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One engine's part in a search."""

    engine: str
    outcome: str
    seconds: float
    kind: str


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """One search that has ended."""

    at: float
    type: str
    engine: str
    """Engine that found the results, also if a cache had them."""
    outcome: str
    """One of ok, empty, failed, refused (by our own limit) and cancelled (the reader has gone)."""
    kind: str
    """Kind of the error, if it failed."""
    cache: str
    """Cache layer that answered, if any did."""
    cache_age: float | None
    seconds: float
    attempts: tuple[AttemptRecord, ...]
    query: str | None = None

    @classmethod
    def from_search_end(cls, end: SearchEnd, *, timestamp: float, with_query: bool) -> SearchRecord:
        """Return the record of a search. The query is kept only with `with_query`."""
        outcome, kind = _outcome_and_kind(end)
        response = end.response
        return cls(
            at=timestamp,
            type=end.query.type.value,
            engine=response.provider if response else "",
            outcome=outcome,
            kind=kind,
            cache=end.layer.value if response else "",
            cache_age=response.cache_age if response else None,
            seconds=end.seconds,
            attempts=tuple(
                AttemptRecord(attempt.engine, attempt.outcome.value, attempt.seconds, attempt.kind)
                for attempt in end.attempts
            ),
            query=shorten(one_line(end.query.text), QUERY_LENGTH) if with_query else None,
        )

    def row(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "attempts"}

    def attempt_rows(self) -> Iterator[dict[str, Any]]:
        for place, attempt in enumerate(self.attempts):
            yield {"at": self.at, "place": place, **asdict(attempt)}


def _outcome_and_kind(end: SearchEnd) -> tuple[str, str]:
    match end.error:
        case None if end.response and end.response.failure:  # only built-in sources could be searched
            return FAILED, AllEnginesFailed.kind
        case None:
            return (AttemptOutcome.OK if end.response and end.response.results else AttemptOutcome.EMPTY).value, ""
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
    """One answer that has ended."""

    at: float
    mode: str
    model: str
    ending: str
    """One of ok, stopped (`kind` says by what; an agent that met a limit still answers) and failed."""
    kind: str
    seconds: float
    input: int
    output: int
    estimated: bool
    iterations: int
    """Number of times that the model was asked in Agent mode."""
    tool_calls: int
    token_id: str = ""
    """The token of the program that asked; empty for people."""

    @classmethod
    def from_run(cls, run: Run, *, timestamp: float) -> AnswerRecord:
        """Return the record of an answer."""
        events = [event for event in run.events if type(event) in _COUNTED]  # a long answer has thousands of others
        usage = next((event for event in reversed(events) if isinstance(event, Usage)), Usage(0, 0))
        ending, kind = OK, ""
        for event in events:
            if isinstance(event, RunFailed):
                ending, kind = FAILED, event.kind
            elif isinstance(event, RunStopped):
                ending, kind = STOPPED, event.reason
        return cls(
            at=timestamp,
            mode=run.mode,
            model=shorten(clean(run.model), QUERY_LENGTH),
            ending=ending,
            kind=kind,
            seconds=run.seconds,
            input=usage.input,
            output=usage.output,
            estimated=usage.estimated,
            iterations=usage.iterations,
            tool_calls=sum(isinstance(event, ToolStarted) for event in events),
            token_id=run.token_id,
        )

    def row(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


_COUNTED = frozenset({Usage, RunFailed, RunStopped, ToolStarted})


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One request of a program. Those of an hour are counted together."""

    at: float
    token_id: str
    """Empty for a program on this machine."""
    outcome: str
    """One of ok, refused (by the door, or as something that cannot be done) and failed."""


Record = SearchRecord | AnswerRecord | RequestRecord
