from __future__ import annotations

import asyncio
import threading
import time

import pytest

from core.base.loop import LoopThread


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "wenyuan-loop"]


def test_runs_coroutines_on_one_thread_and_ends_it() -> None:
    before = len(threads())  # other tests may keep a loop for a whole module
    loop = LoopThread()

    async def where() -> str:
        return threading.current_thread().name

    assert {loop.submit(where()).result(20) for _ in range(3)} == {"wenyuan-loop"}
    assert len(threads()) == before + 1
    loop.stop()
    assert len(threads()) == before


def test_cancelling_the_future_cancels_the_coroutine() -> None:
    loop = LoopThread()
    seen = threading.Event()
    started = threading.Event()

    async def wait() -> None:
        try:
            started.set()
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen.set()
            raise

    future = loop.submit(wait())
    assert started.wait(10)
    future.cancel()
    assert seen.wait(10)
    loop.stop()


def test_stop_cancels_what_is_running_and_the_loop_can_start_again() -> None:
    loop = LoopThread()
    ended = threading.Event()
    started = threading.Event()

    async def wait() -> None:
        try:
            started.set()
            await asyncio.sleep(30)
        finally:
            ended.set()

    loop.submit(wait())
    assert started.wait(10)
    before = time.monotonic()
    loop.stop()
    assert ended.is_set()
    assert time.monotonic() - before < 10

    async def one() -> int:
        return 1

    assert loop.submit(one()).result(20) == 1
    loop.stop()


def test_stop_without_start_is_harmless() -> None:
    LoopThread().stop()


def test_an_exception_reaches_the_caller() -> None:
    loop = LoopThread()

    async def fail() -> None:
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        loop.submit(fail()).result(20)
    loop.stop()
