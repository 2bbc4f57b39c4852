from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.exceptions import OutputParserException

from core.agent.react_parser import FORMAT_HINT, ReactParser
from core.agent.tool_registry import ALIASES

PARSER = ReactParser(tools=("web_search", "case_search"), aliases=ALIASES)
WIDE = "\uff1a"


def read(text: str) -> tuple[str, Any]:
    parsed = PARSER.parse(text)
    if isinstance(parsed, AgentFinish):
        return "final", parsed.return_values["output"]
    return parsed.tool, parsed.tool_input


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Thought: t\nAction: web_search\nAction Input: 上海 人口", "上海 人口"),
        ("thought: t\naction: search\naction input: x", "x"),
        (f"思考{WIDE}要查\n行动{WIDE}搜索\n行动输入{WIDE}英伟达 CEO", "英伟达 CEO"),
        (f"思考: 好\nAction{WIDE} search\nAction Input{WIDE} “北京 天气”", "北京 天气"),
        ("**Thought:** t\n**Action:** Google\n**Action Input:** `python`", "python"),
        ("**Action**: search\n**Action Input**: x", "x"),
        ("### Action: search\n### Action Input: x", "x"),
        ("- Action: [search]\n- Action Input: x", "x"),
        ("Action 1: web_search\nAction Input 1: x", "x"),
        ("Action:\nweb_search\nAction Input:\nx", "x"),
        ("Action: `web_search`\nAction Input:\n```\nx\n```\n", "x"),
        ('Action: search("python 3.14")', "python 3.14"),
        ('Action: web_search(query="python 3.14")', "python 3.14"),
        (f"行动{WIDE}搜索\uff08北京天气\uff09", "北京天气"),
        (
            'Action: web_search\nAction Input: {"query": "x", "search_type": "news"}',
            {"query": "x", "search_type": "news"},
        ),
        ('Action: web_search\nAction Input: ```json\n{"query": "x"}\n```', {"query": "x"}),
        ('Action: web_search\nAction Input: {"q": "x"}', "x"),
        ('Action: web_search\nAction Input: {"query": "x"} and then I will read it', {"query": "x"}),
        ("Action: search Action Input: x", "x"),
        ("Action: I will use search to look this up\nAction Input: z", "z"),
        ("Action: search\nAction Input: https://example.org/a:b", "https://example.org/a:b"),
        ("Action: search\nAction Input: a\nAction: search\nAction Input: b", "a"),
        ("Action: search\nAction Input: a\nThis finds it.", "a"),
        ("<think>Final Answer: no</think>\nAction: search\nAction Input: x", "x"),
        ("I could say Final Answer: no</think>\nAction: search\nAction Input: x", "x"),
        ("Thought: the Final Answer: is unclear\nAction: search\nAction Input: z", "z"),
        ('I search.\n```json\n{"action": "search", "action_input": "x"}\n```', "x"),
        ('Action:\n```\n{"action": "web_search", "action_input": {"query": "x"}}\n```', {"query": "x"}),
        ('<tool_call>\n{"name": "web_search", "arguments": {"query": "x"}}\n</tool_call>', {"query": "x"}),
        ("Question: q?\nThought: t\nAction: search\nAction Input: x\nObservation: Paris\nFinal Answer: Paris", "x"),
    ],
)
def test_a_search_in_any_clothes(text: str, query: Any) -> None:
    assert read(text) == ("web_search", query)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Thought: ok\nFinal Answer: 42", "42"),
        (f"**最终答案{WIDE}** 巴黎", "巴黎"),
        (f"最终回答{WIDE}巴黎", "巴黎"),
        ("## Final Answer:\n1. a\n2. b", "1. a\n2. b"),
        ("Final Answer: **Paris** it is", "**Paris** it is"),
        ("Final Answer: 42\n\nQuestion: next?\nThought: hm\nAction: search\nAction Input: y", "42"),
        ("Final Answer: 42\nObservation: invented", "42"),
        (
            "Final Answer: 用法\nAction: search 是一个字段\nAction Input: 也是",
            "用法\nAction: search 是一个字段\nAction Input: 也是",
        ),
        (
            f"Final Answer: 常见情况\n问题{WIDE}太慢。\n办法{WIDE}重启。",
            f"常见情况\n问题{WIDE}太慢。\n办法{WIDE}重启。",
        ),
        ("Thought: I know. Final Answer: Paris", "Paris"),
        ("Action: Final Answer\nAction Input: Paris", "Paris"),
        ('{"action": "Final Answer", "action_input": "Paris"}', "Paris"),
        (f"想了想。\n答案{WIDE}巴黎", "巴黎"),
        ("<think>Action: search</think>Final Answer: 42", "42"),
    ],
)
def test_an_answer_in_any_clothes(text: str, answer: str) -> None:
    assert read(text) == ("final", answer)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "巴黎是法国的首都。",
        "<think>loop loop",
        "Thought: ok\nFinal Answer:",
        "Thought: 我要搜索\nAction: search",
        "Action: The answer has been revealed.\nAction Input: x",
        "Action: web_search\nAction Input:",
        "Action:\nAction Input: x",
        '{"action": "search"}',
        "{" * 5000,
    ],
)
def test_what_cannot_be_read_says_how_to_write(text: str) -> None:
    with pytest.raises(OutputParserException) as caught:
        PARSER.parse(text)
    assert caught.value.observation == FORMAT_HINT
    assert caught.value.send_to_llm


def test_a_tool_that_is_not_offered_keeps_its_name_for_the_executor_to_refuse() -> None:
    assert read("Action: shell\nAction Input: rm -rf /") == ("shell", "rm -rf /")
    assert read("Action: search_and_destroy\nAction Input: x")[0] == "search_and_destroy"


def test_a_name_of_its_own_goes_before_an_alias_inside_it() -> None:
    assert read("Action: case_search\nAction Input: x")[0] == "case_search"
    assert read("Action: use the case_search tool to search\nAction Input: x")[0] == "case_search"


def test_an_alias_means_nothing_when_its_tool_is_not_offered() -> None:
    parsed = ReactParser(tools=(), aliases=ALIASES).parse("Action: search\nAction Input: x")
    assert isinstance(parsed, AgentAction)
    assert parsed.tool == "search"


def test_the_log_ends_where_the_model_began_to_invent() -> None:
    parsed = PARSER.parse("Thought: t\nAction: search\nAction Input: x\nObservation: invented\nThought: u")
    assert parsed.log == "Thought: t\nAction: search\nAction Input: x"


@pytest.mark.shared
def test_real_outputs_of_a_small_model(shared: Path) -> None:
    """Every one is read or refused; none crashes, and all the handwritten ones mean what a person reads in them."""
    outcomes: dict[str, str] = {}
    standard: Counter[str] = Counter()
    ours: Counter[str] = Counter()
    for line in (shared / "data" / "react_outputs.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        try:
            kind = "final" if read(case["raw"])[0] == "final" else "action"
        except OutputParserException:
            kind = "none"
        outcomes[case["id"]] = kind
        if case["std_parser"] is not None:
            standard[case["std_parser"]] += 1
            ours[kind] += 1
    unreadable = {"hand-final_empty", "hand-no_input", "hand-think_unclosed"}
    handwritten = {name: kind for name, kind in outcomes.items() if not name.startswith("real-")}
    assert {name for name, kind in handwritten.items() if kind == "none"} == unreadable
    assert ours["action"] > standard["action"]
    assert ours["final"] >= standard["final"]
    assert outcomes["real-103"] == "action"
