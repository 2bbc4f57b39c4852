"""Debian's redis-server on a free loopback port, keeping nothing on disk."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time

import pytest

from support.faults import unused_port

PROGRAM = shutil.which("redis-server")


class RedisServer:
    def __init__(self, folder: str) -> None:
        self.port = unused_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        assert PROGRAM
        options = {"port": self.port, "bind": "127.0.0.1", "save": "", "appendonly": "no", "dir": self._folder}
        arguments = [word for key, value in options.items() for word in (f"--{key}", str(value))]
        self._process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 40  # on a busy machine
        while time.monotonic() < end and self._process.poll() is None:
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1) as probe:
                    probe.sendall(b"PING\r\n")
                    if probe.recv(16).startswith(b"+PONG"):
                        return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError("redis-server did not start")

    def freeze(self) -> None:
        """Still there, accepting connections, and answering nobody."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def needs_redis() -> None:
    if PROGRAM is None:
        pytest.skip("NOT TESTED: redis-server is not installed (as root: apt install redis-server)")
