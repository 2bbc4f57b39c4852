"""On which of the machine's cores the threads of this process work.

Python's threads compute in turn. Left to themselves they take their turns on different cores, and to hand over from one core
to another takes longer than most turns: when fifty visitors ask at once, each costs 38 ms of processor time on two cores and
22 on one. So they stay together on one, the one that others use least. Only Linux can be told so.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from pathlib import Path

LOOK_EVERY = 2.0
WORTH_MOVING = 0.25
"""Share of a core that others use here and would not use there."""

if sys.platform == "linux":
    _ALL = frozenset(os.sched_getaffinity(0))
    _TICKS = os.sysconf("SC_CLK_TCK")

    @contextmanager
    def on_all_cores() -> Iterator[None]:
        """Of the calling thread: what it does meanwhile, and the threads and processes that it starts."""
        before = os.sched_getaffinity(0)
        _use(_ALL)
        try:
            yield
        finally:
            _use(before)

    class OneCore:
        """Threads stay where they were put, and those that they start are there too."""

        def __init__(self) -> None:
            # Processes that are started one after the other begin on different cores.
            self.core = sorted(_ALL)[os.getpid() % len(_ALL)]
            self._since, self._own, self._busy = time.monotonic(), time.process_time(), _busy()
            _move(_ALL, self.core)

        def look(self) -> None:
            """Moves to another core, if others use this one, and that one less."""
            since, own, busy = self._since, self._own, self._busy
            self._since, self._own, self._busy = time.monotonic(), time.process_time(), _busy()
            seconds = self._since - since
            others = {core: (self._busy[core] - busy[core]) / seconds for core in self._busy.keys() & busy.keys()}
            if self.core in others:
                others[self.core] -= (self._own - own) / seconds
            better = better_core(self.core, others)
            # Two processes that meet on one core may look at the same moment: both would go, and meet again.
            if better != self.core and random.random() < 0.5:  # noqa: S311 (no secret)
                _move({self.core}, better)
                self.core = better

    def _busy() -> dict[int, float]:
        """Seconds that each core has worked, for whomever."""
        try:
            lines = [line.split() for line in Path("/proc/stat").read_text("ascii").splitlines()]
        except OSError:
            return {}
        counted = {name[3:]: [int(ticks) for ticks in numbers] for name, *numbers in lines if name.startswith("cpu")}
        return {
            int(core): (sum(ticks[:3]) + sum(ticks[5:8])) / _TICKS
            for core, ticks in counted.items()
            if core and int(core) in _ALL
        }

    def _move(whence: Set[int], whither: int) -> None:
        """All threads but those that have other cores for a reason."""
        for thread in map(int, os.listdir("/proc/self/task")):
            with suppress(OSError):  # it has ended
                if os.sched_getaffinity(thread) == whence:
                    _use({whither}, thread)

    def _use(cores: Set[int], thread: int = 0) -> None:
        with suppress(OSError):  # they were taken from this process meanwhile
            os.sched_setaffinity(thread, cores)

else:

    @contextmanager
    def on_all_cores() -> Iterator[None]:
        yield

    class OneCore:
        def look(self) -> None:
            """Its system decides."""


def better_core(here: int, others: Mapping[int, float]) -> int:
    """The core that others use least, by their share of each; `here`, unless there is much to gain."""
    best = min(others, key=lambda core: (others[core], core != here), default=here)
    return best if others.get(here, 0.0) - others.get(best, 0.0) > WORTH_MOVING else here
