"""The types of text recognition (OCR): lines in a picture, and pages whose text was recognized."""

from __future__ import annotations

from dataclasses import dataclass

Box = tuple[float, float, float, float]
"""Left, top, right and bottom in pixels."""
Spans = tuple[tuple[int, int], ...]
MAX_LINES, MAX_LINE_LENGTH = 1_000, 1_000
"""Limits of one picture."""


@dataclass(frozen=True, slots=True)
class RecognizedLine:
    """A line, or a piece of one, in a picture."""

    text: str
    confidences: tuple[float, ...]
    """For each character, from 0 to 1."""
    box: Box
    """Where it would be if the page lay straight."""


@dataclass(frozen=True, slots=True)
class RecognizedPage:
    """A page whose text was recognized in its picture."""

    number: int
    text: str
    """Cleaned text in reading order, one line for each line of the page."""
    uncertain: Spans
    """Start and end of the values in the text that may be wrong."""
    confidence: float
    """Mean of all characters, from 0 to 1."""
    problem: str = ""
    """Sentence that says why the page was not recognized; otherwise empty."""
