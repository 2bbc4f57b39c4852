"""How often a user may search, and how often an engine may be asked by everybody together, per minute.

The library `limits` counts, exactly and also under load: in memory, or in Redis for all app servers together. While
Redis is away each server counts by itself, from zero: for that minute a user may get more than allowed, never less.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import MovingWindowRateLimiter

from core.base.http import Deadline
from core.base.redis import RedisLink
from core.base.settings import Settings
from core.search.errors import RateLimited

MAX_IDLE_KEYS = 10_000


class SearchLimits:
    def __init__(
        self,
        *,
        per_user: int,
        per_engine: int,
        engines: Mapping[str, int] | None = None,
        link: RedisLink | None = None,
    ) -> None:
        self._per_user = RateLimitItemPerMinute(per_user, namespace="wenyuan")
        self._per_engine = RateLimitItemPerMinute(per_engine, namespace="wenyuan")
        self._engines = {
            name: RateLimitItemPerMinute(amount, namespace="wenyuan") for name, amount in (engines or {}).items()
        }
        self._counter = _Counter(link)

    @classmethod
    def from_settings(cls, settings: Settings, link: RedisLink | None = None) -> SearchLimits:
        search = settings.search
        return cls(
            per_user=search.rate_limit, per_engine=search.engine_quota, engines=dict(search.engine_quotas), link=link
        )

    @property
    def warning(self) -> str:
        return self._counter.warning

    def admit(self, user: str) -> None:
        """Counts one search, or raises RateLimited with the seconds to wait."""
        if not self._counter.hit(self._per_user, "user", user):
            raise RateLimited(retry_after=self._counter.wait(self._per_user, "user", user))

    def take_turn(self, engine: str, deadline: Deadline) -> None:
        """Counts one request to the engine, when its quota has room: at once, or before the deadline.

        A wait that would outlast the deadline is not begun: RateLimited.
        """
        quota = self._engines.get(engine, self._per_engine)
        while not self._counter.hit(quota, "engine", engine):
            seconds = self._counter.wait(quota, "engine", engine)
            if seconds >= deadline.remaining():
                raise RateLimited(retry_after=seconds)
            deadline.sleep(max(seconds, 0.01))


class _Counter:
    """A moving window in Redis where there is one, else in memory."""

    def __init__(self, link: RedisLink | None) -> None:
        self._link = link
        self._memory = _ExactMemory()
        self._local = MovingWindowRateLimiter(self._memory)
        # The pool decides where Redis is; the library wants an address all the same.
        self._shared = MovingWindowRateLimiter(RedisStorage("redis://", connection_pool=link.pool)) if link else None

    @property
    def warning(self) -> str:
        return self._link.warning if self._link else ""

    def hit(self, item: RateLimitItem, *who: str) -> bool:
        if self._link is None or self._shared is None:
            return self._local.hit(item, *who)
        shared = self._shared
        return self._link.call(lambda _: shared.hit(item, *who), lambda: self._local.hit(item, *who))

    def wait(self, item: RateLimitItem, *who: str) -> float:
        """Seconds until the oldest hit leaves the window."""
        local = self._local
        if self._link is None or self._shared is None:
            reset = local.get_window_stats(item, *who).reset_time
        else:
            shared = self._shared
            reset = self._link.call(
                lambda _: shared.get_window_stats(item, *who).reset_time,
                lambda: local.get_window_stats(item, *who).reset_time,
            )
        return min(max(0.0, reset - time.time()), item.get_expiry())


class _ExactMemory(MemoryStorage):
    """The library's memory, without two flaws: it drops a key's lock while somebody waits for it, and never a key."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        super().__init__()

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        with self._one_at_a_time:
            if len(self.events) > MAX_IDLE_KEYS:
                for idle in [key for key, entries in list(self.events.items()) if not entries]:
                    del self.events[idle]
            return super().acquire_entry(key, limit, expiry, amount)
