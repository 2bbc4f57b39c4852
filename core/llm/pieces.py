"""The pieces of a model's stream: text, thoughts, searches, citations and the token usage."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ThoughtPiece:
    """A piece of reasoning: shown apart, never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """The tokens of one call: the last piece of every stream."""

    input: int
    output: int
    estimated: bool
    cut_off: str = ""
    """The reason why the service ended the answer early: `length` or `content_filter`; empty if it is complete."""
    reasoning: int = 0
    """The output tokens spent on reasoning, where the service reports them."""

    def __add__(self, other: TokenUsage) -> TokenUsage:
        """Add the tokens of another call for the same answer. `cut_off` is this call's."""
        return TokenUsage(
            self.input + other.input,
            self.output + other.output,
            self.estimated or other.estimated,
            self.cut_off,
            self.reasoning + other.reasoning,
        )


@dataclass(frozen=True, slots=True)
class SearchPiece:
    """A web search that the model made itself, or a page that it opened."""

    queries: tuple[str, ...]
    urls: tuple[str, ...]
    failed: bool = False


@dataclass(frozen=True, slots=True)
class CitationPiece:
    """A page that the text cites, as the service reports it."""

    url: str
    title: str
    is_at_end: bool
    """True if the citation belongs to the end of the text so far."""


Piece = TextPiece | ThoughtPiece | TokenUsage
SearchingPiece = Piece | SearchPiece | CitationPiece
"""A piece of the stream of a model that searches the web itself."""
