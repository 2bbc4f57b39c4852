"""Admission of questions: limits on how often a visitor may ask and how many answers are written at once; a queue.

The queue is fair: everybody's first question comes before anybody's second one, so that a visitor with many open tabs
waits behind those with one. The limits of a visitor also apply to an address, which may stand for several visitors.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.base.errors import InputError
from core.base.rate_limits import MinuteCounter, VisitorLimit
from core.base.redis_link import RedisLink
from core.base.settings import LimitsSettings
from core.base.visitors import COMMAND_LINE, Visitor


class TooManyQuestions(InputError):
    kind = "too_many_questions"
    default_message = "提问次数已达到每分钟的上限，这条消息没有发送。"

    def __init__(self, *, retry_after: float) -> None:
        self.retry_after = max(1, round(retry_after))
        super().__init__(cure=f"请在 {self.retry_after} 秒后再发送。")


class QueueTicket:
    """The place of one question: in the queue, then among those that are being answered."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self.limit_keys = (visitor.name, f"@{visitor.address}") if visitor.address else (visitor.name,)
        self.questions_ahead: int | None = None
        """The number of questions before it in the queue; None while it does not wait."""
        self.turn_event = asyncio.Event()


class Admission:
    """The queue of the process. Only `count_question` may be called outside of the process-wide loop."""

    def __init__(self, settings: LimitsSettings, link: RedisLink | None = None) -> None:
        self._max_answers = settings.answers_at_once
        self._max_answers_per_visitor = settings.answers_at_once_per_visitor
        self._visitors_per_address = settings.visitors_per_address
        limit, shared_by = settings.answers_per_minute, settings.visitors_per_address
        self._per_minute = VisitorLimit(MinuteCounter(link), "question", limit, visitors_per_address=shared_by)
        self._queue: list[QueueTicket] = []
        self._running_answers = 0
        self._running_by_key: Counter[str] = Counter()

    @property
    def waiting_questions(self) -> int:
        return len(self._queue)

    def count_question(self, visitor: Visitor) -> None:
        """Count one question, or raise TooManyQuestions. The command line is not limited."""
        seconds = self._per_minute.count_or_wait(visitor) if visitor != COMMAND_LINE else None
        if seconds is not None:
            raise TooManyQuestions(retry_after=seconds)

    @asynccontextmanager
    async def wait_for_turn(self, ticket: QueueTicket) -> AsyncIterator[None]:
        """Wait in the queue until the question's turn comes. Leaving, also while waiting, lets the next ones move up."""
        self._queue.append(ticket)
        try:
            self._move_up()
            await ticket.turn_event.wait()
            yield
        finally:
            self._end_turn(ticket)
            self._move_up()

    def _move_up(self) -> None:
        for place in self._fair_order():
            load = self._load(self._running_by_key, place)
            if self._running_answers < self._max_answers and load < self._max_answers_per_visitor:
                self._start_turn(place)
        for ahead, place in enumerate(self._fair_order()):
            place.questions_ahead = ahead

    def _start_turn(self, ticket: QueueTicket) -> None:
        self._queue.remove(ticket)
        self._running_answers += 1
        self._running_by_key.update(ticket.limit_keys)
        ticket.questions_ahead = None
        ticket.turn_event.set()

    def _end_turn(self, ticket: QueueTicket) -> None:
        if ticket.turn_event.is_set():
            self._running_answers -= 1
            self._running_by_key.subtract(ticket.limit_keys)
            self._running_by_key += Counter()  # drops entries that are zero
        else:
            self._queue.remove(ticket)

    def _fair_order(self) -> list[QueueTicket]:
        taken, loads = self._running_by_key.copy(), {}
        for place in self._queue:
            loads[place] = self._load(taken, place)
            taken.update(place.limit_keys)
        return sorted(self._queue, key=loads.__getitem__)

    def _load(self, running_by_key: Counter[str], ticket: QueueTicket) -> int:
        """Return how many answers the visitor has. An address counts one for `visitors_per_address` answers there."""
        name, *address = ticket.limit_keys
        return max([running_by_key[name], *(running_by_key[each] // self._visitors_per_address for each in address)])
