from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing

import pytest

from core.answer.check_results import AnswerCheck
from core.answer.events import Answer, Checked, RunEvent, RunFailed, RunStopped, TextDelta
from core.base.threads import LoopThread
from core.llm.errors import ModelTimeout
from core.run.run import Run
from support.waiting import until


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.stop()


async def three() -> AsyncGenerator[RunEvent]:
    for text in "abc":
        yield TextDelta(text)


REVIEW = Checked(AnswerCheck((), (), 1))


class Endless:
    """Says something, then nothing, until it is cancelled."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()

    async def __call__(self) -> AsyncGenerator[RunEvent]:
        try:
            yield TextDelta("said")
            await asyncio.sleep(60)
        finally:
            self.cancelled.set()


def test_a_follower_gets_every_event_also_when_it_comes_late(loop: LoopThread) -> None:
    run = Run(loop, three)
    assert [event for batch in run.follow() for event in batch] == [TextDelta("a"), TextDelta("b"), TextDelta("c")]
    assert [event for batch in run.follow() for event in batch] == list(run.events)
    assert run.done


def test_a_review_that_ends_before_its_follower_looks_comes_once(loop: LoopThread) -> None:
    """On a busy machine a follower wakes late."""

    async def answer() -> AsyncGenerator[RunEvent]:
        yield Answer("a")

    async def review(_: Sequence[RunEvent]) -> Checked:
        return REVIEW

    run = Run(loop, answer, review=review)
    assert run.review_future.result(30) is REVIEW
    assert list(run.iter_events()) == [Answer("a"), REVIEW]

    async def follow() -> list[RunEvent]:
        return [event async for batch in run.follow_async() for event in batch]

    assert asyncio.run(follow()) == [Answer("a")], "who follows asks for the review apart"


def test_while_the_producer_is_silent_the_follower_still_gets_the_chance_to_stop(loop: LoopThread) -> None:
    run = Run(loop, Endless())
    batches = run.follow(tick=0.01)
    seen = [next(batches) for _ in range(10)]
    assert [] in seen
    run.cancel()


def test_cancel_keeps_what_was_said_and_ends_the_producer(loop: LoopThread) -> None:
    endless = Endless()
    run = Run(loop, endless)
    until(lambda: bool(run.events))
    run.cancel()
    run.cancel()
    assert run.events == (TextDelta("said"), RunStopped("user"))
    assert endless.cancelled.wait(10)


def test_a_run_that_nobody_follows_is_cancelled(loop: LoopThread) -> None:
    endless = Endless()
    run = Run(loop, endless, grace=0.05)
    follower = run.follow(tick=0.01)
    next(follower)
    follower.close()
    assert endless.cancelled.wait(10)
    assert run.done


def test_a_rerun_that_follows_in_time_keeps_the_run_alive(loop: LoopThread) -> None:
    endless = Endless()
    run = Run(loop, endless, grace=0.2)
    old, new = run.follow(tick=0.01), run.follow(tick=0.01)
    next(old)
    next(new)
    old.close()
    time.sleep(0.4)
    assert not endless.cancelled.is_set()
    new.close()
    assert endless.cancelled.wait(10)


def test_a_reader_who_is_expected_may_take_longer(loop: LoopThread) -> None:
    endless = Endless()
    run = Run(loop, endless, grace=0.01)
    batches = run.follow(tick=0.01)
    next(batches)
    run.expect_reader(2.0)
    batches.close()
    assert not endless.cancelled.wait(0.3)
    again = run.follow(tick=0.01)
    next(again)
    assert not endless.cancelled.wait(2.0), "the reader has come"
    again.close()
    assert endless.cancelled.wait(10)


def test_a_reader_who_is_expected_in_vain_is_not_waited_for_for_ever(loop: LoopThread) -> None:
    endless = Endless()
    run = Run(loop, endless, grace=0.01)
    run.expect_reader(0.05)
    assert endless.cancelled.wait(10)


def test_a_foreseen_error_becomes_an_event(loop: LoopThread) -> None:
    async def fails() -> AsyncGenerator[RunEvent]:
        yield TextDelta("half")
        raise ModelTimeout

    events = list(Run(loop, fails, grace=0.0).iter_events())
    assert events[0] == TextDelta("half")
    assert isinstance(events[1], RunFailed)
    assert events[1].kind == "model_timeout"


def test_a_bug_becomes_a_sentence_without_its_text(loop: LoopThread, caplog: pytest.LogCaptureFixture) -> None:
    async def buggy() -> AsyncGenerator[RunEvent]:
        yield TextDelta("half")
        raise KeyError("secret detail")

    failed = list(Run(loop, buggy, grace=0.0).iter_events())[-1]
    assert isinstance(failed, RunFailed)
    assert failed.kind == "internal"
    assert "secret" not in failed.message
    assert "secret detail" in caplog.text


def test_closing_the_generator_cancels(loop: LoopThread) -> None:
    endless = Endless()
    events = Run(loop, endless, grace=0.0).iter_events()
    assert next(events) == TextDelta("said")
    events.close()
    assert endless.cancelled.wait(10)


def test_a_coroutine_on_another_loop_follows_without_a_thread_and_hears_at_once(loop: LoopThread) -> None:
    async def follow() -> list[RunEvent]:
        return [event async for batch in Run(loop, three).follow_async() for event in batch]

    assert asyncio.run(follow()) == [TextDelta("a"), TextDelta("b"), TextDelta("c")]


def test_a_run_that_only_a_coroutine_follows_ends_when_it_leaves(loop: LoopThread) -> None:
    endless = Endless()

    async def leave_early() -> Run:
        run = Run(loop, endless, grace=0.0)
        async with aclosing(run.follow_async()) as batches:
            assert await anext(batches) == [TextDelta("said")]
        return run

    run = asyncio.run(leave_early())
    assert endless.cancelled.wait(10)
    assert run.events[-1] == RunStopped("user")


def test_a_coroutine_whose_loop_is_gone_is_no_trouble_for_the_run(loop: LoopThread) -> None:
    go_on = threading.Event()

    async def waiting() -> AsyncGenerator[RunEvent]:
        yield TextDelta("first")
        await asyncio.to_thread(go_on.wait)
        yield TextDelta("second")

    run = Run(loop, waiting, grace=60.0)
    follower = run.follow_async()
    gone = asyncio.new_event_loop()
    assert gone.run_until_complete(anext(follower)) == [TextDelta("first")]
    gone.close()
    go_on.set()
    until(lambda: run.done)
    assert run.events == (TextDelta("first"), TextDelta("second"))
