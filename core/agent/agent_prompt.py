"""The agent's prompt: the choice of a template, and its conversion to LangChain's form.

A template is a file with `$name` placeholders, as in core/run/prompts. The part above a line of three dashes is the
system message, the part below is the question and the steps so far. Each variant has a form for native tool calling,
which needs no format. From an administrator's own file native tool calling uses the upper part only.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Template

from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import BaseTool

from core.answer.events import Notice
from core.base.paths import USER_DIR
from core.base.settings import ModelChoice
from core.base.text import is_chinese
from core.run.prompts import FOLDER

log = logging.getLogger(__name__)

NO_TOOLS = (
    "（现在没有任何工具可用，因为没有可用的搜索引擎。不要写 Action；"
    "请根据自己的知识直接写 Final Answer，并告诉用户：搜索不可用，回答没有经过联网核实。）"
)

NO_WEB = (
    "（联网搜索不可用：没有可用的搜索引擎，只有上面列出的工具。它们查不到的内容，"
    "请根据自己的知识回答，并告诉用户：联网搜索不可用，这部分没有经过联网核实。）"
)

VARIANTS = ("chinese", "english", "small")
TOOLS_SUFFIX = "_tools"
"""The suffix of a variant's form for native tool calling."""
# `$date` is filled in here; the others become LangChain's own variables.
_VARIABLES = {
    "tools": "{tools}",
    "tool_names": "{tool_names}",
    "history": "{history}",
    "question": "{input}",
    "steps": "{agent_scratchpad}",
}
_REQUIRED_PLACEHOLDERS = {"react": {"tools", "tool_names", "question", "steps"}, "tools": set[str]()}
_DIVIDER = re.compile(r"^---[ \t]*$", re.MULTILINE)


class InvalidTemplate(Exception):
    """A template that cannot be used. The message says in Chinese what is wrong with the file."""


@dataclass(frozen=True, slots=True)
class AgentPrompt:
    path: Path
    messages: ChatPromptTemplate
    notice: Notice | None = None


def build_agent_prompt(variant: str, *, strategy: str, question: str, model: ModelChoice, today: str) -> AgentPrompt:
    """Return the configured template, or the default and a notice if that one cannot be used."""
    default = _template_path("small" if model.is_small else "chinese" if is_chinese(question) else "english", strategy)
    if variant in {"auto", *VARIANTS}:
        path = default if variant == "auto" else _template_path(variant, strategy)
        return AgentPrompt(path, _load_template(path, strategy, today))
    path = USER_DIR / variant  # an absolute path stays as it is
    try:
        return AgentPrompt(path, _load_template(path, strategy, today))
    except InvalidTemplate as error:
        text = f"提示词模板 {path.name} 无法使用：{error}已改用默认模板。"
        log.warning("AGENT_PROMPT: %s", text)
        return AgentPrompt(default, _load_template(default, strategy, today), Notice("agent_prompt", text))


def _template_path(variant: str, strategy: str) -> Path:
    return FOLDER / f"agent_{variant}{TOOLS_SUFFIX if strategy == 'tools' else ''}.md"


def _load_template(path: Path, strategy: str, today: str) -> ChatPromptTemplate:
    try:
        return _build_template(path, strategy, today, path.stat().st_mtime_ns)
    except FileNotFoundError:
        raise InvalidTemplate("文件不存在，") from None
    except (OSError, UnicodeError):
        raise InvalidTemplate("文件无法读取（需要 UTF-8 编码），") from None


@lru_cache(maxsize=32)  # LangChain takes milliseconds to read a template
def _build_template(path: Path, strategy: str, today: str, modified_ns: int) -> ChatPromptTemplate:
    text = _fill_placeholders(Template(path.read_text("utf-8-sig")), _REQUIRED_PLACEHOLDERS[strategy], today)
    system, *rest = _DIVIDER.split(text, maxsplit=1)
    if strategy == "tools":
        return ChatPromptTemplate.from_messages(
            [("system", system.strip()), ("human", "{history}{input}"), ("placeholder", "{agent_scratchpad}")]
        )
    if not rest:
        return ChatPromptTemplate.from_messages([("human", text.strip())])
    return ChatPromptTemplate.from_messages([("system", system.strip()), ("human", rest[0].strip())])


def _fill_placeholders(template: Template, required: set[str], today: str) -> str:
    if not template.is_valid():
        raise InvalidTemplate("有写错的 $ 占位符（要写 $ 本身请写 $$），")
    names = set(template.get_identifiers())
    if missing := required - names:
        raise InvalidTemplate(f"缺少占位符 {_list_placeholders(missing)}，")
    if unknown := names - {"date", *_VARIABLES}:
        raise InvalidTemplate(f"有无法识别的占位符 {_list_placeholders(unknown)}，")
    marked = template.substitute({name: f"\ue000{name}\ue001" for name in _VARIABLES}, date=today)
    # Braces are LangChain's placeholders, so the braces in the file are escaped.
    escaped = marked.replace("{", "{{").replace("}", "}}")
    return re.sub("\ue000(.*?)\ue001", lambda mark: _VARIABLES[mark[1]], escaped)


def _list_placeholders(names: set[str]) -> str:
    return "、".join(f"${name}" for name in sorted(names))


def describe_tools(tools: Sequence[BaseTool]) -> str:
    """Return the tools as the prompt lists them, with the arguments of each."""
    if not tools:
        return NO_TOOLS
    listed = [f"{tool.name} - {tool.description}\n{_describe_arguments(tool)}" for tool in tools]
    return "\n".join(listed if any(tool.name == "web_search" for tool in tools) else (*listed, NO_WEB))


def _describe_arguments(tool: BaseTool) -> str:
    if isinstance(tool.args_schema, dict):
        return f"  输入（写成 JSON，格式如下）：{json.dumps(tool.args_schema, ensure_ascii=False)}"
    fields = getattr(tool.args_schema, "model_fields", {})
    lines = [f"  {name}：{field.description or ''}" for name, field in fields.items()]
    return "\n".join(("  输入（只有一个时直接写，有几个时写成 JSON）：", *lines))
