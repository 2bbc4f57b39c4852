"""Parser for commands typed into the chat box."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from core.base.text import normalize

CommandName = Literal["search_on", "search_off", "mode_chat", "mode_agent", "clear", "help", "unknown"]


@dataclass(frozen=True, slots=True)
class Command:
    name: CommandName
    typed: str


HELP: tuple[tuple[str, str], ...] = (
    ("/search on", "打开联网搜索"),
    ("/search off", "关闭联网搜索"),
    ("/mode chat", "切换到 Chat 模式"),
    ("/mode agent", "切换到 Agent 模式"),
    ("/clear", "清空当前对话"),
    ("/help", "显示这份说明"),
)
_NAMES: dict[str, CommandName] = {
    "/search on": "search_on",
    "/search off": "search_off",
    "/mode chat": "mode_chat",
    "/mode agent": "mode_agent",
    "/clear": "clear",
    "/help": "help",
}
# One word of letters after the slash: a path such as /etc/hosts or a fraction such as /2 is a question, not a command.
_COMMAND = re.compile(r"/[a-z]+(?: [a-z]+)?")


def parse_command(text: str) -> Command | None:
    """Return the command in a message that is nothing but a command, else None."""
    typed = normalize(text)
    if not _COMMAND.fullmatch(typed):
        return None
    return Command(_NAMES.get(typed, "unknown"), typed)


def help_text() -> str:
    return "可以使用的命令：\n\n" + "\n".join(f"- `{command}`：{meaning}" for command, meaning in HELP)
