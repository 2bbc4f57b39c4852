from __future__ import annotations

import asyncio
import threading
import time

import pytest

from core.base.threads import LoopThread, ThreadPool
from support.waiting import threads_back_to


def test_a_thread_is_used_again_and_ends_when_nothing_comes() -> None:
    before = threading.active_count()
    workers = ThreadPool(linger=1.0)
    ran_in: list[int] = []
    ran = threading.Semaphore(0)

    def job() -> None:
        ran_in.append(threading.get_ident())
        ran.release()

    for _ in range(20):
        assert workers.start(job)
        assert ran.acquire(timeout=10)
        time.sleep(0.01)  # in which the thread becomes idle
    assert len(set(ran_in)) < 10
    assert threads_back_to(before)


def test_every_job_is_done_when_threads_end_at_the_moment_of_a_promise() -> None:
    workers = ThreadPool(limit=8, linger=0.0005)
    done = threading.Semaphore(0)

    def submit(seed: int) -> None:
        for n in range(200):
            assert workers.start(done.release, timeout=10)
            time.sleep(0.0005 * ((n + seed) % 3))

    threads = [threading.Thread(target=submit, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    assert all(done.acquire(timeout=20) for _ in range(1200))
    for thread in threads:
        thread.join()


def test_a_thread_that_has_been_promised_a_job_does_not_end_before_it_comes() -> None:
    workers = ThreadPool(linger=0.01)
    got: list[object] = []
    waiting = threading.Thread(target=lambda: got.append(workers._next_job()))  # nobody is idle: all are promised
    waiting.start()
    time.sleep(0.1)
    workers._jobs.put(print)
    waiting.join(5)
    assert got == [print]


def test_a_promised_job_may_be_taken_by_another_thread() -> None:
    workers = ThreadPool(linger=0.01)
    got: list[object] = []
    waiting = threading.Thread(target=lambda: got.append(workers._next_job()))
    waiting.start()
    time.sleep(0.1)
    workers._idle = 1  # the other thread, which came after and took the job, is counted instead of this one
    waiting.join(5)
    assert got == [None]


def test_the_limit_holds_and_patience_waits_for_a_place() -> None:
    workers = ThreadPool(limit=1)
    release = threading.Event()
    assert workers.start(lambda: release.wait(10))
    assert not workers.start(lambda: None)
    assert not workers.start(lambda: None, timeout=0.05)
    threading.Timer(0.05, release.set).start()
    assert workers.start(lambda: None, timeout=10)


def test_a_system_without_threads_is_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = ThreadPool(limit=1)
    with monkeypatch.context() as patch:
        patch.setattr(
            threading.Thread, "start", lambda _: (_ for _ in ()).throw(RuntimeError("can't start new thread"))
        )
        assert not workers.start(lambda: None)
    done = threading.Event()
    assert workers.start(done.set)
    assert done.wait(5)


# ── The loop ──────────────────────────────────────────────────────────────────────────────────────────────────────────


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
