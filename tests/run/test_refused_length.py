"""A service that refuses a prompt for its length is asked once more with less, and the reader is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from run.test_own_files import LONG, NEEDLE, QUESTION, REACT_END, asking, lines_sent, sent
from run.test_whole_reading import part_asked

from core.answer.events import Answer, Notice, RunEvent, RunFailed
from core.answer.message import Message
from core.run.question import AnswerOptions
from support.openai_server import Fail

ANSWER = ["三十七枚[1]。"]


def refusal(limit: int) -> list[Any]:
    words = f"This model's maximum context length is {limit} tokens. However, you requested 99999 tokens."
    return [Fail(400, {"object": "error", "message": words, "type": "BadRequestError", "code": 400})]


NAMELESS: list[Any] = [Fail(400, {"error": {"message": "the input length exceeds the context length"}})]


def length(asked: dict[str, Any]) -> int:
    return sum(len(str(message["content"])) for message in asked["messages"])


def accepting(most: int, refused: Sequence[Any], answer: Sequence[Any]) -> Any:
    """Refuse whatever has more than `most` characters."""
    return lambda asked: refused if length(asked) > most else answer


def notices(events: Sequence[RunEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice) and event.kind == "context_exceeded"]


@pytest.mark.parametrize("mode", ["chat", "agent"])
@pytest.mark.parametrize("refused", [refusal(16_384), NAMELESS], ids=["a limit is named", "no limit is named"])
def test_the_second_prompt_is_shorter_and_has_what_was_asked_for(mode: str, refused: Sequence[Any]) -> None:
    with asking(131_072, AGENT_STRATEGY="react") as (app, server):
        server.reply = accepting(60_000, refused, REACT_END if mode == "agent" else ANSWER)
        service = app.agent if mode == "agent" else app.chat
        events = list(service.stream(QUESTION, options=AnswerOptions(files=(LONG,))))
        assert len(server.requests) == 2
        assert lines_sent(sent(server, 0)) > 2 * lines_sent(sent(server, 1)) > 0
        assert NEEDLE in sent(server, 1)
        assert notices(events) == [
            "内容超过了模型的上下文长度，模型服务没有接受，已减少交给模型的来源和历史后重试一次。"
        ]
        (answer,) = [event for event in events if isinstance(event, Answer)]
        assert answer.sources[0].given < LONG.length / 2, "it says what the answer was written from"
        again = list(service.stream(QUESTION, options=AnswerOptions(files=(LONG,))))
        assert len(server.requests) == 3, "the next question is short at once"
        assert not notices(again)


@pytest.mark.parametrize("mode", ["chat", "agent"])
def test_it_is_tried_once_and_then_fails_in_words(mode: str) -> None:
    with asking(131_072, AGENT_STRATEGY="react") as (app, server):
        server.reply = lambda asked: NAMELESS
        service = app.agent if mode == "agent" else app.chat
        events = list(service.stream(QUESTION, options=AnswerOptions(files=(LONG,))))
        assert len(server.requests) == 2
    told = [event.message for event in events if isinstance(event, RunFailed)]
    told += [event.text for event in events if isinstance(event, Notice)]
    assert any("内容超过了模型的上下文长度，模型服务没有接受。" in words for words in told)


def test_without_anything_to_leave_out_there_is_no_second_try() -> None:
    with asking(131_072) as (app, server):
        server.reply = lambda asked: NAMELESS
        events = list(app.chat.stream("一个问题"))
        assert len(server.requests) == 1
    (failed,) = [event for event in events if isinstance(event, RunFailed)]
    assert failed.kind == "model_context"


def test_a_long_history_is_shortened_too() -> None:
    turns = [Message(role, "河边的风筝。" * 100) for _ in range(12) for role in ("user", "assistant")]
    with asking(131_072) as (app, server):
        server.reply = accepting(6_500, NAMELESS, ["好。"])
        events = list(app.chat.stream("一个问题", turns))
        assert len(server.requests) == 2
    assert [event.text for event in events if isinstance(event, Answer)] == ["好。"]


def test_a_part_that_is_too_long_is_read_in_halves() -> None:
    with asking(32_768) as (app, server):
        read: list[str] = []

        def reply(asked: dict[str, Any]) -> Sequence[Any]:
            if part_asked(asked) and length(asked) > 18_000:
                return NAMELESS
            if part_asked(asked):
                read.append(str(asked["messages"][-1]["content"]))
                return ["笔记"]
            return ANSWER

        server.reply = reply
        events = list(app.chat.stream("请概括附件的主要内容。", options=AnswerOptions(files=(LONG,))))
    assert not [event for event in events if isinstance(event, Notice) and event.kind == "parts_unread"]
    assert lines_sent("\n".join(read)) == 40 * 60
