"""Caches of search results: a small one for each session, and one with an expiry time for all visitors.

Expired results are kept a while longer, for the case that no engine can be asked. Failures and empty results are never
kept. A cache that cannot be used behaves like an empty cache; the reader never sees its errors.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace

from core.base.cache import DiskTtlCache, RedisTtlCache, TtlCache
from core.base.redis_link import RedisLink
from core.base.settings import Settings
from core.search.cache_codec import decode, encode
from core.search.types import SearchQuery, SearchResponse, SearchType

log = logging.getLogger(__name__)

SESSION_SIZE = 20


class SessionCache:
    """The most recently used searches of one session. It lives in the session's state and goes with it."""

    def __init__(self, size: int = SESSION_SIZE, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, tuple[float, SearchResponse]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str, query: SearchQuery) -> SearchResponse | None:
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            saved, response = self._entries[key]
        return replace(response, query=query, from_cache=True, cache_age=max(0.0, self._clock() - saved), attempts=())

    def put(self, key: str, response: SearchResponse) -> None:
        """Keep the response, unless it is empty or stale."""
        if not response.results or response.stale:
            return
        with self._lock:
            self._entries[key] = (self._clock() - (response.cache_age or 0.0), response)
            self._entries.move_to_end(key)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()


class ResultCache:
    """Search responses in a TtlCache, with the time for which each type of search is good, and is kept after that."""

    CLOCK_SKEW = 60.0
    """Seconds that an entry may lie in the future. Beyond that a wrong clock wrote it, and its age means nothing."""

    def __init__(
        self,
        store: TtlCache,
        *,
        good_for: Mapping[SearchType, float],
        keep_stale: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._good_for = good_for
        self._keep_stale = keep_stale
        self._clock = clock

    @classmethod
    def from_settings(cls, settings: Settings, link: RedisLink | None = None) -> ResultCache | None:
        if not settings.search.cache_ttl:  # SEARCH_CACHE_TTL=0 switches this cache off, for every type
            return None
        disk = DiskTtlCache(settings.data_dir / "cache")
        good_for = {
            SearchType.GENERAL: settings.search.cache_ttl,
            SearchType.NEWS: settings.cache.news_ttl,
            SearchType.REGULATION: settings.cache.regulation_ttl,
            SearchType.CASE: settings.cache.case_ttl,
        }
        store = RedisTtlCache(link, fallback=disk) if link else disk
        return cls(store, good_for=good_for, keep_stale=settings.cache.keep_stale)

    @property
    def warning(self) -> str:
        return self._store.warning

    def get(self, key: str, query: SearchQuery, *, even_stale: bool = False) -> SearchResponse | None:
        """Return the cached response, or None. With `even_stale`, an expired response is returned too."""
        text = self._store.get(_stored_key(key))
        if text is None:
            return None
        try:
            saved_at, response = decode(text, query)
        except ValueError:
            log.warning("a cached search could not be read and is ignored")
            return None
        age = self._clock() - saved_at
        stale = not -self.CLOCK_SKEW <= age < self._good_for[query.type]
        if stale and not even_stale:
            return None
        return replace(response, from_cache=True, cache_age=max(0.0, age), stale=stale)

    def put(self, key: str, response: SearchResponse) -> None:
        seconds = self._good_for[response.query.type] + self._keep_stale
        self._store.set(_stored_key(key), encode(response, saved_at=self._clock()), seconds)

    def close(self) -> None:
        self._store.close()


def _stored_key(key: str) -> str:
    """Return a key of fixed length without the reader's words. The number changes with the codec."""
    return f"wenyuan:search:1:{hashlib.sha256(key.encode()).hexdigest()}"
