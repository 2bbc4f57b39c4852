"""Threads of the services: a line for all, a share for each caller, and nothing that begins after it was given up."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable

from core.base.visitors import Visitor
from core.documents import Access
from core.serve import Caller
from core.serve.threads import ServiceThreads
from support.base import ROOT
from support.waiting import until


def caller(name: str) -> Caller:
    return Caller(Visitor(name), Access(name))


MINE, THEIRS = caller("mine"), caller("theirs")


class Work:
    """Work that lasts until it is let go, and counts how often it began."""

    def __init__(self) -> None:
        self.begun = 0
        self.at_once = 0
        self.most_at_once = 0
        self.let_go = threading.Event()
        self._lock = threading.Lock()

    def __call__(self) -> int:
        with self._lock:
            self.begun += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        assert self.let_go.wait(60)
        with self._lock:
            self.at_once -= 1
        return threading.get_ident()


async def comes_true(holds: Callable[[], bool]) -> None:
    await asyncio.to_thread(until, holds)


def test_one_caller_leaves_threads_to_the_others() -> None:
    async def main() -> None:
        threads, mine = ServiceThreads(4, per_caller=2), Work()
        many = [asyncio.create_task(threads.run(MINE, mine)) for _ in range(20)]
        await comes_true(lambda: mine.begun == 2)
        assert await threads.run(THEIRS, lambda: "answered") == "answered"
        mine.let_go.set()
        await asyncio.gather(*many)
        assert (mine.begun, mine.most_at_once) == (20, 2)

    asyncio.run(main())


def test_all_callers_together_have_so_many_threads_and_all_are_answered() -> None:
    async def main() -> None:
        threads, work = ServiceThreads(3, per_caller=2), Work()
        many = [asyncio.create_task(threads.run(caller(str(number)), work)) for number in range(30)]
        await comes_true(lambda: work.begun == 3)
        work.let_go.set()
        await asyncio.gather(*many)
        assert (work.begun, work.most_at_once) == (30, 3)

    asyncio.run(main())


def test_work_that_was_given_up_in_the_line_never_begins_and_what_runs_counts_until_its_end() -> None:
    async def main() -> None:
        threads, running, waiting = ServiceThreads(2, per_caller=1), Work(), Work()
        first = asyncio.create_task(threads.run(MINE, running))
        await comes_true(lambda: running.begun == 1)
        first.cancel()
        second = asyncio.create_task(threads.run(MINE, waiting))
        await asyncio.gather(first, return_exceptions=True)
        assert await threads.run(THEIRS, lambda: 1) == 1
        assert waiting.begun == 0, "the thread of the first one is still at work"
        second.cancel()
        running.let_go.set()
        waiting.let_go.set()
        assert await threads.run(MINE, lambda: 2) == 2
        assert waiting.begun == 0

    asyncio.run(main())


def test_what_the_work_raises_reaches_the_caller() -> None:
    async def main() -> str:
        try:
            await ServiceThreads(1, per_caller=1).run(MINE, lambda: 1 // 0)
        except ZeroDivisionError as error:
            return str(error)
        return ""

    assert asyncio.run(main())


STILL_AT_WORK = """
import asyncio, threading
from core.serve import OPERATOR
from core.serve.threads import run_in_service_thread

async def main():
    begun = threading.Event()
    task = asyncio.create_task(run_in_service_thread(OPERATOR, lambda: (begun.set(), threading.Event().wait())))
    await asyncio.to_thread(begun.wait)
    task.cancel()

asyncio.run(main())
"""


def test_a_process_does_not_wait_for_work_that_was_given_up() -> None:
    subprocess.run([sys.executable, "-c", STILL_AT_WORK], cwd=ROOT, check=True, timeout=60)
