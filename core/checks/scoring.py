"""A logistic regression from features to a probability. `python -m bench.fit_checks` has written its weights.

docs/benchmarks.md says on what they were fitted, and how right they are on other data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.checks.features import FEATURES

WEIGHTS = {
    "two windows": 3.654,
    "in order": 2.652,
    "in order, one sentence": 2.086,
    "in long pieces": 0.799,
    "first clause": -1.150,
    "last clause": 1.362,
    "left over": -0.776,
    "differences": -2.332,
    "asked": -2.006,
    "points back": 0.420,
}
BIAS = -3.747

SUPPORTED_FROM = 0.89
ABSENT_UP_TO = 0.11
"""Between the two thresholds there is no verdict. They were chosen for 96 and 95 of 100 right, with a margin."""


@dataclass(frozen=True)
class ScoringModel:
    """The weights, in the order of FEATURES, and the bias."""

    weights: tuple[float, ...]
    bias: float

    def probability(self, features: Sequence[float]) -> float:
        total = self.bias + sum(weight * value for weight, value in zip(self.weights, features, strict=True))
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


SCORING_MODEL = ScoringModel(tuple(WEIGHTS[name] for name in FEATURES), BIAS)
