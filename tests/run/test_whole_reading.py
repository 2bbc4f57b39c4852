"""A question about the whole of a file that does not fit is read part by part: seen from the model's server."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from run.test_own_files import LONG, PAGES, asking, page_text, sent

from core.answer.events import (
    Answer,
    Notice,
    PartRead,
    PartsStarted,
    RunEvent,
    RunFailed,
    RunStopped,
    SourcesGiven,
    Usage,
)
from core.answer.message import message_from_run
from core.answer.source_details import reading_status
from core.answer.stored_message import decode_message, encode_message
from core.run.question import AnswerOptions
from core.run.whole_reading import is_about_whole
from support.openai_server import CutOff, Fail
from support.sectioned import sectioned_page
from support.waiting import until

QUESTION = "请概括附件的主要内容。"
PART = re.compile(r"的第 (\d+)/(\d+) 部分")


def part_asked(asked: dict[str, Any]) -> tuple[int, int] | None:
    found = PART.search(str(asked["messages"][-1]["content"]))
    return (int(found[1]), int(found[2])) if found else None


def note(asked: dict[str, Any]) -> Sequence[Any]:
    """The notes on a part, or the answer."""
    if part := part_asked(asked):
        return [f"第{part[0]}份笔记：陈列柜在春季擦拭一次。"]
    is_react = "Final Answer" in str(asked["messages"])
    return ["Thought: 好\nFinal Answer: 陈列柜在春季擦拭一次[1]。" if is_react else "陈列柜在春季擦拭一次[1]。"]


def of(events: Sequence[RunEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize("mode", ["chat", "agent"])
def test_every_line_is_read_once_and_the_answer_is_written_from_the_notes(mode: str) -> None:
    with asking(32_768, AGENT_STRATEGY="react") as (app, server):
        server.reply = note
        service = app.agent if mode == "agent" else app.chat
        events = list(service.stream(QUESTION, options=AnswerOptions(files=(LONG,))))
        prompts = [sent(server, number) for number in range(len(server.requests))]
    assert not of(events, RunFailed)
    parts = [prompt for prompt in prompts if PART.search(prompt)]
    (last,) = [prompt for prompt in prompts if not PART.search(prompt)]
    for number in range(1, PAGES + 1):
        for line in range(60):
            assert sum(f"（{number}-{line}）" in part for part in parts) == 1
    assert all(QUESTION in part for part in parts)
    assert 3 <= len(parts) <= 9
    assert all(f"第{number}份笔记" in last for number in range(1, len(parts) + 1))
    assert "分部分通读的笔记:" in last
    assert "陈列柜在春季擦拭一次，由值班人员登记" not in last
    (started,) = of(events, PartsStarted)
    read = of(events, PartRead)
    assert started.parts == len(parts) == len(read)
    assert sorted(event.part for event in read) == list(range(1, len(parts) + 1))
    assert all(re.fullmatch(r"第 \d+–\d+ 页", event.places) for event in read)
    (answer,) = of(events, Answer)
    assert [source.number for source in answer.sources] == [1]
    assert reading_status(answer.sources[0]) == f"附件 · {LONG.length:,} 字，分 {len(parts)} 部分交给模型"
    assert of(events, Usage)[-1].input == 11 * len(prompts), "every call is counted"
    message = message_from_run(events, seconds=1)
    stored = decode_message(encode_message(message), id="x", role="assistant", text=message.text, created=1.0)
    assert of(stored.events, PartRead) == read


def test_a_part_that_fails_is_said_to_the_reader_and_to_the_model() -> None:
    with asking(32_768) as (app, server):
        server.reply = lambda asked: [Fail(400)] if (part_asked(asked) or (0,))[0] == 2 else note(asked)
        events = list(app.chat.stream(QUESTION, options=AnswerOptions(files=(LONG,))))
        last = sent(server, -1)
    (failed,) = [event for event in of(events, PartRead) if event.problem]
    assert (failed.part, failed.problem) == (2, "模型服务拒绝了这次请求（400）。")
    (notice,) = [event for event in of(events, Notice) if event.kind == "parts_unread"]
    assert notice.text.startswith(f"附件有 1 个部分没有读成，下面的回答没有用到它们。第 2 部分（{failed.places}）")
    (given,) = of(events, SourcesGiven)
    assert given.sources[0].given < LONG.length
    unread = LONG.length - given.sources[0].given
    assert f"其中 {unread:,} 字没有读到，不要当作读过" in last
    assert "第2份笔记" not in last
    assert f"读到其中 {given.sources[0].given:,} 字" in reading_status(given.sources[0])


def test_where_no_part_can_be_read_the_model_gets_passages() -> None:
    with asking(32_768) as (app, server):
        server.reply = lambda asked: [Fail(400)] if part_asked(asked) else note(asked)
        events = list(app.chat.stream(QUESTION, options=AnswerOptions(files=(LONG,))))
        last = sent(server, -1)
    assert of(events, Answer)
    assert "下面只是其中 " in last
    assert "附件 · " in reading_status(of(events, Answer)[0].sources[0])
    assert not of(events, Answer)[0].sources[0].given_parts


def test_stopping_breaks_off_the_calls_under_way_and_starts_none() -> None:
    endless: list[Any] = ["记", 0.02] * 5_000
    with asking(16_384) as (app, server):
        server.reply = lambda asked: endless if (part_asked(asked) or (0,))[0] > 2 else note(asked)
        run = app.chat.start(app.chat.accept_question(QUESTION, options=AnswerOptions(files=(LONG,))))
        until(lambda: len(of(run.events, PartRead)) == 2 and len(server.requests) == 5)
        run.cancel()
        assert run.end_future.result(10) is None
        assert isinstance(run.events[-1], RunStopped)
        until(lambda: server.broken_off == 3)
        assert len(server.requests) == 5


@pytest.mark.parametrize("is_slow_alone", [False, True])
def test_parts_for_which_a_small_machine_had_no_time_are_read_again_alone(is_slow_alone: bool) -> None:
    asked_for: list[int] = []

    def reply(asked: dict[str, Any]) -> Sequence[Any]:
        part = (part_asked(asked) or (0,))[0]
        asked_for.append(part)
        is_late = part > 1 and (is_slow_alone or asked_for.count(part) == 1)
        return [30.0, *note(asked)] if is_late else note(asked)

    with asking(32_768, LLM_FIRST_TOKEN_TIMEOUT="1") as (app, server):
        server.reply = reply
        events = list(app.chat.stream(QUESTION, options=AnswerOptions(files=(LONG,))))
    read = of(events, PartRead)
    count = of(events, PartsStarted)[0].parts
    assert sorted(event.part for event in read) == list(range(1, count + 1))
    assert [event.part for event in read if not event.problem] == (
        [1] if is_slow_alone else [event.part for event in read]
    )
    assert len(asked_for) == (count + 1 + 1 if is_slow_alone else 2 * (count - 1) + 1 + 1), "and once the answer itself"


def test_the_number_of_calls_is_limited_and_what_is_not_read_is_said() -> None:
    with asking(4_096) as (app, server):
        server.reply = note
        events = list(app.chat.stream(QUESTION, options=AnswerOptions(files=(LONG,))))
    assert sum(part_asked(asked) is not None for asked in server.requests) == 24
    assert any("附件太长，只读了前 " in event.text for event in of(events, Notice))


def test_a_short_context_is_filled_with_text_and_not_kept_for_notes() -> None:
    short = sectioned_page("馆规.pdf", [page_text(number) for number in range(1, 5)])
    with asking(4_096) as (app, server):
        server.reply = note
        events = list(app.chat.stream(QUESTION, options=AnswerOptions(files=(short,))))
    (started,) = of(events, PartsStarted)
    assert started.parts <= 11, "12,000 characters, of which 1,200 fit beside the notes"


def test_notes_that_were_cut_off_are_still_notes() -> None:
    with asking(32_768) as (app, server):
        server.reply = lambda asked: [*note(asked), CutOff("length")] if part_asked(asked) else note(asked)
        events = list(app.chat.stream(QUESTION, options=AnswerOptions(files=(LONG,))))
    assert not [event for event in of(events, PartRead) if event.problem]


@pytest.mark.parametrize("question", ["风琴修理师每逢闰年领取多少铜纽扣？", "概括第 3 页", "押金是多少？"])
def test_other_questions_cost_one_call(question: str) -> None:
    with asking(32_768) as (app, server):
        server.reply = note
        list(app.chat.stream(question, options=AnswerOptions(files=(LONG,))))
        assert len(server.requests) == 1


def test_a_file_that_fits_costs_one_call() -> None:
    with asking(131_072) as (app, server):
        server.reply = note
        list(app.chat.stream(QUESTION, options=AnswerOptions(files=(LONG,))))
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "question",
    [
        *("请概括附件的主要内容。", "总结一下这份报告", "合同里有哪些违约责任？", "列出所有的截止日期", "比较两份合同的付款条件"),
        *("这两个文件有什么不同", "这个文件讲了什么？", "一共提到几家供应商", "Summarize the attached report", "List all deadlines"),
        *("What are the differences between the two files?", "这份文档说的是什么", "每一章的要点是什么"),
    ],
)  # fmt: skip
def test_questions_about_the_whole(question: str) -> None:
    assert is_about_whole(question)


@pytest.mark.parametrize(
    "question",
    ["试用期多久？", "月租金是多少", "第五条怎么规定的", "谁签的字", "When does the lease end?", "违约金怎么算", "What is the deposit?"],
)  # fmt: skip
def test_questions_about_one_thing(question: str) -> None:
    assert not is_about_whole(question)
