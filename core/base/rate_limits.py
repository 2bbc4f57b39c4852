"""Limits per minute, for one visitor or for all visitors together.

The library `limits` counts exactly, also under load: in memory, or in Redis for all app servers together. While Redis
is away, each server counts by itself from zero. For that minute somebody may get more than allowed, never less.
"""

from __future__ import annotations

import threading
import time
from collections import deque

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import MovingWindowRateLimiter

from core.base.redis_link import RedisLink
from core.base.visitors import Visitor

MAX_IDLE_KEYS = 10_000


class MinuteCounter:
    """A moving window of one minute, in Redis if it is configured, else in memory."""

    def __init__(self, link: RedisLink | None = None) -> None:
        self._link = link
        self._memory = _ExactMemory()
        self._local = MovingWindowRateLimiter(self._memory)
        # The pool decides where Redis is; the library wants an address all the same.
        self._shared = MovingWindowRateLimiter(RedisStorage("redis://", connection_pool=link.pool)) if link else None

    @property
    def warning(self) -> str:
        return self._link.warning if self._link else ""

    def hit(self, amount: int, *key: str) -> bool:
        """Count one more use and return True, or return False if there were `amount` already."""
        item = _per_minute(amount)
        if self._link is None or self._shared is None:
            return self._local.hit(item, *key)
        shared = self._shared
        return self._link.call(lambda _: shared.hit(item, *key), lambda: self._local.hit(item, *key))

    def seconds_until_free(self, amount: int, *key: str) -> float:
        """Return the seconds until the oldest use leaves the window."""
        item, local = _per_minute(amount), self._local

        def own() -> float:
            return local.get_window_stats(item, *key).reset_time - time.monotonic()

        if self._link is None or self._shared is None:
            seconds = own()
        else:
            shared = self._shared
            seconds = self._link.call(
                lambda _: shared.get_window_stats(item, *key).reset_time - time.time(),
                own,
            )
        return min(max(0.0, seconds), item.get_expiry())


class VisitorLimit:
    """The uses per minute of one visitor, and of all visitors at one address, who may be the same person."""

    def __init__(self, counter: MinuteCounter, name: str, amount: int, *, visitors_per_address: int) -> None:
        self._counter = counter
        self._name = name
        self._amount = amount
        self._amount_per_address = amount * visitors_per_address

    def count_or_wait(self, visitor: Visitor) -> float | None:
        """Count one use and return None, or return the seconds until there is room again."""
        parts = [(self._amount, self._name, visitor.name)]
        if visitor.address:
            parts.append((self._amount_per_address, f"{self._name}-address", visitor.address))
        for part in parts:
            if not self._counter.hit(*part):
                return self._counter.seconds_until_free(*part)
        return None


def _per_minute(amount: int) -> RateLimitItemPerMinute:
    return RateLimitItemPerMinute(amount, namespace="wenyuan")


class _ExactMemory(MemoryStorage):
    """A memory storage by the monotonic clock: the library's locks everybody out when the wall clock goes back. It also
    lacks two faults of the library's: that drops a lock which is waited for, and it never drops a key."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self._uses: dict[str, deque[float]] = {}
        super().__init__()

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        with self._one_at_a_time:
            if len(self._uses) > MAX_IDLE_KEYS:
                self._forget_idle(expiry)
            uses = self._recent(key, expiry)
            if len(uses) + amount > limit:
                return False
            uses.extend([time.monotonic()] * amount)
            return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """Return when the oldest use of the window was, and how many there are."""
        with self._one_at_a_time:
            uses = self._recent(key, expiry)
            return (uses[0] if uses else time.monotonic()), len(uses)

    def _recent(self, key: str, expiry: int) -> deque[float]:
        uses, begin = self._uses.setdefault(key, deque()), time.monotonic() - expiry
        while uses and uses[0] <= begin:
            uses.popleft()
        return uses

    def _forget_idle(self, expiry: int) -> None:
        for key in [key for key in self._uses if not self._recent(key, expiry)]:
            del self._uses[key]
