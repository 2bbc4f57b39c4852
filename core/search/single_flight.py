"""Single flight: identical searches at the same time share one request."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future

from core.base.http import Cancelled, Deadline
from core.search.errors import RateLimited
from core.search.types import SearchResponse

# These errors concern only the caller that led the search. The callers that waited for it search by themselves.
_PERSONAL = (RateLimited, Cancelled)


class SingleFlight:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[str, Future[SearchResponse]] = {}

    def run(self, key: str, deadline: Deadline, operation: Callable[[], SearchResponse]) -> SearchResponse:
        """Return the result of `operation` to every caller that asks for the same key while it runs. Raise TimeoutError
        if another caller's search has not ended by this deadline."""
        while True:
            with self._lock:
                flight = self._flights.get(key)
                if flight is None:
                    mine = self._flights[key] = Future[SearchResponse]()
            if flight is None:
                return self._run_as_leader(key, mine, operation)
            ended = threading.Event()
            flight.add_done_callback(lambda _, ended=ended: ended.set())  # type: ignore[misc]
            deadline.wait_for(ended)
            if not flight.done():
                raise TimeoutError
            if not isinstance(flight.exception(), _PERSONAL):
                return flight.result()

    def _run_as_leader(
        self, key: str, future: Future[SearchResponse], operation: Callable[[], SearchResponse]
    ) -> SearchResponse:
        try:
            response = operation()
        except BaseException as error:
            self._end(key)
            future.set_exception(error)
            raise
        self._end(key)
        future.set_result(response)
        return response

    def _end(self, key: str) -> None:
        with self._lock:
            del self._flights[key]
