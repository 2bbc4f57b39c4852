"""Models that were too slow for a short call beside the answer. They are not asked again for a while."""

from __future__ import annotations

import time
from collections.abc import Callable

from core.base.settings import ModelChoice
from core.llm import Model

REST_SECONDS = 600.0
"""Seconds for which a model is not asked again after it was slow and gave nothing."""


class SlowModels:
    def __init__(self, *, patience: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`patience` is the number of seconds from which a call without a result was slow."""
        self._patience = patience
        self._clock = clock
        self._rests: dict[tuple[ModelChoice, str | None], float] = {}

    def is_resting(self, model: Model) -> bool:
        return self._clock() < self._rests.get(_key(model), 0.0)

    def began(self) -> float:
        """Return the time at which a call begins, for `report_failure`."""
        return self._clock()

    def report_failure(self, model: Model, began: float) -> None:
        """Record that a call gave nothing; the model rests if it took long."""
        if self._clock() - began >= self._patience:
            self._rests[_key(model)] = self._clock() + REST_SECONDS


def _key(model: Model) -> tuple[ModelChoice, str | None]:
    return model.choice, model.settings.openai.base_url
