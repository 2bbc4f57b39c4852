"""What a model's stream is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ThoughtPiece:
    """Reasoning: shown apart, never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """The last piece of every stream."""

    input: int
    output: int
    estimated: bool
    cut_off: str = ""
    """Why the service ended the answer before its end: `length` or `content_filter`."""
    reasoning: int = 0
    """How much of the output the model only thought, where the service says so."""

    def __add__(self, other: TokenUsage) -> TokenUsage:
        """Of two calls for one answer, this one's end being the end."""
        return TokenUsage(
            self.input + other.input,
            self.output + other.output,
            self.estimated or other.estimated,
            self.cut_off,
            self.reasoning + other.reasoning,
        )


@dataclass(frozen=True, slots=True)
class SearchPiece:
    """The model has searched the web by itself, or has opened a page."""

    queries: tuple[str, ...]
    urls: tuple[str, ...]
    failed: bool = False


@dataclass(frozen=True, slots=True)
class CitationPiece:
    """The service vouches that the text cites this page."""

    url: str
    title: str
    here: bool
    """It is cited where the text ends at this moment."""


Piece = TextPiece | ThoughtPiece | TokenUsage
SearchingPiece = Piece | SearchPiece | CitationPiece
"""What the stream of a model that searches by itself is made of."""
