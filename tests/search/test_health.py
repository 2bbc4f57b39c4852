from __future__ import annotations

import threading

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
from core.search.health import LONGEST_GROWN_REST, SLOW_TIMES, TRIAL_SECONDS, Health
from support.waiting import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def health(clock: Clock) -> Health:
    return Health(["a", "b"], clock=clock)


def rest_of(health: Health, engine: str = "a") -> float:
    rest = health.states()[engine]
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
def test_the_error_decides_how_long(health: Health, error: EngineError, seconds: float) -> None:
    health.failed("a", error)
    assert rest_of(health) == seconds
    rest = health.admit("a")
    assert rest is not None
    assert rest.kind == error.kind
    assert error.message in rest.sentence
    assert health.admit("b") is None


def test_after_the_rest_one_search_goes_first_and_success_ends_the_matter(health: Health, clock: Clock) -> None:
    health.failed("a", EngineTimeout())
    clock.pass_(14.9)
    assert health.admit("a") is not None
    clock.pass_(0.2)
    assert health.admit("a") is None
    assert health.admit("a") is not None, "half open: only one"
    health.succeeded("a")
    assert health.admit("a") is None
    assert health.admit("a") is None
    health.failed("a", EngineTimeout())
    assert rest_of(health) == 15, "success forgets earlier failures"


def test_half_open_lets_exactly_one_of_many_threads_through(health: Health, clock: Clock) -> None:
    health.failed("a", EngineTimeout())
    clock.pass_(16)
    through = []
    threads = [threading.Thread(target=lambda: through.append(health.admit("a") is None)) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert through.count(True) == 1


def test_a_trial_that_nobody_reports_on_does_not_block_the_engine_for_ever(health: Health, clock: Clock) -> None:
    health.failed("a", EngineTimeout())
    clock.pass_(16)
    assert health.admit("a") is None
    clock.pass_(TRIAL_SECONDS + 0.1)
    assert health.admit("a") is None


def test_failures_in_a_row_lengthen_the_rest_up_to_a_cap(health: Health, clock: Clock) -> None:
    rests = []
    for _ in range(9):
        health.failed("a", EngineTimeout())
        rests.append(rest_of(health))
        clock.pass_(rests[-1] + 0.1)
        assert health.admit("a") is None
    assert rests[:4] == [15, 30, 60, 120]
    assert rests[-1] == LONGEST_GROWN_REST


def test_a_class_that_rests_longer_than_the_cap_keeps_its_time_and_a_told_time_is_kept(
    health: Health, clock: Clock
) -> None:
    for error, seconds in ((EngineBlocked(), 3600), (EngineBlocked(), 3600), (EngineThrottled(retry_after=7), 7)):
        health.failed("a", error)
        assert rest_of(health) == seconds
        clock.pass_(seconds + 1)
        health.admit("a")


def test_a_burst_of_failures_counts_once(health: Health) -> None:
    for _ in range(200):
        health.failed("a", EngineTimeout())
    assert rest_of(health) == 15


def test_what_one_query_can_cause_condemns_nobody(health: Health) -> None:
    for _ in range(20):
        health.failed("a", EngineRefusedQuery())
    assert health.admit("a") is None
    health.succeeded("a")
    for _ in range(4):
        health.failed("a", EngineParseError())
    assert health.admit("a") is None
    health.failed("a", EngineParseError())
    assert rest_of(health) == 60


def test_a_worse_error_during_the_rest_prolongs_it(health: Health) -> None:
    health.failed("a", EngineTimeout())
    health.failed("a", EngineMisconfigured())
    assert rest_of(health) == 1800
    health.failed("a", EngineTimeout())
    assert rest_of(health) == 1800


def test_being_overtaken_counts_only_several_times_in_a_row(health: Health) -> None:
    for _ in range(SLOW_TIMES - 1):
        health.overtaken("a")
    assert health.admit("a") is None
    health.succeeded("a")
    for _ in range(SLOW_TIMES):
        assert health.admit("a") is None
        health.overtaken("a")
    assert rest_of(health) == 15


def test_being_overtaken_on_trial_is_a_failure(health: Health, clock: Clock) -> None:
    health.failed("a", EngineTimeout())
    clock.pass_(16)
    assert health.admit("a") is None
    health.overtaken("a")
    assert rest_of(health) == 30


def test_what_is_worth_a_last_try(health: Health) -> None:
    health.failed("a", EngineUnavailable())
    health.failed("b", EngineThrottled())
    states = health.states()
    assert states["a"] is not None
    assert states["a"].worth_a_try
    assert states["b"] is not None
    assert not states["b"].worth_a_try


def test_the_sentences(health: Health) -> None:
    health.failed("a", EngineThrottled(retry_after=30))
    health.failed("b", EngineMisconfigured("密钥不对。", cure="换一个。"))
    states = health.states()
    assert states["a"] is not None
    assert states["a"].sentence == "休息中，还有 30 秒：搜索引擎要求放慢速度（429）。"
    assert states["b"] is not None
    assert states["b"].sentence == "已停用，改正设置后恢复，否则 30 分钟后再试：密钥不对。"
    assert states["b"].cure == "换一个。"
