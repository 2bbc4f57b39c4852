"""Limits per minute, for one visitor or for all visitors together.

The library `limits` counts exactly, also under load: in memory, or in Redis for all app servers together. While Redis
is away, each server counts by itself from zero. For that minute somebody may get more than allowed, never less.
"""

from __future__ import annotations

import threading
import time

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
        if self._link is None or self._shared is None:
            reset = local.get_window_stats(item, *key).reset_time
        else:
            shared = self._shared
            reset = self._link.call(
                lambda _: shared.get_window_stats(item, *key).reset_time,
                lambda: local.get_window_stats(item, *key).reset_time,
            )
        return min(max(0.0, reset - time.time()), item.get_expiry())


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
    """The library's memory storage without two faults: it drops a lock that is waited for, and it never drops a key."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        super().__init__()

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        with self._one_at_a_time:
            if len(self.events) > MAX_IDLE_KEYS:
                for idle in [key for key, entries in list(self.events.items()) if not entries]:
                    del self.events[idle]
            return super().acquire_entry(key, limit, expiry, amount)
