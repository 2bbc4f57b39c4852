"""One order of what a search finds by words and by meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

_MEANING = 1.25
"""Weight of the closest meaning beside the best hit by words. docs/benchmarks.md has the data."""

Found = TypeVar("Found")


def fuse_scores(word_scores: Mapping[Found, float], semantic_scores: Mapping[Found, float]) -> dict[Found, float]:
    """Return all that was found by words or by meaning, with the sum of both scores."""
    worded, meant = _shares(word_scores, 0.0), _shares(semantic_scores, min(semantic_scores.values(), default=0.0))
    return {one: worded.get(one, 0.0) + _MEANING * meant.get(one, 0.0) for one in worded.keys() | meant.keys()}


def _shares(scores: Mapping[Found, float], least: float) -> dict[Found, float]:
    """Return the scores scaled from 1 for the best to 0 for `least`. All cosines of a model lie close together."""
    width = max(scores.values(), default=1.0) - least
    return {one: (score - least) / width if width else 1.0 for one, score in scores.items()}
