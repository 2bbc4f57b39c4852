"""What is recorded of searches and answers, and that recording it never gets into anybody's way."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import event, text

from core import __version__
from core.answer.events import TextDelta
from core.base.cache import DiskTtlCache
from core.base.settings import MetricsSettings
from core.llm.errors import ModelTimeout
from core.metrics import MetricsRecorder
from core.metrics.recorder import MAX_QUEUED, MAX_TRIES, write_batch
from core.metrics.records import AnswerRecord, AttemptRecord, SearchRecord
from core.metrics.time_spans import DAY, HOUR
from core.run.question import AnswerOptions
from core.search.cache import ResultCache, SessionCache
from core.search.engines.bundled import BundledEngine
from core.search.errors import AllEnginesFailed, EngineTimeout, EngineUnavailable, RateLimited
from core.search.search_limits import SearchLimits
from core.search.service import SearchService
from core.search.types import SearchEnd, SearchQuery, SearchResponse, SearchType
from core.store import ConversationStore, Database, MetricsStore
from support.agents import final, search_step
from support.base import loaded
from support.fake_engines import FakeEngine, ScriptedEngine, hung_until_cancelled, results_of, slow
from support.fake_engines import results as found
from support.postgres import Postgres
from support.scripted_app import scripted_app
from support.waiting import Clock

pytestmark = pytest.mark.xdist_group("postgres")

QUERY = SearchQuery("民法典")
NOW = 1_763_280_000.0
RECORD = SearchRecord(NOW, "general", "a", "ok", "", "", None, 0.5, (AttemptRecord("a", "ok", 0.4, ""),))


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    url = "" if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()
    database = Database.from_settings(loaded(DATABASE_URL=url).values)
    yield database
    database.close()


@pytest.fixture
def sqlite() -> Iterator[Database]:
    database = Database.from_settings(loaded().values)
    yield database
    database.close()


@pytest.fixture
def recording() -> Iterator[Callable[..., MetricsRecorder]]:
    """Metrics that write soon, closed after the test."""
    opened: list[MetricsRecorder] = []

    def start(database: Database, *, clock: Callable[[], float] = lambda: NOW, **values: Any) -> MetricsRecorder:
        settings = MetricsSettings(
            **{name: values.pop(name) for name in tuple(values) if name in MetricsSettings.model_fields}
        )
        opened.append(
            MetricsRecorder(MetricsStore(database), settings, clock=clock, **{"gather": 0.01, "retry": 0.05, **values})
        )
        return opened[-1]

    yield start
    for metrics in opened:
        metrics.close()


def ended(query: SearchQuery = QUERY) -> SearchEnd:
    return SearchEnd(query, 0.5, SearchResponse(query, tuple(results_of()), provider="fake"))


def rows(database: Database, table: str) -> list[dict[str, Any]]:
    with database.read() as connection:
        return [dict(row) for row in connection.execute(text(f"SELECT * FROM {table} ORDER BY at")).mappings()]


def count(database: Database, table: str) -> int:
    with database.read() as connection:
        return int(connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())


def until(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


# ── What a search leaves ──────────────────────────────────────────────────────────────────────────────────────────


class Ends(list[SearchEnd]):
    """What a service tells of its searches, as records."""

    @property
    def records(self) -> list[SearchRecord]:
        return [SearchRecord.from_search_end(end, timestamp=NOW, with_query=False) for end in self]

    @property
    def last(self) -> SearchRecord:
        return self.records[-1]


def attempts(record: SearchRecord) -> list[tuple[str, str, str]]:
    return [(attempt.engine, attempt.outcome, attempt.kind) for attempt in record.attempts]


def test_a_search_that_was_answered() -> None:
    ends = Ends()
    response = SearchService([ScriptedEngine("a")], on_end=ends.append).search(
        SearchQuery("民法典", type=SearchType.NEWS)
    )
    record = ends.last
    assert (record.type, record.engine, record.outcome, record.kind) == ("news", "a", "ok", "")
    assert (record.cache, record.cache_age, record.query) == ("", None, None)
    assert attempts(record) == [("a", "ok", "")]
    assert record.attempts[0].seconds == response.attempts[0].seconds
    assert record.attempts[0].seconds <= record.seconds < 5


def test_a_search_in_which_others_had_to_step_in() -> None:
    ends = Ends()
    SearchService(
        [ScriptedEngine("a", EngineTimeout()), ScriptedEngine("b", []), ScriptedEngine("c")], on_end=ends.append
    ).search(QUERY)
    assert (ends.last.engine, ends.last.outcome) == ("c", "ok")
    assert attempts(ends.last) == [("a", "failed", "timeout"), ("b", "empty", ""), ("c", "ok", "")]
    assert [(row["engine"], row["place"]) for row in ends.last.attempt_rows()] == [("a", 0), ("b", 1), ("c", 2)]


def test_nothing_found_and_nobody_answering() -> None:
    ends = Ends()
    SearchService([ScriptedEngine("a", [])], on_end=ends.append).search(QUERY)
    assert (ends.last.engine, ends.last.outcome) == ("a", "empty")
    engines = [
        ScriptedEngine("a", EngineUnavailable()),
        ScriptedEngine("b", EngineUnavailable()),
        ScriptedEngine("c", EngineTimeout()),
    ]
    with pytest.raises(AllEnginesFailed):
        SearchService(engines, on_end=ends.append).search(QUERY)
    assert (ends.last.engine, ends.last.outcome, ends.last.kind) == ("", "failed", "unavailable")
    assert [kind for _, _, kind in attempts(ends.last)] == ["unavailable", "unavailable", "timeout"]


def test_a_bug_is_recorded_and_still_raised() -> None:
    ends = Ends()
    with pytest.raises(ZeroDivisionError):
        SearchService([ScriptedEngine("a", ZeroDivisionError())], on_end=ends.append).search(QUERY)
    assert (ends.last.outcome, ends.last.kind) == ("failed", "internal")


def test_what_our_own_limit_refuses() -> None:
    ends = Ends()
    service = SearchService(
        [ScriptedEngine("a")], limits=SearchLimits(per_visitor=1, per_engine=100), on_end=ends.append
    )
    service.search(QUERY)
    with pytest.raises(RateLimited):
        service.search(QUERY)
    assert [record.outcome for record in ends.records] == ["ok", "refused"]
    assert (ends.last.kind, ends.last.attempts) == ("rate_limited", ())


def test_each_cache_layer_is_named_and_the_engines_are_not_counted_again(tmp_path: Path) -> None:
    clock = Clock()
    cache = ResultCache(
        DiskTtlCache(tmp_path), good_for=dict.fromkeys(SearchType, 100.0), keep_stale=10_000, clock=clock
    )
    ends = Ends()
    engine = ScriptedEngine("a", results_of("a"), EngineTimeout())
    service = SearchService([engine], cache=cache, on_end=ends.append)
    session = SessionCache(clock=clock)
    service.search(QUERY, session_cache=session)
    clock.pass_(30)
    service.search(QUERY, session_cache=session)
    service.search(QUERY)
    clock.pass_(200)
    service.search(QUERY)
    assert [(record.cache, record.cache_age) for record in ends.records] == [
        ("", None),
        ("session", 30),
        ("shared", 30),
        ("stale", 230),
    ]
    assert [record.engine for record in ends.records] == ["a"] * 4
    assert [attempts(record) for record in ends.records] == [
        [("a", "ok", "")],
        [],
        [],
        [("a", "failed", "timeout")],
    ]
    service.close()


def test_whoever_joins_a_search_under_way_counts_without_its_attempts() -> None:
    ends = Ends()
    service = SearchService([ScriptedEngine("a", slow(0.3, results_of("a")))], on_end=ends.append)
    threads = [threading.Thread(target=service.search, args=(QUERY,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted((record.cache, len(record.attempts)) for record in ends.records) == [("", 1), *[("joined", 0)] * 3]


def test_a_reader_who_leaves_is_no_failure() -> None:
    ends = Ends()
    engine = ScriptedEngine("a", hung_until_cancelled)
    service = SearchService([engine], on_end=ends.append)

    async def leave() -> None:
        task = asyncio.create_task(service.asearch(QUERY))
        await asyncio.to_thread(engine.was_asked.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leave())
    assert until(lambda: bool(ends))
    assert (ends.last.outcome, ends.last.kind, ends.last.attempts) == ("cancelled", "", ())


def test_what_cannot_be_searched_is_no_search() -> None:
    ends = Ends()
    with pytest.raises(Exception, match="为空"):
        SearchService([ScriptedEngine("a")], on_end=ends.append).search(SearchQuery(" "))
    assert ends == []


# ── What an answer leaves, in the database ────────────────────────────────────────────────────────────────────────


def test_the_app_records_searches_and_answers_of_both_modes() -> None:
    usage = {"input_tokens": 120, "output_tokens": 30, "total_tokens": 150}
    says = [["答。[1]", usage], search_step("甲"), search_step("乙"), final("好。[1]"), [ModelTimeout()]]
    with scripted_app(says=says, engines=[FakeEngine("fake", found(3))], LLM_MODEL="ollama:m", LLM_ATTEMPTS="1") as (
        app,
        _,
    ):
        list(app.chat.stream("问题", options=AnswerOptions(search=True)))
        list(app.agent.stream("问题"))
        list(app.chat.stream("问题"))
        assert app.metrics.flush()
        chat, agent, failed = rows(app.database, "answer_records")
        searches, asked = rows(app.database, "search_records"), rows(app.database, "attempt_records")
    assert (chat["mode"], chat["model"], chat["ending"], chat["kind"]) == ("chat", "m", "ok", "")
    assert (chat["input"], chat["output"], bool(chat["estimated"]), chat["iterations"]) == (120, 30, False, 0)
    assert (agent["mode"], agent["iterations"], agent["tool_calls"], agent["ending"]) == ("agent", 3, 2, "ok")
    assert agent["input"] > 0
    assert (failed["mode"], failed["ending"], failed["kind"], failed["input"]) == ("chat", "failed", "model_timeout", 0)
    assert [row["query"] for row in searches] == [None] * 3
    assert [row["outcome"] for row in searches] == ["ok"] * 3
    assert [(row["engine"], row["at"]) for row in asked] == [("fake", row["at"]) for row in searches]
    assert abs(searches[0]["at"] - time.time()) < 60


def test_a_stopped_answer_says_who_stopped_it() -> None:
    with scripted_app(says=[["一", 0.05, "二", 30, "三"]]) as (app, _):
        run = app.chat.start(app.chat.accept_question("问题"))
        for batch in run.follow():
            if any(isinstance(told, TextDelta) for told in batch):
                run.cancel()
        run.cancel()
        assert app.metrics.flush()
        (stopped,) = rows(app.database, "answer_records")
    assert (stopped["ending"], stopped["kind"]) == ("stopped", "user")


def test_closing_the_app_writes_what_waits() -> None:
    with scripted_app(says=[["答"]]) as (app, _):
        list(app.chat.stream("问题"))
    reopened = Database.from_settings(loaded().values)
    assert count(reopened, "answer_records") == 1
    reopened.close()


@pytest.mark.parametrize(("allowed", "kept"), [(False, None), (True, "民法典 一二")])
def test_the_words_of_a_search_are_kept_only_if_the_setting_says_so(
    database: Database, recording: Callable[..., MetricsRecorder], allowed: bool, kept: str | None
) -> None:
    metrics = recording(database, queries=allowed)
    metrics.record_search(ended(SearchQuery("民法典\n\x00一\ud800二")))
    assert metrics.flush()
    assert [row["query"] for row in rows(database, "search_records")] == [kept]
    assert metrics.dropped == 0


def test_switched_off_nothing_is_recorded(sqlite: Database, recording: Callable[..., MetricsRecorder]) -> None:
    metrics = recording(sqlite, enabled=False)
    metrics.record_search(ended())
    assert metrics.flush()
    assert count(sqlite, "search_records") == 0


def test_many_threads_and_two_servers_count_together(
    database: Database, recording: Callable[..., MetricsRecorder]
) -> None:
    servers = [recording(database), recording(database)]

    def search(metrics: MetricsRecorder) -> None:
        for _ in range(100):
            metrics.record_search(ended())

    threads = [threading.Thread(target=search, args=(metrics,)) for metrics in servers for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert until(lambda: all(metrics.flush() for metrics in servers))
    assert count(database, "search_records") == 800
    (counted,) = MetricsStore(database).counts((int(NOW), int(NOW) + 60)).searches
    assert (counted.part, counted.times) == (NOW, 800)


# ── Trouble ───────────────────────────────────────────────────────────────────────────────────────────────────────


def quickly(do: Callable[[], Any]) -> None:
    """In less than the second for which a database is waited for."""
    started = time.monotonic()
    do()
    assert time.monotonic() - started < 0.95


def database_file() -> Path:
    return Path(os.environ["DATA_DIR"]) / "database" / "wenyuan.sqlite3"


def test_a_locked_database_delays_the_record_and_not_the_answer(
    sqlite: Database, recording: Callable[..., MetricsRecorder]
) -> None:
    count(sqlite, "search_records")
    metrics = recording(sqlite)
    with closing(sqlite3.connect(database_file(), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        quickly(lambda: metrics.record_search(ended()))
        assert until(lambda: metrics._tries > 0)
        quickly(lambda: metrics.record_search(ended()))
        assert count(sqlite, "search_records") == 0
    assert until(lambda: count(sqlite, "search_records") == 2)
    assert metrics.dropped == 0


def test_a_database_that_stays_away_costs_the_records_only(
    recording: Callable[..., MetricsRecorder], caplog: pytest.LogCaptureFixture
) -> None:
    Path(os.environ["DATA_DIR"], "database").write_text("a file where the folder should be")
    database = Database.from_settings(loaded().values)
    metrics = recording(database, retry=0.001)
    quickly(lambda: metrics.record_search(ended()))
    assert until(lambda: metrics.dropped == 1)
    assert "1 records of searches and answers are dropped" in caplog.text
    Path(os.environ["DATA_DIR"], "database").unlink()
    database._paused_until = 0.0
    metrics.record_search(ended())
    assert until(metrics.flush)
    assert count(database, "search_records") == 1
    database.close()


def test_a_server_that_goes_and_comes_back_misses_nothing(
    postgres: Postgres, recording: Callable[..., MetricsRecorder]
) -> None:
    database = Database.from_settings(loaded(DATABASE_URL=postgres.new_database()).values)
    count(database, "search_records")
    metrics = recording(database, retry=0.5)
    postgres.stop()
    try:
        quickly(lambda: metrics.record_search(ended()))
        assert until(lambda: metrics._tries > 0)
    finally:
        postgres.start()
    database._paused_until = 0.0
    assert until(lambda: metrics.flush())
    assert count(database, "search_records") == 1
    assert metrics.dropped == 0
    database.close()


def test_a_full_disk_costs_the_records_only(sqlite: Database, recording: Callable[..., MetricsRecorder]) -> None:
    store = ConversationStore(sqlite)
    store.create()
    with sqlite.read() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    event.listen(
        sqlite._open_engine(), "checkout", lambda connection, *_: connection.execute(f"PRAGMA max_page_count = {pages}")
    )
    metrics = recording(sqlite, queries=True, retry=0.001)
    for number in range(200):
        metrics.record_search(ended(SearchQuery(f"{number} " + "长" * 200)))
    assert until(lambda: metrics.dropped == 200)
    assert count(sqlite, "search_records") == 0


def test_a_full_queue_drops_and_counts(sqlite: Database, recording: Callable[..., MetricsRecorder]) -> None:
    metrics = recording(sqlite, queue=10, gather=60)
    for _ in range(25):
        quickly(lambda: metrics.record_search(ended()))
    assert metrics.dropped == 15
    assert metrics.flush()
    assert count(sqlite, "search_records") == 10
    metrics.record_search(ended())
    assert metrics.flush()
    assert count(sqlite, "search_records") == 11
    assert MAX_QUEUED >= 1_000


def test_a_bug_in_the_writer_ends_neither_the_writer_nor_a_search(
    sqlite: Database, recording: Callable[..., MetricsRecorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = recording(sqlite)
    with monkeypatch.context() as broken:
        broken.setattr(MetricsStore, "add", lambda *_: 1 / 0)
        metrics.record_search(ended())
        assert until(lambda: metrics.dropped == 1)
    with monkeypatch.context() as broken:
        broken.setattr(MetricsRecorder, "flush", lambda _: 1 / 0)
        metrics.record_search(ended())
        time.sleep(0.2)
    metrics.record_search(replace(ended(), query=None))  # type: ignore[arg-type]
    assert until(lambda: metrics.dropped == 2)
    metrics.record_search(ended())
    assert until(lambda: count(sqlite, "search_records") == 2)


def test_closing_does_not_wait_for_a_database_that_is_away(recording: Callable[..., MetricsRecorder]) -> None:
    Path(os.environ["DATA_DIR"], "database").write_text("a file where the folder should be")
    database = Database.from_settings(loaded().values)
    metrics = recording(database, retry=60)
    metrics.record_search(ended())
    assert until(lambda: metrics._tries > 0)
    started = time.monotonic()
    metrics.close()
    assert time.monotonic() - started < 30
    assert MAX_TRIES > 1


# ── Forgetting ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_too_old_goes_in_small_steps(database: Database, recording: Callable[..., MetricsRecorder]) -> None:
    store = MetricsStore(database)
    old = [replace(RECORD, at=NOW - 31 * DAY + number, engine=f"e{number}") for number in range(1_200)]
    recent = [
        replace(RECORD, at=NOW - 29 * DAY),
        replace(RECORD, at=NOW - 16 * DAY),
        replace(RECORD, at=NOW - 3 * HOUR),
    ]
    write_batch(store, [*old, *recent])
    assert count(database, "search_records") == 1_203
    assert store.delete_old(NOW - 30 * DAY) is True
    assert count(database, "search_records") == 703
    metrics = recording(database, keep_days=30)
    metrics.start()
    assert until(lambda: count(database, "search_records") == 3)
    assert until(lambda: count(database, "attempt_records") == 3)


def test_a_search_that_only_the_manual_answered_has_failed(
    sqlite: Database, recording: Callable[..., MetricsRecorder]
) -> None:
    metrics = recording(sqlite)
    engines = [ScriptedEngine("a", EngineTimeout()), BundledEngine(public_url="http://localhost:8501")]
    response = SearchService(engines, on_end=metrics.record_search).search(SearchQuery("怎么打开联网搜索？"))
    assert response.results
    metrics.flush()
    (kept,) = rows(sqlite, "search_records")
    assert (kept["outcome"], kept["kind"]) == ("failed", "all_failed")


# ── For Prometheus ────────────────────────────────────────────────────────────────────────────────────────────────


def samples(metrics: MetricsRecorder) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """As Prometheus would read them."""
    assert metrics.exposition is not None
    metrics.flush()
    families = text_string_to_metric_families(metrics.exposition.text().decode())
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def test_prometheus_reads_what_this_process_is_and_takes(
    sqlite: Database, recording: Callable[..., MetricsRecorder]
) -> None:
    metrics = recording(sqlite, prometheus=True)
    assert metrics.exposition
    text = metrics.exposition.text(open_pages=3, waiting_questions=2).decode()
    assert f'wenyuan_build_info{{version="{__version__}"}} 1.0' in text
    assert "wenyuan_open_pages 3.0" in text
    assert "wenyuan_waiting_questions 2.0" in text
    assert re.search(r"process_resident_memory_bytes \d\.", text)
    assert re.search(r"process_open_fds \d", text)


def test_prometheus_reads_the_counters_of_this_process(
    sqlite: Database, recording: Callable[..., MetricsRecorder]
) -> None:
    metrics = recording(sqlite, prometheus=True, queue=4, gather=60)
    service = SearchService(
        [ScriptedEngine("a", EngineTimeout()), ScriptedEngine('b\n"引擎"\\')],
        limits=SearchLimits(per_visitor=1, per_engine=100),
        on_end=metrics.record_search,
    )
    service.search(QUERY)
    with pytest.raises(RateLimited):
        service.search(QUERY)
    for seconds in (0.2, 0.7, 0.9):  # one too many
        metrics._enqueue(partial(AnswerRecord, NOW, "agent", "m", "ok", "", seconds, 100, 20, False, 3, 2))
    read = samples(metrics)
    name = 'b\n"引擎"\\'
    ok = {"type": "general", "engine": name, "outcome": "ok", "cache": "", "kind": ""}
    refused = {"type": "general", "engine": "", "outcome": "refused", "cache": "", "kind": "rate_limited"}
    expected: list[tuple[str, dict[str, str], int]] = [
        ("wenyuan_searches_total", ok, 1),
        ("wenyuan_searches_total", refused, 1),
        ("wenyuan_engine_attempts_total", {"engine": "a", "outcome": "failed", "kind": "timeout"}, 1),
        ("wenyuan_engine_attempts_total", {"engine": name, "outcome": "ok", "kind": ""}, 1),
        ("wenyuan_engine_seconds_count", {"engine": name}, 1),
        ("wenyuan_answers_total", {"mode": "agent", "model": "m", "ending": "ok", "kind": ""}, 2),
        ("wenyuan_answer_seconds_bucket", {"mode": "agent", "le": "0.5"}, 1),
        ("wenyuan_answer_seconds_bucket", {"mode": "agent", "le": "1.0"}, 2),
        ("wenyuan_tokens_total", {"model": "m", "direction": "input"}, 200),
        ("wenyuan_tokens_total", {"model": "m", "direction": "output"}, 40),
        ("wenyuan_agent_iterations_bucket", {"le": "2.0"}, 0),
        ("wenyuan_agent_iterations_bucket", {"le": "3.0"}, 2),
        ("wenyuan_metrics_dropped_total", {}, 1),
    ]
    for series, labels, value in expected:
        assert read[series, tuple(sorted(labels.items()))] == value, (series, labels)


def test_the_counters_count_although_nothing_is_kept(
    sqlite: Database, recording: Callable[..., MetricsRecorder]
) -> None:
    metrics = recording(sqlite, prometheus=True, enabled=False)
    metrics.record_search(ended())
    assert sum(value for (name, _), value in samples(metrics).items() if name == "wenyuan_searches_total") == 1
    assert metrics.flush()
    assert count(sqlite, "search_records") == 0


@pytest.mark.parametrize("switched_on", [False, True])
def test_metrics_answers_only_where_it_is_switched_on(switched_on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    import asgi

    monkeypatch.setenv("METRICS_PROMETHEUS", str(switched_on))
    response = asyncio.run(asgi.metrics(None))  # type: ignore[arg-type]
    assert response.status_code == (200 if switched_on else 404)
    assert (b"wenyuan_metrics_dropped_total" in response.body) is switched_on


def test_without_a_thread_nothing_breaks_and_recording_begins_when_there_is_one(
    sqlite: Database,
    recording: Callable[..., MetricsRecorder],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def none_left(_: object) -> None:
        raise RuntimeError("can't start new thread")

    metrics = recording(sqlite)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", none_left)
        metrics.record_search(ended())
        metrics.start()
    assert "for want of a thread" in caplog.text
    metrics.record_search(ended())
    metrics.start()
    assert until(lambda: count(sqlite, "search_records") == 2)
