"""The steps of a run as a growing text."""

from __future__ import annotations

from core.answer.events import (
    Notice,
    PageRead,
    PartRead,
    PartsStarted,
    ReadingStarted,
    RunEvent,
    SearchFinished,
    SearchStarted,
    TextDelta,
    Thought,
    ToolFinished,
    ToolStarted,
)
from core.legal.entities import LAWS
from core.search.types import SearchQuery, SearchResponse, SearchResult, Source
from core.serve.openai.steps import StepText

RESULT = SearchResult("供水", "https://news.example/1", "摘要", "news.example")
READ = Source(1, "供水", "https://news.example/1", "摘要", read="page", characters=3_000)
UNREAD = Source(2, "第二条", "https://gone.example/2", "摘要", unread="网页不存在")


def found(query: str, call_id: str = "", provider: str = "searxng", amends: bool = False) -> SearchFinished:
    response = SearchResponse(SearchQuery(query), (RESULT,), provider=provider, search_time=0.5)
    return SearchFinished(response, call_id=call_id, amends=amends)


def text(*events: RunEvent) -> str:
    steps = StepText()
    return "".join(steps.add(event) for event in events)


def test_a_search_and_the_pages_that_were_read() -> None:
    assert text(
        Thought("先"),
        Thought("想想"),
        SearchStarted("供水量"),
        found("供水量"),
        found("供水量", amends=True),
        ReadingStarted((READ, UNREAD)),
        PageRead(READ),
        PageRead(UNREAD),
        TextDelta("回答"),
    ) == (
        "先想想\n- 搜索「供水量」 · SearXNG · 1 条 · 0.5 秒\n- 阅读 2 个网页\n- [1] news.example · 已读全文 · 3,000 字\n"
        "- [2] gone.example · 仅摘要（网页不存在）\n"
    )


def test_a_search_that_was_overtaken_has_a_line_of_its_own() -> None:
    assert text(SearchStarted("供水量"), Notice("x", "一句话。\n    粘贴的一行"), found("供水量"), Thought("好")) == (
        "- 搜索「供水量」\n- 一句话。「粘贴的一行」\n- 搜索「供水量」 · SearXNG · 1 条 · 0.5 秒\n\n好"
    )


def test_a_look_up_in_the_library_says_so() -> None:
    assert text(found("年假", provider=LAWS)) == "- 查法规「年假」 · 本地法规库 · 1 条 · 0.5 秒\n"


def test_calls_of_tools_that_run_at_once_keep_their_results() -> None:
    assert text(
        ToolStarted("web_search", "甲 general", "1", {"query": "甲", "search_type": "general"}),
        ToolStarted("read_page", "2", "2", {"sources": "2"}),
        SearchStarted("甲", call_id="1"),
        ReadingStarted((UNREAD,), call_id="2"),
        found("甲", "1"),
        PageRead(UNREAD, call_id="2"),
        ToolFinished("web_search", True, "找到 1 条", "1"),
        ToolFinished("read_page", True, "读了 1 页", "2"),
        ToolStarted("read_page", "9", "3", {"sources": "9"}),
        ToolFinished("read_page", False, "没有编号 9。", "3"),
        ToolStarted("calculator", "1+1", "4"),
        ToolFinished("calculator", True, "2", "4"),
    ) == (
        "- 搜索「甲」\n- 阅读「2」\n- 搜索「甲」 · SearXNG · 1 条 · 0.5 秒\n- [2] gone.example · 仅摘要（网页不存在）\n"
        "- 阅读「9」 · 失败：没有编号 9。\n- calculator「1+1」 · 2\n"
    )


def test_a_file_that_is_read_part_by_part() -> None:
    file = Source(1, "合同.pdf", "attachment:1/合同.pdf", "", read="file")
    assert text(PartsStarted(file, 2), PartRead(file, 1, 2), PartRead(file, 2, 2, problem="模型没有回答。")) == (
        "- 分 2 部分通读《合同.pdf》\n- 第 1/2 部分：已读\n- 第 2/2 部分：模型没有回答。\n"
    )
