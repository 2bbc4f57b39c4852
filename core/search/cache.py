"""Results that are still good: a small cache for each session, and one with an expiry time for everybody.

What has expired is kept a while longer, as the last resort when no engine can be asked. Failures and empty results are
never kept. No trouble of a cache reaches the reader: a cache that cannot be used is a cache without the entry.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import diskcache

from core.base.redis import RedisLink
from core.base.settings import Settings
from core.search.codec import decode, encode
from core.search.types import SearchQuery, SearchResponse, SearchType

log = logging.getLogger(__name__)

T = TypeVar("T")

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
        """Only what is worth being shown again: neither nothing nor something old."""
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


class TtlCache(Protocol):
    """Text under a key for a time. Never raises: what cannot be read is not there."""

    @property
    def warning(self) -> str:
        """A sentence for the settings page when something is wrong; empty otherwise."""

    def get(self, key: str) -> str | None: ...

    def set(self, key: str, text: str, seconds: float) -> None: ...

    def close(self) -> None: ...


class ResultCache:
    """Search responses in a TtlCache: how long each type of search stays good, and how long it is kept after that."""

    CLOCK_SKEW = 60.0
    """An entry from the future by more than this was written under a wrong clock, and its age means nothing."""

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
        store = RedisTtlCache(link, otherwise=disk) if link else disk
        return cls(store, good_for=good_for, keep_stale=settings.cache.keep_stale)

    @property
    def warning(self) -> str:
        return self._store.warning

    def get(self, key: str, query: SearchQuery, *, even_stale: bool = False) -> SearchResponse | None:
        text = self._store.get(_stored_key(key))
        if text is None:
            return None
        try:
            kept = decode(text, query)
        except ValueError:
            log.warning("a cached search could not be read and is ignored")
            return None
        age = self._clock() - kept.saved
        stale = not -self.CLOCK_SKEW <= age < self._good_for[query.type]
        if stale and not even_stale:
            return None
        return replace(kept.response, from_cache=True, cache_age=max(0.0, age), stale=stale)

    def put(self, key: str, response: SearchResponse) -> None:
        seconds = self._good_for[response.query.type] + self._keep_stale
        self._store.set(_stored_key(key), encode(response, saved=self._clock()), seconds)

    def close(self) -> None:
        self._store.close()


def _stored_key(key: str) -> str:
    """Of one length, and without the reader's words in it. The number changes with the codec."""
    return f"wenyuan:search:1:{hashlib.sha256(key.encode()).hexdigest()}"


# ── On disk ───────────────────────────────────────────────────────────────────────────────────────────────────────


class TextDisk(diskcache.Disk):  # type: ignore[misc]
    """Text and nothing else. diskcache would unpickle what it finds, and a planted row would run its code."""

    class Refused(sqlite3.DatabaseError):
        pass

    def put(self, key: Any) -> tuple[str, bool]:
        return self._text(key), True

    def get(self, key: Any, raw: Any) -> str:
        return self._text(key if raw else None)

    def store(self, value: Any, read: bool, key: Any = None) -> tuple[int, int, None, str]:
        return 0, diskcache.core.MODE_RAW, None, self._text(value)

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> str:
        return self._text(value if mode == diskcache.core.MODE_RAW else None)

    def _text(self, value: Any) -> str:
        if not isinstance(value, str):
            raise self.Refused("the cache holds something other than text")
        return value


class DiskTtlCache:
    """A folder of its own, opened on first use. A file that is corrupt, or stays locked, is set aside and rebuilt.

    A thread of its own does all the work. diskcache opens the file anew for every thread that uses it, each search has a thread,
    and SQLite closes none of these handles while any other of the process is in use.
    """

    WAIT_SECONDS = 0.25
    """For the file, and for whoever is served first."""
    LOCKED_SECONDS = 10.0
    """Without one use that went well: it may be somebody else's long write."""
    PAUSE_SECONDS = 60.0
    SIZE_LIMIT = 256 * 2**20

    def __init__(self, folder: Path, *, name: str = "搜索缓存", clock: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._name = name
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cache")
        self._cache: diskcache.Cache | None = None
        self._locked_since: float | None = None
        self._paused_until = 0.0
        self._rebuilt = ""

    @property
    def warning(self) -> str:
        if self._clock() < self._paused_until:
            return f"{self._name}暂时写不进磁盘，回答不受影响。请检查 DATA_DIR 的空间和权限。"
        return self._rebuilt

    def get(self, key: str) -> str | None:
        return self._soon(lambda cache: cache.get(key))

    def set(self, key: str, text: str, seconds: float) -> None:
        self._soon(lambda cache: cache.set(key, text, expire=seconds))

    def close(self) -> None:
        with suppress(RuntimeError):  # it is closed
            self._thread.submit(self._let_go)
        self._thread.shutdown()

    def _soon(self, do: Callable[[diskcache.Cache], T]) -> T | None:
        """Nothing, if its turn has not come within `WAIT_SECONDS`."""
        if self._clock() < self._paused_until:
            return None
        try:
            turn = self._thread.submit(self._with_cache, do)
        except RuntimeError:  # it is closed
            return None
        try:
            return turn.result(self.WAIT_SECONDS)
        except TimeoutError:
            return None if turn.cancel() else turn.result()

    # ── In the thread ─────────────────────────────────────────────────────────────────────────────────────────────

    def _with_cache(self, do: Callable[[diskcache.Cache], T]) -> T | None:
        try:
            value = do(self._opened())
        except (sqlite3.Error, diskcache.Timeout, OSError) as error:
            self._recover(error)
            return None
        self._locked_since = None
        return value

    def _opened(self) -> diskcache.Cache:
        if self._cache is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._folder.chmod(0o700)
            self._check_file()
            self._cache = diskcache.Cache(
                self._folder, timeout=self.WAIT_SECONDS, disk=TextDisk, size_limit=self.SIZE_LIMIT
            )
        return self._cache

    def _check_file(self) -> None:
        """diskcache waits a minute for a locked file when it opens it; this notices within `WAIT_SECONDS`."""
        with closing(sqlite3.connect(self._folder / diskcache.core.DBNAME, timeout=self.WAIT_SECONDS)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")

    def _recover(self, error: Exception) -> None:
        if _is_locked(error):
            now = self._clock()
            since = self._locked_since = now if self._locked_since is None else self._locked_since
            if now - since < self.LOCKED_SECONDS:
                log.info("the cache in %s is locked; going on without it", self._folder)
                return
        elif isinstance(error, OSError) or "full" in str(error):
            self._pause(error)
            return
        self._let_go()
        self._locked_since = None
        try:
            self._set_aside(error)
        except OSError as problem:
            self._pause(problem)

    def _let_go(self) -> None:
        cache, self._cache = self._cache, None
        if cache is not None:
            with suppress(sqlite3.Error):
                cache.close()

    def _set_aside(self, error: Exception) -> None:
        aside = self._folder.with_name(self._folder.name + ".broken")
        shutil.rmtree(aside, ignore_errors=True)
        self._folder.rename(aside)
        self._rebuilt = f"{self._name}的文件损坏或被锁定，已移到 {aside.name} 并重建。"
        log.warning("a cache was unusable (%s): moved to %s and rebuilt", error or type(error).__name__, aside)

    def _pause(self, error: Exception) -> None:
        self._paused_until = self._clock() + self.PAUSE_SECONDS
        log.warning("the cache in %s cannot be used (%s); next try in %d s", self._folder, error, self.PAUSE_SECONDS)


def _is_locked(error: Exception) -> bool:
    return isinstance(error, diskcache.Timeout) or "locked" in str(error)


# ── In Redis ──────────────────────────────────────────────────────────────────────────────────────────────────────


class RedisTtlCache:
    """Shared by several app servers; while Redis is away, each of them uses its own disk."""

    def __init__(self, link: RedisLink, *, otherwise: TtlCache) -> None:
        self._link = link
        self._otherwise = otherwise

    @property
    def warning(self) -> str:
        return self._link.warning or self._otherwise.warning

    def get(self, key: str) -> str | None:
        def read(redis: Any) -> str | None:
            value = redis.get(key)
            return None if value is None else value.decode("utf-8", "replace")

        return self._link.call(read, lambda: self._otherwise.get(key))

    def set(self, key: str, text: str, seconds: float) -> None:
        self._link.call(
            lambda redis: redis.set(key, text, px=round(seconds * 1000)) and None,
            lambda: self._otherwise.set(key, text, seconds),
        )

    def close(self) -> None:
        self._otherwise.close()
