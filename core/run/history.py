"""The part of a conversation that a model is sent again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.answer.message import Message
from core.llm import estimate_tokens


def newest_messages(
    history: Sequence[Message], budget: int, format_message: Callable[[Message], str]
) -> list[tuple[Message, str]]:
    """Return the newest messages, without notes, that fit the budget of tokens; oldest first, with formatted texts."""
    kept: list[tuple[Message, str]] = []
    for message in reversed([message for message in history if message.role != "note"]):
        text = format_message(message)
        budget -= estimate_tokens(text)
        if budget < 0:
            break
        kept.append((message, text))
    return kept[::-1]
