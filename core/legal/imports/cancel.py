"""Ends an import from another thread."""

from __future__ import annotations

from threading import Event

from core.base.http import Deadline


class Cancel(Event):
    """Once set, reading and indexing end at the next file, and a download in the middle of a wait."""

    def __init__(self) -> None:
        super().__init__()
        self._until_set = Deadline(float("inf"))

    def set(self) -> None:
        super().set()
        self._until_set.cancel()

    def deadline(self, seconds: float) -> Deadline:
        return self._until_set.within(seconds)
