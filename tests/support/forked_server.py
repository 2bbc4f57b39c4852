"""`app_server` for less: what starts is a fork of one process that has imported everything already (`support.fork_parent`).

It is `python -m streamlit` all the same, with its own arguments, environment, log and end. Until its second visit it takes
half a second of a processor instead of three.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from functools import cache
from pathlib import Path

from support import fork_parent
from support.app_server import ROOT, AppServer, Process, app_server, serving


class ForkedProcess:
    """Its parent is `support.fork_parent`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._handle: int | None = None
        with suppress(ProcessLookupError):  # it has ended already
            self._handle = os.pidfd_open(pid)

    def poll(self) -> int | None:
        return 0 if self._ends_within(0) else None

    def wait(self, timeout: float | None = None) -> int:
        if not self._ends_within(timeout):
            raise subprocess.TimeoutExpired("streamlit", timeout or 0)
        return 0

    def send_signal(self, sig: int, /) -> None:
        if self._handle is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _ends_within(self, seconds: float | None) -> bool:
        return self._handle is None or bool(select.select([self._handle], [], [], seconds)[0])


def forked_server(*, secrets: str = "", **environ: str) -> AbstractContextManager[AppServer]:
    if sys.platform != "linux":
        return app_server(secrets=secrets, **environ)
    return serving(_fork, "asgi.py", secrets, environ)


def _fork(arguments: list[str], environ: Mapping[str, str], log: Path) -> Process:
    order = {"arguments": arguments, "environ": dict(environ), "log": str(log)}
    running = _fork_parent()
    assert running.stdin
    assert running.stdout
    running.stdin.write(json.dumps(order) + "\n")
    running.stdin.flush()
    return ForkedProcess(int(running.stdout.readline()))


@cache
def _fork_parent() -> subprocess.Popen[str]:
    command = [sys.executable, fork_parent.__file__]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)  # it ends when no more orders can come
    return process
