from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from core.base import tuning
from support.base import ROOT, loaded

IN_A_PROCESS = """
import asyncio, gc, json, os, socket, subprocess, sys, threading

from uvicorn.protocols.websockets import websockets_sansio_impl

from core.base import tuning

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
    with tuning.use_all_cores():
        return child()


async def sends_at_once():
    # a connection that came through a socket made as Streamlit makes it
    found = asyncio.get_running_loop().create_future()

    def connected(_, writer):
        accepted = writer.get_extra_info("socket")
        found.set_result(bool(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
        writer.close()

    listening = socket.socket(family=socket.AF_INET)
    listening.bind(("127.0.0.1", 0))
    async with await asyncio.start_server(connected, sock=listening):
        _, writer = await asyncio.open_connection(*listening.getsockname())
        answer = await found
        writer.close()
        return answer


waiting = threading.Event()
early = []
older = threading.Thread(target=lambda: (waiting.wait(), early.append(cores())))
older.start()
tuning.switch_tuning(on=sys.argv[1] == "on")
tuning.tune_server(int(sys.argv[2]))
tuning.exempt_from_garbage_collection()
tuning.give_back_memory()
waiting.set()
older.join()
with tuning.short_switch_interval():
    interval = sys.getswitchinterval()
print(
    json.dumps(
        {
            "older thread": early[0],
            "newer thread": in_a_thread(cores),
            "child": in_a_thread(child),
            "child on all cores": in_a_thread(child_on_all_cores),
            "afterwards": cores(),
            "threshold": gc.get_threshold(),
            "frozen": gc.get_freeze_count() > 0,
            "interval": interval,
            "at once": asyncio.run(sends_at_once()),
            "deflate": websockets_sansio_impl.ServerPerMessageDeflateFactory.__name__,
        }
    )
)
"""
linux = pytest.mark.skipif(sys.platform != "linux" or os.cpu_count() == 1, reason="no cores to choose from")


def tuned(switch: str, number: int) -> dict[str, Any]:
    command = [sys.executable, "-c", IN_A_PROCESS, switch, str(number)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@linux
def test_threads_stay_together_and_other_programs_have_all_cores() -> None:
    everywhere = sorted(os.sched_getaffinity(0))
    for number in (8501, 8502):
        found = tuned("on", number)
        for where in ("older thread", "newer thread", "child", "afterwards"):
            assert found[where] == [everywhere[number % len(everywhere)]], where
        assert found["child on all cores"] == everywhere
    assert found["threshold"] == [10_000, 10, 5]
    assert found["frozen"]
    assert found["interval"] < sys.getswitchinterval() / 5
    assert found["deflate"] == "SmallDeflate"
    assert found["at once"]


@linux
def test_switched_off_everything_is_as_the_system_has_it() -> None:
    everywhere = sorted(os.sched_getaffinity(0))
    usual = subprocess.run(
        [sys.executable, "-c", "import gc; print(list(gc.get_threshold()))"], capture_output=True, check=True
    )
    assert tuned("off", 8501) == {
        **dict.fromkeys(("older thread", "newer thread", "child", "child on all cores", "afterwards"), everywhere),
        "threshold": json.loads(usual.stdout),
        "frozen": False,
        "interval": sys.getswitchinterval(),
        "at once": False,
        "deflate": "ServerPerMessageDeflateFactory",
    }


def test_the_setting_has_no_prefix() -> None:
    assert loaded().values.process.tuning == "on"
    assert loaded(TUNING="OFF").values.process.tuning == "off"
    assert [problem.key for problem in loaded(TUNING="fast").problems] == ["TUNING"]


def test_turns_are_short_until_the_last_one_is_done() -> None:
    usual = sys.getswitchinterval()
    with tuning.short_switch_interval():
        with tuning.short_switch_interval():
            assert sys.getswitchinterval() < usual / 5
        assert sys.getswitchinterval() < usual / 5
    assert sys.getswitchinterval() == usual
