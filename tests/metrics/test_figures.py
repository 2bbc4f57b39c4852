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
from core.metrics.figures import Figures, Report, Seconds, read_report
from core.metrics.records import AnswerRecord, AttemptRecord, Record, SearchRecord, seconds_of, step_of
from core.metrics.spans import DAY, HOUR, SPANS, Grain, Span
from core.metrics.writer import write
from core.store import Database, MetricsStore
from support.base import loaded

pytestmark = pytest.mark.servers

NOW = datetime(2026, 11, 16, 15, 42, 30).timestamp()
SETTINGS = MetricsSettings(prices=("dear=10/40", "cheap=0.5/1"))


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


def check_parts(report: Report, records: list[Record], span: Span) -> None:
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
        assert close(part.answer_seconds.at(0.95), percentile(took, 0.95)) if took else not part.answer_seconds.steps


def check(figures: Figures, records: list[Record], engines: str = "") -> None:
    chosen = engines or "abc"
    every_search = [record for record in records if isinstance(record, SearchRecord)]
    searches = [record for record in every_search if not engines or (record.engine in engines and record.engine)]
    answers = [record for record in records if isinstance(record, AnswerRecord)]
    tries = [(place, attempt) for record in every_search for place, attempt in enumerate(record.attempts)]

    # All together
    assert (figures.searches, figures.answers) == (len(searches), len(answers))
    assert figures.refused == sum(record.outcome == "refused" for record in searches)
    settled = [record for record in searches if record.outcome != "cancelled"]
    assert figures.success == sum(record.outcome == "ok" for record in settled) / len(settled)
    failed = [record.outcome == "failed" for record in settled] + [record.ending == "failed" for record in answers]
    assert figures.failure == pytest.approx(statistics.fmean(failed))
    took = [record.seconds for record in answers if record.ending == "ok"]
    assert close(figures.answer_seconds.at(0.95), percentile(took, 0.95))

    # Engines
    assert {engine.engine for engine in figures.engines} == set(chosen)
    for engine in figures.engines:
        mine = [(place, attempt) for place, attempt in tries if attempt.engine == engine.engine]
        of = Counter((attempt.outcome, attempt.kind if attempt.outcome == "skipped" else "") for _, attempt in mine)
        assert (engine.ok, engine.empty, engine.failed) == (of["ok", ""], of["empty", ""], of["failed", ""])
        assert (engine.overtaken, engine.limited, engine.resting) == (
            of["skipped", "abandoned"],
            of["skipped", "rate_limited"],
            of["skipped", "timeout"],
        )
        assert engine.relieved == sum(attempt.outcome == "ok" and place > 0 for place, attempt in mine)
        asked = [attempt for _, attempt in mine if attempt.outcome != "skipped" or attempt.kind == "abandoned"]
        assert engine.handed_on == sum(attempt.outcome != "ok" for attempt in asked) / len(asked)
        answered = [attempt.outcome != "failed" for attempt in asked if attempt.outcome != "skipped"]
        assert engine.success == statistics.fmean(answered)
        seconds = [attempt.seconds for _, attempt in mine if attempt.outcome in ("ok", "empty")]
        assert close(engine.seconds.at(0.5), percentile(seconds, 0.5))
        assert close(engine.seconds.at(0.95), percentile(seconds, 0.95))

    # Caches
    through = [record for record in searches if record.outcome not in ("refused", "cancelled")]
    assert {cache.type: cache.layers for cache in figures.caches} == {
        type_: Counter(record.cache for record in through if record.type == type_)
        for type_ in {record.type for record in through}
    }
    for cache in figures.caches:
        layers = [record.cache for record in through if record.type == cache.type]
        assert cache.hit_rate == sum(layer in ("session", "shared") for layer in layers) / len(layers)
    hits = [record.cache in ("session", "shared") for record in through]
    assert figures.hit_rate == pytest.approx(statistics.fmean(hits))

    # Answers by mode
    for mode in figures.modes:
        mine_ = [record for record in answers if record.mode == mode.mode]
        assert mode.endings == Counter((record.ending, record.kind) for record in mine_)
        assert mode.of("failed") == sum(record.ending == "failed" for record in mine_)
        seconds = [record.seconds for record in mine_ if record.ending == "ok"]
        assert close(mode.seconds.at(0.5), percentile(seconds, 0.5))
        assert close(mode.seconds.at(0.95), percentile(seconds, 0.95))
    assert {mode.mode for mode in figures.modes} == {record.mode for record in answers}

    # Models: tokens, cost, the agent
    prices = {"dear": (10, 40), "cheap": (0.5, 1), "内置摘录模型": (0, 0)}
    for model in figures.models:
        of_model = [record for record in answers if record.model == model.model]
        read, written = sum(record.input for record in of_model), sum(record.output for record in of_model)
        assert (model.answers, model.input, model.output) == (len(of_model), read, written)
        assert model.estimated == any(record.estimated for record in of_model)
        if model.model == "unknown":
            assert model.cost is None
        else:
            price = prices[model.model]
            assert model.cost == pytest.approx(read / 1e6 * price[0] + written / 1e6 * price[1])
        runs = [record for record in of_model if record.iterations]
        assert model.iterations == Counter(record.iterations for record in runs)
        assert model.tool_calls == sum(record.tool_calls for record in runs)
    assert {model.model for model in figures.models} == {record.model for record in answers}

    # Errors
    expected = Counter(
        ("engine", attempt.engine, attempt.kind)
        for _, attempt in tries
        if attempt.outcome == "failed" and attempt.engine in chosen
    )
    expected.update(("search", "", record.kind) for record in searches if record.outcome == "failed")
    expected.update(("answer", "", record.kind) for record in answers if record.ending == "failed")
    assert {(error.where, error.engine, error.kind): error.times for error in figures.errors} == expected


def test_every_figure_of_every_span_is_what_the_records_say(store: MetricsStore) -> None:
    records = some_records(6_000)
    for n in range(0, len(records), 500):
        write(store, records[n : n + 500], now=NOW, keep_days=90)
    for span in SPANS:
        mine = [record for record in records if record.at >= span.since(NOW)]
        assert len(mine) > 100, span
        report = read_report(store, span, now=NOW, settings=SETTINGS)
        check(report.whole, mine)
        check_parts(report, mine, span)
        assert sorted(report.known_engines) == list("abc")
        check(read_report(store, span, now=NOW, settings=SETTINGS, engines=["b", "c"]).whole, mine, "bc")


def test_the_time_before_is_as_long_and_ends_where_the_span_begins(store: MetricsStore) -> None:
    records = some_records(6_000)
    write(store, records, now=NOW, keep_days=90)
    for span in SPANS[:-1]:
        earlier = [record for record in records if span.since_before(NOW) <= record.at < span.since(NOW)]
        assert len(span.edges(NOW)) == len(span.edges(span.since(NOW) - 1)) == span.count + 1
        before = read_report(store, span, now=NOW, settings=SETTINGS).before
        assert before
        check(before, earlier)
    assert read_report(store, SPANS[-1], now=NOW, settings=SETTINGS).before is None, "nothing is kept for 180 days"


def test_there_is_nothing_to_compare_with_before_the_first_record_or_after_a_pause(store: MetricsStore) -> None:
    hours = Span("24 小时", Grain.HOUR, 24)
    newest = AnswerRecord(NOW - 60, "chat", "dear", "ok", "", 1.0, 1, 1, False, 0, 0)

    def before() -> Figures | None:
        return read_report(store, hours, now=NOW, settings=SETTINGS).before

    write(store, [newest, replace(newest, at=NOW - 30 * HOUR)], now=NOW, keep_days=90)
    assert before() is None, "half of the day before is not known"
    write(store, [replace(newest, at=NOW - 60 * HOUR)], now=NOW, keep_days=90)
    known = before()
    assert known
    assert known.answers == 1
    assert read_report(store, SPANS[0], now=NOW, settings=SETTINGS).before is None, "nothing was asked in that hour"


def test_the_latest_records_come_first(store: MetricsStore) -> None:
    records = some_records(300)
    write(store, records, now=NOW, keep_days=90)
    latest = sorted((record.at for record in records if isinstance(record, SearchRecord)), reverse=True)
    assert [row["at"] for row in store.latest_searches(0, 20)] == pytest.approx(latest[:20])
    answers = sorted((record.at for record in records if isinstance(record, AnswerRecord)), reverse=True)
    assert [row["at"] for row in store.latest_answers(answers[4], 20)] == pytest.approx(answers[:5])


def test_nothing_recorded_is_nothing_shown(store: MetricsStore) -> None:
    report = read_report(store, SPANS[0], now=NOW, settings=SETTINGS)
    figures = report.whole
    assert figures.empty
    assert (figures.success, figures.hit_rate, figures.cost, figures.refused) == (None, None, None, 0)


# ── Time and its steps ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_span_reaches_back_whole_minutes_hours_and_days() -> None:
    def clock(at: float) -> str:
        return datetime.fromtimestamp(at).isoformat(" ", "minutes")

    assert {span.label: clock(span.since(NOW)) for span in SPANS} == {
        "1 小时": "2026-11-16 14:43",
        "24 小时": "2026-11-15 16:00",
        "7 天": "2026-11-09 16:00",
        "30 天": "2026-10-18 00:00",
        "90 天": "2026-08-19 00:00",
    }
    for span in SPANS:
        edges = span.edges(NOW)
        assert len(edges) == span.count + 1
        assert edges[-2] <= NOW < edges[-1]
        assert all(span.grain.start(edge) == edge for edge in edges)
        assert span.grain.kept_since(NOW, 90) - DAY <= edges[0], "what the span shows is still there"
    assert Grain.HOUR.start(NOW) - HOUR == Grain.HOUR.start(NOW - HOUR)


@pytest.mark.parametrize("seconds", [0.0, 0.0004, 0.001, 0.00101, 0.05, 0.9999, 1.0, 59.3, 301.0])
def test_the_middle_of_a_step_is_near_everything_in_it(seconds: float) -> None:
    middle = seconds_of(step_of(seconds))
    assert close(middle, seconds) if seconds > 0.001 else 0 < middle <= 0.001


def test_percentiles_of_few_and_of_none() -> None:
    assert Seconds().at(0.5) is None
    one = Seconds(Counter({step_of(2.0): 1}))
    assert close(one.at(0.5), 2.0)
    assert close(one.at(0.95), 2.0)
    twenty = Seconds(Counter({step_of(1.0): 19, step_of(10.0): 1}))
    assert close(twenty.at(0.95), 1.0)
    assert close(twenty.at(0.96), 10.0)
