"""Limits of searches per minute: for one visitor, and for each engine from all visitors together."""

from __future__ import annotations

from collections.abc import Mapping

from core.base.http import Deadline
from core.base.rate_limits import MinuteCounter, VisitorLimit
from core.base.redis_link import RedisLink
from core.base.settings import Settings
from core.base.visitors import Visitor
from core.search.errors import RateLimited


class SearchLimits:
    def __init__(
        self,
        *,
        per_visitor: int,
        per_engine: int,
        engines: Mapping[str, int] | None = None,
        visitors_per_address: int = 1,
        link: RedisLink | None = None,
    ) -> None:
        self._counter = MinuteCounter(link)
        self._per_visitor = VisitorLimit(self._counter, "user", per_visitor, visitors_per_address=visitors_per_address)
        self._per_engine = per_engine
        self._engines = engines or {}

    @classmethod
    def from_settings(cls, settings: Settings, link: RedisLink | None = None) -> SearchLimits:
        search = settings.search
        return cls(
            per_visitor=search.rate_limit,
            per_engine=search.engine_quota,
            engines=dict(search.engine_quotas),
            visitors_per_address=settings.limits.visitors_per_address,
            link=link,
        )

    @property
    def warning(self) -> str:
        return self._counter.warning

    def admit(self, visitor: Visitor) -> None:
        """Count one search, or raise RateLimited with the seconds to wait."""
        seconds = self._per_visitor.count_or_wait(visitor)
        if seconds is not None:
            raise RateLimited(retry_after=seconds)

    def take_turn(self, engine: str, deadline: Deadline) -> None:
        """Count one request to the engine, now or when its quota has room before the deadline. Raise RateLimited at
        once if the wait would be longer than the deadline."""
        quota = self._engines.get(engine, self._per_engine)
        while not self._counter.hit(quota, "engine", engine):
            seconds = self._counter.seconds_until_free(quota, "engine", engine)
            if seconds >= deadline.remaining():
                raise RateLimited(retry_after=seconds)
            deadline.sleep(max(seconds, 0.01))
