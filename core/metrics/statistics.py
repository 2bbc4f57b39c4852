"""Statistics of one span of time for the dashboard, computed from the counts of its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import add
from typing import TypeVar

from core.base.settings import EMBEDDED_LABEL, MetricsSettings
from core.metrics.records import CANCELLED, FAILED, REFUSED, STOPPED
from core.metrics.time_spans import DAY, TimeSpan
from core.search.errors import RateLimited
from core.search.types import AttemptOutcome, CacheLayer
from core.store import AnswerCount, AttemptCount, Counts, MetricsStore, SearchCount

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """Number of searches or answers that ended in one way, in one minute, hour or day."""

    start: int
    outcome: str
    times: int


@dataclass(slots=True)
class SecondsHistogram:
    """Numbers of events by their seconds, to within 5 %."""

    steps: Counter[float] = field(default_factory=Counter)

    def percentile(self, share: float) -> float | None:
        """Return the seconds within which this share of the events was over; None without events."""
        wanted, seen = share * self.steps.total(), 0
        for seconds in sorted(self.steps):
            seen += self.steps[seconds]
            if seen >= wanted:
                return seconds
        return None


@dataclass(slots=True)
class EngineStats:
    """Statistics of one search engine."""

    engine: str
    ok: int = 0
    empty: int = 0
    failed: int = 0
    overtaken: int = 0
    """Times that another engine was faster."""
    resting: int = 0
    """Times that it was not asked because it had failed before."""
    limited: int = 0
    """Times that it was not asked because of our own quota."""
    fallback_answers: int = 0
    """Times that it answered after others could not."""
    seconds: SecondsHistogram = field(default_factory=SecondsHistogram)

    @property
    def times_asked(self) -> int:
        return self.ok + self.empty + self.failed + self.overtaken

    @property
    def success_rate(self) -> float | None:
        """Share of its answers that were not failures. Being overtaken counts as neither."""
        return ratio(self.ok + self.empty, self.ok + self.empty + self.failed)

    @property
    def handover_rate(self) -> float | None:
        """Share of its requests after which another engine had to be asked too."""
        return ratio(self.times_asked - self.ok, self.times_asked)


@dataclass(slots=True)
class CacheStats:
    """Cache statistics of one type of search."""

    type: str
    layers: Counter[str] = field(default_factory=Counter)
    """Number of searches by CacheLayer; '' for those that no cache answered."""

    @property
    def searches(self) -> int:
        return self.layers.total()

    @property
    def hit_rate(self) -> float | None:
        """Share of searches that a cache answered. Stale results and joined searches are no hits."""
        return ratio(self.layers[CacheLayer.SESSION] + self.layers[CacheLayer.SHARED], self.searches)


@dataclass(slots=True)
class AnswerStats:
    """Statistics of the answers in one mode."""

    mode: str
    endings: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of answers by ending and kind."""
    seconds: SecondsHistogram = field(default_factory=SecondsHistogram)

    def count_ending(self, ending: str) -> int:
        return sum(times for (found, _), times in self.endings.items() if found == ending)


@dataclass(slots=True)
class ModelStats:
    """Statistics of one model."""

    model: str
    answers: int = 0
    input: int = 0
    output: int = 0
    is_estimated: bool = False
    """True if the service did not report some of the tokens."""
    cost: float | None = None
    """Cost; None if no price is set."""
    iterations: Counter[int] = field(default_factory=Counter)
    """Number of agent runs by how often the model was asked."""
    tool_calls: int = 0


@dataclass(frozen=True, slots=True)
class ErrorStats:
    """Number of errors of one kind."""

    where: str
    """Part that failed: engine, search or answer."""
    engine: str
    kind: str
    times: int


@dataclass(frozen=True, slots=True)
class SpanStats:
    """Statistics of a time span, or of one minute, hour or day of it."""

    search_outcomes: Counter[str]
    answer_outcomes: Counter[str]
    """Number of answers by ending; stopped ones by what stopped them."""
    engines: list[EngineStats]
    caches: list[CacheStats]
    modes: list[AnswerStats]
    models: list[ModelStats]
    errors: list[ErrorStats]

    @property
    def is_empty(self) -> bool:
        return not (self.search_outcomes or self.answer_outcomes)

    @property
    def searches(self) -> int:
        return self.search_outcomes.total()

    @property
    def answers(self) -> int:
        return self.answer_outcomes.total()

    @property
    def completed_searches(self) -> int:
        """Number of searches whose reader did not leave. A search that was left is neither success nor failure."""
        return self.searches - self.search_outcomes[CANCELLED]

    @property
    def success_rate(self) -> float | None:
        """Share of searches with results."""
        return ratio(self.search_outcomes[AttemptOutcome.OK], self.completed_searches)

    @property
    def failure_rate(self) -> float | None:
        """Share of searches and answers that ended with an error."""
        failed = self.search_outcomes[FAILED] + self.answer_outcomes[FAILED]
        return ratio(failed, self.completed_searches + self.answers)

    @property
    def hit_rate(self) -> float | None:
        return CacheStats("", sum((cache.layers for cache in self.caches), Counter())).hit_rate

    @property
    def refused_searches(self) -> int:
        return self.search_outcomes[REFUSED]

    @property
    def answer_seconds(self) -> SecondsHistogram:
        """Seconds of complete answers, in both modes."""
        return SecondsHistogram(sum((mode.seconds.steps for mode in self.modes), Counter()))

    @property
    def cost(self) -> float | None:
        """Cost of the models that have a price; None if none has."""
        known = [model.cost for model in self.models if model.cost is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class DashboardReport:
    """The statistics that the dashboard shows about one time span."""

    whole: SpanStats
    parts: list[tuple[int, SpanStats]]
    """Every minute, hour or day with its start, without engines and errors. The last one is not over."""
    previous: SpanStats | None
    """Statistics of the span before, of the same length; None if it is empty or not completely known."""
    known_engines: list[str]
    """All engines that were asked in this span, chosen or not."""

    @property
    def searches(self) -> list[OutcomeCount]:
        return _outcome_counts((start, part.search_outcomes) for start, part in self.parts)

    @property
    def answers(self) -> list[OutcomeCount]:
        return _outcome_counts((start, part.answer_outcomes) for start, part in self.parts)


def ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _outcome_counts(parts: Iterable[tuple[int, Counter[str]]]) -> list[OutcomeCount]:
    return [OutcomeCount(start, *count) for start, outcomes in parts for count in sorted(outcomes.items())]


def read_report(
    store: MetricsStore, span: TimeSpan, *, now: float, settings: MetricsSettings, engines: Collection[str] = ()
) -> DashboardReport:
    """Return the report of a span. `engines` restricts it to these engines; answers belong to no engine. Empty: all."""
    edges = span.edges(now)
    counts = _counts(store, edges, now)
    known = _sum_times((attempt.engine, attempt.times) for attempt in counts.attempts)
    parts = {start: Counts([], [], [], []) for start in edges[:-1]}
    for search in counts.searches:
        parts[search.part].searches.append(search)
    for answer in counts.answers:
        parts[answer.part].answers.append(answer)
    for seconds in counts.answer_seconds:
        parts[seconds.part].answer_seconds.append(seconds)
    return DashboardReport(
        whole=_span_stats(counts, settings, engines),
        parts=[(start, _span_stats(part, settings, engines)) for start, part in parts.items()],
        previous=_previous_stats(store, span, now, settings, engines),
        known_engines=[engine for engine, _ in known.most_common()],
    )


LATE = 120.0
"""Seconds after which no record comes any more: the writer has written it, or has given up."""


def _counts(store: MetricsStore, edges: Sequence[int], now: float) -> Counts:
    """Return the counts of a span. Its past is counted once: every click on the dashboard reads the same again."""
    *_, present, end = edges
    count = _past_counts if now - present > LATE else _past_counts.__wrapped__
    return Counts(*map(add, count(store, tuple(edges[:-1])), store.counts((present, end))))


@lru_cache(8)
def _past_counts(store: MetricsStore, edges: tuple[int, ...]) -> Counts:
    return store.counts(edges)


def _previous_stats(
    store: MetricsStore, span: TimeSpan, now: float, settings: MetricsSettings, engines: Collection[str]
) -> SpanStats | None:
    first, oldest = span.previous_start(now), store.oldest_record_time()
    if oldest is None or oldest > first or first < now - settings.keep_days * DAY:
        return None
    stats = _span_stats(_past_counts(store, (first, span.start(now))), settings, engines)
    return None if stats.is_empty else stats


def _span_stats(counts: Counts, settings: MetricsSettings, engines: Collection[str]) -> SpanStats:
    searches = [count for count in counts.searches if not engines or count.engine in engines]
    attempts = [count for count in counts.attempts if not engines or count.engine in engines]
    return SpanStats(
        search_outcomes=_sum_times((count.outcome, count.times) for count in searches),
        answer_outcomes=_sum_times(
            (answer.kind if answer.ending == STOPPED else answer.ending, answer.times) for answer in counts.answers
        ),
        engines=_engine_stats(attempts),
        caches=_cache_stats(searches),
        modes=_mode_stats(counts),
        models=_model_stats(counts.answers, settings),
        errors=_error_stats(attempts, searches, counts.answers),
    )


def _sum_times(counts: Iterable[tuple[Key, int]]) -> Counter[Key]:
    sums: Counter[Key] = Counter()
    for key, times in counts:
        sums[key] += times
    return sums


def _engine_stats(attempts: Iterable[AttemptCount]) -> list[EngineStats]:
    engines: dict[str, EngineStats] = {}
    for count in attempts:
        engine = engines.setdefault(count.engine, EngineStats(count.engine))
        match count.outcome, count.kind:
            case AttemptOutcome.OK, _:
                engine.ok += count.times
                engine.fallback_answers += count.times if count.place else 0
            case AttemptOutcome.EMPTY, _:
                engine.empty += count.times
            case AttemptOutcome.FAILED, _:
                engine.failed += count.times
            case _, "abandoned":
                engine.overtaken += count.times
            case _, RateLimited.kind:
                engine.limited += count.times
            case _:
                engine.resting += count.times
        if count.outcome in (AttemptOutcome.OK, AttemptOutcome.EMPTY):
            engine.seconds.steps[count.seconds] += count.times
    return sorted(engines.values(), key=lambda engine: (-engine.times_asked, engine.engine))


def _cache_stats(searches: Iterable[SearchCount]) -> list[CacheStats]:
    types: dict[str, CacheStats] = {}
    for count in searches:
        if count.outcome not in (CANCELLED, REFUSED):
            types.setdefault(count.type, CacheStats(count.type)).layers[count.cache] += count.times
    return sorted(types.values(), key=lambda cache: (-cache.searches, cache.type))


def _mode_stats(counts: Counts) -> list[AnswerStats]:
    modes: dict[str, AnswerStats] = {}
    for answer in counts.answers:
        mode = modes.setdefault(answer.mode, AnswerStats(answer.mode))
        mode.endings[answer.ending, answer.kind] += answer.times
    for count in counts.answer_seconds:
        modes[count.mode].seconds.steps[count.seconds] += count.times
    return sorted(modes.values(), key=lambda mode: mode.mode, reverse=True)


def _model_stats(answers: Iterable[AnswerCount], settings: MetricsSettings) -> list[ModelStats]:
    models: dict[str, ModelStats] = {}
    for count in answers:
        model = models.setdefault(count.model, ModelStats(count.model))
        model.answers += count.times
        model.input += count.input
        model.output += count.output
        model.is_estimated |= count.estimated
        if count.iterations:
            model.iterations[count.iterations] += count.times
            model.tool_calls += count.tool_calls
    prices = {name: (read, written) for name, read, written in settings.prices} | {EMBEDDED_LABEL: (0.0, 0.0)}
    for model in models.values():
        if model.model in prices:
            read, written = prices[model.model]
            model.cost = (model.input * read + model.output * written) / 1_000_000
    return sorted(models.values(), key=lambda model: (-model.input - model.output, model.model))


def _error_stats(
    attempts: Iterable[AttemptCount], searches: Iterable[SearchCount], answers: Iterable[AnswerCount]
) -> list[ErrorStats]:
    failed = [(("engine", count.engine, count.kind), count.times) for count in attempts if count.outcome == FAILED]
    failed += [(("search", "", count.kind), count.times) for count in searches if count.outcome == FAILED]
    failed += [(("answer", "", count.kind), count.times) for count in answers if count.ending == FAILED]
    return [ErrorStats(*key, times) for key, times in _sum_times(failed).most_common()]
