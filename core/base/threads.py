"""Threads: a pool that shrinks after its work, one thread for a single call, and one for the process's event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from core.base.logs import with_log_ids

T = TypeVar("T")
Job = Callable[[], object]

MAX_THREADS = 512
LINGER_SECONDS = 1.0


class ThreadPool:
    """A pool of at most `limit` threads. A job must not raise. A thread waits a second for more work, then ends: a pool
    that keeps its threads stays as large as its worst moment. Starting one for every request doubles what a search adds
    to it."""

    def __init__(self, limit: int = MAX_THREADS, *, linger: float = LINGER_SECONDS) -> None:
        self._places = threading.BoundedSemaphore(limit)
        self._linger = linger
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        """Number of threads that wait for a job and have not been promised one."""

    def start(self, job: Job, *, timeout: float = 0.0) -> bool:
        """Return whether a thread was free within `timeout` seconds and now runs the job."""
        if not self._places.acquire(timeout=timeout):
            return False
        job = with_log_ids(job)
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
            del job  # it references a whole search, and the next job may come much later
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


async def run_in_thread(function: Callable[[], T], *, name: str) -> T:
    """Run the function in a new thread and return its result. In asyncio's own pool, which is small, searches queue."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def work() -> None:
        try:
            result = function()
        except BaseException as error:
            end(partial(future.set_exception, error))
        else:
            end(partial(future.set_result, result))

    def end(settle: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has been closed
            loop.call_soon_threadsafe(lambda: None if future.done() else settle())

    threading.Thread(target=with_log_ids(work), name=name, daemon=True).start()
    return await future


WAITING_THREADS = 64
"""Threads of `asyncio.to_thread`, which wait for others. By default there are six on two cores: sixty readers queue."""


class LoopThread:
    """The event loop of the process, on a thread of its own: LangChain's clients keep connections that belong to one
    loop. Started by the first `submit`, ended by `stop`; may be started again afterwards."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run the coroutine on the loop. Cancelling the returned future cancels the coroutine."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._running_loop())

    def call_later(self, seconds: float, function: Any, *args: Any) -> None:
        loop = self._running_loop()
        loop.call_soon_threadsafe(loop.call_later, seconds, function, *args)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._loop.set_default_executor(ThreadPoolExecutor(WAITING_THREADS, thread_name_prefix="asyncio"))
                self._thread = threading.Thread(target=self._run, args=(self._loop,), name="wenyuan-loop", daemon=True)
                self._thread.start()
            return self._loop

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(_cancel_everything())
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    def stop(self, timeout: float = 3.0) -> None:
        """Cancel all tasks, close the loop and wait for the thread."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(timeout)


async def _cancel_everything() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
