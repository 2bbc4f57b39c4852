"""One request for everybody who asks the same at the same moment; nobody waits for it beyond their own time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from core.base.http import Deadline
from core.search.errors import EngineTimeout, RateLimited, SearchError
from core.search.single_flight import SingleFlight
from core.search.types import SearchQuery, SearchResponse
from support.fake_engines import results_of

FOUND = SearchResponse(SearchQuery("民法典"), tuple(results_of()), provider="a")


def never() -> SearchResponse:
    raise AssertionError("somebody else is asking already")


@contextmanager
def under_way(flights: SingleFlight, outcome: Callable[[], SearchResponse]) -> Iterator[threading.Event]:
    """A search that somebody else has begun; it ends like this when the event is set."""
    begun, end = threading.Event(), threading.Event()

    def do() -> SearchResponse:
        begun.set()
        assert end.wait(30)
        return outcome()

    def lead() -> None:
        with suppress(SearchError):
            flights.run("k", Deadline(30), do)

    leader = threading.Thread(target=lead)
    leader.start()
    assert begun.wait(10)
    try:
        yield end
    finally:
        end.set()
        leader.join(10)


def fails(error: SearchError) -> Callable[[], SearchResponse]:
    def outcome() -> SearchResponse:
        raise error

    return outcome


def test_who_joins_gets_the_same_and_asks_nobody() -> None:
    flights = SingleFlight()
    with under_way(flights, lambda: FOUND) as end:
        threading.Timer(0.05, end.set).start()
        assert flights.run("k", Deadline(10), never) is FOUND


def test_who_joins_waits_no_longer_than_their_own_time() -> None:
    flights = SingleFlight()
    with under_way(flights, lambda: FOUND), pytest.raises(TimeoutError):
        flights.run("k", Deadline(0.05), never)


def test_a_failure_is_shared() -> None:
    flights = SingleFlight()
    with under_way(flights, fails(EngineTimeout())) as end:
        threading.Timer(0.05, end.set).start()
        with pytest.raises(EngineTimeout):
            flights.run("k", Deadline(10), never)


def test_the_limit_of_another_is_nobody_elses() -> None:
    flights = SingleFlight()
    with under_way(flights, fails(RateLimited(retry_after=60))) as end:
        threading.Timer(0.05, end.set).start()
        assert flights.run("k", Deadline(10), lambda: FOUND) is FOUND


def test_nothing_is_left_behind() -> None:
    flights = SingleFlight()
    with suppress(EngineTimeout):
        flights.run("k", Deadline(20), fails(EngineTimeout()))
    assert flights.run("k", Deadline(20), lambda: FOUND) is FOUND
    assert flights._flights == {}
