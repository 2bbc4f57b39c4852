"""The time that something may take, and the means to end it from another thread."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress


class Cancelled(Exception):
    """Whoever asked has gone: there is nobody left to tell."""


class Deadline:
    """The moment by which everything that was given this deadline has ended. It may be shared between threads.

    `part`, `within` and `share` divide it: a part never outlives the whole and is cancelled with it, but can be
    cancelled alone.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds
        self._lock = threading.Lock()
        self._cancelled = False
        self._when_cancelled: list[Callable[[], None]] = []
        self._held: dict[int, socket.socket] = {}

    def remaining(self) -> float:
        return max(0.0, self._end - self._clock())

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def patience(self) -> float:
        """How long the next blocking call may wait."""
        left = self.remaining()
        if self.cancelled or left <= 0:
            raise TimeoutError
        return left

    # ── Divided ───────────────────────────────────────────────────────────────────────────────────────────────────

    def part(self) -> Deadline:
        """With the same end, and to be cancelled alone."""
        return self.within(self.remaining())

    def within(self, seconds: float) -> Deadline:
        """A shorter wait."""
        part = Deadline(min(seconds, self.remaining()), self._clock)
        self.on_cancel(part.cancel)
        return part

    def share(self, parts: int) -> Deadline:
        """An equal part of what is left, for one of several tries."""
        return self.within(self.remaining() / parts)

    # ── Cancelled ─────────────────────────────────────────────────────────────────────────────────────────────────

    def cancel(self) -> None:
        """Ends everything that waits under this deadline, and every later wait before it starts."""
        with self._lock:
            self._cancelled = True
            for handle in self._held.values():
                _shut_down(handle)
            calls, self._when_cancelled = self._when_cancelled, []
        for call in calls:
            call()

    def on_cancel(self, call: Callable[[], None]) -> None:
        """At once, if it is cancelled already."""
        with self._lock:
            if not self._cancelled:
                self._when_cancelled.append(call)
                return
        call()

    def wait_for(self, event: threading.Event, seconds: float = float("inf")) -> None:
        """Until the event, the given time, the deadline or its cancellation, whichever comes first."""
        self.on_cancel(event.set)
        left = min(seconds, self.remaining())
        event.wait(left if left < threading.TIMEOUT_MAX else None)
        if self.cancelled:
            raise Cancelled

    def sleep(self, seconds: float) -> None:
        self.wait_for(threading.Event(), seconds)

    def hold(self, fileno: int) -> None:
        """Lets `cancel` reach the connection that this thread is about to wait for.

        The descriptor is duplicated: TLS takes the socket object over in the middle of connecting, and a number that
        was closed may already belong to somebody else's file.
        """
        self.let_go()
        handle = socket.socket(fileno=os.dup(fileno))
        with self._lock:
            self._held[threading.get_ident()] = handle

    def let_go(self) -> None:
        with self._lock:
            handle = self._held.pop(threading.get_ident(), None)
        if handle is not None:
            handle.close()


def _shut_down(handle: socket.socket) -> None:
    with suppress(OSError):  # not connected any more
        handle.shutdown(socket.SHUT_RDWR)
