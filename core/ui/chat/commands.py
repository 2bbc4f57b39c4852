"""Parser for commands typed into the chat box."""

from __future__ import annotations

import re

from core.base.text import normalize

HELP = {
    "/search on": "打开联网搜索",
    "/search off": "关闭联网搜索",
    "/mode chat": "切换到 Chat 模式",
    "/mode agent": "切换到 Agent 模式",
    "/clear": "清空当前对话",
    "/help": "显示这份说明",
}
# One word of letters after the slash: a path such as /etc/hosts or a fraction such as /2 is a question, not a command.
_COMMAND = re.compile(r"/[a-z]+(?: [a-z]+)?")


def parse_command(text: str) -> str:
    """Return the command, known or not, in a message that is nothing but a command, else an empty text."""
    typed = normalize(text)
    return typed if _COMMAND.fullmatch(typed) else ""


def help_text() -> str:
    return "可以使用的命令：\n\n" + "\n".join(f"- `{command}`：{meaning}" for command, meaning in HELP.items())
