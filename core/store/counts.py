"""Counts of records, as the database groups them."""

from __future__ import annotations

from typing import NamedTuple


class SearchCount(NamedTuple):
    part: int
    """Start of the minute, hour or day that these searches ended in."""
    type: str
    engine: str
    outcome: str
    cache: str
    kind: str
    times: int


class AttemptCount(NamedTuple):
    engine: str
    outcome: str
    kind: str
    place: int
    """Number of engines that were asked before."""
    seconds: float
    times: int


class AnswerCount(NamedTuple):
    part: int
    mode: str
    model: str
    ending: str
    kind: str
    estimated: bool
    iterations: int
    times: int
    input: int
    output: int
    tool_calls: int


class SecondsCount(NamedTuple):
    """Complete answers that took about so many seconds."""

    part: int
    mode: str
    seconds: float
    times: int


class TokenUse(NamedTuple):
    """How often a token was used in an hour, or in a span."""

    token_id: str
    """Empty for programs on this machine that call without one."""
    at: float
    """Start of the hour or of the span."""
    outcome: str
    times: int


class TokenAnswers(NamedTuple):
    """Questions that programs asked with a token, and what their models have read and written."""

    token_id: str
    times: int
    input: int
    output: int


class Counts(NamedTuple):
    searches: list[SearchCount]
    attempts: list[AttemptCount]
    answers: list[AnswerCount]
    answer_seconds: list[SecondsCount]
