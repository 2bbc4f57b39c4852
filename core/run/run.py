"""A run: one question being answered in the background, and its events so far.

The producer is an asynchronous generator on the process-wide loop. Readers on other threads follow it. Several may
follow at once: every rerun of a Streamlit page is a new thread that starts before the old one has stopped. A run
without followers is cancelled after a moment: its tab was closed. A rerun caused by another widget announces its
reader, so that the run goes on. A complete answer may be reviewed after the end of its run: nobody waits for that.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import aclosing, contextmanager, suppress
from typing import Literal

from core.answer.events import Answer, Checked, RunEvent, RunFailed, RunStopped, TextDelta, Thought
from core.answer.message import Message, Mode, message_from_run
from core.base.errors import AppError
from core.base.logs import add_log_ids
from core.base.threads import LoopThread
from core.reading import Page
from core.run.admission import QueueTicket
from core.run.approvals import Approvals
from core.run.run_sources import RunSources

log = logging.getLogger(__name__)

OnRunEnd = Callable[["Run"], None]
"""A callback for every run that has ended, called once, in any thread. It must neither raise nor wait."""

Review = Callable[[Sequence[RunEvent]], Awaitable[Checked | None]]
"""Makes the event that follows a complete run; None if nothing follows. It must not raise."""

GRACE_SECONDS = 0.3
"""Seconds without a follower until a run is cancelled. Between two reruns there is none for some milliseconds."""
RERUN_SECONDS = 10.0
"""Seconds that an announced rerun may take until it follows. On a busy machine it is slow."""


class Run:
    def __init__(
        self,
        loop: LoopThread,
        produce: Callable[[], AsyncGenerator[RunEvent]],
        *,
        mode: Mode = "chat",
        model: str = "",
        grace: float = GRACE_SECONDS,
        on_end: OnRunEnd = lambda run: None,
        ticket: QueueTicket | None = None,
        run_sources: RunSources | None = None,
        approvals: Approvals | None = None,
        review: Review | None = None,
    ) -> None:
        """`model`: the name of the model that answers, as readers know it."""
        self._run_sources = run_sources or RunSources()
        self._approvals = approvals or Approvals()
        self.mode = mode
        self.model = model
        self.id = secrets.token_urlsafe(8)
        self.started_at = time.monotonic()
        self.seconds = 0.0
        self._loop = loop
        self._grace = grace
        self._on_end = on_end
        self._ticket = ticket
        self._condition = threading.Condition()
        self._wakers: list[Callable[[], None]] = []
        self._events: list[RunEvent] = []
        self._last_event = 0.0
        self._done = False
        self.end_future: Future[None] = Future()
        """A future that is set when the run ends, for callers that would otherwise poll `done`."""
        self.review_future: Future[Checked | None] = Future()
        """A future with the event that follows the end of the run; None if nothing follows."""
        self._review = review
        self._is_reviewed = False
        """True once the last event is the one that follows the end."""
        self._followers = 0
        self._future = loop.submit(self._collect_events(produce))

    @property
    def done(self) -> bool:
        return self._done

    @property
    def elapsed(self) -> float:
        return self.seconds if self._done else time.monotonic() - self.started_at

    @property
    def questions_ahead(self) -> int | None:
        """The number of questions that are answered before this one; None once it is its turn."""
        return self._ticket.questions_ahead if self._ticket and not self._done else None

    @property
    def token_id(self) -> str:
        """The token of the program that asks; empty for people."""
        return self._ticket.visitor.token_id if self._ticket else ""

    @property
    def events(self) -> tuple[RunEvent, ...]:
        with self._condition:
            return tuple(self._events)

    @property
    def pages(self) -> Mapping[int, Page]:
        """The pages that were read for the answer, by the number of the source."""
        return self._run_sources.pages

    @property
    def event_count(self) -> int:
        """The number of events so far."""
        return len(self._events)

    def message(self) -> Message:
        """Return the answer so far as a message; the whole answer once the run is over."""
        growing = not self._done
        return message_from_run(
            self.events, seconds=self.elapsed, id=self.id, model=self.model, mode=self.mode, is_growing=growing
        )

    def cancel(self, reason: Literal["user", "time"] = "user") -> None:
        """Stop the producer and keep its events. Does nothing on a finished run."""
        if not self._done:
            self._finish(None if self._has_answer else RunStopped(reason))
            self.cancel_review()

    def cancel_review(self) -> None:
        """Stop the review that follows the end of a run."""
        self._future.cancel()
        self._end_review(None)

    @property
    def _has_answer(self) -> bool:
        """True once the answer is complete and only later events can follow."""
        return any(isinstance(event, Answer) for event in self.events)

    def decide(self, call_id: str, *, is_allowed: bool) -> bool:
        """Answer whether a tool may be used that the run has asked about. Return whether it still waits for that."""
        return self._approvals.decide(call_id, is_allowed=is_allowed)

    def follow(self, *, tick: float = 0.25) -> Generator[list[RunEvent]]:
        """Yield the events from the first one on, in batches, until the run is over. An empty batch means: still
        waiting. It lets a page notice that it was interrupted while the model is silent."""
        with self._following():
            seen = 0
            while True:
                with self._condition:
                    if seen == len(self._events) and not self._done:
                        self._condition.wait(tick)
                    batch, done = self._events_since(seen), self._done
                seen += len(batch)
                yield batch
                if done:
                    return

    def _events_since(self, seen: int) -> list[RunEvent]:
        """Return the events after the first `seen`, without the one that follows the end."""
        return self._events[seen : len(self._events) - self._is_reviewed]

    def iter_events(self) -> Generator[RunEvent]:
        """Yield the events one by one, with what follows the end, for the command line and for tests. Closing the generator
        ends the following."""
        for batch in self.follow():
            yield from batch
        if (later := self.review_future.result()) is not None:
            yield later

    async def follow_async(self) -> AsyncGenerator[list[RunEvent]]:
        """Yield the events from the first one on, in batches, to a coroutine on any event loop. No thread waits."""
        loop, news = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop has been closed
                loop.call_soon_threadsafe(news.set)

        with self._following(), self._woken(wake):
            seen = 0
            while True:
                news.clear()
                with self._condition:
                    batch, done = self._events_since(seen), self._done
                seen += len(batch)
                if batch:
                    yield batch
                if done:
                    return
                await news.wait()

    @contextmanager
    def _woken(self, wake: Callable[[], None]) -> Iterator[None]:
        """Call the function at each event and at the end."""
        with self._condition:
            self._wakers.append(wake)
        try:
            yield
        finally:
            with self._condition:
                self._wakers.remove(wake)

    def _announce_news(self) -> None:
        self._condition.notify_all()
        for wake in self._wakers:
            wake()

    def expect_reader(self, seconds: float = RERUN_SECONDS) -> None:
        """Announce a reader who is about to follow. Until then the run is not cancelled."""
        self._add_follower()
        self._loop.call_later(seconds, self._remove_follower)

    @contextmanager
    def _following(self) -> Iterator[None]:
        self._add_follower()
        try:
            yield
        finally:
            self._remove_follower()

    def _add_follower(self) -> None:
        with self._condition:
            self._followers += 1

    def _remove_follower(self) -> None:
        with self._condition:
            self._followers -= 1
            abandoned = self._followers == 0 and not self._done
        if abandoned:
            self._loop.call_later(self._grace, self._cancel_if_abandoned)

    def _cancel_if_abandoned(self) -> None:
        if self._followers == 0:
            self.cancel()

    async def _collect_events(self, produce: Callable[[], AsyncGenerator[RunEvent]]) -> None:
        add_log_ids(question=self.id)
        later: Checked | None = None
        try:
            await self._collect_answer(produce)
            if self._review is not None and self._has_answer:
                later = await self._review(self.events)
        finally:
            self._end_review(later)

    def _end_review(self, later: Checked | None) -> None:
        with self._condition:
            if self.review_future.done():
                return
            if later is not None:
                self._events.append(later)
                self._is_reviewed = True
            self.review_future.set_result(later)

    async def _collect_answer(self, produce: Callable[[], AsyncGenerator[RunEvent]]) -> None:
        try:
            async with aclosing(produce()) as events:
                async for event in events:
                    with self._condition:
                        if self._done:
                            return
                        self._set_thought_seconds()
                        self._events.append(event)
                        self._announce_news()
            self._finish()
        except AppError as error:
            self._finish(RunFailed(kind=error.kind, message=str(error)))
        except Exception:
            log.exception("a run ended with a bug")
            written = any(isinstance(event, TextDelta) for event in self._events)
            cure = f"{'已写出的内容已保留，' if written else ''}请重试。"
            self._finish(RunFailed(kind="internal", message=str(AppError(cure=cure))))

    def _set_thought_seconds(self) -> None:
        """Set the length of the last thought: it ends with the next event."""
        now, before = time.monotonic(), self._last_event
        self._last_event = now
        if self._events and isinstance(thought := self._events[-1], Thought):
            self._events[-1] = Thought(thought.text, now - before)

    def _finish(self, last: RunEvent | None = None) -> None:
        with self._condition:
            if self._done:
                return
            self._set_thought_seconds()
            if last is not None:
                self._events.append(last)
            self._done = True
            self.seconds = time.monotonic() - self.started_at
            self._announce_news()
        self.end_future.set_result(None)
        self._on_end(self)
