from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from langchain_core.agents import AgentAction

from core.agent.errors import LoopDetected
from core.agent.guard import LoopGuard, acting_deadline, cancel_task, run_within
from core.base.http import Deadline


def steps_until_stopped(turns: list[list[Any]]) -> int | None:
    """The turn (from 1) at which the guard says stop."""
    guard = LoopGuard()
    for number, turn in enumerate(turns, 1):
        try:
            guard.check([AgentAction(tool, given, "") for tool, given in turn])
        except LoopDetected:
            return number
    return None


def searches(*queries: Any) -> list[list[Any]]:
    return [[("web_search", query)] for query in queries]


def looked_up(*given: Any) -> list[list[Any]]:
    return [[("regulation_search", one)] for one in given]


CIVIL_PROCEDURE = "中华人民共和国民事诉讼法"


@pytest.mark.parametrize(
    ("turns", "stopped"),
    [
        (searches("a b", "a b", "a b"), 3),
        (searches("北京 天气", "天气，北京！", "北京的天气"), 3),
        (searches("北京 天气", {"query": "北京 天气"}, {"query": "北京 天气", "search_type": None}), 3),
        (searches("甲公司", "乙公司", "甲公司", "乙公司"), 4),
        (searches("Who is the CEO of NVIDIA?", "who is ceo of nvidia", "CEO NVIDIA"), 3),
        (searches("甲公司", "甲公司", "乙公司"), None),
        (searches("2022年 GDP", "2023年 GDP", "2024年 GDP", "2025年 GDP"), None),
        (searches("北京 天气", "上海 天气", "广州 天气", "深圳 天气"), None),
        (searches("劳动合同法第三十八条", "劳动合同法第三十九条", "劳动合同法第四十条"), None),
        (looked_up(*({"law_name": CIVIL_PROCEDURE, "article": f"第一百二十{n}条"} for n in "二三四")), None),
        (looked_up(*({"query": f"{CIVIL_PROCEDURE}第{n}条 送达期间 公告送达"} for n in (92, 95, 96))), None),
        (looked_up(f"{CIVIL_PROCEDURE}第92条", f"{CIVIL_PROCEDURE} 第九十二条", f"《{CIVIL_PROCEDURE}》92条"), 3),
        (searches(*(f"{year}年中国新能源汽车产业出口数据统计" for year in (2022, 2023, 2024))), None),
        (searches("{", "{", "{"), 3),
        ([[("web_search", "a b")], [("case_search", "a b")], [("regulation_search", "a b")]], None),
        ([[("web_search", "北京"), ("web_search", "北京"), ("web_search", "北京")], [("web_search", "上海")]], None),
    ],
)
def test_circles_are_recognised_and_progress_is_not(turns: list[list[Any]], stopped: int | None) -> None:
    assert steps_until_stopped(turns) == stopped


@pytest.mark.parametrize(("seconds", "reserve"), [(10, 2.5), (60, 15), (300, 30)])
def test_time_is_kept_for_the_last_answer(seconds: float, reserve: float) -> None:
    whole = Deadline(seconds, clock=lambda: 100.0)
    assert whole.remaining() - acting_deadline(whole).remaining() == reserve


async def stubborn(times: int) -> str:
    """Forgets so many cancellations, as `asyncio.wait_for` of Python 3.11 sometimes does."""
    while True:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            if not times:
                raise
            times -= 1


@pytest.mark.parametrize("times", [0, 1, 2])
def test_work_ends_at_its_deadline_even_if_it_forgets_that_it_was_cancelled(times: int) -> None:
    async def run() -> None:
        end = Deadline(0.2)
        with pytest.raises(TimeoutError):
            await run_within(stubborn(times), lambda: end)
        assert len(asyncio.all_tasks()) == 1

    started = time.monotonic()
    asyncio.run(run())
    assert 0.2 <= time.monotonic() - started < 10


def test_a_deadline_may_move_while_the_work_goes_on() -> None:
    async def run() -> str:
        first, second = Deadline(0.5), Deadline(30)
        begun = asyncio.Event()

        async def work() -> str:
            begun.set()
            await asyncio.sleep(0.7)
            return "done"

        return await run_within(work(), lambda: second if begun.is_set() else first)

    assert asyncio.run(run()) == "done"


def test_an_error_of_the_work_is_its_own() -> None:
    async def broken() -> None:
        raise KeyError("x")

    async def run() -> None:
        with pytest.raises(KeyError):
            await run_within(broken(), lambda: Deadline(1))

    asyncio.run(run())


def test_cancelling_the_one_who_waits_cancels_the_work() -> None:
    async def run() -> None:
        waiting = asyncio.create_task(run_within(stubborn(1), lambda: Deadline(9)))
        await asyncio.sleep(0.05)
        await cancel_task(waiting)
        assert waiting.cancelled()
        await asyncio.sleep(0.2)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())
