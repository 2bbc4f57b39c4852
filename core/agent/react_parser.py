"""A parser of the ReAct format, as models really write it.

A label counts only at the beginning of a line: `Thought: the Final Answer: is unclear` is a thought. The first Action
or Final Answer decides, because everything after it is imagined by the model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.exceptions import OutputParserException

from core.agent.classic import AgentOutputParser
from core.base.text import normalize

FORMAT_HINT = (
    "（上面的输出无法识别。需要使用工具时，写「Action: 工具名」和「Action Input: 输入」两行；"
    "可以回答时，写「Final Answer: 回答」。请只按这种格式继续。）"
)

_COLON = "[:\uff1a]"
_NAMES = {
    "final": r"final[ \t_]*answer|最终(?:答案|回答|答复)|最后的?(?:答案|回答)",
    "action": r"action|行动|动作|操作|(?:调用|使用)?工具(?:名称?)?",
    "input": r"action[ \t_]*input|(?:行动|动作|操作|工具)[ \t]*(?:的)?输入|输入|参数",
    "thought": r"thought|thinking|思考|想法",
    "observation": r"observation|观察(?:结果)?",
    "question": r"question|问题",
    "answer": r"(?:the )?answer|答案|回答",
}


def label_pattern(*names: str) -> re.Pattern[str]:
    """Return the pattern of a label at the beginning of a line: `Action:`, `**Action:**`, `### 行动：`, `Action 2:`."""
    words = "|".join(f"(?P<{name}>{_NAMES[name]})" for name in names)
    return re.compile(
        rf"^[ \t]*(?:[-*+>#]+[ \t]+)*(?P<bold>[*_`]{{1,3}})?(?:{words})[ \t]*\d{{0,2}}[ \t]*"
        rf"(?:(?P<closed>[*_`]{{1,3}})[ \t]*)?{_COLON}(?(closed)|(?(bold)(?:[ \t]*[*_`]{{1,3}})?))"
        r"(?:[ \t](?=[ \t]{4})|[ \t]*)",  # four more blanks are the indentation of code
        re.IGNORECASE | re.MULTILINE,
    )


def strip_blanks(text: str) -> str:
    """Return the text without blanks around it, but with the indentation by which it begins as a block of code."""
    return strip_leading_blanks(text).rstrip()


def strip_leading_blanks(text: str) -> str:
    """Return the text without blanks before its first word, unless they are the indentation of code."""
    words = text.lstrip()
    indentation = text[: len(text) - len(words)].rpartition("\n")[2]
    is_code = words and len(indentation.expandtabs(_CODE_INDENTATION)) >= _CODE_INDENTATION
    return indentation + words if is_code else words


_CODE_INDENTATION = 4

_DECISION = label_pattern("final", "action")
_INPUT = label_pattern("input")
_ANY = label_pattern("final", "input", "action", "thought", "observation", "question")
# Labels that a model invents after its answer. 问题 is not among them: answers have lines that begin with that word.
AFTER_ANSWER = re.compile(
    rf"{label_pattern('observation').pattern}|^[ \t]*\**question[ \t]*\**:", re.IGNORECASE | re.MULTILINE
)
_PLAIN_ANSWER = label_pattern("answer")

_THINK = re.compile(r"\A(?:\s*<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z))+", re.DOTALL | re.IGNORECASE)
_THINK_END = re.compile(r"\A(?:(?!<think).)*</(?:think|thinking)>", re.DOTALL | re.IGNORECASE)
_FINAL_INSIDE = re.compile(rf"(?:{_NAMES['final']})[ \t*_]*{_COLON}[*_]*", re.IGNORECASE)
_INPUT_INSIDE = re.compile(rf"[ \t,;]+action[ \t_]*input[ \t*]*{_COLON}", re.IGNORECASE)
_FENCE = re.compile(r"^\s*```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_CALL = re.compile(r"([\w \t.-]+?)[ \t]*[(\uff08](.*)[)\uff09][ \t]*;?", re.DOTALL)
_KEYWORD = re.compile(r"^\s*[A-Za-z_]\w*\s*=\s*(?=[\"'“「])")
_QUOTES = {'"': '"', "'": "'", "“": "”", "「": "」", "『": "』", "《": "》", "`": "`"}
_FINISH_NAMES = {
    *("final answer", "final_answer", "finalanswer", "finish", "answer", "最终答案", "最终回答", "回答", "结束")
}


class ReactParser(AgentOutputParser):
    """Returns an AgentAction or an AgentFinish, or raises an OutputParserException that tells the model what to write."""

    tools: tuple[str, ...]
    aliases: Mapping[str, Sequence[str]] = {}
    with_names: frozenset[str] = frozenset()
    """The tools whose arguments keep their names, also where there is only one. They may have none at all."""

    def parse(self, text: str) -> AgentAction | AgentFinish:
        said = _strip_thinking(text)
        decision = _DECISION.search(said)
        if decision and decision["final"]:
            return self._build_finish(said, said[decision.end() :])
        if decision:
            return self._parse_action(said, decision)
        if blob := _json_decision(said):
            return self._build_step(said, *blob)
        if answer := _FINAL_INSIDE.search(said) or _PLAIN_ANSWER.search(said):
            return self._build_finish(said, said[answer.end() :])
        raise _unreadable_error(said)

    def _parse_action(self, said: str, decision: re.Match[str]) -> AgentAction | AgentFinish:
        end = next((match.start() for match in _ANY.finditer(said, decision.end())), len(said))
        named = said[decision.end() : end].strip()
        if blob := _json_decision(named):
            return self._build_step(said[:end], *blob)
        if given := _INPUT.match(said, end):
            end = next((match.start() for match in _ANY.finditer(said, given.end())), len(said))
            return self._build_step(said[:end], _first_line(named), said[given.end() : end])
        if inside := _INPUT_INSIDE.search(named):  # everything on one line
            return self._build_step(said[:end], named[: inside.start()], named[inside.end() :])
        if call := _CALL.fullmatch(_strip_decoration(_first_line(named))):
            return self._build_step(said[:end], call[1], _KEYWORD.sub("", call[2]))
        raise _unreadable_error(said)

    def _build_step(self, log: str, name: str, tool_input: Any) -> AgentAction | AgentFinish:
        tool = self._resolve_tool(name)
        if normalize(_strip_decoration(name)) in _FINISH_NAMES and tool not in self.tools:
            return self._build_finish(log, tool_input if isinstance(tool_input, str) else str(tool_input))
        keeps_names = tool in self.with_names
        tool_input = _parse_tool_input(tool_input, keeps_names=keeps_names)
        if not tool or not (tool_input or keeps_names):
            raise _unreadable_error(log)
        return AgentAction(tool=tool, tool_input=tool_input, log=log.strip())

    def _build_finish(self, log: str, answer: str) -> AgentFinish:
        invented = AFTER_ANSWER.search(answer)
        answer = strip_blanks(answer[: invented.start()] if invented else answer)
        if not answer:
            raise _unreadable_error(log)
        return AgentFinish({"output": answer}, log=log.strip())

    def _resolve_tool(self, tool_name: str) -> str:
        """Return the offered tool that is meant; else the written name, which the executor will refuse."""
        tool_name = _strip_decoration(tool_name)
        wanted = normalize(tool_name)
        names = {normalize(name): name for name in self.tools}
        names |= {normalize(alias): name for name in self.tools for alias in self.aliases.get(name, ())}
        if wanted in names:
            return names[wanted]
        if re.fullmatch(r"[\w.-]+", wanted) and wanted.isascii():
            return tool_name  # a plain name that is not one of our tools
        inside = [name for name in sorted(names, key=len, reverse=True) if _mentions(wanted, name)]
        return names[inside[0]] if inside else ""


def _strip_thinking(text: str) -> str:
    text = _THINK.sub("", text)
    return _THINK_END.sub("", text).strip()  # some servers swallow the opening tag


def _unreadable_error(said: str) -> OutputParserException:
    return OutputParserException(
        "unreadable ReAct output", observation=FORMAT_HINT, llm_output=said[:1000], send_to_llm=True
    )


def _first_line(text: str) -> str:
    fenced = _FENCE.match(text)
    text = fenced[1] if fenced else text
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _strip_decoration(text: str) -> str:
    """Return the text without the quotes, brackets and emphasis around it."""
    return text.strip(" \t\r\n`*_\"'“”「」『』[]【】<>{}。.,，;；")


def _mentions(sentence: str, name: str) -> bool:
    edge = r"(?![a-z0-9_])" if name.isascii() else ""
    return bool(re.search(rf"{edge and '(?<![a-z0-9_])'}{re.escape(name)}{edge}", sentence))


def _parse_tool_input(raw_input: Any, *, keeps_names: bool = False) -> str | dict[str, Any]:
    """Return the tool's arguments from JSON; anything else is one line of text."""
    if isinstance(raw_input, str):
        fenced = _FENCE.match(raw_input)
        raw_input = (fenced[1] if fenced else raw_input).strip()
        raw_input = _json_at(raw_input, 0) or _strip_quotes(_first_line(raw_input))
    if isinstance(raw_input, dict):
        texts = [value for value in raw_input.values() if isinstance(value, str)]
        if not keeps_names and "query" not in raw_input and len(raw_input) == 1 and texts:
            return texts[0].strip()  # {"q": …}, {"input": …}
        return raw_input
    return str(raw_input).strip()


def _strip_quotes(text: str) -> str:
    while len(text) > 1 and _QUOTES.get(text[0]) == text[-1]:
        text = text[1:-1].strip()
    return text


def _json_decision(text: str) -> tuple[str, Any] | None:
    """Return name and input from `{"action": …, "action_input": …}`, or from a tool call that is left in the text."""
    for brace in re.finditer(r"\{", text[:4000]):
        found = _json_at(text, brace.start())
        if isinstance(found, dict):
            name = found.get("action") or found.get("tool") or found.get("name")
            keys = ("action_input", "input", "arguments", "parameters", "args", "tool_input")
            given = next((found[key] for key in keys if key in found), None)
            return (name, given) if isinstance(name, str) and given is not None else None
    return None


def _json_at(text: str, start: int) -> Any:
    if text[start : start + 1] not in {"{", '"'}:
        return None
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return None
