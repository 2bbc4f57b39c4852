from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from core.base import rate_limits as our_limits
from core.base.http import Cancelled, Deadline
from core.base.visitors import Visitor
from core.search.errors import RateLimited
from core.search.search_limits import SearchLimits
from support.base import loaded
from support.waiting import Clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(our_limits, "time", SimpleNamespace(monotonic=clock))
    return clock


class Sleepless(Deadline):
    """Lets the clock run instead of waiting."""

    def __init__(self, seconds: float, clock: Clock) -> None:
        super().__init__(seconds, clock)
        self.slept: list[float] = []
        self._own_clock = clock

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._own_clock.pass_(seconds + 0.001)


def admitted(limits: SearchLimits, user: str, times: int) -> int:
    return sum(not refused(lambda: limits.admit(Visitor(user))) for _ in range(times))


def refused(do: Callable[[], None]) -> bool:
    try:
        do()
    except RateLimited:
        return True
    return False


def test_ten_a_minute_for_each_user(clock: Clock) -> None:
    limits = SearchLimits(per_visitor=10, per_engine=100)
    assert admitted(limits, "甲", 12) == 10
    assert admitted(limits, "乙", 12) == 10


def test_everybody_at_one_address_together_has_as_many_as_so_many_users(clock: Clock) -> None:
    limits = SearchLimits(per_visitor=3, per_engine=100, visitors_per_address=2)

    def admitted(name: str, address: str, times: int) -> int:
        return sum(not refused(lambda: limits.admit(Visitor(name, address))) for _ in range(times))

    assert admitted("甲", "203.0.113.7", 9) == 3, "what was refused does not count for the address"
    assert [admitted(f"新的 {n}", "203.0.113.7", 1) for n in range(6)] == [1, 1, 1, 0, 0, 0]
    assert admitted("乙", "203.0.113.8", 1) == 1


def test_the_error_says_how_long_to_wait_and_then_there_is_room(clock: Clock) -> None:
    limits = SearchLimits(per_visitor=2, per_engine=100)
    limits.admit(Visitor("甲"))
    clock.pass_(20)
    limits.admit(Visitor("甲"))
    clock.pass_(15)
    with pytest.raises(RateLimited) as refusal:
        limits.admit(Visitor("甲"))
    assert refusal.value.retry_after == 25
    assert "25 秒" in str(refusal.value)
    clock.pass_(25.1)
    limits.admit(Visitor("甲"))
    assert refused(lambda: limits.admit(Visitor("甲"))), "the window moves; it does not begin anew"


def test_refused_searches_do_not_count(clock: Clock) -> None:
    limits = SearchLimits(per_visitor=1, per_engine=100)
    assert admitted(limits, "甲", 50) == 1
    clock.pass_(60.1)
    assert admitted(limits, "甲", 1) == 1


def test_exactly_ten_of_sixty_at_once() -> None:
    for _ in range(5):
        limits = SearchLimits(per_visitor=10, per_engine=100)
        together = threading.Barrier(60)
        outcomes: list[bool] = []

        def search(
            limits: SearchLimits = limits,
            together: threading.Barrier = together,
            outcomes: list[bool] = outcomes,
        ) -> None:
            together.wait()
            outcomes.append(refused(lambda: limits.admit(Visitor("甲"))))

        threads = [threading.Thread(target=search) for _ in range(60)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert outcomes.count(False) == 10


def test_an_engine_has_one_quota_for_everybody_and_may_have_its_own(clock: Clock) -> None:
    limits = SearchLimits(per_visitor=10, per_engine=3, engines={"tavily": 1})

    def turns(engine: str) -> int:
        return sum(not refused(lambda: limits.take_turn(engine, Sleepless(1, clock))) for _ in range(5))

    assert turns("exa") == 3
    assert turns("tavily") == 1


def test_near_the_quota_requests_queue_within_the_deadline(clock: Clock) -> None:
    limits = SearchLimits(per_visitor=10, per_engine=1)
    limits.take_turn("exa", Sleepless(5, clock))
    clock.pass_(57)
    waiting = Sleepless(5, clock)
    limits.take_turn("exa", waiting)
    assert waiting.slept == [pytest.approx(3)]


def test_a_wait_past_the_deadline_is_not_begun(clock: Clock) -> None:
    limits = SearchLimits(per_visitor=10, per_engine=1)
    limits.take_turn("exa", Sleepless(5, clock))
    clock.pass_(10)
    waiting = Sleepless(5, clock)
    with pytest.raises(RateLimited) as refusal:
        limits.take_turn("exa", waiting)
    assert waiting.slept == []
    assert refusal.value.retry_after == 50


def test_whoever_waits_in_the_queue_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = SearchLimits(per_visitor=10, per_engine=1)
    limits.take_turn("exa", Deadline(100))
    deadline = Deadline(100)
    threading.Timer(0.05, deadline.cancel).start()
    with pytest.raises(Cancelled):
        limits.take_turn("exa", deadline)


def test_the_clock_set_back_does_not_lock_a_user_out_for_longer_than_a_minute(clock: Clock) -> None:
    limits = SearchLimits(per_visitor=1, per_engine=1)
    limits.admit(Visitor("甲"))
    clock.pass_(-86_400)
    with pytest.raises(RateLimited) as refusal:
        limits.admit(Visitor("甲"))
    assert refusal.value.retry_after <= 60


def test_users_who_have_gone_are_forgotten(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(our_limits, "MAX_IDLE_KEYS", 10)
    limits = SearchLimits(per_visitor=1, per_engine=1)
    memory = limits._counter._memory
    for n in range(20):
        limits.admit(Visitor(f"user {n}"))
    clock.pass_(61)
    limits.admit(Visitor("one more"))
    assert len(memory._uses) == 1


def test_a_wall_clock_that_goes_back_locks_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = SearchLimits(per_visitor=2, per_engine=9)
    clock, now = Clock(), time.time()
    monkeypatch.setattr(our_limits, "time", SimpleNamespace(monotonic=clock, time=lambda: now))
    monkeypatch.setattr(time, "time", lambda: now)
    assert admitted(limits, "甲", 3) == 2
    now -= 3_600
    with pytest.raises(RateLimited) as error:
        limits.admit(Visitor("甲"))
    assert error.value.retry_after == 60
    clock.pass_(61)
    assert admitted(limits, "甲", 1) == 1, "the minute is over, whatever the wall clock says"


def test_the_settings_name_the_quotas() -> None:
    values = loaded(SEARCH_ENGINE_QUOTA="7", SEARCH_ENGINE_QUOTAS=" tavily＝20、serpapi = 5 ").values.search
    assert values.engine_quota == 7
    assert values.engine_quotas == (("tavily", 20), ("serpapi", 5))


@pytest.mark.parametrize("text", ["tavily", "tavily=", "tavily=0", "tavily=-1", "tavily=many", "tavily=99999999999"])
def test_a_quota_that_is_no_number_is_named_and_left_out(text: str) -> None:
    settings = loaded(SEARCH_ENGINE_QUOTAS=text)
    assert [problem.key for problem in settings.problems] == ["SEARCH_ENGINE_QUOTAS"]
    assert settings.values.search.engine_quotas == ()
