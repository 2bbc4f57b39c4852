"""A run: one question being answered in the background, and its events so far.

The producer is an asynchronous generator on the process-wide loop. Readers on other threads follow it. Several may
follow at once: every rerun of a Streamlit page is a new thread that starts before the old one has stopped. A run
without followers is cancelled after a moment: its tab was closed. A rerun caused by another widget announces its
reader, so that the run goes on.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from concurrent.futures import Future
from contextlib import aclosing, contextmanager

from core.answer.events import Answer, RunEvent, RunFailed, RunStopped, TextDelta, Thought
from core.answer.message import Message, Mode, message_from_run
from core.base.errors import AppError
from core.base.threads import LoopThread
from core.reading import Page
from core.run.admission import Place
from core.run.evidence import Evidence

log = logging.getLogger(__name__)

OnAnswer = Callable[["Run"], None]
"""A callback for every run that has ended, called once, in any thread. It must neither raise nor wait."""

GRACE_SECONDS = 0.3
"""Seconds without a follower until a run is cancelled. Between two reruns there is none for some milliseconds."""
RERUN_SECONDS = 10.0
"""Seconds that an announced rerun may take until it follows. On a busy machine it is slow."""


class Run:
    def __init__(
        self,
        loop: LoopThread,
        produce: Callable[[], AsyncIterator[RunEvent]],
        *,
        mode: Mode = "chat",
        model: str = "",
        grace: float = GRACE_SECONDS,
        on_end: OnAnswer = lambda run: None,
        place: Place | None = None,
        evidence: Evidence | None = None,
    ) -> None:
        """`model`: the name of the model that answers, as readers know it."""
        self._evidence = evidence or Evidence()
        self.mode = mode
        self.model = model
        self.id = secrets.token_urlsafe(8)
        self.started = time.monotonic()
        self.seconds = 0.0
        self._loop = loop
        self._grace = grace
        self._on_end = on_end
        self._place = place
        self._changed = threading.Condition()
        self._events: list[RunEvent] = []
        self._last_event = 0.0
        self._done = False
        self.ended: Future[None] = Future()
        """A future that is set when the run ends, for callers that would otherwise poll `done`."""
        self._followers = 0
        self._future = loop.submit(self._drain(produce))

    @property
    def done(self) -> bool:
        return self._done

    @property
    def elapsed(self) -> float:
        return self.seconds if self._done else time.monotonic() - self.started

    @property
    def ahead(self) -> int | None:
        """The number of questions that are answered before this one; None once it is its turn."""
        return self._place.ahead if self._place and not self._done else None

    @property
    def events(self) -> tuple[RunEvent, ...]:
        with self._changed:
            return tuple(self._events)

    @property
    def pages(self) -> Mapping[int, Page]:
        """The pages that were read for the answer, by the number of the source."""
        return self._evidence.pages

    @property
    def told(self) -> int:
        """The number of events so far."""
        return len(self._events)

    def message(self) -> Message:
        """Return the answer so far as a message; the whole answer once the run is over."""
        growing = not self._done
        return message_from_run(
            self.events, seconds=self.elapsed, id=self.id, model=self.model, mode=self.mode, growing=growing
        )

    def cancel(self) -> None:
        """Stop the producer and keep its events. Does nothing on a finished run."""
        if not self._done:
            self._finish(None if self._answered else RunStopped(reason="user"))
            self._future.cancel()

    @property
    def _answered(self) -> bool:
        """True once the answer is complete and only later events can follow."""
        return any(isinstance(event, Answer) for event in self.events)

    def follow(self, *, tick: float = 0.25) -> Generator[list[RunEvent]]:
        """Yield the events from the first one on, in batches, until the run is over. An empty batch means: still
        waiting. It lets a page notice that it was interrupted while the model is silent."""
        with self._followed():
            seen = 0
            while True:
                with self._changed:
                    if seen == len(self._events) and not self._done:
                        self._changed.wait(tick)
                    batch, done = self._events[seen:], self._done
                seen += len(batch)
                yield batch
                if done:
                    return

    def drained(self) -> Generator[RunEvent]:
        """Yield the events one by one, for the command line and for tests. Closing the generator ends the following."""
        for batch in self.follow():
            yield from batch

    def expect_reader(self, seconds: float = RERUN_SECONDS) -> None:
        """Announce a reader who is about to follow. Until then the run is not cancelled."""
        self._come()
        self._loop.call_later(seconds, self._leave)

    @contextmanager
    def _followed(self) -> Iterator[None]:
        self._come()
        try:
            yield
        finally:
            self._leave()

    def _come(self) -> None:
        with self._changed:
            self._followers += 1

    def _leave(self) -> None:
        with self._changed:
            self._followers -= 1
            abandoned = self._followers == 0 and not self._done
        if abandoned:
            self._loop.call_later(self._grace, self._cancel_if_abandoned)

    def _cancel_if_abandoned(self) -> None:
        if self._followers == 0:
            self.cancel()

    async def _drain(self, produce: Callable[[], AsyncIterator[RunEvent]]) -> None:
        try:
            async with aclosing(produce()) as events:  # type: ignore[type-var]
                async for event in events:
                    with self._changed:
                        if self._done:
                            return
                        self._time_thought()
                        self._events.append(event)
                        self._changed.notify_all()
            self._finish()
        except AppError as error:
            self._finish(RunFailed(kind=error.kind, message=str(error)))
        except Exception:
            log.exception("a run ended with a bug")
            written = any(isinstance(event, TextDelta) for event in self._events)
            cure = f"{'已写出的内容已保留，' if written else ''}请重试。"
            self._finish(RunFailed(kind="internal", message=str(AppError(cure=cure))))

    def _time_thought(self) -> None:
        """Set the length of the last thought: it ends with the next event."""
        now, before = time.monotonic(), self._last_event
        self._last_event = now
        if self._events and isinstance(thought := self._events[-1], Thought):
            self._events[-1] = Thought(thought.text, now - before)

    def _finish(self, last: RunEvent | None = None) -> None:
        with self._changed:
            if self._done:
                return
            self._time_thought()
            if last is not None:
                self._events.append(last)
            self._done = True
            self.seconds = time.monotonic() - self.started
            self._changed.notify_all()
        self.ended.set_result(None)
        self._on_end(self)
