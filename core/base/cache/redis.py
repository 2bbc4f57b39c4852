"""A cache in Redis."""

from __future__ import annotations

from typing import Any

from core.base.cache.ttl import TtlCache
from core.base.redis_link import RedisLink


class RedisTtlCache:
    """A cache that several app servers share. While Redis is away, each of them uses its own disk."""

    def __init__(self, link: RedisLink, *, fallback: TtlCache) -> None:
        self._link = link
        self._fallback = fallback

    @property
    def warning(self) -> str:
        return self._link.warning or self._fallback.warning

    def get(self, key: str) -> str | None:
        def read(redis: Any) -> str | None:
            value = redis.get(key)
            return None if value is None else value.decode("utf-8", "replace")

        return self._link.call(read, lambda: self._fallback.get(key))

    def set(self, key: str, text: str, seconds: float) -> None:
        self._link.call(
            lambda redis: redis.set(key, text, px=round(seconds * 1000)) and None,
            lambda: self._fallback.set(key, text, seconds),
        )

    def close(self) -> None:
        self._fallback.close()
