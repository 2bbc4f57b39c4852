"""The limit on model calls per minute, for all visitors together: there is one bill."""

from __future__ import annotations

import asyncio

from core.base.rate_limits import MinuteCounter
from core.base.redis_link import RedisLink
from core.base.settings import Settings
from core.llm.errors import TooManyCalls


class ModelCallLimit:
    def __init__(self, per_minute: int, link: RedisLink | None = None) -> None:
        self._per_minute = per_minute
        self._counter = MinuteCounter(link)

    @classmethod
    def from_settings(cls, settings: Settings, link: RedisLink | None = None) -> ModelCallLimit:
        return cls(settings.limits.model_calls_per_minute, link)

    async def count(self) -> None:
        """Count one request to a model, or raise TooManyCalls."""
        await asyncio.to_thread(self._count)

    def _count(self) -> None:
        if not self._counter.hit(self._per_minute, "model"):
            raise TooManyCalls(retry_after=self._counter.seconds_until_free(self._per_minute, "model"))
