"""Who is answered now, who waits, and in which order."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from core.base.settings import LimitsSettings
from core.base.visitors import COMMAND_LINE, Visitor
from core.run.admission import Admission, QueueTicket, TooManyQuestions

A, B, C, D = (Visitor(name) for name in "ABCD")


class Room:
    """Questions that come one after the other, each answered until it is told to end."""

    def __init__(self, **settings: int) -> None:
        self.admission = Admission(LimitsSettings(**settings))
        self._tasks: dict[QueueTicket, asyncio.Task[None]] = {}

    async def come(self, visitor: Visitor) -> QueueTicket:
        place = QueueTicket(visitor)
        self._tasks[place] = asyncio.create_task(self._answer(place))
        await self._rest()
        return place

    async def _answer(self, place: QueueTicket) -> None:
        async with self.admission.wait_for_turn(place):
            await asyncio.Event().wait()

    async def leave(self, place: QueueTicket) -> None:
        """The answer is complete, or its reader has gone, also while it waits."""
        self._tasks[place].cancel()
        with suppress(asyncio.CancelledError):
            await self._tasks.pop(place)
        await self._rest()

    @staticmethod
    async def _rest() -> None:
        for _ in range(3):
            await asyncio.sleep(0)


def ahead(*places: QueueTicket) -> list[int | None]:
    return [place.questions_ahead for place in places]


def called(*places: QueueTicket) -> list[bool]:
    return [place.turn_event.is_set() for place in places]


def test_who_finds_every_place_taken_waits_in_order() -> None:
    async def scenario() -> None:
        room = Room(answers_at_once=2)
        a, b, c, d = [await room.come(visitor) for visitor in (A, B, C, D)]
        assert called(a, b, c, d) == [True, True, False, False]
        assert ahead(a, b, c, d) == [None, None, 0, 1]
        await room.leave(b)
        assert called(c, d) == [True, False]
        assert ahead(c, d) == [None, 0]

    asyncio.run(scenario())


def test_who_leaves_the_line_lets_the_others_move_up() -> None:
    async def scenario() -> None:
        room = Room(answers_at_once=1)
        a, b, c, d = [await room.come(visitor) for visitor in (A, B, C, D)]
        await room.leave(c)
        assert ahead(b, d) == [0, 1]
        await room.leave(b)
        assert ahead(d) == [0]
        await room.leave(a)
        assert called(d) == [True]
        await room.leave(d)
        assert called(await room.come(A)) == [True], "nothing is left of those who have gone"

    asyncio.run(scenario())


def test_one_visitor_has_only_so_many_answers_at_once() -> None:
    async def scenario() -> None:
        room = Room(answers_at_once_per_visitor=3)
        tabs = [await room.come(A) for _ in range(60)]
        assert called(*tabs) == [True] * 3 + [False] * 57
        assert called(await room.come(B)) == [True], "there is room for others"
        await room.leave(tabs[1])
        assert called(*tabs[3:5]) == [True, False], "the oldest of them is next"

    asyncio.run(scenario())


def test_everybodys_first_question_comes_before_anybodys_second() -> None:
    async def scenario() -> None:
        room = Room(answers_at_once=2, answers_at_once_per_visitor=2)
        busy = [await room.come(D), await room.come(D)]
        many = [await room.come(A) for _ in range(50)]
        b, c = await room.come(B), await room.come(C)
        assert ahead(many[0], b, c, many[1], many[49]) == [0, 1, 2, 3, 51]
        await room.leave(busy[0])
        await room.leave(busy[1])
        assert called(many[0], b, many[1]) == [True, True, False]
        await room.leave(b)
        assert called(c, many[1]) == [True, False]

    asyncio.run(scenario())


def test_an_address_has_as_many_places_as_so_many_visitors() -> None:
    async def scenario() -> None:
        room = Room(answers_at_once_per_visitor=2, visitors_per_address=3)
        office = [await room.come(Visitor(f"browser {n}", "203.0.113.7")) for n in range(8)]
        assert called(*office) == [True] * 6 + [False] * 2
        assert called(await room.come(Visitor("another", "203.0.113.8"))) == [True]
        assert called(await room.come(Visitor("https://id.example 1"))) == [True], "an account has no address"

    asyncio.run(scenario())


def test_a_question_too_many_is_refused_with_the_time_to_wait() -> None:
    admission = Admission(LimitsSettings(answers_per_minute=2, visitors_per_address=2))
    for n in range(2):
        admission.count_question(Visitor("A", "203.0.113.7"))
        admission.count_question(Visitor(f"without a cookie {n}", "203.0.113.7"))
    with pytest.raises(TooManyQuestions, match=r"没有发送。请在 (60|59) 秒后再发送。"):
        admission.count_question(Visitor("A", "203.0.113.7"))
    with pytest.raises(TooManyQuestions):
        admission.count_question(Visitor("without a cookie 3", "203.0.113.7"))
    admission.count_question(Visitor("B", "203.0.113.8"))
    for _ in range(5):
        admission.count_question(COMMAND_LINE)
