"""The connection to Redis, for everything that several app servers share. The app goes on without Redis when it is
away.

redis-py retries a refused port for seconds and waits without end for a silent server. Here a call gets a short time and
one try. After a failure everybody goes on without Redis, and one call in a while tests whether it is back.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from core.base.settings import Settings

if TYPE_CHECKING:
    from redis import Redis

log = logging.getLogger(__name__)

T = TypeVar("T")

CALL_SECONDS = 0.25
RECHECK_SECONDS = 5.0
MAX_CONNECTIONS = 1_000


class RedisLink:
    def __init__(
        self, url: str, *, call_seconds: float = CALL_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        from redis import ConnectionPool, Redis, RedisError
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        self.pool = ConnectionPool.from_url(
            url,
            socket_timeout=call_seconds,
            socket_connect_timeout=call_seconds,
            retry=Retry(NoBackoff(), 0),
            max_connections=MAX_CONNECTIONS,
        )
        self._client: Redis = Redis(connection_pool=self.pool)
        self._failures = (RedisError, OSError)
        self._clock = clock
        self._lock = threading.Lock()
        self._away = False
        self._look_again = 0.0

    @classmethod
    def from_settings(cls, settings: Settings) -> RedisLink | None:
        return cls(settings.cache.url.get_secret_value()) if settings.cache.url else None

    @property
    def warning(self) -> str:
        """A sentence for the settings page while Redis is away; otherwise empty."""
        if not self._away:
            return ""
        return (
            "连接不上 CACHE_URL 指向的 Redis，暂时只用本机的缓存、限流和引擎状态。请确认 Redis 已启动、CACHE_URL 正确。"
        )

    def call(self, operation: Callable[[Redis], T], fallback: Callable[[], T]) -> T:
        """Return the result of `operation` with Redis, or of `fallback` while Redis is away."""
        if not self._worth_trying():
            return fallback()
        try:
            result = operation(self._client)
        except self._failures as error:
            self._note_away(error)
            return fallback()
        if self._away:
            self._note_back()
        return result

    def _worth_trying(self) -> bool:
        if not self._away:
            return True
        with self._lock:
            now = self._clock()
            if now < self._look_again:
                return False
            self._look_again = now + RECHECK_SECONDS  # one caller tries; the others do not wait for the outcome
            return True

    def _note_away(self, error: Exception) -> None:
        with self._lock:
            first, self._away = not self._away, True
            self._look_again = self._clock() + RECHECK_SECONDS
        if first:
            log.warning("Redis is away (%s): cache, limits and engine health are local for now", type(error).__name__)

    def _note_back(self) -> None:
        with self._lock:
            self._away = False
        log.warning("Redis is back")

    def close(self) -> None:
        self.pool.disconnect()
