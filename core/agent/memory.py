"""The conversation so far for the agent's prompt: the newest messages that fit, and their searches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.answer.events import SearchFinished
from core.answer.message import Message
from core.base.text import one_line, shorten
from core.run import newest_messages

MESSAGE_LENGTH = 1_000
MAX_TITLES = 3

_CITATION = re.compile(r"\s?\[\d{1,3}\]")  # citation numbers of an earlier run would name other sources in this one


def history_text(history: Sequence[Message], budget: int) -> str:
    """Return the history, oldest first. One line per message, so that no text can pass for a label of the ReAct format."""
    kept = [line for _, line in newest_messages(history, budget, _message_line) if line]
    if not kept:
        return ""
    return "\n".join(("此前的对话（只是背景，不是这次的问题）：", *kept, ""))


def _message_line(message: Message) -> str:
    text = shorten(_CITATION.sub("", one_line(message.text)), MESSAGE_LENGTH)
    if message.role == "user":
        return f"用户：{text}" if text else ""
    searched = "；".join(_search_phrases(message))
    return f"助手：{text}" + (f"（当时搜索过：{searched}）" if searched else "") if text or searched else ""


def _search_phrases(message: Message) -> Iterator[str]:
    for event in message.events:
        if isinstance(event, SearchFinished):
            titles = "、".join(f"《{one_line(source.title)}》" for source in event.sources[:MAX_TITLES])
            yield f"「{one_line(event.response.query.text)}」" + (f"找到 {titles}" if titles else "没有找到结果")
