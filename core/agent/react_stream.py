"""Separates thoughts from the answer in a growing model output, while it streams.

A step must not be shown as the answer, nor the answer as a thought, so a little text is held back. The parser decides
about the whole text; these streams only decide where its pieces are drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Protocol

from core.agent.parser import AFTER_ANSWER, label
from core.llm.pieces import TextPiece, ThoughtPiece
from core.llm.reasoning import ThinkSplitter

Piece = TextPiece | ThoughtPiece

HELD_FOR_A_LABEL = 24
"""Characters of a line that are held back. `**Final Answer:**` and similar labels fit; a longer line has no label."""
HELD_FOR_A_CALL = 120
"""Characters that are held back. Models often announce a tool call in a short sentence; an answer is longer."""


class Stream(Protocol):
    def feed(self, text: str) -> Iterator[Piece]: ...

    def calls_tool(self) -> None: ...

    def end(self) -> Iterator[Piece]: ...


_LABEL = label("final", "input", "action", "thought", "observation", "question")
_COULD_END_ANSWER = re.compile(r"[ \t*]*(?:o\w{0,10}|q\w{0,7}|观察?(?:结果?)?)?[ \t*]*[:\uff1a]?\Z", re.IGNORECASE)


class ReactStream:
    """A stream of ReAct text: thoughts up to the first Action, the answer from `Final Answer:` on."""

    def __init__(self) -> None:
        self._think = ThinkSplitter()
        self._line = ""
        self._state = "thought"  # then "silent" from an action on, or "answer", and "over" after an invented label
        self._at_line_start = True
        self._blanks = ""
        self._written = False

    def feed(self, text: str) -> Iterator[Piece]:
        for piece in self._think.feed(text):
            yield from self._take(piece)

    def calls_tool(self) -> None:
        """Do nothing: ReAct text has no native tool calls."""

    def end(self) -> Iterator[Piece]:
        for piece in self._think.end():
            yield from self._take(piece)
        yield from self._lines(ended=True)

    def _take(self, piece: Piece) -> Iterator[Piece]:
        if isinstance(piece, ThoughtPiece):
            yield piece
        else:
            self._line += piece.text
            yield from self._lines()

    def _lines(self, *, ended: bool = False) -> Iterator[Piece]:
        """Yield pieces line by line, because a label stands at the beginning of a line. The last line may still be
        growing."""
        while self._line and self._state not in {"silent", "over"}:
            line, newline, rest = self._line.partition("\n")
            if self._at_line_start and self._undecided(line) and not (newline or ended):
                return
            found = self._label().match(line) if self._at_line_start else None
            if found:
                self._enter(found)
                self._line = line[found.end() :] + newline + rest
                self._at_line_start = False
                continue
            self._line, self._at_line_start = rest, bool(newline)
            yield from self._said(line + newline)

    def _undecided(self, line: str) -> bool:
        if self._state == "answer":
            return bool(_COULD_END_ANSWER.match(line))
        found = _LABEL.match(line)
        return len(line) - found.end() < 3 if found else len(line) < HELD_FOR_A_LABEL

    def _label(self) -> re.Pattern[str]:
        return AFTER_ANSWER if self._state == "answer" else _LABEL

    def _enter(self, found: re.Match[str]) -> None:
        if self._state == "answer":
            self._state = "over"
            return
        names = found.groupdict()
        if names["final"]:
            self._state, self._written, self._blanks = "answer", False, ""
        elif not (names["thought"] or names["question"]):
            self._state = "silent"

    def _said(self, text: str) -> Iterator[Piece]:
        """Yield the text without blanks at either end. They are held back until more text follows."""
        text = self._blanks + text
        if not self._written:
            text = text.lstrip()
        stripped = text.rstrip()
        self._blanks = text[len(stripped) :]
        if stripped:
            self._written = True
            yield TextPiece(stripped) if self._state == "answer" else ThoughtPiece(stripped)


class PlainStream(ReactStream):
    """A stream of an answer requested without a format, from a model that still writes some labels. Text without a
    label is the answer; text after an action, an observation or a question is imagined."""

    def __init__(self) -> None:
        super().__init__()
        self._state = "answer"
        self._labelled = False

    def _undecided(self, line: str) -> bool:
        if self._labelled:
            return super()._undecided(line)
        found = _LABEL.match(line)
        return len(line) - found.end() < 3 if found else len(line) < HELD_FOR_A_LABEL

    def _label(self) -> re.Pattern[str]:
        return AFTER_ANSWER if self._labelled else _LABEL

    def _enter(self, found: re.Match[str]) -> None:
        if self._labelled:
            self._state = "over"
        elif found["final"]:
            self._state, self._labelled = "answer", True
        else:
            self._state = "thought" if found["thought"] else "silent"


class ToolCallStream:
    """A stream of text beside native tool calls: the answer, unless a call follows; then it was a thought."""

    def __init__(self) -> None:
        self._think = ThinkSplitter()
        self._held = ""
        self._state = "open"
        self._written = False

    def feed(self, text: str) -> Iterator[Piece]:
        yield from self._sorted(self._think.feed(text))

    def calls_tool(self) -> None:
        self._state = "calling"

    def end(self) -> Iterator[Piece]:
        yield from self._sorted(self._think.end())
        if self._state == "open":
            self._state = "answer"
        yield from self._release()

    def _sorted(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        for piece in pieces:
            if isinstance(piece, ThoughtPiece):
                yield piece
                continue
            self._held += piece.text
            if self._state == "open" and len(self._held) >= HELD_FOR_A_CALL:
                self._state = "answer"
            if self._state != "open":
                yield from self._release()

    def _release(self) -> Iterator[Piece]:
        held, self._held = self._held if self._written else self._held.lstrip(), ""
        if held:
            self._written = True
            yield ThoughtPiece(held) if self._state == "calling" else TextPiece(held)
