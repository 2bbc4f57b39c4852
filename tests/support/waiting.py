"""Waiting until something holds, however busy the machine is; and a clock that only a test moves."""

from __future__ import annotations

import threading
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


def threads_back_to(count: int, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if threading.active_count() <= count:
            return True
        time.sleep(0.01)
    return False


class Clock:
    """Stands still until it is told to move."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def pass_(self, seconds: float) -> None:
        self.now += seconds
