"""A part that is built when somebody first asks for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """Calls `build` once, whichever thread asks first."""

    def __init__(self, build: Callable[[], T]) -> None:
        self._build = build
        self._lock = threading.Lock()
        self.built: T | None = None

    def __call__(self) -> T:
        with self._lock:
            if self.built is None:
                self.built = self._build()
            return self.built
