"""Separates thoughts from the answer in a growing model output, while it streams.

A step must not be shown as the answer, nor the answer as a thought, so a little text is held back. The parser decides
about the whole text; these streams only decide where its pieces are drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Protocol

from core.agent.react_parser import AFTER_ANSWER, label_pattern, strip_leading_blanks
from core.llm import ThinkSplitter
from core.llm.pieces import TextPiece, ThoughtPiece

OutputPiece = TextPiece | ThoughtPiece

LABEL_HOLDBACK = 24
"""Characters of a line that are held back. `**Final Answer:**` and similar labels fit; a longer line has no label."""
CALL_HOLDBACK = 120
"""Characters that are held back. Models often announce a tool call in a short sentence; an answer is longer."""


class OutputStream(Protocol):
    @property
    def may_take_back(self) -> bool:
        """True if what was yielded as the answer may turn out to be a thought."""

    def feed(self, text: str) -> Iterator[OutputPiece]: ...

    def note_tool_call(self) -> None: ...

    def end(self) -> Iterator[OutputPiece]: ...


_LABEL = label_pattern("final", "input", "action", "thought", "observation", "question")
_COULD_END_ANSWER = re.compile(r"[ \t*]*(?:o\w{0,10}|q\w{0,7}|观察?(?:结果?)?)?[ \t*]*[:\uff1a]?\Z", re.IGNORECASE)


class ReactStream:
    """A stream of ReAct text: thoughts up to the first Action, the answer from `Final Answer:` on."""

    may_take_back = False

    def __init__(self) -> None:
        self._think = ThinkSplitter()
        self._line = ""
        self._state = "thought"  # then "silent" from an action on, or "answer", and "over" after an invented label
        self._at_line_start = True
        self._blanks = ""
        self._written = False

    def feed(self, text: str) -> Iterator[OutputPiece]:
        for piece in self._think.feed(text):
            yield from self._handle_piece(piece)

    def note_tool_call(self) -> None:
        """Do nothing: ReAct text has no native tool calls."""

    def end(self) -> Iterator[OutputPiece]:
        for piece in self._think.end():
            yield from self._handle_piece(piece)
        yield from self._release_lines(is_end=True)

    def _handle_piece(self, piece: OutputPiece) -> Iterator[OutputPiece]:
        if isinstance(piece, ThoughtPiece):
            yield piece
        else:
            self._line += piece.text
            yield from self._release_lines()

    def _release_lines(self, *, is_end: bool = False) -> Iterator[OutputPiece]:
        """Yield pieces line by line: a label stands at the beginning of a line. The last line may still be growing."""
        while self._line and self._state not in {"silent", "over"}:
            line, newline, rest = self._line.partition("\n")
            if self._at_line_start and self._is_undecided(line) and not (newline or is_end):
                return
            labels = AFTER_ANSWER if self._is_in_labelled_answer else _LABEL
            if self._at_line_start and (label := labels.match(line)):
                self._enter_section(label)
                self._line = line[label.end() :] + newline + rest
                self._at_line_start = False
                continue
            self._line, self._at_line_start = rest, bool(newline)
            yield from self._release_text(line + newline)

    @property
    def _is_in_labelled_answer(self) -> bool:
        return self._state == "answer"

    def _is_undecided(self, line: str) -> bool:
        if self._is_in_labelled_answer:
            return bool(_COULD_END_ANSWER.match(line))
        label = _LABEL.match(line)
        return len(line) - label.end() < 3 if label else len(line) < LABEL_HOLDBACK

    def _enter_section(self, label: re.Match[str]) -> None:
        if self._is_in_labelled_answer:
            self._state = "over"
        elif label["final"]:
            self._state, self._written, self._blanks = "answer", False, ""
        elif not (label["thought"] or label["question"]):
            self._state = "silent"

    def _release_text(self, text: str) -> Iterator[OutputPiece]:
        """Yield the text without blanks at either end. They are held back until more text follows."""
        text = self._blanks + text
        stripped = text.rstrip()
        self._blanks = text[len(stripped) :]
        if stripped:
            stripped = stripped if self._written else strip_leading_blanks(stripped)
            self._written = True
            yield TextPiece(stripped) if self._state == "answer" else ThoughtPiece(stripped)


class UnlabelledStream(ReactStream):
    """A stream of an answer requested without a format, from a model that may still write labels. Text without a label
    is the answer; text after an action, an observation or a question is imagined."""

    def __init__(self) -> None:
        super().__init__()
        self._state = "answer"
        self._labelled = False

    @property
    def _is_in_labelled_answer(self) -> bool:
        return self._labelled

    def _enter_section(self, label: re.Match[str]) -> None:
        if self._labelled:
            self._state = "over"
        elif label["final"]:
            self._state, self._labelled = "answer", True
        else:
            self._state = "thought" if label["thought"] else "silent"


class ToolCallStream:
    """A stream of text beside native tool calls: the answer, unless a call follows; then it was a thought."""

    may_take_back = True

    def __init__(self) -> None:
        self._think = ThinkSplitter()
        self._pending = ""
        self._state = "open"
        self._written = False

    def feed(self, text: str) -> Iterator[OutputPiece]:
        yield from self._sort_pieces(self._think.feed(text))

    def note_tool_call(self) -> None:
        self._state = "calling"

    def end(self) -> Iterator[OutputPiece]:
        yield from self._sort_pieces(self._think.end())
        if self._state == "open":
            self._state = "answer"
        yield from self._release()

    def _sort_pieces(self, pieces: Iterable[OutputPiece]) -> Iterator[OutputPiece]:
        for piece in pieces:
            if isinstance(piece, ThoughtPiece):
                yield piece
                continue
            self._pending += piece.text
            if self._state == "open" and len(self._pending) >= CALL_HOLDBACK:
                self._state = "answer"
            if self._state != "open":
                yield from self._release()

    def _release(self) -> Iterator[OutputPiece]:
        if held := self._pending if self._written else strip_leading_blanks(self._pending):
            self._pending, self._written = "", True
            yield ThoughtPiece(held) if self._state == "calling" else TextPiece(held)
