import json
import os
import subprocess
import sys

import pytest

from core.base.cores import WORTH_MOVING, better_core
from support.base import ROOT

IN_A_PROCESS = """
import json, os, subprocess, sys, threading

from core.base.cores import OneCore, on_all_cores

COMMAND = [sys.executable, "-c", "import os; print(sorted(os.sched_getaffinity(0)))"]


def in_a_thread(act):
    found = []
    thread = threading.Thread(target=lambda: found.append(act()))
    thread.start()
    thread.join()
    return found[0]


def cores():
    return sorted(os.sched_getaffinity(0))


def child():
    return json.loads(subprocess.run(COMMAND, capture_output=True, check=True).stdout)


def child_on_all_cores():
    with on_all_cores():
        return child()


waiting = threading.Event()
early = []
older = threading.Thread(target=lambda: (waiting.wait(), early.append(cores())))
older.start()
core = OneCore()
waiting.set()
older.join()
print(
    json.dumps(
        {
            "core": [core.core],
            "older thread": early[0],
            "newer thread": in_a_thread(cores),
            "child": in_a_thread(child),
            "child on all cores": in_a_thread(child_on_all_cores),
            "afterwards": cores(),
        }
    )
)
"""


@pytest.mark.skipif(sys.platform != "linux" or os.cpu_count() == 1, reason="no cores to choose from")
def test_threads_stay_together_and_other_programs_have_all_cores() -> None:
    found = subprocess.run([sys.executable, "-c", IN_A_PROCESS], cwd=ROOT, capture_output=True, text=True, check=True)
    cores = json.loads(found.stdout)
    everywhere = sorted(os.sched_getaffinity(0))
    assert set(cores["core"]) < set(everywhere)
    for where in ("older thread", "newer thread", "child", "afterwards"):
        assert cores[where] == cores["core"], where
    assert cores["child on all cores"] == everywhere


@pytest.mark.parametrize(
    ("others", "core"),
    [
        pytest.param({0: 0.0, 1: 0.0}, 1, id="a quiet machine"),
        pytest.param({0: 0.0, 1: 0.9}, 0, id="somebody else works here"),
        pytest.param({0: 0.5, 1: 0.9, 2: 0.1}, 2, id="the quietest of several"),
        pytest.param({0: 0.9, 1: 0.9}, 1, id="no better elsewhere"),
        pytest.param({0: 0.0, 1: WORTH_MOVING / 2}, 1, id="not worth it"),
        pytest.param({0: 0.3, 1: -0.1}, 1, id="more of ours than of all, by the grain of the clock"),
        pytest.param({}, 1, id="nothing is known"),
    ],
)
def test_the_better_core(others: dict[int, float], core: int) -> None:
    assert better_core(1, others) == core
