"""Models that think before they speak, through the real client and a real server."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from core.answer.events import Answer, SearchStarted, Thought, Usage
from core.base.threads import LoopThread
from core.llm.errors import ModelTimeout
from core.llm.model import Model
from core.llm.pieces import Piece, TextPiece, ThoughtPiece, TokenUsage
from core.llm.reasoning import ThinkSplitter
from support.agents import answer, of, streamed, thoughts, wired_agent
from support.base import loaded
from support.openai_server import HANG, Call, OpenAIServer, Thinks, in_turn, openai_server
from support.waiting import until

THOUGHT = "用户问的是经济补偿。先看有没有过错，再看年限。"


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.stop()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


def connected(server: OpenAIServer, **limits: float) -> Model:
    settings = loaded(OPENAI_BASE_URL=server.url, LLM_MODEL="openai:reply", LLM_ATTEMPTS="1").values
    return Model(settings.model_copy(update={"llm": settings.llm.model_copy(update=limits)}))


def ask(loop: LoopThread, model: Model, into: list[Piece] | None = None) -> list[Piece]:
    pieces: list[Piece] = [] if into is None else into

    async def collect() -> None:
        async for piece in model.stream([("human", "问题")]):
            pieces.append(piece)

    loop.submit(collect()).result(30)
    return pieces


def thought(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, ThoughtPiece))


def written(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_either_field_is_told_apart_from_the_answer(loop: LoopThread, server: OpenAIServer, field: str) -> None:
    server.reply = in_turn([Thinks(THOUGHT, field, parts=5, pause=0.1), "应当支付。"])
    server.reasoning_tokens = 4
    pieces = ask(loop, connected(server))
    assert (thought(pieces), written(pieces)) == (THOUGHT, "应当支付。")
    assert sum(isinstance(piece, ThoughtPiece) for piece in pieces) > 1
    assert pieces[-1] == TokenUsage(11, 7, estimated=False, reasoning=4)


@pytest.mark.parametrize("cuts", [(), (3,), (1, 4, 8), (7, 9), tuple(range(1, 30))])
def test_tags_may_be_cut_anywhere(cuts: tuple[int, ...]) -> None:
    whole = "<think>先想想</think>\n\n应当支付，a < b。"
    borders = [0, *(cut for cut in cuts if cut < len(whole)), len(whole)]
    splitter = ThinkSplitter()
    pieces: list[Piece] = [piece for start, end in pairwise(borders) for piece in splitter.feed(whole[start:end])]
    pieces += splitter.end()
    assert (thought(pieces), written(pieces)) == ("先想想", "应当支付，a < b。")


def test_thinking_is_no_silence(loop: LoopThread, server: OpenAIServer) -> None:
    """Three times as long as one may wait for the first word, and than any pause may be."""
    server.reply = in_turn([Thinks(THOUGHT, parts=20, pause=0.3), "应当支付。"])
    pieces = ask(loop, connected(server, first_token_timeout=2.0, idle_timeout=2.0))
    assert written(pieces) == "应当支付。"


def test_a_thought_that_stops_is_given_up_after_the_pause_that_is_allowed(
    loop: LoopThread, server: OpenAIServer
) -> None:
    server.reply = in_turn([Thinks(THOUGHT), HANG])
    pieces: list[Piece] = []
    with pytest.raises(ModelTimeout):
        ask(loop, connected(server, first_token_timeout=60.0, idle_timeout=0.3), pieces)
    assert thought(pieces) == THOUGHT


def test_reasoning_counts_where_the_service_reports_nothing(loop: LoopThread, server: OpenAIServer) -> None:
    server.reports_usage = False
    server.reply = in_turn([Thinks("想" * 400), "好。"])
    usage = ask(loop, connected(server))[-1]
    assert isinstance(usage, TokenUsage)
    assert usage.estimated
    assert usage.output > 200


SEARCH = Call("web_search", '{"query": "经济补偿 计算"}')
LOOK_UP = Call("web_search", '{"query": "劳动合同法 第四十七条"}')


def test_reasoning_beside_parallel_calls_goes_back_as_deepseek_demands() -> None:
    with wired_agent(environ={"AGENT_STRATEGY": "tools"}) as world:
        world.server.wants_reasoning_back = True
        world.server.reasoning_tokens = 3
        world.server.reply = in_turn(
            [Thinks("先查计算办法。", parts=3), SEARCH, LOOK_UP],
            [Thinks("再核验一次。"), Call("web_search", '{"query": "经济补偿 上限"}')],
            [Thinks("够了。"), "按工作年限计算 [1]。"],
        )
        events = world.ask()
        second, third = world.server.requests[-2:]
    assert answer(events).text == "按工作年限计算 [1]。"
    assert len(of(events, SearchStarted)) == 3
    assert thoughts(events) == "先查计算办法。再核验一次。够了。"
    assert [m.get("reasoning_content") for m in second["messages"] if m.get("tool_calls")] == ["先查计算办法。"]
    assert [m.get("reasoning_content") for m in third["messages"] if m.get("tool_calls")] == [
        "先查计算办法。",
        "再核验一次。",
    ]
    (usage,) = of(events, Usage)
    assert (usage.output, usage.reasoning) == (21, 9)


@pytest.mark.parametrize("strategy", ["tools", "react"])
def test_tags_are_in_no_answer_of_an_agent(strategy: str) -> None:
    """Cut anywhere, before a call and before the answer."""
    calls, ending = (
        ([SEARCH], "") if strategy == "tools" else (["Action: web_search\nAction Input: x"], "Final Answer: ")
    )
    with wired_agent(environ={"AGENT_STRATEGY": strategy}) as world:
        world.server.reply = in_turn(
            ["<thi", 0.2, "nk>先查", "。</th", 0.2, "ink>\n", *calls],
            ["<think>够了。</thi", 0.2, "nk>", ending, "好 [1]。"],
        )
        events = world.ask()
    assert answer(events).text == streamed(events) == "好 [1]。"
    assert thoughts(events) == "先查。够了。"


def test_what_another_name_brought_goes_back_under_that_name() -> None:
    with wired_agent(environ={"AGENT_STRATEGY": "tools"}) as world:
        world.server.reply = in_turn([Thinks("先查。", "reasoning"), SEARCH], ["查到了 [1]。"])
        world.ask()
        (turn,) = [m for m in world.server.requests[-1]["messages"] if m.get("tool_calls")]
    assert turn["reasoning"] == "先查。"
    assert "reasoning_content" not in turn


def test_a_service_that_sends_none_gets_none() -> None:
    with wired_agent(environ={"AGENT_STRATEGY": "tools"}) as world:
        world.server.reply = in_turn(["我先查一下。", SEARCH], ["查到了 [1]。"])
        world.ask()
        (turn,) = [m for m in world.server.requests[-1]["messages"] if m.get("tool_calls")]
    assert not {"reasoning", "reasoning_content"} & set(turn)


def test_an_agent_in_plain_text_thinks_too() -> None:
    with wired_agent(environ={"AGENT_STRATEGY": "react"}) as world:
        world.server.reply = in_turn(
            [Thinks("要不要查？", parts=2), "Thought: 查一下\nAction: web_search\nAction Input: 经济补偿"],
            [Thinks("可以写了。"), "Final Answer: 按年限计算 [1]。"],
        )
        events = world.ask()
    assert answer(events).text == "按年限计算 [1]。"
    assert thoughts(events).startswith("要不要查？")
    assert "可以写了。" in thoughts(events)


def test_the_first_thought_is_told_before_the_answer_begins() -> None:
    """Live, in Agent mode: the event is there while the model still thinks."""
    with wired_agent(environ={"AGENT_STRATEGY": "tools"}) as world:
        world.server.reply = in_turn([Thinks("想", pause=0.0), 30.0, "好。"])
        events = world.runner.stream("问题")
        first = next(event for event in events if isinstance(event, Thought))
        assert first.text == "想"
        world.server.released.set()
        until(lambda: any(isinstance(event, Answer) for event in events), 10)
