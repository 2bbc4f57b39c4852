"""The process-wide event loop, on its own thread.

LangChain's model clients keep connections that belong to one event loop, so there is one for the whole process:
`asyncio.run` per request fails on the second request with "Event loop is closed".
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")

WORKERS = 64
"""Threads that wait for others (`asyncio.to_thread`). By default there are six on two cores, and sixty readers queue."""


class LoopThread:
    """Started by the first `submit`, ended by `stop`; may be started again afterwards."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Runs the coroutine on the loop; cancelling the returned future cancels it there."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._running_loop())

    def call_later(self, seconds: float, function: Any, *args: Any) -> None:
        loop = self._running_loop()
        loop.call_soon_threadsafe(loop.call_later, seconds, function, *args)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._loop.set_default_executor(ThreadPoolExecutor(WORKERS, thread_name_prefix="asyncio"))
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
        """Cancels what is running, closes the loop and waits for the thread."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout)


async def _cancel_everything() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
