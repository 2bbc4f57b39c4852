"""What the dashboard shows about one span of time, worked out from its sums."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from core.base.settings import EMBEDDED_LABEL, MetricsSettings
from core.metrics.records import (
    AGENT,
    ANSWER,
    ANSWER_SECONDS,
    ATTEMPT,
    CANCELLED,
    ENGINE_SECONDS,
    ESTIMATED,
    FAILED,
    REFUSED,
    SEARCH,
    STOPPED,
    TOKENS,
    seconds_of,
)
from core.metrics.spans import Span
from core.search.errors import RateLimited
from core.search.types import CacheLayer, Outcome
from core.store.metrics import MetricsStore, Sum

Labels = tuple[str, ...]
Rows = Sequence[tuple[Labels, Sum]]


@dataclass(frozen=True, slots=True)
class Moment:
    """How many searches or answers ended in one way, in one minute, hour or day."""

    start: int
    outcome: str
    times: int


@dataclass(slots=True)
class Seconds:
    """A histogram of seconds."""

    steps: Counter[int] = field(default_factory=Counter)

    def at(self, share: float) -> float | None:
        """So many seconds, to within 5 %, or less did this share of them take."""
        wanted, seen = share * self.steps.total(), 0
        for step in sorted(self.steps):
            seen += self.steps[step]
            if seen >= wanted:
                return seconds_of(step)
        return None


@dataclass(slots=True)
class EngineFigures:
    engine: str
    ok: int = 0
    empty: int = 0
    failed: int = 0
    overtaken: int = 0
    """Another engine was faster."""
    resting: int = 0
    """Not asked, because it had failed before."""
    limited: int = 0
    """Not asked, because of our own quota."""
    relieved: int = 0
    """Answered after others could not."""
    seconds: Seconds = field(default_factory=Seconds)

    @property
    def asked(self) -> int:
        return self.ok + self.empty + self.failed + self.overtaken

    @property
    def success(self) -> float | None:
        """The share of its answers that were not failures; being overtaken says neither."""
        return share(self.ok + self.empty, self.ok + self.empty + self.failed)

    @property
    def handed_on(self) -> float | None:
        """The share of the times it was asked in which another engine had to be asked too."""
        return share(self.asked - self.ok, self.asked)


@dataclass(slots=True)
class CacheFigures:
    type: str
    layers: Counter[str] = field(default_factory=Counter)
    """By CacheLayer; those that no cache answered under ''."""

    @property
    def searches(self) -> int:
        return self.layers.total()

    @property
    def hit_rate(self) -> float | None:
        """Neither old results in need nor the company of an identical search are a hit."""
        return share(self.layers[CacheLayer.SESSION] + self.layers[CacheLayer.SHARED], self.searches)


@dataclass(slots=True)
class AnswerFigures:
    mode: str
    endings: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By ending and kind."""
    seconds: Seconds = field(default_factory=Seconds)

    def of(self, ending: str) -> int:
        return sum(times for (found, _), times in self.endings.items() if found == ending)


@dataclass(slots=True)
class ModelFigures:
    model: str
    answers: int = 0
    input: int = 0
    output: int = 0
    estimated: bool = False
    """Some of the tokens were not told by the service."""
    cost: float | None = None
    """None where nobody has set a price."""
    iterations: Counter[int] = field(default_factory=Counter)
    """Of the agent, by how often the model was asked."""
    tool_calls: int = 0


@dataclass(frozen=True, slots=True)
class ErrorFigures:
    where: str
    """engine, search or answer."""
    engine: str
    kind: str
    times: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Of a span, or of one minute, hour or day of it."""

    search_outcomes: Counter[str]
    answer_outcomes: Counter[str]
    """By ending; those that were stopped by what stopped them."""
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
        """Searches whose reader has not left: such a one says neither success nor failure."""
        return self.searches - self.search_outcomes[CANCELLED]

    @property
    def success(self) -> float | None:
        """The share of searches with results."""
        return share(self.search_outcomes[Outcome.OK], self.settled)

    @property
    def failure(self) -> float | None:
        """The share of searches and answers that ended with an error."""
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
        """Of complete answers, in both modes."""
        together = Seconds()
        for mode in self.modes:
            together.steps.update(mode.seconds.steps)
        return together

    @property
    def cost(self) -> float | None:
        """Of those models that have a price; None when none of them has."""
        known = [model.cost for model in self.models if model.cost is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class Report:
    """What the dashboard shows about one span."""

    whole: Figures
    parts: list[tuple[int, Figures]]
    """Every minute, hour or day with its beginning, without engines and errors. The last one is not over."""
    before: Figures | None
    """Of as long a time before; None where there was nothing, or where not all of it is known."""
    known_engines: list[str]
    """All that were asked in this span, whichever were chosen."""

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
    """`engines`: only what these did and found, while answers belong to no engine. Empty: all."""
    edges, grain = span.edges(now), span.grain.value
    reader = _Reader(settings, frozenset(engines))
    sums = store.sums(grain, edges[0])
    known: Counter[str] = Counter()
    for entry in sums:
        if entry.series == ATTEMPT:
            known[_labels(entry.labels)[0]] += entry.times
    parts: list[list[Sum]] = [[] for _ in edges]
    for start, entry in store.timeline(grain, edges[0], (SEARCH, ANSWER, ANSWER_SECONDS, TOKENS)):
        parts[bisect_right(edges, start) - 1].append(entry)
    parts.pop()  # what a clock has counted that was wrong for a while
    return Report(
        whole=reader.figures(sums),
        parts=list(zip(edges, map(reader.figures, parts), strict=False)),
        before=_before(store, span, now, reader),
        known_engines=[engine for engine, _ in known.most_common()],
    )


def _before(store: MetricsStore, span: Span, now: float, reader: _Reader) -> Figures | None:
    first, oldest = span.since_before(now), store.oldest()
    if oldest is None or oldest > first or first < span.grain.kept_since(now, reader.settings.keep_days):
        return None
    figures = reader.figures(store.sums(span.grain.value, first, until=span.since(now)))
    return None if figures.empty else figures


@dataclass(frozen=True, slots=True)
class _Reader:
    settings: MetricsSettings
    engines: frozenset[str]

    def figures(self, sums: Iterable[Sum]) -> Figures:
        of: dict[str, list[tuple[Labels, Sum]]] = defaultdict(list)
        for entry in sums:
            of[entry.series].append((_labels(entry.labels), entry))
        searches, attempts = self._chosen(of[SEARCH], 1), self._chosen(of[ATTEMPT], 0)
        return Figures(
            search_outcomes=_outcomes(searches),
            answer_outcomes=_outcomes(of[ANSWER]),
            engines=_engines(attempts, self._chosen(of[ENGINE_SECONDS], 0)),
            caches=_caches(searches),
            modes=_modes(of[ANSWER], of[ANSWER_SECONDS]),
            models=_models(of[ANSWER], of[TOKENS], of[AGENT], self.settings),
            errors=_errors(attempts, searches, of[ANSWER]),
        )

    def _chosen(self, rows: Rows, place: int) -> Rows:
        """Those whose label in this place is an engine that was chosen."""
        return [row for row in rows if row[0][place] in self.engines] if self.engines else rows


@lru_cache(10_000)
def _labels(stored: str) -> Labels:
    return tuple(json.loads(stored))


def _outcomes(rows: Rows) -> Counter[str]:
    """Of searches (type, engine, outcome, …) and of answers (mode, model, ending, kind)."""
    counted: Counter[str] = Counter()
    for labels, entry in rows:
        counted[labels[3] if labels[2] == STOPPED else labels[2]] += entry.times
    return counted


def _engines(attempts: Rows, seconds: Rows) -> list[EngineFigures]:
    engines: dict[str, EngineFigures] = {}
    for (name, outcome, kind, relief), entry in attempts:
        engine = engines.setdefault(name, EngineFigures(name))
        match outcome, kind:
            case Outcome.OK, _:
                engine.ok += entry.times
                engine.relieved += entry.times if relief else 0
            case Outcome.EMPTY, _:
                engine.empty += entry.times
            case Outcome.FAILED, _:
                engine.failed += entry.times
            case _, "abandoned":
                engine.overtaken += entry.times
            case _, RateLimited.kind:
                engine.limited += entry.times
            case _:
                engine.resting += entry.times
    for (name,), entry in seconds:
        engines.setdefault(name, EngineFigures(name)).seconds.steps[entry.bucket] += entry.times
    return sorted(engines.values(), key=lambda engine: (-engine.asked, engine.engine))


def _caches(searches: Rows) -> list[CacheFigures]:
    types: dict[str, CacheFigures] = {}
    for (type_, _, outcome, layer, _), entry in searches:
        if outcome not in (CANCELLED, REFUSED):
            types.setdefault(type_, CacheFigures(type_)).layers[layer] += entry.times
    return sorted(types.values(), key=lambda cache: (-cache.searches, cache.type))


def _modes(answers: Rows, seconds: Rows) -> list[AnswerFigures]:
    modes: dict[str, AnswerFigures] = {}
    for (mode, _, ending, kind), entry in answers:
        modes.setdefault(mode, AnswerFigures(mode)).endings[ending, kind] += entry.times
    for (mode,), entry in seconds:
        modes.setdefault(mode, AnswerFigures(mode)).seconds.steps[entry.bucket] += entry.times
    return sorted(modes.values(), key=lambda figures: figures.mode, reverse=True)


def _models(answers: Rows, tokens: Rows, agent: Rows, settings: MetricsSettings) -> list[ModelFigures]:
    models: dict[str, ModelFigures] = {}
    for (_, name, _, _), entry in answers:
        models.setdefault(name, ModelFigures(name)).answers += entry.times
    for (name, direction, certainty), entry in tokens:
        model = models.setdefault(name, ModelFigures(name))
        model.estimated |= certainty == ESTIMATED
        if direction == "input":
            model.input += round(entry.amount)
        else:
            model.output += round(entry.amount)
    for (name,), entry in agent:
        model = models.setdefault(name, ModelFigures(name))
        model.iterations[entry.bucket] += entry.times
        model.tool_calls += round(entry.amount)
    prices = {name: (read, written) for name, read, written in settings.prices} | {EMBEDDED_LABEL: (0.0, 0.0)}
    for model in models.values():
        if model.model in prices:
            read, written = prices[model.model]
            model.cost = (model.input * read + model.output * written) / 1_000_000
    return sorted(models.values(), key=lambda model: (-model.input - model.output, model.model))


def _errors(attempts: Rows, searches: Rows, answers: Rows) -> list[ErrorFigures]:
    counted: Counter[tuple[str, str, str]] = Counter()
    for (engine, outcome, kind, _), entry in attempts:
        if outcome == Outcome.FAILED:
            counted["engine", engine, kind] += entry.times
    for (_, _, outcome, _, kind), entry in searches:
        if outcome == FAILED:
            counted["search", "", kind] += entry.times
    for (_, _, ending, kind), entry in answers:
        if ending == FAILED:
            counted["answer", "", kind] += entry.times
    return [ErrorFigures(where, engine, kind, times) for (where, engine, kind), times in counted.most_common()]
