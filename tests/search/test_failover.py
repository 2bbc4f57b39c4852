from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from core.base.http import Cancelled, Deadline
from core.base.threads import ThreadPool
from core.search.errors import (
    EngineBlocked,
    EngineError,
    EngineMisconfigured,
    EngineQuotaExceeded,
    EngineRefusedQuery,
    EngineThrottled,
    EngineTimeout,
    EngineUnavailable,
    RateLimited,
)
from core.search.failover import Failover, RaceResult, all_failed_error
from core.search.health import EngineHealth
from core.search.results import EngineResults
from core.search.types import Attempt, AttemptOutcome, SearchQuery, SearchResult
from support.fake_engines import ScriptedEngine, Stuck, hung_until_cancelled, results_of, slow
from support.waiting import Clock, threads_back_to

QUERY = SearchQuery("民法典")


def room(engines: Sequence[ScriptedEngine], *, hedge_after: float = 5.0, **parts: Any) -> Failover:
    return Failover(EngineHealth(engine.name for engine in engines), hedge_after=hedge_after, **parts)


def run(
    engines: Sequence[ScriptedEngine], *, seconds: float = 20.0, hedge_after: float = 5.0, **parts: Any
) -> RaceResult:
    return room(engines, hedge_after=hedge_after, **parts).run(engines, QUERY, Deadline(seconds))


def outcomes(raced: RaceResult) -> list[tuple[str, str, str]]:
    return [(attempt.engine, attempt.outcome.value, attempt.kind) for attempt in raced.attempts]


def test_the_first_engine_answers_and_the_others_are_left_alone() -> None:
    engines = [ScriptedEngine("a"), ScriptedEngine("b")]
    raced = run(engines)
    assert raced.provider == "a"
    assert outcomes(raced) == [("a", "ok", "")]
    assert engines[1].calls == 0


def test_the_engine_gets_the_query_unchanged_and_a_deadline_of_its_own() -> None:
    engine = ScriptedEngine("a")
    common = Deadline(2)
    room([engine]).run([engine], QUERY, common)
    assert engine.asked == [QUERY]
    (own,) = engine.deadlines
    assert own is not None
    assert own is not common
    assert own.remaining() <= common.remaining() + 0.001


@pytest.mark.parametrize("first", [EngineTimeout(), EngineUnavailable(), EngineBlocked(), EngineMisconfigured()])
def test_an_eligible_error_starts_the_next_engine_at_once(first: Exception) -> None:
    began = time.monotonic()
    raced = run([ScriptedEngine("a", first), ScriptedEngine("b")], hedge_after=60)
    assert time.monotonic() - began < 10
    assert raced.provider == "b"
    assert outcomes(raced) == [("a", "failed", first.kind), ("b", "ok", "")]  # type: ignore[attr-defined]
    assert raced.attempts[0].reason


def test_zero_results_start_the_next_engine_at_once() -> None:
    raced = run([ScriptedEngine("a", EngineResults()), ScriptedEngine("b")], hedge_after=60)
    assert outcomes(raced) == [("a", "empty", ""), ("b", "ok", "")]


def test_everybody_empty_is_not_an_error() -> None:
    raced = run([ScriptedEngine("a", EngineResults()), ScriptedEngine("b", EngineResults())])
    assert not raced.results
    assert outcomes(raced) == [("a", "empty", ""), ("b", "empty", "")]


def test_a_slow_engine_is_hedged_and_the_first_answer_wins() -> None:
    slow_one = ScriptedEngine("slow", hung_until_cancelled)
    began = time.monotonic()
    raced = run([slow_one, ScriptedEngine("quick")], hedge_after=0.1)
    assert time.monotonic() - began > 0.09
    assert raced.provider == "quick"
    assert outcomes(raced) == [("slow", "skipped", "abandoned"), ("quick", "ok", "")]
    assert "quick" in raced.attempts[0].reason
    assert raced.attempts[0].seconds >= 0.09


def test_a_hedged_engine_may_still_win() -> None:
    raced = run(
        [ScriptedEngine("slow", slow(0.2, results_of("slow"))), ScriptedEngine("stuck", hung_until_cancelled)],
        hedge_after=0.05,
    )
    assert raced.provider == "slow"
    assert outcomes(raced) == [("slow", "ok", ""), ("stuck", "skipped", "abandoned")]


def test_the_losers_are_cancelled() -> None:
    loser = ScriptedEngine("loser", hung_until_cancelled)
    run([loser, ScriptedEngine("winner")], hedge_after=0.05)
    assert loser.deadlines[0] is not None
    assert loser.deadlines[0].cancelled


def test_a_slow_engine_that_finds_nothing_does_not_end_the_search() -> None:
    raced = run(
        [ScriptedEngine("empty", slow(0.1, EngineResults())), ScriptedEngine("slow", slow(0.3, results_of("slow")))],
        hedge_after=0.02,
        seconds=3,
    )
    assert raced.provider == "slow"


def test_all_hung_ends_at_the_deadline_with_everyone_reported() -> None:
    engines = [ScriptedEngine(name, hung_until_cancelled) for name in "abc"]
    began = time.monotonic()
    raced = run(engines, seconds=0.6, hedge_after=0.1)
    assert 0.55 < time.monotonic() - began < 10
    assert outcomes(raced) == [(name, "failed", "timeout") for name in "abc"]
    assert not raced.results


def test_stuck_engines_are_abandoned_and_their_threads_end_with_them() -> None:
    before = threading.active_count()
    stuck = Stuck()
    engines = [ScriptedEngine(f"stuck-{name}", stuck) for name in "abc"]
    raced = run(engines, seconds=1.5, hedge_after=0.1)
    assert [attempt.kind for attempt in raced.attempts] == ["timeout"] * 3
    assert sum(thread.name == "search-worker" for thread in threading.enumerate()) >= 3
    stuck.release.set()
    assert threads_back_to(before)


def test_cancelling_ends_the_search_and_its_engines_at_once() -> None:
    engine = ScriptedEngine("a", hung_until_cancelled)
    deadline = Deadline(30)
    threading.Timer(0.1, deadline.cancel).start()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        room([engine]).run([engine], QUERY, deadline)
    assert time.monotonic() - began < 10
    assert engine.deadlines[0] is not None
    assert engine.deadlines[0].cancelled


def test_a_bug_is_logged_with_its_traceback_and_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    raced = run([ScriptedEngine("buggy", KeyError("oops")), ScriptedEngine("b")])
    assert raced.provider == "b"
    assert outcomes(raced)[0] == ("buggy", "failed", "internal")
    assert "oops" not in raced.attempts[0].reason
    assert "Traceback" in caplog.text
    assert "oops" in caplog.text


def test_a_bug_is_handed_on_when_nobody_wins() -> None:
    bug = KeyError("oops")
    assert run([ScriptedEngine("buggy", bug), ScriptedEngine("b", EngineResults())]).bug is bug


def test_a_bug_does_not_let_an_engine_rest() -> None:
    engines = [ScriptedEngine("buggy", KeyError("oops"), results_of("buggy"))]
    failover = room(engines)
    failover.run(engines, QUERY, Deadline(20))
    assert failover.run(engines, QUERY, Deadline(20)).provider == "buggy"


def test_an_engine_that_returns_none_is_a_bug() -> None:
    assert isinstance(run([ScriptedEngine("a", [None])]).bug, AttributeError)


def test_results_of_engines_that_do_not_clean_are_cleaned_and_deduplicated() -> None:
    raw = [
        SearchResult("A\u200b", "https://www.example.org/a?utm_source=x", "s" * 5000, "?"),
        SearchResult("A again", "http://example.org/a/#part", "", "?"),
        SearchResult("script", "javascript:alert(1)", "", "?"),
    ]
    found = run([ScriptedEngine("a", raw)]).results
    assert [(result.title, result.source) for result in found] == [("A", "example.org")]
    assert len(found[0].snippet) <= 1000
    assert found.skipped == 1


# ── Resting ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_resting_engine_is_skipped_with_its_reason() -> None:
    engines = [ScriptedEngine("a", EngineBlocked("需要验证码。")), ScriptedEngine("b")]
    failover = room(engines)
    failover.run(engines, QUERY, Deadline(20))
    raced = failover.run(engines, QUERY, Deadline(20))
    assert engines[0].calls == 1
    assert outcomes(raced) == [("a", "skipped", "blocked"), ("b", "ok", "")]
    skipped = raced.attempts[0]
    assert skipped.reason == "需要验证码。"
    assert skipped.was_paused
    assert skipped.pause is not None
    assert round(skipped.pause.until - skipped.pause.failed_at) == 3600


def test_engines_after_the_winner_are_not_listed_even_when_they_rest() -> None:
    engines = [ScriptedEngine("a"), ScriptedEngine("b", EngineBlocked())]
    failover = room(engines)
    failover.health.record_failure("b", EngineBlocked())
    assert outcomes(failover.run(engines, QUERY, Deadline(20))) == [("a", "ok", "")]


def test_when_everybody_rests_the_one_that_rests_least_is_asked() -> None:
    engines = [ScriptedEngine("a"), ScriptedEngine("b"), ScriptedEngine("c")]
    failover = room(engines)
    failover.health.record_failure("a", EngineUnavailable())
    failover.health.record_failure("b", EngineTimeout())
    failover.health.record_failure("c", EngineBlocked())
    raced = failover.run(engines, QUERY, Deadline(20))
    assert raced.provider == "b"
    assert [engine.calls for engine in engines] == [0, 1, 0]


def test_engines_that_want_to_be_left_alone_are_left_alone_even_then() -> None:
    engines = [ScriptedEngine("a"), ScriptedEngine("b")]
    failover = room(engines)
    failover.health.record_failure("a", EngineBlocked())
    failover.health.record_failure("b", EngineMisconfigured("密钥不对。"))
    raced = failover.run(engines, QUERY, Deadline(20))
    assert outcomes(raced) == [("a", "skipped", "blocked"), ("b", "skipped", "misconfigured")]
    assert [attempt.was_paused for attempt in raced.attempts] == [True, True]


def test_a_named_engine_is_asked_although_it_rests() -> None:
    engines = [ScriptedEngine("a")]
    failover = room(engines)
    failover.health.record_failure("a", EngineBlocked())
    assert failover.run(engines, QUERY, Deadline(20), include_resting=True).provider == "a"


def test_a_passing_fault_of_the_only_engine_is_worth_one_more_try() -> None:
    alone = ScriptedEngine("a", EngineUnavailable("内部出错（500）。"), results_of("a"))
    failover = room([alone])
    assert outcomes(failover.run([alone], QUERY, Deadline(20))) == [("a", "ok", "")]
    assert failover.health.rests()["a"] is None
    down = ScriptedEngine("down", EngineUnavailable())
    assert outcomes(run([down])) == [("down", "failed", "unavailable")]
    assert down.calls == 2, "one more, and no more than that"


@pytest.mark.parametrize("error", [EngineBlocked(), EngineMisconfigured(), EngineTimeout()])
def test_what_does_not_pass_is_asked_once(error: Exception) -> None:
    engine = ScriptedEngine("a", error)
    run([engine])
    assert engine.calls == 1


def test_an_engine_that_was_overtaken_three_times_rests() -> None:
    engines = [ScriptedEngine("slow", hung_until_cancelled), ScriptedEngine("quick", slow(0.05, results_of("quick")))]
    failover = room(engines, hedge_after=0.1)
    for _ in range(3):
        assert outcomes(failover.run(engines, QUERY, Deadline(5)))[0] == ("slow", "skipped", "abandoned")
    assert outcomes(failover.run(engines, QUERY, Deadline(5)))[0] == ("slow", "skipped", "timeout")
    assert engines[0].calls == 3


def test_an_engine_that_hung_until_the_deadline_rests_but_one_started_late_does_not() -> None:
    engines = [ScriptedEngine("hung", hung_until_cancelled), ScriptedEngine("late", hung_until_cancelled)]
    failover = room(engines, hedge_after=0.6)
    failover.run(engines, QUERY, Deadline(0.65))
    states = failover.health.rests()
    assert states["hung"] is not None
    assert states["late"] is None


def test_an_engine_whose_time_ran_out_before_it_had_a_chance_is_not_blamed() -> None:
    clock = Clock()

    def after(seconds: float, error: Exception) -> Callable[..., Exception]:
        def behave(query: SearchQuery, deadline: object) -> Exception:
            clock.pass_(seconds)
            return error

        return behave

    engines = [
        ScriptedEngine("slow", after(4.5, EngineUnavailable())),
        ScriptedEngine("late", after(0.6, EngineTimeout())),
    ]
    failover = room(engines, hedge_after=60, clock=clock)
    failover.run(engines, QUERY, Deadline(5, clock))
    states = failover.health.rests()
    assert states["slow"] is not None
    assert states["late"] is None


def test_a_quick_timeout_of_the_engine_itself_counts() -> None:
    engines = [ScriptedEngine("gateway", EngineTimeout("网关超时（504）。")), ScriptedEngine("b")]
    failover = room(engines)
    failover.run(engines, QUERY, Deadline(5))
    assert failover.health.rests()["gateway"] is not None


# ── Quota and workers ─────────────────────────────────────────────────────────────────────────────────────────────


def test_an_engine_without_quota_is_skipped_and_does_not_rest() -> None:
    def no_turn(engine: str, deadline: Deadline) -> None:
        if engine == "a":
            raise RateLimited(retry_after=42)

    engines = [ScriptedEngine("a"), ScriptedEngine("b")]
    failover = room(engines, take_turn=no_turn)
    raced = failover.run(engines, QUERY, Deadline(20))
    assert outcomes(raced) == [("a", "skipped", "rate_limited"), ("b", "ok", "")]
    assert "42 秒" in raced.attempts[0].reason
    assert failover.health.rests()["a"] is None


def test_waiting_for_our_own_quota_is_not_held_against_the_engine() -> None:
    def wait(engine: str, deadline: Deadline) -> None:
        if engine == "a":
            deadline.sleep(30)

    engines = [ScriptedEngine("a"), ScriptedEngine("b")]
    failover = room(engines, hedge_after=0.02, take_turn=wait)
    for _ in range(5):
        assert failover.run(engines, QUERY, Deadline(20)).provider == "b"
    assert failover.health.rests()["a"] is None
    assert engines[0].calls == 0


def test_no_more_threads_than_allowed_and_nobody_starves_for_a_hedge() -> None:
    at_work = threading.Semaphore(2)
    crowded = threading.Event()

    def work(query: SearchQuery, deadline: object) -> EngineResults:
        if not at_work.acquire(blocking=False):
            crowded.set()
        time.sleep(0.15)
        at_work.release()
        return results_of()

    engines = [ScriptedEngine("a", work), ScriptedEngine("b", work)]
    failover = room(engines, hedge_after=0.02, workers=ThreadPool(limit=2))
    before = threading.active_count()
    found: list[RaceResult] = []
    searches = [
        threading.Thread(target=lambda: found.append(failover.run(engines, QUERY, Deadline(10)))) for _ in range(8)
    ]
    for search in searches:
        search.start()
    for search in searches:
        search.join()
    assert len(found) == 8
    assert all(raced.results for raced in found)
    assert not crowded.is_set()
    assert threads_back_to(before)


def test_a_hedge_that_found_no_free_thread_is_tried_again() -> None:
    workers = ThreadPool(limit=2)
    somebody_else = threading.Event()
    assert workers.start(lambda: somebody_else.wait(10))
    threading.Timer(0.3, somebody_else.set).start()
    raced = run(
        [ScriptedEngine("hung", hung_until_cancelled), ScriptedEngine("b")],
        seconds=10,
        hedge_after=0.05,
        workers=workers,
    )
    assert raced.provider == "b"


def test_without_a_free_thread_the_attempt_says_so() -> None:
    workers = ThreadPool(limit=1)
    stuck = Stuck()
    assert workers.start(lambda: stuck(QUERY, Deadline(1)))
    raced = run([ScriptedEngine("a")], seconds=0.1, workers=workers)
    stuck.release.set()
    assert outcomes(raced) == [("a", "failed", "busy")]


# ── What is said when everybody failed ────────────────────────────────────────────────────────────────────────────


def attempts(*kinds: str) -> tuple[Attempt, ...]:
    return tuple(
        Attempt(f"e{n}", AttemptOutcome.FAILED, 1.0, f"原因 {n}。", kind, f"办法 {n}。") for n, kind in enumerate(kinds)
    )


def test_the_dominating_cause_is_named() -> None:
    error = all_failed_error(attempts("timeout", "unavailable", "timeout"), timeout=5.0)
    assert "搜索超时：5 秒" in error.message
    assert error.cause == "timeout"
    assert error.kind == "all_failed"
    error = all_failed_error(attempts("unavailable", "unavailable", "blocked"), timeout=5.0)
    assert "网络" in error.message
    assert error.cause == "unavailable"


def test_a_single_engine_speaks_for_itself() -> None:
    error = all_failed_error(attempts("misconfigured"), timeout=5.0)
    assert str(error) == "原因 0。办法 0。"


def test_nobody_had_time() -> None:
    assert all_failed_error((), timeout=2.5).cause == "timeout"
    assert "2.5 秒" in str(all_failed_error((), timeout=2.5))


def test_cancelled_searches_write_no_warnings(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    run([ScriptedEngine("a", hung_until_cancelled), ScriptedEngine("b")], hedge_after=0.05)
    assert not caplog.records


def test_while_the_only_engine_is_down_fifty_searches_are_not_a_hundred_requests() -> None:
    down = ScriptedEngine("down", *[EngineUnavailable()] * 200)
    failover = room([down])
    with ThreadPoolExecutor(50) as pool:
        list(pool.map(lambda n: failover.run([down], SearchQuery(f"q{n}"), Deadline(5)), range(50)))
    at_once = down.calls
    assert at_once <= 55
    with ThreadPoolExecutor(50) as pool:
        list(pool.map(lambda n: failover.run([down], SearchQuery(f"q{n}"), Deadline(5)), range(50)))
    assert down.calls - at_once <= 2, "while it rests, one tries for all"


def test_a_new_search_tries_an_engine_that_was_put_right() -> None:
    mended = ScriptedEngine("mended", EngineMisconfigured("403"), results_of("mended"))
    failover = room([mended])
    assert not failover.run([mended], SearchQuery("q"), Deadline(5)).results
    assert not failover.run([mended], SearchQuery("q"), Deadline(5)).results, "it rests"
    assert failover.run([mended], SearchQuery("q"), Deadline(5), probe_resting=True).provider == "mended"


def test_a_failure_tells_how_long_the_engine_is_paused() -> None:
    failing = ScriptedEngine("a", EngineBlocked())
    (attempt,) = room([failing]).run([failing], QUERY, Deadline(5)).attempts
    assert not attempt.was_paused, "it was asked"
    assert attempt.pause is not None
    assert round(attempt.pause.until - attempt.pause.failed_at) == 3600
    refused = ScriptedEngine("a", EngineRefusedQuery())
    assert room([refused]).run([refused], QUERY, Deadline(5)).attempts[0].pause is None


@pytest.mark.parametrize(
    ("error", "asked"),
    [
        (EngineMisconfigured(), 2),
        (EngineBlocked(), 2),
        (EngineThrottled(), 2),
        (EngineThrottled(retry_after=600), 1),
        (EngineQuotaExceeded(), 1),
    ],
)
def test_a_person_who_clicks_fifty_times_does_not_hammer(error: EngineError, asked: int) -> None:
    engine = ScriptedEngine("a", *[error] * 60)
    failover = room([engine])
    failover.run([engine], QUERY, Deadline(5))
    for _ in range(50):
        failover.run([engine], QUERY, Deadline(5), probe_resting=True)
    assert engine.calls == asked, "one try, and none where the engine itself has named the time"


def test_the_built_in_engines_answer_within_the_one_deadline() -> None:
    web = ScriptedEngine("web", hung_until_cancelled)
    manual = ScriptedEngine("manual", slow(3.0, results_of("manual")))
    manual.reaches_web = False  # type: ignore[misc]
    began = time.monotonic()
    raced = run([web, manual], seconds=1.0)
    assert time.monotonic() - began < 1.5
    assert not raced.results
    quick = ScriptedEngine("manual")
    quick.reaches_web = False  # type: ignore[misc]
    began = time.monotonic()
    assert run([ScriptedEngine("web", hung_until_cancelled), quick], seconds=1.0).provider == "manual"
    assert time.monotonic() - began < 1.3
