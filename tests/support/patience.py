"""For tests in which several write at once: on a busy machine a second of waiting may not be enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from core.errors import StoreError

T = TypeVar("T")


def patiently(act: Callable[[], T]) -> T:
    for _ in range(20):
        try:
            return act()
        except StoreError as error:
            if "正忙" not in str(error):
                raise
    return act()
