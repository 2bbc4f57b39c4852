"""Fits the weights in core/checks/scoring.py: `python -m bench.fit_checks` prints them, to be pasted there.

Each statement is used twice, with its documents alone and with these hidden among thirty others of the set, so that the weights
hold for a short text and for a page. Newton's method on a penalised likelihood; no library is needed for ten features.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.answer.check_results import SourceText
from core.checks.check import compare
from core.checks.features import FEATURES
from core.checks.scoring import ScoringModel

CLAIMS = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "claims" / "dev.jsonl"
PENALTY = 5.0
STEPS = 12
AMONG = 30

Vector = list[float]


def claims() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CLAIMS.read_text("utf-8").splitlines()] if CLAIMS.is_file() else []


def hidden(rows: Sequence[dict[str, Any]], seed: int = 5) -> list[str]:
    """The documents of each row somewhere among those of others."""
    chance = random.Random(seed)
    pages = []
    for row in rows:
        others = [chance.choice(rows)["quote"] for _ in range(AMONG)]
        place = chance.randrange(AMONG)
        pages.append("\n".join([*others[:place], row["quote"], *others[place:]]))
    return pages


def measured(statements: Sequence[str], sources: Sequence[str]) -> list[Vector]:
    return [
        list(compare(statement, [SourceText(1, source)]).features())
        for statement, source in zip(statements, sources, strict=True)
    ]


def fit(examples: Sequence[Vector], labels: Sequence[int]) -> ScoringModel:
    """Standardised for fitting; the weights that come back are for the features as they are."""
    size = len(examples[0])
    means = [sum(column) / len(examples) for column in zip(*examples, strict=True)]
    spreads = [
        math.sqrt(sum((value - mean) ** 2 for value in column) / len(examples)) or 1.0
        for column, mean in zip(zip(*examples, strict=True), means, strict=True)
    ]
    rows = [[*((v - m) / s for v, m, s in zip(row, means, spreads, strict=True)), 1.0] for row in examples]
    weights = [0.0] * (size + 1)
    for _ in range(STEPS):
        weights = [weight - step for weight, step in zip(weights, _newton_step(rows, labels, weights), strict=True)]
    plain = [weight / spread for weight, spread in zip(weights, spreads, strict=False)]
    return ScoringModel(
        tuple(plain), weights[-1] - sum(weight * mean for weight, mean in zip(plain, means, strict=True))
    )


def _newton_step(rows: Sequence[Vector], labels: Sequence[int], weights: Vector) -> Vector:
    size = len(weights)
    gradient = [PENALTY * weight for weight in weights[:-1]] + [0.0]
    curvature = [[PENALTY * (i == j) * (i < size - 1) for j in range(size)] for i in range(size)]
    for row, label in zip(rows, labels, strict=True):
        chance = ScoringModel(tuple(weights), 0.0).probability(row)
        slope = chance * (1 - chance)
        for i, value in enumerate(row):
            gradient[i] += (chance - label) * value
            line, scaled = curvature[i], slope * value
            for j in range(size):
                line[j] += scaled * row[j]
    return _solved(curvature, gradient)


def _solved(matrix: list[Vector], right: Vector) -> Vector:
    """Gauss and Jordan; the matrix is positive definite."""
    size = len(right)
    table = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(size):
        pivot = table[i][i]
        table[i] = [value / pivot for value in table[i]]
        for j in range(size):
            if j != i:
                factor = table[j][i]
                table[j] = [value - factor * above for value, above in zip(table[j], table[i], strict=True)]
    return [row[-1] for row in table]


def main() -> None:
    rows = claims()
    statements = [row["statement"] for row in rows]
    examples = measured(statements, [row["quote"] for row in rows]) + measured(statements, hidden(rows))
    model = fit(examples, [row["label"] for row in rows] * 2)
    print("WEIGHTS = {")
    print(*(f'    "{name}": {weight:.3f},' for name, weight in zip(FEATURES, model.weights, strict=True)), sep="\n")
    print("}")
    print(f"BIAS = {model.bias:.3f}")


if __name__ == "__main__":
    main()
