"""Every figure of the dashboard, against the records it was made from, counted here in another way."""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import pytest

from core.base.settings import MetricsSettings
from core.metrics.recorder import write_batch
from core.metrics.records import AnswerRecord, AttemptRecord, Record, SearchRecord
from core.metrics.statistics import (
    AnswerStats,
    DashboardReport,
    EngineStats,
    ModelStats,
    SecondsHistogram,
    SpanStats,
    read_report,
)
from core.metrics.time_spans import DAY, HOUR, TIME_SPANS, Grain, TimeSpan
from core.store import Database, MetricsStore
from support.base import loaded

pytestmark = pytest.mark.servers

NOW = datetime(2026, 11, 16, 15, 42, 30).timestamp()
SETTINGS = MetricsSettings(prices=("dear=10/40", "cheap=0.5/1"))
PRICES = {"dear": (10, 40), "cheap": (0.5, 1), "内置摘录模型": (0, 0)}


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> Iterator[MetricsStore]:
    url = "" if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()
    database = Database.from_settings(loaded(DATABASE_URL=url).values)
    yield MetricsStore(database)
    database.close()


def some_records(count: int) -> list[Record]:
    """Of every kind, thicker towards the present, so that each span has some."""
    dice = random.Random(8)
    return [_record(dice, NOW - 100 * DAY * dice.random() ** 6) for _ in range(count)]


def _record(dice: random.Random, at: float) -> Record:
    if dice.random() < 0.4:
        mode = dice.choice(["chat", "agent"])
        ending, kind = dice.choice(
            [("ok", "")] * 5
            + [("stopped", "user"), ("stopped", "time"), ("failed", "model_timeout"), ("failed", "internal")]
        )
        known = ending == "ok" or kind == "time"
        return AnswerRecord(
            at=at,
            mode=mode,
            model=dice.choice(["dear", "cheap", "unknown", "内置摘录模型"]),
            ending=ending,
            kind=kind,
            seconds=dice.lognormvariate(1, 1),
            input=dice.randrange(1, 5_000) if known else 0,
            output=dice.randrange(1, 900) if known else 0,
            estimated=known and dice.random() < 0.2,
            iterations=dice.randrange(1, 6) if known and mode == "agent" else 0,
            tool_calls=dice.randrange(6) if mode == "agent" else 0,
        )
    search = SearchRecord(at, dice.choice(["general", "news", "case"]), "", "ok", "", "", None, 0.3, ())
    match dice.choice(["asked"] * 6 + ["session", "shared", "joined", "refused", "cancelled", "nobody", "stale"]):
        case "session" | "shared" | "joined" as layer:
            return replace(search, engine=dice.choice("abc"), cache=layer, cache_age=60.0)
        case "refused":
            return replace(search, outcome="refused", kind="rate_limited")
        case "cancelled":
            return replace(search, outcome="cancelled")
        case "nobody":
            return replace(search, outcome="failed", kind="timeout", attempts=_failing(dice, "abc"))
        case "stale":
            return replace(search, engine="b", cache="stale", cache_age=9e4, attempts=_failing(dice, "abc"))
        case _:
            winner = dice.randrange(3)
            outcome = dice.choice(["ok", "ok", "ok", "empty"])
            last = AttemptRecord("abc"[winner], outcome, dice.lognormvariate(-1, 0.8), "")
            return replace(
                search, engine=last.engine, outcome=outcome, attempts=(*_failing(dice, "abc"[:winner]), last)
            )


def _failing(dice: random.Random, engines: str) -> tuple[AttemptRecord, ...]:
    ways = [
        ("failed", "timeout"),
        ("failed", "blocked"),
        ("empty", ""),
        ("skipped", "timeout"),
        ("skipped", "abandoned"),
        ("skipped", "rate_limited"),
    ]
    return tuple(AttemptRecord(engine, *_way(dice, ways)) for engine in engines)


def _way(dice: random.Random, ways: list[tuple[str, str]]) -> tuple[str, float, str]:
    outcome, kind = dice.choice(ways)
    return outcome, dice.lognormvariate(0, 0.5), kind


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[math.ceil(share * len(values)) - 1]


def close(found: float | None, expected: float) -> bool:
    return found is not None and abs(found / expected - 1) <= 0.05


def check_parts(report: DashboardReport, records: list[Record], span: TimeSpan) -> None:
    """`records`: those of the span."""
    searches = [record for record in records if isinstance(record, SearchRecord)]
    answers = [record for record in records if isinstance(record, AnswerRecord)]
    assert Counter({(m.start, m.outcome): m.times for m in report.searches}) == Counter(
        (span.grain.start(record.at), record.outcome) for record in searches
    )
    assert Counter({(m.start, m.outcome): m.times for m in report.answers}) == Counter(
        (span.grain.start(record.at), record.kind if record.ending == "stopped" else record.ending)
        for record in answers
    )
    assert [start for start, _ in report.parts] == span.edges(NOW)[:-1]
    assert sum(part.cost or 0 for _, part in report.parts) == pytest.approx(report.whole.cost)
    for start, part in report.parts:
        took = [record.seconds for record in answers if record.ending == "ok" and span.grain.start(record.at) == start]
        assert (
            close(part.answer_seconds.percentile(0.95), percentile(took, 0.95))
            if took
            else not part.answer_seconds.steps
        )


class Counted:
    """Figures, and beside them the records that they are about, counted here in another way."""

    def __init__(self, figures: SpanStats, records: list[Record], engines: str = "") -> None:
        self.figures = figures
        self.chosen = engines or "abc"
        searches = [record for record in records if isinstance(record, SearchRecord)]
        self.searches = [search for search in searches if not engines or search.engine in tuple(engines)]
        self.answers = [record for record in records if isinstance(record, AnswerRecord)]
        self.attempts = [
            (place, attempt)
            for search in searches
            for place, attempt in enumerate(search.attempts)
            if attempt.engine in self.chosen
        ]

    def check(self) -> None:
        self.check_totals()
        assert {engine.engine for engine in self.figures.engines} == set(self.chosen)
        for engine in self.figures.engines:
            self.check_engine(engine)
        self.check_caches()
        assert {mode.mode for mode in self.figures.modes} == {answer.mode for answer in self.answers}
        for mode in self.figures.modes:
            self.check_mode(mode)
        assert {model.model for model in self.figures.models} == {answer.model for answer in self.answers}
        for model in self.figures.models:
            self.check_model(model)
        self.check_errors()

    def check_totals(self) -> None:
        figures = self.figures
        assert (figures.searches, figures.answers) == (len(self.searches), len(self.answers))
        outcomes = [search.outcome for search in self.searches]
        assert figures.refused_searches == outcomes.count("refused")
        settled = len(outcomes) - outcomes.count("cancelled")
        assert figures.success_rate == outcomes.count("ok") / settled
        failed = outcomes.count("failed") + [answer.ending for answer in self.answers].count("failed")
        assert figures.failure_rate == pytest.approx(failed / (settled + len(self.answers)))
        took = [answer.seconds for answer in self.answers if answer.ending == "ok"]
        assert close(figures.answer_seconds.percentile(0.95), percentile(took, 0.95))

    def check_engine(self, engine: EngineStats) -> None:
        mine = [(place, attempt) for place, attempt in self.attempts if attempt.engine == engine.engine]
        of = Counter((one.outcome, one.kind if one.outcome == "skipped" else "") for _, one in mine)
        assert (engine.ok, engine.empty, engine.failed) == (of["ok", ""], of["empty", ""], of["failed", ""])
        skipped = (of["skipped", "abandoned"], of["skipped", "rate_limited"], of["skipped", "timeout"])
        assert (engine.overtaken, engine.limited, engine.resting) == skipped
        assert engine.fallback_answers == sum(attempt.outcome == "ok" and place > 0 for place, attempt in mine)
        asked = len(mine) - engine.limited - engine.resting
        assert engine.handover_rate == (asked - engine.ok) / asked
        answered = asked - engine.overtaken
        assert engine.success_rate == (answered - engine.failed) / answered
        check_seconds(engine.seconds, [one.seconds for _, one in mine if one.outcome in ("ok", "empty")])

    def check_caches(self) -> None:
        through = [search for search in self.searches if search.outcome not in ("refused", "cancelled")]
        layers: dict[str, Counter[str]] = {}
        for search in through:
            layers.setdefault(search.type, Counter())[search.cache] += 1
        assert {cache.type: cache.layers for cache in self.figures.caches} == layers
        for cache in self.figures.caches:
            of_type = layers[cache.type]
            assert cache.hit_rate == (of_type["session"] + of_type["shared"]) / of_type.total()
        hits = [search.cache in ("session", "shared") for search in through]
        assert self.figures.hit_rate == pytest.approx(statistics.fmean(hits))

    def check_mode(self, mode: AnswerStats) -> None:
        mine = [answer for answer in self.answers if answer.mode == mode.mode]
        assert mode.endings == Counter((answer.ending, answer.kind) for answer in mine)
        assert mode.count_ending("failed") == [answer.ending for answer in mine].count("failed")
        check_seconds(mode.seconds, [answer.seconds for answer in mine if answer.ending == "ok"])

    def check_model(self, model: ModelStats) -> None:
        mine = [answer for answer in self.answers if answer.model == model.model]
        read, written = sum(answer.input for answer in mine), sum(answer.output for answer in mine)
        assert (model.answers, model.input, model.output) == (len(mine), read, written)
        assert model.is_estimated == any(answer.estimated for answer in mine)
        price = PRICES.get(model.model)
        assert model.cost == (pytest.approx(read / 1e6 * price[0] + written / 1e6 * price[1]) if price else None)
        runs = [answer for answer in mine if answer.iterations]
        assert model.iterations == Counter(answer.iterations for answer in runs)
        assert model.tool_calls == sum(answer.tool_calls for answer in runs)

    def check_errors(self) -> None:
        expected = Counter(("engine", one.engine, one.kind) for _, one in self.attempts if one.outcome == "failed")
        expected.update(("search", "", search.kind) for search in self.searches if search.outcome == "failed")
        expected.update(("answer", "", answer.kind) for answer in self.answers if answer.ending == "failed")
        assert {(error.where, error.engine, error.kind): error.times for error in self.figures.errors} == expected


def check_seconds(found: SecondsHistogram, took: list[float]) -> None:
    for share in (0.5, 0.95):
        assert close(found.percentile(share), percentile(took, share))


def check(figures: SpanStats, records: list[Record], engines: str = "") -> None:
    Counted(figures, records, engines).check()


def test_every_figure_of_every_span_is_what_the_records_say(store: MetricsStore) -> None:
    records = some_records(6_000)
    for n in range(0, len(records), 500):
        write_batch(store, records[n : n + 500])
    for span in TIME_SPANS:
        mine = [record for record in records if record.at >= span.start(NOW)]
        assert len(mine) > 100, span
        report = read_report(store, span, now=NOW, settings=SETTINGS)
        check(report.whole, mine)
        check_parts(report, mine, span)
        assert sorted(report.known_engines) == list("abc")
        check(read_report(store, span, now=NOW, settings=SETTINGS, engines=["b", "c"]).whole, mine, "bc")


def test_the_time_before_is_as_long_and_ends_where_the_span_begins(store: MetricsStore) -> None:
    records = some_records(6_000)
    write_batch(store, records)
    for span in TIME_SPANS[:-1]:
        earlier = [record for record in records if span.previous_start(NOW) <= record.at < span.start(NOW)]
        assert len(span.edges(NOW)) == len(span.edges(span.start(NOW) - 1)) == span.count + 1
        before = read_report(store, span, now=NOW, settings=SETTINGS).previous
        assert before
        check(before, earlier)
    assert read_report(store, TIME_SPANS[-1], now=NOW, settings=SETTINGS).previous is None, (
        "nothing is kept for 180 days"
    )


def test_there_is_nothing_to_compare_with_before_the_first_record_or_after_a_pause(store: MetricsStore) -> None:
    hours = TimeSpan("24 小时", Grain.HOUR, 24)
    newest = AnswerRecord(NOW - 60, "chat", "dear", "ok", "", 1.0, 1, 1, False, 0, 0)

    def before() -> SpanStats | None:
        return read_report(store, hours, now=NOW, settings=SETTINGS).previous

    write_batch(store, [newest, replace(newest, at=NOW - 30 * HOUR)])
    assert before() is None, "half of the day before is not known"
    write_batch(store, [replace(newest, at=NOW - 60 * HOUR)])
    known = before()
    assert known
    assert known.answers == 1
    assert read_report(store, TIME_SPANS[0], now=NOW, settings=SETTINGS).previous is None, (
        "nothing was asked in that hour"
    )


def test_the_latest_records_come_first(store: MetricsStore) -> None:
    records = some_records(300)
    write_batch(store, records)
    latest = sorted((record.at for record in records if isinstance(record, SearchRecord)), reverse=True)
    assert [row["at"] for row in store.latest_searches(0, 20)] == pytest.approx(latest[:20])
    answers = sorted((record.at for record in records if isinstance(record, AnswerRecord)), reverse=True)
    assert [row["at"] for row in store.latest_answers(answers[4], 20)] == pytest.approx(answers[:5])


def test_nothing_recorded_is_nothing_shown(store: MetricsStore) -> None:
    report = read_report(store, TIME_SPANS[0], now=NOW, settings=SETTINGS)
    figures = report.whole
    assert figures.is_empty
    assert (figures.success_rate, figures.hit_rate, figures.cost, figures.refused_searches) == (None, None, None, 0)


# ── Time and its steps ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_span_reaches_back_whole_minutes_hours_and_days() -> None:
    def clock(at: float) -> str:
        return datetime.fromtimestamp(at).isoformat(" ", "minutes")

    assert {span.label: clock(span.start(NOW)) for span in TIME_SPANS} == {
        "1 小时": "2026-11-16 14:43",
        "24 小时": "2026-11-15 16:00",
        "7 天": "2026-11-09 16:00",
        "30 天": "2026-10-18 00:00",
        "90 天": "2026-08-19 00:00",
    }
    for span in TIME_SPANS:
        edges = span.edges(NOW)
        assert len(edges) == span.count + 1
        assert edges[-2] <= NOW < edges[-1]
        assert all(span.grain.start(edge) == edge for edge in edges)
    assert Grain.HOUR.start(NOW) - HOUR == Grain.HOUR.start(NOW - HOUR)


def test_seconds_are_counted_with_two_digits(store: MetricsStore) -> None:
    answer = AnswerRecord(NOW - 60, "chat", "dear", "ok", "", 1.0, 1, 1, False, 0, 0)
    took = [0.0004, 0.0123, 0.0987, 0.1049, 0.996, 1.049, 9.96, 10.4, 301.4]
    write_batch(store, [replace(answer, seconds=seconds) for seconds in took])
    counted = {count.seconds: count.times for count in store.counts((int(NOW) - 3600, int(NOW))).answer_seconds}
    assert counted == {0.0: 1, 0.012: 1, 0.099: 1, 0.1: 1, 1.0: 2, 10.0: 2, 301.0: 1}


def test_a_day_on_which_the_clocks_change_is_a_day(store: MetricsStore) -> None:
    answer = AnswerRecord(0.0, "chat", "dear", "ok", "", 1.0, 1, 1, False, 0, 0)
    edges = [0, DAY, 2 * DAY, 2 * DAY + 23 * HOUR, 3 * DAY + 23 * HOUR, 4 * DAY + 23 * HOUR]
    for edge in edges:
        write_batch(store, [replace(answer, at=edge - 0.01), replace(answer, at=float(edge))])
    assert sorted((count.part, count.times) for count in store.counts(edges).answers) == [
        (edge, 2) for edge in edges[:-1]
    ]


def test_what_is_over_is_counted_once_and_what_is_not_each_time(store: MetricsStore) -> None:
    answer = AnswerRecord(NOW - 60, "chat", "dear", "ok", "", 1.0, 1, 1, False, 0, 0)
    yesterday = replace(answer, at=NOW - 20 * HOUR)

    def answers(now: float = NOW) -> int:
        return read_report(store, TIME_SPANS[1], now=now, settings=SETTINGS).whole.answers

    just_now = Grain.HOUR.start(NOW) + 60
    assert (answers(just_now), answers()) == (0, 0)
    write_batch(store, [answer, yesterday])
    assert answers() == 1, "of this hour"
    assert answers(just_now) == 2, "where records may still come, everything is counted"
    assert answers(NOW + HOUR) == 2


def test_percentiles_of_few_and_of_none() -> None:
    assert SecondsHistogram().percentile(0.5) is None
    one = SecondsHistogram(Counter({2.0: 1}))
    assert (one.percentile(0.5), one.percentile(0.95)) == (2.0, 2.0)
    twenty = SecondsHistogram(Counter({1.0: 19, 10.0: 1}))
    assert (twenty.percentile(0.95), twenty.percentile(0.96)) == (1.0, 10.0)
