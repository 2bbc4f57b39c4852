"""Where the pieces of a growing output are drawn; cut at every place, because a network cuts where it likes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from langchain_core.agents import AgentFinish
from langchain_core.exceptions import OutputParserException

from core.agent.react_parser import ReactParser
from core.agent.react_stream import CALL_HOLDBACK, OutputStream, ReactStream, ToolCallStream, UnlabelledStream
from core.agent.tool_registry import ALIASES
from core.llm.pieces import TextPiece

PARSER = ReactParser(tools=("web_search",), aliases=ALIASES)


def sort(stream: OutputStream, pieces: list[str]) -> tuple[str, str]:
    told = [piece for text in pieces for piece in stream.feed(text)]
    told += stream.end()
    answer = "".join(piece.text for piece in told if isinstance(piece, TextPiece))
    thought = "".join(piece.text for piece in told if not isinstance(piece, TextPiece))
    return thought, answer


REACT = [
    ("Thought: 需要搜索\nAction: web_search\nAction Input: x", "需要搜索", ""),
    ("需要搜索\nAction: web_search\nAction Input: x\nObservation: y\nFinal Answer: z", "需要搜索", ""),
    ("Thought: 好了\nFinal Answer: 第一\n\n第二\n- 列表", "好了", "第一\n\n第二\n- 列表"),
    ("思考\uff1a好了\n最终答案\uff1a巴黎", "好了", "巴黎"),
    ("**Final Answer:** **巴黎** 是", "", "**巴黎** 是"),
    ("**最终答案\uff1a** 巴黎", "", "巴黎"),
    ("Final Answer: 42\n\nQuestion: next?\nThought: hm", "", "42"),
    ("Final Answer: 42\nObservations matter.\nOf course.", "", "42\nObservations matter.\nOf course."),
    ("Final Answer: 一\n问题\uff1a太慢", "", "一\n问题\uff1a太慢"),
    ("Final Answer: 用法\nAction: search 是字段", "", "用法\nAction: search 是字段"),
    ("Thought: the Final Answer: is unclear so\nAction: search", "the Final Answer: is unclear so", ""),
    ("<think>Final Answer: no</think>\nFinal Answer: 42", "Final Answer: no", "42"),
    ("Final Answer:\n\n    x = data[7]\n    y\n\n说", "", "    x = data[7]\n    y\n\n说"),
    ("Final Answer:     x = data[7]\n    y", "", "    x = data[7]\n    y"),
    ("Final Answer:\n\tx = data[7]", "", "\tx = data[7]"),
    ("Final Answer:   \n  两格不是代码\n", "", "两格不是代码"),
    ("巴黎是法国的首都，也是法国最大的城市，有两百万人。", "巴黎是法国的首都，也是法国最大的城市，有两百万人。", ""),
]


@pytest.mark.parametrize(("text", "thought", "answer"), REACT)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1000])
def test_react_text_is_sorted_however_it_is_cut(text: str, thought: str, answer: str, size: int) -> None:
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert sort(ReactStream(), pieces) == (thought, answer)


@pytest.mark.parametrize(("text", "thought", "answer"), REACT)
def test_the_stream_and_the_parser_agree(text: str, thought: str, answer: str) -> None:
    try:
        parsed = PARSER.parse(text)
    except OutputParserException:
        return
    if isinstance(parsed, AgentFinish):
        assert sort(ReactStream(), list(text))[1] == parsed.return_values["output"]
    else:
        assert not sort(ReactStream(), list(text))[1]


@pytest.mark.shared
def test_the_stream_never_contradicts_the_parser_on_real_outputs(shared: Path) -> None:
    for line in (shared / "data" / "react_outputs.jsonl").read_text("utf-8").splitlines():
        raw = json.loads(line)["raw"]
        streamed = sort(ReactStream(), list(raw))[1]
        try:
            parsed = PARSER.parse(raw)
        except OutputParserException:
            assert not streamed
            continue
        answer = parsed.return_values["output"] if isinstance(parsed, AgentFinish) else ""
        assert streamed in ("", answer)


def test_the_answer_comes_out_while_it_is_written() -> None:
    stream = ReactStream()
    list(stream.feed("Thought: ok\nFinal Answer: "))
    assert [piece.text for text in ("第一", "句话", "。") for piece in stream.feed(text)] != []
    assert [piece.text for piece in stream.feed("第二句话")] == ["第二句话"]


def test_a_thought_comes_out_before_its_line_ends() -> None:
    stream = ReactStream()
    told = [piece.text for piece in stream.feed("Thought: " + "想" * 40)]
    assert "".join(told) == "想" * 40


def test_an_announcement_before_a_call_is_a_thought() -> None:
    stream = ToolCallStream()
    assert list(stream.feed("我先搜索一下。")) == []
    stream.note_tool_call()
    assert sort(stream, []) == ("我先搜索一下。", "")


def test_a_short_answer_without_a_call_is_an_answer() -> None:
    assert sort(ToolCallStream(), ["\n你好", "。"]) == ("", "你好。")


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_an_answer_that_begins_with_indented_code_keeps_its_indentation(size: int) -> None:
    text = "\n\n    x = data[7]\n\n" + "说" * CALL_HOLDBACK
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert sort(ToolCallStream(), pieces) == ("", text.lstrip("\n"))
    assert sort(UnlabelledStream(), pieces) == ("", text.lstrip("\n"))


def test_a_long_answer_streams() -> None:
    stream = ToolCallStream()
    told = list(stream.feed("答" * CALL_HOLDBACK))
    assert isinstance(told[0], TextPiece)
    assert [piece.text for piece in stream.feed("完")] == ["完"]


def test_thinking_beside_calls_is_a_thought() -> None:
    assert sort(ToolCallStream(), ["<thi", "nk>想</think>", "答"]) == ("想", "答")
