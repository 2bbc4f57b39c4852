"""Admission of questions: how often a visitor may ask, and how many answers are written at once. The others wait in a
queue.

The queue is fair: everybody's first question comes before anybody's second one, so that a visitor with many open tabs
waits behind those with one. The limits of a visitor also apply to an address, which may stand for several visitors.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.base.errors import InputError
from core.base.limits import MinuteCounter, VisitorLimit
from core.base.redis import RedisLink
from core.base.settings import LimitsSettings
from core.base.visitors import COMMAND_LINE, Visitor


class TooManyQuestions(InputError):
    kind = "too_many_questions"
    happened = "提问次数已达到每分钟的上限，这条消息没有发送。"

    def __init__(self, *, retry_after: float) -> None:
        super().__init__(cure=f"请在 {max(1, round(retry_after))} 秒后再发送。")


class Place:
    """The place of one question: in the queue, then among those that are being answered."""

    def __init__(self, visitor: Visitor) -> None:
        self.takes = (visitor.name, f"@{visitor.address}") if visitor.address else (visitor.name,)
        self.ahead: int | None = None
        """The number of questions before it in the queue; None while it does not wait."""
        self.called = asyncio.Event()


class Admission:
    """The queue of the process. It belongs to the process-wide loop; only `count_question` may be called from any
    thread."""

    def __init__(self, settings: LimitsSettings, link: RedisLink | None = None) -> None:
        self._at_once = settings.answers_at_once
        self._at_once_each = settings.answers_at_once_per_visitor
        self._visitors_per_address = settings.visitors_per_address
        self._per_minute = VisitorLimit(
            MinuteCounter(link),
            "question",
            settings.answers_per_minute,
            visitors_per_address=settings.visitors_per_address,
        )
        self._line: list[Place] = []
        self._answered = 0
        self._taken: Counter[str] = Counter()

    def count(self, visitor: Visitor) -> None:
        """Count one question, or raise TooManyQuestions. The command line is not limited."""
        seconds = self._per_minute.wait(visitor) if visitor != COMMAND_LINE else None
        if seconds is not None:
            raise TooManyQuestions(retry_after=seconds)

    @asynccontextmanager
    async def turn(self, place: Place) -> AsyncIterator[None]:
        """Wait in the queue until the question's turn comes. Leaving, also while waiting, lets the next ones move up."""
        self._line.append(place)
        try:
            self._move_up()
            await place.called.wait()
            yield
        finally:
            self._leave(place)
            self._move_up()

    def _move_up(self) -> None:
        for place in self._in_order():
            if self._answered < self._at_once and self._load(self._taken, place) < self._at_once_each:
                self._call(place)
        for ahead, place in enumerate(self._in_order()):
            place.ahead = ahead

    def _call(self, place: Place) -> None:
        self._line.remove(place)
        self._answered += 1
        self._taken.update(place.takes)
        place.ahead = None
        place.called.set()

    def _leave(self, place: Place) -> None:
        if place.called.is_set():
            self._answered -= 1
            self._taken.subtract(place.takes)
            self._taken += Counter()  # drops entries that are zero
        else:
            self._line.remove(place)

    def _in_order(self) -> list[Place]:
        taken, loads = self._taken.copy(), {}
        for place in self._line:
            loads[place] = self._load(taken, place)
            taken.update(place.takes)
        return sorted(self._line, key=loads.__getitem__)

    def _load(self, taken: Counter[str], place: Place) -> int:
        """Return how many answers the visitor has. An address counts one for every `visitors_per_address` answers
        there."""
        name, *address = place.takes
        return max([taken[name], *(taken[each] // self._visitors_per_address for each in address)])
