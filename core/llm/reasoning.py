"""The reasoning of a model: in a field of its own, or between tags in its text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.llm.pieces import TextPiece, ThoughtPiece

REASONING_FIELDS = ("reasoning_content", "reasoning")
_OPEN, _CLOSE = "<think>", "</think>"


def reasoning_field(fields: Any) -> dict[str, str]:
    """Return the field and its text, or an empty dict. Servers that send both names send the same text twice."""
    for name in REASONING_FIELDS:
        text = fields.get(name) if isinstance(fields, dict) else None
        if isinstance(text, str) and text:
            return {name: text}
    return {}


def reasoning_text(message: Any) -> str:
    """Return the reasoning in a LangChain message or message chunk."""
    return "".join(reasoning_field(message.additional_kwargs).values())


class ThinkSplitter:
    """Separates `<think>…</think>` from the answer while it streams. Only a block at the very beginning counts. Later
    on, the tag is a word that the answer talks about."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"

    def feed(self, text: str) -> Iterator[TextPiece | ThoughtPiece]:
        """Take the next text and yield the pieces that can be told apart now."""
        self._held += text
        if self._state == "start":
            head = self._held.lstrip()
            if head.startswith(_OPEN):
                self._state, self._held = "thinking", head[len(_OPEN) :]
            elif not _OPEN.startswith(head):
                self._state = "answering"
            else:
                return
        if self._state == "thinking":
            yield from self._release_thought()
        if self._state == "thought":  # blanks before the first word are no part of the answer
            self._held = self._held.lstrip()
            self._state = "answering" if self._held else "thought"
        if self._state == "answering" and self._held:
            yield TextPiece(self._held)
            self._held = ""

    def end(self) -> Iterator[TextPiece | ThoughtPiece]:
        """Yield the text that was held back because it could have become a tag."""
        held, self._held = self._held, ""
        if held:
            yield ThoughtPiece(held) if self._state == "thinking" else TextPiece(held)

    def _release_thought(self) -> Iterator[ThoughtPiece]:
        thought, closed, rest = self._held.partition(_CLOSE)
        if closed:
            self._state, self._held = "thought", rest
        else:
            safe = len(thought) - (len(_CLOSE) - 1)
            thought, self._held = thought[: max(safe, 0)], thought[max(safe, 0) :]
        if thought:
            yield ThoughtPiece(thought)


def strip_thinking(text: str) -> str:
    """Return a whole text without its `<think>` block."""
    splitter = ThinkSplitter()
    pieces = [*splitter.feed(text), *splitter.end()]
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))
