"""Deadline: the time that an operation may take, and a way to end it from another thread."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress


class Cancelled(Exception):
    """The caller has gone, so no result is needed any more."""


class Deadline:
    """The moment by which an operation has ended. It may be shared between threads. `child`, `with_limit` and
    `equal_share` return a part of it. A part ends no later than the whole and is cancelled with it, but it can be
    cancelled alone."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds
        self._lock = threading.Lock()
        self._cancelled = False
        self._when_cancelled: list[Callable[[], None]] = []
        self._sockets: dict[int, socket.socket] = {}

    def remaining(self) -> float:
        return max(0.0, self._end - self._clock())

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def next_timeout(self) -> float:
        """Return the timeout for the next blocking call. Raise TimeoutError if no time is left."""
        left = self.remaining()
        if self.cancelled or left <= 0:
            raise TimeoutError
        return left

    def extend(self, seconds: float) -> None:
        """Move the end by so many seconds: time passes that does not count."""
        self._end += seconds

    # ── Divided ───────────────────────────────────────────────────────────────────────────────────────────────────

    def child(self) -> Deadline:
        """Return a deadline with the same end that can be cancelled alone."""
        return self.with_limit(self.remaining())

    def with_limit(self, seconds: float) -> Deadline:
        """Return a deadline that ends after at most `seconds`."""
        part = Deadline(min(seconds, self.remaining()), self._clock)
        self.on_cancel(part.cancel)
        return part

    def equal_share(self, parts: int) -> Deadline:
        """Return a deadline with an equal part of the time that is left, for one of several tries."""
        return self.with_limit(self.remaining() / parts)

    # ── Cancelled ─────────────────────────────────────────────────────────────────────────────────────────────────

    def cancel(self) -> None:
        """End everything that waits under this deadline, and every later wait before it starts."""
        with self._lock:
            self._cancelled = True
            for handle in self._sockets.values():
                with suppress(OSError):  # not connected any more
                    handle.shutdown(socket.SHUT_RDWR)
            calls, self._when_cancelled = self._when_cancelled, []
        for call in calls:
            call()

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the deadline is cancelled; at once if it is cancelled already."""
        with self._lock:
            if not self._cancelled:
                self._when_cancelled.append(callback)
                return
        callback()

    def wait_for(self, event: threading.Event, seconds: float = float("inf")) -> None:
        """Wait until the event, the given time, the deadline or its cancellation, whichever comes first."""
        self.on_cancel(event.set)
        left = min(seconds, self.remaining())
        event.wait(left if left < threading.TIMEOUT_MAX else None)
        if self.cancelled:
            raise Cancelled

    def sleep(self, seconds: float) -> None:
        self.wait_for(threading.Event(), seconds)

    def attach_socket(self, fileno: int) -> None:
        """Register the connection that this thread is about to wait for, so that `cancel` can shut it down. The
        descriptor is duplicated: TLS takes the socket object over while it connects, and a closed number may already
        belong to another file."""
        self.detach_socket()
        handle = socket.socket(fileno=os.dup(fileno))
        with self._lock:
            self._sockets[threading.get_ident()] = handle

    def detach_socket(self) -> None:
        """Unregister and close this thread's duplicate of the connection."""
        with self._lock:
            handle = self._sockets.pop(threading.get_ident(), None)
        if handle is not None:
            handle.close()
