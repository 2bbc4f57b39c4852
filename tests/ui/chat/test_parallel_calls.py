"""Tool calls that run at the same time: each step keeps what its own call found, live, stored and in old conversations."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

from core.answer.events import PageRead, ReadingStarted, RunEvent, SearchFinished, SearchStarted, ToolStarted
from core.answer.message import Message, message_from_run
from core.answer.stored_message import decode_message, encode_message
from core.search.types import SearchQuery, SearchResult
from core.ui.chat.step_lines import lines_of
from support.agents import of, wired_agent
from support.fake_engines import FakeEngine
from support.openai_server import Call, in_turn
from support.pages import drawn_after, step, steps
from support.reading import kept_workers
from support.web import Web, web
from support.web_pages import NEWS

__all__ = ["kept_workers", "web"]

TOMORROW, TODAY = "北京 天气 明天", "北京 天气"
READING = {"READING_PAGES": "3", "READING_TIMEOUT": "20"}


class Overtaken(FakeEngine):
    """Answers `TODAY` with two results at once, and `TOMORROW` with three results some time after that."""

    def __init__(self) -> None:
        super().__init__("fake")
        self.overtaken = threading.Event()

    def search(self, query: SearchQuery, num_results: int, *, deadline: Any = None) -> Sequence[SearchResult]:
        if query.text == TOMORROW:
            self.overtaken.wait(30)
            threading.Event().wait(0.3)
        self.overtaken.set()
        day, count = ("明天", 3) if query.text == TOMORROW else ("今天", 2)
        host = {"明天": "tomorrow.example", "今天": "today.example"}[day]
        return [SearchResult(f"{day}{n}", f"https://{host}/{n}", f"{day}的天气", host) for n in range(1, count + 1)]


def call(tool: str, **arguments: Any) -> Call:
    return Call(tool, json.dumps(arguments, ensure_ascii=False))


def searched_at_once() -> list[RunEvent]:
    environ = {"SEARCH_TIMEOUT": "50", "SEARCH_HEDGE_AFTER": "40"}
    with wired_agent(engines=[Overtaken()], environ=environ, strategy="tools") as world:
        calls = [call("web_search", query=TOMORROW), call("web_search", query=TODAY)]
        world.server.reply = in_turn(calls, ["好[1]。"])
        return world.ask("北京今天和明天的天气")


def read_at_once(web: Web) -> list[RunEvent]:
    found = [SearchResult(f"标题{n}", web.page(f"site{n}.example/", NEWS.encode()), "摘要", "") for n in (1, 2)]
    with wired_agent(engines=[FakeEngine("fake", found)], environ=READING, strategy="tools") as world:
        web.beside.add(world.server.server_port)
        calls = [call("read_page", sources="2", focus="1 月的费用"), call("read_page", sources="1")]
        world.server.reply = in_turn([call("web_search", query="水表")], calls, ["好[1]。"])
        return world.ask("水表的费用")


def stored(events: Sequence[RunEvent]) -> Message:
    message = message_from_run(events, seconds=1, mode="agent")
    return decode_message(
        encode_message(message), id=message.id, role="assistant", text=message.text, created=message.created
    )


def from_before(events: Sequence[RunEvent]) -> Message:
    """As it is read from a document that was written before searches and pages told whose they were."""
    document = json.loads(encode_message(message_from_run(events, seconds=1, mode="agent")))
    document["version"] = 1
    for entry in document["events"]:
        if not entry["type"].startswith("tool"):
            entry.pop("call_id", None)
    return decode_message(json.dumps(document), id="a", role="assistant", text="好[1]。", created=0)


def test_each_search_keeps_its_own_results() -> None:
    events = searched_at_once()
    assert [event.response.query.text for event in of(events, SearchFinished)] == [TODAY, TOMORROW]
    for shown in (events, stored(events).events):
        page = drawn_after(shown, over=True)
        assert [line.rpartition(" · ")[0] for line in steps(page)] == [
            f"搜索「{TOMORROW}」 · fake · 3 条",
            f"搜索「{TODAY}」 · fake · 2 条",
        ]
        assert "tomorrow.example/3" in step(page, 0)
        assert "today.example/2" in step(page, 1)
        assert "tomorrow" not in step(page, 1)


def test_each_reading_is_drawn_under_its_own_call(web: Web) -> None:
    events = read_at_once(web)
    for shown in (events, stored(events).events):
        page = drawn_after(shown, over=True)
        assert "[2] site2.example" in step(page, 1)
        assert "[1] site1.example" in step(page, 2)
        assert "site1.example" not in step(page, 1)


def test_what_was_found_and_read_names_the_call_that_asked(web: Web) -> None:
    for events in (searched_at_once(), read_at_once(web)):
        calls = {event.call_id for event in of(events, ToolStarted)}
        for kind in (SearchStarted, SearchFinished, ReadingStarted, PageRead):
            assert {event.call_id for event in of(events, kind)} <= calls
        told_to_programs = [event.to_json() for event in events if getattr(event, "call_id", "")]
        assert {entry["callId"] for entry in told_to_programs} == calls


def test_a_result_that_comes_after_its_call_was_closed_is_drawn_there() -> None:
    events = searched_at_once()
    late = of(events, SearchFinished)[-1]
    page = drawn_after([*(event for event in events if event is not late), late], over=True)
    assert len(steps(page)) == 2
    assert "tomorrow.example/3" in step(page, 0)


def test_an_old_conversation_shows_results_and_pages_under_its_calls(web: Web) -> None:
    for events in (searched_at_once(), read_at_once(web)):
        old = from_before(events).events
        assert len(lines_of(old).visible) == len(lines_of(events).visible)
        for kind in (ToolStarted, SearchStarted, SearchFinished, ReadingStarted, PageRead):
            assert [event.call_id for event in of(old, kind)] == [event.call_id for event in of(events, kind)]


def test_a_step_shows_what_was_searched_and_the_other_arguments_apart(web: Web) -> None:
    found = [SearchResult("标题", web.page("site1.example/", NEWS.encode()), "摘要", "")]
    with wired_agent(engines=[FakeEngine("fake", found)], environ=READING, strategy="tools") as world:
        web.beside.add(world.server.server_port)
        world.server.reply = in_turn(
            [call("web_search", query="英伟达 CEO", search_type="general")],
            [call("read_page", sources=[1], focus="任期")],
            ["好[1]。"],
        )
        events = world.ask("英伟达的首席执行官是谁")
    for shown in (events, stored(events).events):
        page = drawn_after(shown, over=True)
        assert [line.partition(" · ")[0] for line in steps(page)] == ["搜索「英伟达 CEO」", "阅读 [1]：任期"]
        assert "<b>类型</b> 综合</div>" in step(page, 0)
        assert "<b>要读</b> [1]</div>" in step(page, 1)
        assert "<b>关注</b> 任期</div>" in step(page, 1)
    searched, read = (event.to_json() for event in of(events, ToolStarted))
    assert (searched["input"], read["input"]) == ("英伟达 CEO general", "[1] 任期"), "as it always was"
    assert searched["arguments"] == {"query": "英伟达 CEO", "search_type": "general"}


def test_the_searched_query_is_also_the_title_of_an_old_step() -> None:
    old: list[RunEvent] = [ToolStarted("web_search", "英伟达 CEO general", "1"), SearchStarted("英伟达 CEO")]
    page = drawn_after(from_before(old).events)
    assert steps(page) == ["搜索「英伟达 CEO」 · 进行中"]


def test_a_call_that_was_never_searched_for_shows_its_arguments() -> None:
    given = {"law_name": "劳动合同法", "article": "第三十八条"}
    page = drawn_after([ToolStarted("regulation_search", "劳动合同法 第三十八条", "1", given)])
    assert steps(page) == ["查法规「劳动合同法 第三十八条」 · 进行中"]
    assert "<b>法律</b> 劳动合同法</div>" in step(page, 0)
    assert "<b>条号</b> 第三十八条</div>" in step(page, 0)
