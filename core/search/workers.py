"""Threads for engines: started when needed, gone when done, never more than a given number.

A pool that keeps its threads would be a little faster. It would also stay as large as its worst moment, and a few
engines that hang in the system's resolver would fill it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

T = TypeVar("T")

MAX_WORKERS = 512


class Workers:
    def __init__(self, limit: int = MAX_WORKERS) -> None:
        self._free = threading.BoundedSemaphore(limit)

    def start(self, job: Callable[[], None], *, name: str, patience: float = 0.0) -> bool:
        """Whether a thread was free within `patience` seconds and now does the job."""
        if not self._free.acquire(timeout=patience):
            return False
        try:
            threading.Thread(target=self._run, args=(job,), name=name, daemon=True).start()
        except RuntimeError:  # the system gives out no more threads
            self._free.release()
            return False
        return True

    def _run(self, job: Callable[[], None]) -> None:
        try:
            job()
        finally:
            self._free.release()


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
