"""Threads for engines: never more than a given number, and gone soon after there is nothing to do.

A pool that keeps its threads would stay as large as its worst moment, and starting a thread for every request costs
about as much as everything else that the service adds to it. So a thread waits a second for more work, then ends.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")
Job = Callable[[], object]

MAX_WORKERS = 512
LINGER_SECONDS = 1.0


class Workers:
    """A job must not raise."""

    def __init__(self, limit: int = MAX_WORKERS, *, linger: float = LINGER_SECONDS) -> None:
        self._places = threading.BoundedSemaphore(limit)
        self._linger = linger
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        """Threads that wait for a job and have not been promised one."""

    def start(self, job: Job, *, patience: float = 0.0) -> bool:
        """Whether a place was free within `patience` seconds and the job is now being done."""
        if not self._places.acquire(timeout=patience):
            return False
        with self._lock:
            promised = self._idle > 0
            self._idle -= promised
        if promised:
            self._jobs.put(job)
            return True
        try:
            threading.Thread(target=self._work, args=(job,), name="search-worker", daemon=True).start()
        except RuntimeError:  # the system gives out no more threads
            self._places.release()
            return False
        return True

    def _work(self, first: Job) -> None:
        job: Job | None = first
        while job is not None:
            job()
            del job  # it holds a whole search, and the next one may be long in coming
            with self._lock:
                self._idle += 1
            self._places.release()
            job = self._next_job()

    def _next_job(self) -> Job | None:
        while True:
            try:
                return self._jobs.get(timeout=self._linger)
            except Empty:
                with self._lock:
                    if self._idle:
                        self._idle -= 1
                        return None
            # A job was promised at the last moment. It comes, unless a thread that has just become idle takes it.


async def in_a_thread(do: Callable[[], T], *, name: str) -> T:
    """asyncio's own pool has a handful of threads on a small machine, and searches would wait for each other there."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def work() -> None:
        try:
            result = do()
        except BaseException as error:
            tell(partial(future.set_exception, error))
        else:
            tell(partial(future.set_result, result))

    def tell(settle: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has been closed
            loop.call_soon_threadsafe(lambda: None if future.done() else settle())

    threading.Thread(target=work, name=name, daemon=True).start()
    return await future
