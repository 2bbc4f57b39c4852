"""A cache in a folder of this machine."""

from __future__ import annotations

import logging
import shutil
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

import diskcache

log = logging.getLogger(__name__)

T = TypeVar("T")


class TextDisk(diskcache.Disk):  # type: ignore[misc]
    """A diskcache Disk for text only. diskcache would unpickle what it finds, and a planted row would run its code."""

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
    """A cache in its own folder, opened on first use. A file that is corrupt or stays locked is moved away and rebuilt.
    One thread does all the work. diskcache opens the file anew for every thread that uses it, and each search has a
    thread. SQLite closes none of these handles while any other of the process is in use."""

    WAIT_SECONDS = 0.25
    """Longest wait for the file, and for earlier operations."""
    LOCKED_SECONDS = 10.0
    """Time without a successful use after which a locked file is replaced. Before that it may be a long write."""
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
            return f"{self._name}暂时写不进磁盘，回答不受影响。请检查数据目录的空间和权限。"
        return self._rebuilt

    def get(self, key: str) -> str | None:
        """Return the text, also while nothing can be written because the disk is full."""
        return self._run_in_turn(lambda cache: cache.get(key), may_read_only=True)

    def set(self, key: str, text: str, seconds: float) -> None:
        self._run_in_turn(lambda cache: cache.set(key, text, expire=seconds))

    def close(self) -> None:
        with suppress(RuntimeError):  # it is closed
            self._thread.submit(self._close_cache)
        self._thread.shutdown()

    def _run_in_turn(self, operation: Callable[[diskcache.Cache], T], *, may_read_only: bool = False) -> T | None:
        """Return the result of the operation, or None if its turn has not come within `WAIT_SECONDS`."""
        if self._clock() < self._paused_until and not (may_read_only and self._cache is not None):
            return None
        try:
            turn = self._thread.submit(self._with_cache, operation)
        except RuntimeError:  # it is closed
            return None
        try:
            return turn.result(self.WAIT_SECONDS)
        except TimeoutError:
            return None if turn.cancel() else turn.result()

    # ── In the thread ─────────────────────────────────────────────────────────────────────────────────────────────

    def _with_cache(self, operation: Callable[[diskcache.Cache], T]) -> T | None:
        try:
            value = operation(self._open_cache())
        except (sqlite3.Error, diskcache.Timeout, OSError) as error:
            self._recover(error)
            return None
        self._locked_since = None
        return value

    def _open_cache(self) -> diskcache.Cache:
        if self._cache is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._folder.chmod(0o700)
            self._check_file()
            self._cache = diskcache.Cache(
                self._folder, timeout=self.WAIT_SECONDS, disk=TextDisk, size_limit=self.SIZE_LIMIT
            )
        return self._cache

    def _check_file(self) -> None:
        """Raise if the file is locked for `WAIT_SECONDS`; diskcache would wait a minute when it opens it."""
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
        self._close_cache()
        self._locked_since = None
        try:
            self._set_aside(error)
        except OSError as problem:
            self._pause(problem)

    def _close_cache(self) -> None:
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
