"""For tests in which several threads are at work: on a busy machine a second of waiting may not be enough."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from core.store.errors import StoreError

T = TypeVar("T")


def patiently(act: Callable[[], T]) -> T:
    for _ in range(20):
        try:
            return act()
        except StoreError as error:
            if "正忙" not in str(error):
                raise
    return act()


def until(holds: Callable[[], bool], seconds: float = 20) -> None:
    """Returns as soon as it holds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)
