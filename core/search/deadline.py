"""The time that one search may take, and the means to end it from another thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from core.base.http import Deadline


class SearchCancelled(Exception):
    """Whoever asked has gone: there is nobody left to tell."""


class SearchDeadline(Deadline):
    """A deadline that also wakes those who wait under it without a socket."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(seconds, clock)
        self._when_cancelled: list[Callable[[], None]] = []

    def part(self) -> SearchDeadline:
        """For one engine: with the same end, and to be cancelled alone."""
        return SearchDeadline(self.remaining(), self._clock)

    def on_cancel(self, call: Callable[[], None]) -> None:
        with self._lock:
            if not self._cancelled:
                self._when_cancelled.append(call)
                return
        call()

    def cancel(self) -> None:
        super().cancel()
        with self._lock:
            calls, self._when_cancelled = self._when_cancelled, []
        for call in calls:
            call()

    def wait_for(self, event: threading.Event, seconds: float = float("inf")) -> None:
        """Until the event, the given time, the deadline or its cancellation, whichever comes first."""
        self.on_cancel(event.set)
        event.wait(min(seconds, self.remaining()))
        if self.cancelled:
            raise SearchCancelled

    def sleep(self, seconds: float) -> None:
        self.wait_for(threading.Event(), seconds)
