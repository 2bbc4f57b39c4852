from __future__ import annotations

import threading
from datetime import datetime, timedelta, timezone

import pytest

from core.search.errors import (
    EngineBlocked,
    EngineError,
    EngineMisconfigured,
    EngineParseError,
    EngineQuotaExceeded,
    EngineRefusedQuery,
    EngineThrottled,
    EngineTimeout,
    EngineUnavailable,
)
from core.search.health import MAX_DOUBLED_REST, MAX_OVERTAKEN, TRIAL_SECONDS, EngineHealth
from core.search.types import Pause
from support.waiting import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def health(clock: Clock) -> EngineHealth:
    return EngineHealth(["a", "b"], clock=clock)


def rest_of(health: EngineHealth, engine: str = "a") -> float:
    rest = health.rests()[engine]
    return rest.seconds if rest else 0.0


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (EngineTimeout(), 15),
        (EngineUnavailable(), 30),
        (EngineThrottled(), 60),
        (EngineThrottled(retry_after=7), 7),
        (EngineThrottled(retry_after=10**9), 3600),
        (EngineBlocked(), 3600),
        (EngineMisconfigured(), 1800),
        (EngineQuotaExceeded(), 1800),
    ],
)
def test_the_error_decides_how_long(health: EngineHealth, error: EngineError, seconds: float) -> None:
    health.record_failure("a", error)
    assert rest_of(health) == seconds
    rest = health.admit("a")
    assert rest is not None
    assert rest.kind == error.kind
    assert rest.reason == error.message
    assert round(rest.pause.until - rest.pause.failed_at) == seconds
    assert health.admit("b") is None


def test_after_the_rest_one_search_goes_first_and_success_ends_the_matter(health: EngineHealth, clock: Clock) -> None:
    health.record_failure("a", EngineTimeout())
    clock.pass_(14.9)
    assert health.admit("a") is not None
    clock.pass_(0.2)
    assert health.admit("a") is None
    assert health.admit("a") is not None, "half open: only one"
    health.record_success("a")
    assert health.admit("a") is None
    assert health.admit("a") is None
    health.record_failure("a", EngineTimeout())
    assert rest_of(health) == 15, "success forgets earlier failures"


def test_half_open_lets_exactly_one_of_many_threads_through(health: EngineHealth, clock: Clock) -> None:
    health.record_failure("a", EngineTimeout())
    clock.pass_(16)
    through = []
    threads = [threading.Thread(target=lambda: through.append(health.admit("a") is None)) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert through.count(True) == 1


def test_a_trial_that_nobody_reports_on_does_not_block_the_engine_for_ever(health: EngineHealth, clock: Clock) -> None:
    health.record_failure("a", EngineTimeout())
    clock.pass_(16)
    assert health.admit("a") is None
    clock.pass_(TRIAL_SECONDS + 0.1)
    assert health.admit("a") is None


def test_failures_in_a_row_lengthen_the_rest_up_to_a_cap(health: EngineHealth, clock: Clock) -> None:
    rests = []
    for _ in range(9):
        health.record_failure("a", EngineTimeout())
        rests.append(rest_of(health))
        clock.pass_(rests[-1] + 0.1)
        assert health.admit("a") is None
    assert rests[:4] == [15, 30, 60, 120]
    assert rests[-1] == MAX_DOUBLED_REST


def test_a_class_that_rests_longer_than_the_cap_keeps_its_time_and_a_told_time_is_kept(
    health: EngineHealth, clock: Clock
) -> None:
    for error, seconds in ((EngineBlocked(), 3600), (EngineBlocked(), 3600), (EngineThrottled(retry_after=7), 7)):
        health.record_failure("a", error)
        assert rest_of(health) == seconds
        clock.pass_(seconds + 1)
        health.admit("a")


def test_a_burst_of_failures_counts_once(health: EngineHealth) -> None:
    for _ in range(200):
        health.record_failure("a", EngineTimeout())
    assert rest_of(health) == 15


def test_what_one_query_can_cause_condemns_nobody(health: EngineHealth) -> None:
    for _ in range(20):
        health.record_failure("a", EngineRefusedQuery())
    assert health.admit("a") is None
    health.record_success("a")
    for _ in range(4):
        health.record_failure("a", EngineParseError())
    assert health.admit("a") is None
    health.record_failure("a", EngineParseError())
    assert rest_of(health) == 60


def test_a_worse_error_during_the_rest_prolongs_it(health: EngineHealth) -> None:
    health.record_failure("a", EngineTimeout())
    health.record_failure("a", EngineMisconfigured())
    assert rest_of(health) == 1800
    health.record_failure("a", EngineTimeout())
    assert rest_of(health) == 1800


def test_being_overtaken_counts_only_several_times_in_a_row(health: EngineHealth) -> None:
    for _ in range(MAX_OVERTAKEN - 1):
        health.record_overtaken("a")
    assert health.admit("a") is None
    health.record_success("a")
    for _ in range(MAX_OVERTAKEN):
        assert health.admit("a") is None
        health.record_overtaken("a")
    assert rest_of(health) == 15


def test_being_overtaken_on_trial_is_a_failure(health: EngineHealth, clock: Clock) -> None:
    health.record_failure("a", EngineTimeout())
    clock.pass_(16)
    assert health.admit("a") is None
    health.record_overtaken("a")
    assert rest_of(health) == 30


def test_what_is_worth_a_last_try(health: EngineHealth) -> None:
    health.record_failure("a", EngineUnavailable())
    health.record_failure("b", EngineThrottled())
    states = health.rests()
    assert states["a"] is not None
    assert states["a"].may_be_tried
    assert states["b"] is not None
    assert not states["b"].may_be_tried


def test_a_person_may_retry_unless_the_engine_has_named_the_time_or_is_not_paid(health: EngineHealth) -> None:
    for error, may_be_retried in (
        (EngineMisconfigured(), True),
        (EngineThrottled(), True),
        (EngineThrottled(retry_after=30), False),
        (EngineQuotaExceeded(), False),
    ):
        health.record_failure("a", error)
        rest = health.rests()["a"]
        assert rest is not None
        assert rest.may_be_retried is may_be_retried
        assert rest.pause.is_firm is not may_be_retried
        health.record_success("a")


def test_a_pause_is_told_on_the_clock_of_the_reader() -> None:
    now = datetime(2026, 11, 17, 18, 48, tzinfo=timezone(timedelta(hours=8)))

    def told(failed: float, until: float) -> str:
        return Pause(now.timestamp() + failed, now.timestamp() + until).words(now)

    assert told(-660, 1140) == "11 分钟前失败过，暂停到 19:07"
    assert told(-3, 12) == "刚才失败过，暂停到 18:48:12"
    assert told(-60, 6 * 3600) == "1 分钟前失败过，暂停到 11 月 18 日 00:48"
