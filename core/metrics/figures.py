"""What the dashboard shows about one span of time, worked out from the counts of its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import add
from typing import TypeVar

from core.base.settings import EMBEDDED_LABEL, MetricsSettings
from core.metrics.records import CANCELLED, FAILED, REFUSED, STOPPED
from core.metrics.spans import DAY, Span
from core.search.errors import RateLimited
from core.search.types import CacheLayer, Outcome
from core.store.metrics import AnswerCount, AttemptCount, Counts, MetricsStore, SearchCount

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Moment:
    """Number of searches or answers that ended in one way, in one minute, hour or day."""

    start: int
    outcome: str
    times: int


@dataclass(slots=True)
class Seconds:
    """How often something took how long, to within 5 %."""

    steps: Counter[float] = field(default_factory=Counter)

    def at(self, share: float) -> float | None:
        """So many seconds or less did this share of them take."""
        wanted, seen = share * self.steps.total(), 0
        for seconds in sorted(self.steps):
            seen += self.steps[seconds]
            if seen >= wanted:
                return seconds
        return None


@dataclass(slots=True)
class EngineFigures:
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
    relieved: int = 0
    """Times that it answered after others could not."""
    seconds: Seconds = field(default_factory=Seconds)

    @property
    def asked(self) -> int:
        return self.ok + self.empty + self.failed + self.overtaken

    @property
    def success(self) -> float | None:
        """Share of its answers that were not failures. Being overtaken counts as neither."""
        return share(self.ok + self.empty, self.ok + self.empty + self.failed)

    @property
    def handed_on(self) -> float | None:
        """Share of its requests after which another engine had to be asked too."""
        return share(self.asked - self.ok, self.asked)


@dataclass(slots=True)
class CacheFigures:
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
        return share(self.layers[CacheLayer.SESSION] + self.layers[CacheLayer.SHARED], self.searches)


@dataclass(slots=True)
class AnswerFigures:
    """Statistics of the answers in one mode."""

    mode: str
    endings: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of answers by ending and kind."""
    seconds: Seconds = field(default_factory=Seconds)

    def of(self, ending: str) -> int:
        return sum(times for (found, _), times in self.endings.items() if found == ending)


@dataclass(slots=True)
class ModelFigures:
    """Statistics of one model."""

    model: str
    answers: int = 0
    input: int = 0
    output: int = 0
    estimated: bool = False
    """True if the service did not report some of the tokens."""
    cost: float | None = None
    """Cost; None if no price is set."""
    iterations: Counter[int] = field(default_factory=Counter)
    """Number of agent runs by how often the model was asked."""
    tool_calls: int = 0


@dataclass(frozen=True, slots=True)
class ErrorFigures:
    """Number of errors of one kind."""

    where: str
    """Part that failed: engine, search or answer."""
    engine: str
    kind: str
    times: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Statistics of a time span, or of one minute, hour or day of it."""

    search_outcomes: Counter[str]
    answer_outcomes: Counter[str]
    """Number of answers by ending; stopped ones by what stopped them."""
    engines: list[EngineFigures]
    caches: list[CacheFigures]
    modes: list[AnswerFigures]
    models: list[ModelFigures]
    errors: list[ErrorFigures]

    @property
    def empty(self) -> bool:
        return not (self.search_outcomes or self.answer_outcomes)

    @property
    def searches(self) -> int:
        return self.search_outcomes.total()

    @property
    def answers(self) -> int:
        return self.answer_outcomes.total()

    @property
    def settled(self) -> int:
        """Number of searches whose reader did not leave. A search that was left is neither success nor failure."""
        return self.searches - self.search_outcomes[CANCELLED]

    @property
    def success(self) -> float | None:
        """Share of searches with results."""
        return share(self.search_outcomes[Outcome.OK], self.settled)

    @property
    def failure(self) -> float | None:
        """Share of searches and answers that ended with an error."""
        return share(self.search_outcomes[FAILED] + self.answer_outcomes[FAILED], self.settled + self.answers)

    @property
    def hit_rate(self) -> float | None:
        together = CacheFigures("")
        for cache in self.caches:
            together.layers.update(cache.layers)
        return together.hit_rate

    @property
    def refused(self) -> int:
        return self.search_outcomes[REFUSED]

    @property
    def answer_seconds(self) -> Seconds:
        """Seconds of complete answers, in both modes."""
        together = Seconds()
        for mode in self.modes:
            together.steps.update(mode.seconds.steps)
        return together

    @property
    def cost(self) -> float | None:
        """Cost of the models that have a price; None if none has."""
        known = [model.cost for model in self.models if model.cost is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class Report:
    """The statistics that the dashboard shows about one time span."""

    whole: Figures
    parts: list[tuple[int, Figures]]
    """Every minute, hour or day with its start, without engines and errors. The last one is not over."""
    before: Figures | None
    """Statistics of the span before, of the same length; None if it is empty or not completely known."""
    known_engines: list[str]
    """All engines that were asked in this span, chosen or not."""

    @property
    def searches(self) -> list[Moment]:
        return [moment for start, part in self.parts for moment in _moments(start, part.search_outcomes)]

    @property
    def answers(self) -> list[Moment]:
        return [moment for start, part in self.parts for moment in _moments(start, part.answer_outcomes)]


def share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _moments(start: int, outcomes: Counter[str]) -> list[Moment]:
    return [Moment(start, outcome, times) for outcome, times in sorted(outcomes.items())]


def read_report(
    store: MetricsStore, span: Span, *, now: float, settings: MetricsSettings, engines: Collection[str] = ()
) -> Report:
    """Return the report of a span. `engines` restricts it to these engines; answers belong to no engine. Empty: all."""
    edges = span.edges(now)
    counts = _counts(store, edges, now)
    known: Counter[str] = Counter()
    for attempt in counts.attempts:
        known[attempt.engine] += attempt.times
    parts = {start: Counts([], [], [], []) for start in edges[:-1]}
    for search in counts.searches:
        parts[search.part].searches.append(search)
    for answer in counts.answers:
        parts[answer.part].answers.append(answer)
    for seconds in counts.answer_seconds:
        parts[seconds.part].answer_seconds.append(seconds)
    return Report(
        whole=_figures(counts, settings, engines),
        parts=[(start, _figures(part, settings, engines)) for start, part in parts.items()],
        before=_before(store, span, now, settings, engines),
        known_engines=[engine for engine, _ in known.most_common()],
    )


LATE = 120.0
"""Seconds after which no record comes any more: the writer has written it, or has given up."""


def _counts(store: MetricsStore, edges: Sequence[int], now: float) -> Counts:
    """What is over is counted once: every click on the dashboard reads the same again."""
    *_, present, end = edges
    count = _counts_of_the_past if now - present > LATE else _counts_of_the_past.__wrapped__
    return Counts(*map(add, count(store, tuple(edges[:-1])), store.counts((present, end))))


@lru_cache(8)
def _counts_of_the_past(store: MetricsStore, edges: tuple[int, ...]) -> Counts:
    return store.counts(edges)


def _before(
    store: MetricsStore, span: Span, now: float, settings: MetricsSettings, engines: Collection[str]
) -> Figures | None:
    first, oldest = span.since_before(now), store.oldest()
    if oldest is None or oldest > first or first < now - settings.keep_days * DAY:
        return None
    figures = _figures(_counts_of_the_past(store, (first, span.since(now))), settings, engines)
    return None if figures.empty else figures


def _figures(counts: Counts, settings: MetricsSettings, engines: Collection[str]) -> Figures:
    searches = [count for count in counts.searches if not engines or count.engine in engines]
    attempts = [count for count in counts.attempts if not engines or count.engine in engines]
    return Figures(
        search_outcomes=_times((count.outcome, count.times) for count in searches),
        answer_outcomes=_times(
            (count.kind if count.ending == STOPPED else count.ending, count.times) for count in counts.answers
        ),
        engines=_engines(attempts),
        caches=_caches(searches),
        modes=_modes(counts),
        models=_models(counts.answers, settings),
        errors=_errors(attempts, searches, counts.answers),
    )


def _times(counts: Iterable[tuple[Key, int]]) -> Counter[Key]:
    together: Counter[Key] = Counter()
    for key, times in counts:
        together[key] += times
    return together


def _engines(attempts: Iterable[AttemptCount]) -> list[EngineFigures]:
    engines: dict[str, EngineFigures] = {}
    for count in attempts:
        engine = engines.setdefault(count.engine, EngineFigures(count.engine))
        match count.outcome, count.kind:
            case Outcome.OK, _:
                engine.ok += count.times
                engine.relieved += count.times if count.place else 0
            case Outcome.EMPTY, _:
                engine.empty += count.times
            case Outcome.FAILED, _:
                engine.failed += count.times
            case _, "abandoned":
                engine.overtaken += count.times
            case _, RateLimited.kind:
                engine.limited += count.times
            case _:
                engine.resting += count.times
        if count.outcome in (Outcome.OK, Outcome.EMPTY):
            engine.seconds.steps[count.seconds] += count.times
    return sorted(engines.values(), key=lambda engine: (-engine.asked, engine.engine))


def _caches(searches: Iterable[SearchCount]) -> list[CacheFigures]:
    types: dict[str, CacheFigures] = {}
    for count in searches:
        if count.outcome not in (CANCELLED, REFUSED):
            types.setdefault(count.type, CacheFigures(count.type)).layers[count.cache] += count.times
    return sorted(types.values(), key=lambda cache: (-cache.searches, cache.type))


def _modes(counts: Counts) -> list[AnswerFigures]:
    modes: dict[str, AnswerFigures] = {}
    for answer in counts.answers:
        mode = modes.setdefault(answer.mode, AnswerFigures(answer.mode))
        mode.endings[answer.ending, answer.kind] += answer.times
    for count in counts.answer_seconds:
        modes[count.mode].seconds.steps[count.seconds] += count.times
    return sorted(modes.values(), key=lambda figures: figures.mode, reverse=True)


def _models(answers: Iterable[AnswerCount], settings: MetricsSettings) -> list[ModelFigures]:
    models: dict[str, ModelFigures] = {}
    for count in answers:
        model = models.setdefault(count.model, ModelFigures(count.model))
        model.answers += count.times
        model.input += count.input
        model.output += count.output
        model.estimated |= count.estimated
        if count.iterations:
            model.iterations[count.iterations] += count.times
            model.tool_calls += count.tool_calls
    prices = {name: (read, written) for name, read, written in settings.prices} | {EMBEDDED_LABEL: (0.0, 0.0)}
    for model in models.values():
        if model.model in prices:
            read, written = prices[model.model]
            model.cost = (model.input * read + model.output * written) / 1_000_000
    return sorted(models.values(), key=lambda model: (-model.input - model.output, model.model))


def _errors(
    attempts: Iterable[AttemptCount], searches: Iterable[SearchCount], answers: Iterable[AnswerCount]
) -> list[ErrorFigures]:
    failed = [(("engine", count.engine, count.kind), count.times) for count in attempts if count.outcome == FAILED]
    failed += [(("search", "", count.kind), count.times) for count in searches if count.outcome == FAILED]
    failed += [(("answer", "", count.kind), count.times) for count in answers if count.ending == FAILED]
    return [ErrorFigures(*key, times) for key, times in _times(failed).most_common()]
