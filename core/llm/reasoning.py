"""Splits `<think>…</think>`, which reasoning models write into their text, from the answer, while it streams."""

from __future__ import annotations

from collections.abc import Iterator

from core.llm.pieces import TextPiece, ThoughtPiece

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkSplitter:
    """Only a block at the very beginning counts: later on, the tag is something the answer talks about."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"

    def feed(self, text: str) -> Iterator[TextPiece | ThoughtPiece]:
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
            yield from self._thought()
        if self._state == "answering" and self._held:
            yield TextPiece(self._held)
            self._held = ""

    def end(self) -> Iterator[TextPiece | ThoughtPiece]:
        """What was held back because it could have become a tag."""
        held, self._held = self._held, ""
        if held:
            yield ThoughtPiece(held) if self._state == "thinking" else TextPiece(held)

    def _thought(self) -> Iterator[ThoughtPiece]:
        thought, closed, rest = self._held.partition(_CLOSE)
        if closed:
            self._state, self._held = "answering", rest.lstrip()
        else:
            safe = len(thought) - (len(_CLOSE) - 1)
            thought, self._held = thought[: max(safe, 0)], thought[max(safe, 0) :]
        if thought:
            yield ThoughtPiece(thought)
