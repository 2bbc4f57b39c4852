"""Threads for the work of the services: they are not those of the pages, and no caller gets all of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from core.base.logs import with_log_ids
from core.serve.access import Caller

T = TypeVar("T")

THREADS = 32
THREADS_PER_CALLER = 16


class _Pool:
    """Threads that end with the process. It would wait for those of a ThreadPoolExecutor, also where nobody waits for what
    they compute: a long draft takes them a minute."""

    def __init__(self, threads: int) -> None:
        self._missing = threads
        self._line: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._lock = threading.Lock()

    def submit(self, function: Callable[[], T]) -> Future[T]:
        work = Future[T]()
        self._line.put((work, function))
        with self._lock:
            if self._missing:
                self._missing -= 1
                threading.Thread(target=self._serve, name="service", daemon=True).start()
        return work

    def _serve(self) -> None:
        while True:
            self._do(*self._line.get())

    @staticmethod
    def _do(work: Future[Any], function: Callable[[], Any]) -> None:
        if not work.set_running_or_notify_cancel():
            return
        try:
            result = function()
        except BaseException as error:
            work.set_exception(error)
        else:
            work.set_result(result)


class ServiceThreads:
    """A pool of threads. Work waits in line for one, and for the caller's share of them.

    Starlette's own threads serve the files of the pages. A thread that works for a request that was given up counts until it
    has ended."""

    def __init__(self, threads: int = THREADS, per_caller: int = THREADS_PER_CALLER) -> None:
        self._pool = _Pool(threads)
        self._per_caller = per_caller
        self._shares: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def run(self, caller: Caller, function: Callable[[], T]) -> T:
        """Return what the function returns in a thread. Work that is cancelled before its turn never begins."""
        share = self._shares.setdefault(caller.visitor.name, asyncio.Semaphore(self._per_caller))
        await share.acquire()
        loop = asyncio.get_running_loop()

        def give_back(_: Future[T]) -> None:
            with suppress(RuntimeError):  # the loop has been closed
                loop.call_soon_threadsafe(share.release)

        work = self._pool.submit(with_log_ids(function))
        work.add_done_callback(give_back)
        return await asyncio.wrap_future(work)


_threads = ServiceThreads()


async def run_in_service_thread(caller: Caller, function: Callable[[], T]) -> T:
    """Return what the function returns in one of the threads of this process that work for the services."""
    return await _threads.run(caller, function)
