"""What a model's stream is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ThoughtPiece:
    """Reasoning that the model wrote between <think> tags: shown apart, never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class TokenUsage:
    input: int
    output: int
    estimated: bool


Piece = TextPiece | ThoughtPiece | TokenUsage
