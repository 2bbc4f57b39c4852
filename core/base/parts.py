"""Parts of a long-lived object that are built when they are first used."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


class HasParts(Protocol):
    """An object with parts."""

    building: threading.RLock
    """Held while a part is built."""


class LazyPart(Generic[T]):
    """Decorator of a method that builds a part. The part is an attribute, built once, however many threads ask for it at
    the same time. What only this method imports is imported then."""

    def __init__(self, build: Callable[[Any], T]) -> None:
        self._build = build
        self._name = build.__name__

    def __get__(self, whole: HasParts, owner: type) -> T:
        with whole.building:
            parts = vars(whole)
            if self._name not in parts:
                parts[self._name] = self._build(whole)  # where Python finds it from now on
            part: T = parts[self._name]
            return part


def has_built(whole: HasParts, name: str) -> bool:
    """Return whether a part is there already."""
    return name in vars(whole)
