"""Parts of an object that are built when they are first used."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.base.parts import LazyPart, has_built


class Whole:
    def __init__(self) -> None:
        self.building = threading.RLock()
        self.built: list[str] = []

    @LazyPart
    def engine(self) -> str:
        self.built.append("engine")
        return f"engine of {self.wheels}"

    @LazyPart
    def wheels(self) -> str:
        threading.Event().wait(0.02)  # while the other threads ask, too
        self.built.append("wheels")
        return "wheels"

    @LazyPart
    def broken(self) -> str:
        self.built.append("broken")
        raise ValueError("no tools")


def test_a_part_is_built_once_with_what_it_needs_however_many_ask() -> None:
    whole = Whole()
    assert not has_built(whole, "engine")
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda at: whole.engine if at % 2 else whole.wheels, range(16)))
    assert set(got) == {"engine of wheels", "wheels"}
    assert sorted(whole.built) == ["engine", "wheels"]
    assert has_built(whole, "engine")


def test_a_part_that_cannot_be_built_is_tried_again() -> None:
    whole = Whole()
    for _ in range(2):
        with pytest.raises(ValueError, match="no tools"):
            _ = whole.broken
    assert whole.built == ["broken", "broken"]
    assert not has_built(whole, "broken")
