"""One renderer for the steps of both modes, and one number for a source wherever it is shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.check_results import AnswerCheck
from core.answer.events import (
    Answer,
    ApprovalAnswered,
    ApprovalAsked,
    Checked,
    Notice,
    PageRead,
    PartRead,
    PartsStarted,
    ReadingStarted,
    RunEvent,
    RunFailed,
    RunStopped,
    SearchFinished,
    SearchStarted,
    SourcesFound,
    SourcesGiven,
    TextDelta,
    Thought,
    ToolFinished,
    ToolStarted,
    Usage,
)
from core.answer.export import as_html, as_json, as_markdown
from core.answer.message import Message, message_from_run
from core.run.run_sources import RunSources
from core.search.types import Attempt, AttemptOutcome, SearchQuery, SearchResponse, SearchResult, Source
from core.ui.chat.step_lines import StepLines
from core.ui.chat.steps import FOLDED_KEY
from core.ui.session import ChatState
from support.pages import html, open_page, rerun, states, step, steps

FILE = Source(1, "馆规.pdf", "attachment:1/馆规.pdf", "摘要", read="file", characters=90)

ONE_OF_EACH: tuple[RunEvent, ...] = (
    Checked(AnswerCheck()),
    SearchStarted("甲"),
    SearchFinished(SearchResponse(SearchQuery("甲"))),
    ReadingStarted((Source(1, "题", "https://site1.example/", "摘要"),)),
    PageRead(Source(1, "题", "https://site1.example/", "摘要", unread="超时")),
    SourcesGiven((replace(FILE, given=20, given_places="第 1 页"),)),
    PartsStarted(FILE, 3),
    PartRead(FILE, 1, 3, "第 1–2 页", "太长"),
    Thought("想"),
    ToolStarted("web_search", "乙", "1"),
    ToolFinished("web_search", True, "好", "1"),
    SourcesFound((Source(1, "题", "https://site1.example/", "摘要", tool="notes.look_up"),), "1"),
    ApprovalAsked("notes.delete", '{"name": "甲"}', 120, "1"),
    ApprovalAnswered("notes.delete", "refused", "1"),
    TextDelta("答"),
    Notice("empty", "没有找到。"),
    Answer("答"),
    Usage(1, 2),
    RunStopped("user"),
    RunFailed("model", "失败"),
)


def _draw(events: "Sequence[RunEvent]") -> None:  # noqa: UP037 - its source is run by itself
    from core.ui.chat.steps import draw_steps

    draw_steps(events, key="a", seconds=6.2)


def titles(page: AppTest) -> list[str]:
    return [fold.label for fold in page.expander]


def drawn(*events: RunEvent) -> AppTest:
    page = AppTest.from_function(_draw, default_timeout=30, kwargs={"events": events}).run()
    assert not page.exception
    return page


def page(number: int) -> SearchResult:
    return SearchResult(
        f"第{number}页", f"https://site{number}.example/", f"第{number}页的摘要", f"site{number}.example"
    )


def search(query: str, evidence: RunSources, *pages: int, handed_over: int = 5) -> SearchFinished:
    response = SearchResponse(
        SearchQuery(query),
        tuple(map(page, pages)),
        attempts=(Attempt("fake", AttemptOutcome.OK),),
        provider="fake",
        search_time=0.1,
    )
    return SearchFinished(response, evidence.add_results(response.results[:handed_over]))


def numbers(shown: str) -> list[int]:
    return [int(number) for number in re.findall(r'<li value="(\d+)"', shown)]


def test_a_file_of_which_the_model_was_given_a_part_has_a_line() -> None:
    shown = drawn(SourcesGiven((replace(FILE, given=20, given_places="第 1 页"),)))
    assert steps(shown) == ["交给模型 1 个文件 · 1 个只有一部分"]
    assert "附件 · 90 字，交给模型 20 字（第 1 页）" in html(shown)


def test_parts_are_told_one_by_one_and_what_was_not_read() -> None:
    parts = PartsStarted(FILE, 3), PartRead(FILE, 1, 3, "第 1–2 页"), PartRead(FILE, 3, 3, "第 5 页", "模型服务正忙。")
    shown = drawn(*parts, PartRead(FILE, 2, 3, "第 3–4 页"))
    assert steps(shown) == ["分 3 部分通读《馆规.pdf》 · 读了 2 部分，1 部分没有读成"]
    assert html(shown).index("第 3–4 页") < html(shown).index("模型服务正忙。")
    (stopped,) = steps(drawn(*parts, RunStopped("user")))
    assert stopped.endswith("已停止 · 读了 1 部分，2 部分没有读成")


def test_a_foreign_tool_has_a_line_with_all_that_is_known_of_it() -> None:
    given = {"name": "会议", "count": "3"}
    started = ToolStarted("notes.delete_note", "会议 3", "1", given, "notes")
    asked, found = (
        ApprovalAsked("notes.delete_note", "{}", 120, "1"),
        Source(2, "删除的笔记", "mcp:abc", "摘要", read="file"),
    )
    growing = StepLines()
    for event in (started, asked):
        growing.add_event(event)
    assert growing.lines[0].facts == "等你允许"
    shown = drawn(
        started,
        asked,
        ApprovalAnswered("notes.delete_note", "allowed", "1"),
        SourcesFound((found,), "1"),
        ToolFinished("notes.delete_note", True, "4 字", "1", 1.26),
    )
    assert steps(shown) == ["notes.delete_note「会议 3」 · 4 字 · 1.3 秒"]
    for words in ("服务器</b> notes", "工具</b> delete_note", "count</b> 3", "是否允许</b> 你允许了", "删除的笔记"):
        assert words in html(shown)
    assert "mcp:abc" not in html(shown), "its address leads nowhere"
    failed = drawn(started, ToolFinished("notes.delete_note", False, "没有执行。", "1", 0.2))
    assert steps(failed) == ["notes.delete_note「会议 3」 · 失败：没有执行。 · 0.2 秒"]


def test_there_is_one_of_each() -> None:
    assert {type(event) for event in ONE_OF_EACH} == set(get_args(RunEvent))


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda event: event.type)
def test_every_event_is_drawn_kept_and_exported(event: RunEvent) -> None:
    drawn(event)
    message = replace(message_from_run([event], seconds=1), events=(event,))
    for export in (as_markdown, as_html, as_json):
        assert export("题", [message])
    assert event.to_json()["type"] == event.type


def test_chat_and_agent_steps_are_drawn_alike() -> None:
    evidence = RunSources()
    found = search("甲", evidence, 1, 2)
    chat = drawn(SearchStarted("甲"), found, Thought("先想"), TextDelta("答"))
    assert steps(chat) == ["搜索「甲」 · fake · 2 条 · 0.1 秒", "思考 · 先想"]
    agent = drawn(
        Thought("先想"),
        ToolStarted("web_search", "甲", "1"),
        SearchStarted("甲", call_id="1"),
        replace(found, call_id="1"),
        ToolFinished("web_search", True, "找到", "1"),
    )
    assert steps(agent) == ["搜索「甲」 · fake · 2 条 · 0.1 秒"]
    said = '<div class="wy-step said"><span class="facts">先想</span></div>'
    assert html(agent).index(said) < html(agent).index("搜索「甲」"), "what was said before the call is one grey line"
    assert numbers(step(chat, 0)) == numbers(step(agent, 0)) == [1, 2]


def test_pages_are_ticked_off_one_by_one() -> None:
    evidence = RunSources()
    found = search("甲", evidence, 1, 2)
    first, second = found.sources
    read = replace(first, read="page", characters=12_400, published="2026-01-31")
    begun = (SearchStarted("甲"), found, ReadingStarted(found.sources), PageRead(read))
    half = drawn(*begun)
    assert steps(half)[1] == "阅读 2 个网页 · 1 个已读全文，1 个仅摘要"
    whole = drawn(*begun, PageRead(replace(second, unread="拒绝访问")))
    assert steps(whole)[1] == "阅读 2 个网页 · 1 个已读全文，1 个仅摘要"
    assert "site1.example <span>已读全文 · 12,400 字</span>" in step(whole, 1)
    assert "site2.example <span>仅摘要（拒绝访问）</span>" in step(whole, 1)
    nothing = drawn(ReadingStarted((second,)), PageRead(replace(second, unread="超时")))
    assert states(nothing) == [("partial", False)], "the answer has its snippet"


def test_the_agents_reading_is_part_of_the_call_that_asked_for_it() -> None:
    evidence = RunSources()
    first, second = search("甲", evidence, 1, 2).sources
    begun = (
        ToolStarted("read_page", "[1]", "a"),
        ToolStarted("read_page", "https://site2.example/ 费用", "b"),
        ReadingStarted((first,), "a"),
        ReadingStarted((second,), "b"),
        PageRead(replace(second, unread="超时"), call_id="b"),
    )
    over = drawn(
        *begun,
        PageRead(replace(first, read="page", characters=300), call_id="a"),
        ToolFinished("read_page", False, "没有读到网页：超时", "b"),
        ToolFinished("read_page", True, "读了 1 个网页", "a"),
    )
    assert steps(over) == [
        "阅读 [1] · 1 个已读全文",
        "阅读 site2.example：费用 · 1 个仅摘要",
    ]
    assert states(over) == [("done", False), ("partial", False)]
    assert "仅摘要（超时）" in step(over, 1)
    assert "读了 1 个网页" in step(over, 0)
    stopped = drawn(*begun, RunStopped("user"))
    assert states(stopped) == [("stopped", False)] * 2
    assert steps(stopped)[0] == "阅读 [1] · 已停止 · 1 个仅摘要"


def test_a_search_that_was_cut_off_does_not_stay_open() -> None:
    stopped = drawn(SearchStarted("甲"), RunStopped("user"))
    assert states(stopped) == [("stopped", False)]
    assert steps(stopped) == ["搜索「甲」 · 已停止"]
    assert titles(stopped) == ["已搜索 1 次 · 已停止 · 6 秒"], "nothing is red"
    call = drawn(ToolStarted("web_search", "甲", "1"), RunStopped("user"))
    assert (states(call), steps(call)) == ([("stopped", False)], ["搜索「甲」 · 已停止"])
    late = drawn(SearchStarted("甲"), RunStopped("time"))
    assert (states(late), steps(late)) == ([("failed", False)], ["搜索「甲」 · 没有完成"])


def test_the_kind_of_search_is_a_word_behind_the_query_and_what_to_read_stands_in_words() -> None:
    news = drawn(
        ToolStarted("web_search", "甲 news", "1", {"query": "甲", "search_type": "news"}),
        ToolFinished("web_search", True, "找到", "1"),
        ToolStarted("read_page", "1, 3 费用", "2", {"sources": "1, 3", "focus": "费用"}),
        ToolFinished("read_page", True, "读了", "2"),
    )
    assert steps(news) == ["搜索「甲」 · 完成", "阅读 [1][3]：费用 · 完成"]
    assert '<b>搜索「甲」</b> <span class="wy-badge">新闻</span>' in html(news)
    together = drawn(ToolStarted("read_page", "1, 3 量产时间和成本", "1"), ToolFinished("read_page", True, "读了", "1"))
    assert steps(together) == ["阅读 [1][3]：量产时间和成本 · 完成"]


def test_more_known_of_a_search_changes_its_step() -> None:
    evidence = RunSources()
    first, second = search("甲", evidence, 1), search("甲", evidence, 1, 2)
    shown = drawn(SearchStarted("甲"), first, SearchFinished(second.response, second.sources, amends=True))
    assert steps(shown) == ["搜索「甲」 · fake · 2 条 · 0.1 秒"]
    assert numbers(html(shown)) == [1, 2]


def test_what_the_model_was_not_shown_has_no_number() -> None:
    shown = drawn(SearchStarted("甲"), search("甲", RunSources(), 1, 2, 3, 4, 5, 6, 7, handed_over=5))
    assert steps(shown) == ["搜索「甲」 · fake · 7 条，取用 5 条 · 0.1 秒"]
    first, rest = step(shown, 0).split("<details><summary>其余 4 条</summary>")
    assert (numbers(first), numbers(rest)) == ([1, 2, 3], [4, 5])
    assert "下面 2 条没有取用" in rest
    assert "第7页" in rest


def test_a_source_has_one_number_in_steps_text_references_and_exports() -> None:
    evidence = RunSources()
    first, second = search("甲", evidence, 1, 2, 3), search("乙", evidence, 9, 2, 8)
    events: list[RunEvent] = []
    for call, found in enumerate((first, second)):
        query = found.response.query.text
        events += [ToolStarted("web_search", query, str(call)), SearchStarted(query, call_id=str(call))]
        events += [replace(found, call_id=str(call)), ToolFinished("web_search", True, "找到", str(call))]
    shown = drawn(*events)
    results = [numbers(step(shown, call)) for call in (0, 1)]
    assert results == [[1, 2, 3], [2, 4, 5]], "ascending; the page met before keeps its 2"
    text = "后者[5]，前者[2]，再说后者[5]。"
    message = message_from_run([*events, Answer(text, evidence.sources)], seconds=1, mode="agent")
    assert [(source.number, source.title) for source in message.sources] == [
        (1, "第1页"),
        (2, "第2页"),
        (3, "第3页"),
        (4, "第9页"),
        (5, "第8页"),
    ]
    written = message_from_run([*events, TextDelta(text)], seconds=1, mode="agent")
    assert [source.number for source in written.cited] == [2, 5], "references are ascending"
    markdown = as_markdown("t", [written])
    assert markdown.index("[2\\] [第2页]") < markdown.index("[5\\] [第8页]")
    assert re.findall(r'<li value="(\d+)"', as_html("t", [written])) == ["2", "5"]
    assert '"number": 5' in as_json("t", [written])


def test_a_model_that_keeps_to_no_format_says_its_answer_once() -> None:
    answer = "首席执行官是黄仁勋。\n\n他一九六三年出生。"
    repeated = drawn(Thought(answer), TextDelta(answer), Answer(answer))
    assert steps(repeated) == []
    half = drawn(Thought(f"我先想想是谁。\n\n{answer}"), TextDelta(answer), Answer(answer))
    assert steps(half) == ["思考 · 我先想想是谁。"]


def test_a_long_thought_before_a_call_has_a_line_of_its_own() -> None:
    long = "先比较两种说法，" * 12
    call = (ToolStarted("web_search", "甲", "1"), ToolFinished("web_search", False, "搜索超时。", "1"))
    shown = drawn(Thought(long), *call)
    assert [line[:7] for line in steps(shown)] == ["思考 · 先比", "搜索「甲」 ·"]
    assert long in step(shown, 0)
    assert steps(shown)[1].endswith("失败：搜索超时。")


def test_one_line_counts_what_was_done() -> None:
    evidence = RunSources()
    found = search("甲", evidence, 1, 2)
    reading = (ReadingStarted(found.sources), PageRead(replace(found.sources[0], read="page", characters=9)))
    assert titles(drawn(SearchStarted("甲"), found, *reading)) == [
        "已搜索 1 次 · 阅读 1 页 · :orange[1 页仅摘要] · 6 秒"
    ]
    whole = (*reading, PageRead(replace(found.sources[1], read="page", characters=9)))
    assert titles(drawn(SearchStarted("甲"), found, *whole)) == ["✓ 已搜索 1 次 · 阅读 2 页 · 6 秒"]
    failed = (ToolStarted("regulation_search", "乙", "1"), ToolFinished("regulation_search", False, "没有。", "1"))
    assert titles(drawn(*failed)) == ["查法规 1 次 · :red[1 步没有成功：查法规] · 6 秒"]
    assert titles(drawn(Thought("只是想了想"))) == ["✓ 思考过程 · 6 秒"]
    assert titles(drawn(TextDelta("答"), Answer("答"))) == []


def test_who_folds_the_rail_finds_the_next_one_folded() -> None:
    def answered(number: int) -> Message:
        events = (SearchStarted("甲"), search("甲", RunSources(), 1), Answer("答"))
        return replace(message_from_run(events, seconds=6), id=f"a{number}")

    page = open_page()
    page.session_state["chat"] = ChatState(messages=[answered(1), answered(2)])
    rerun(page)
    assert len(steps(page)) == 2
    page.session_state["steps-a1"] = False  # as a click does, which also calls:
    page.session_state[FOLDED_KEY] = True
    rerun(page)
    assert len(steps(page)) == 1, "the other one stays as it is"
    page.session_state["chat"] = ChatState(messages=[answered(1), answered(2), answered(3)])
    rerun(page)
    assert [fold.proto.expanded for fold in page.main.expander if fold.label.startswith("✓")][1:] == [True, False]
