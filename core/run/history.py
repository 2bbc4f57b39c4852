"""How much of a conversation a model is told again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.answer.message import Message
from core.llm.tokens import estimate_tokens


def newest(history: Sequence[Message], budget: int, told: Callable[[Message], str]) -> list[tuple[Message, str]]:
    """The newest messages that fit the budget of tokens, oldest first, each as it will be told; never a note."""
    kept: list[tuple[Message, str]] = []
    for message in reversed([message for message in history if message.role != "note"]):
        text = told(message)
        budget -= estimate_tokens(text)
        if budget < 0:
            break
        kept.append((message, text))
    return kept[::-1]
