"""The real app as a real server on a free loopback port, started as `make run` starts it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parent.parent.parent


class Process(Protocol):
    """What tests do with a server's process."""

    pid: int

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int, /) -> None: ...
    def kill(self) -> None: ...


@dataclass
class AppServer:
    url: str
    process: Process
    log_path: Path

    @property
    def log(self) -> str:
        return self.log_path.read_text("utf-8", errors="replace")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


Start = Callable[[list[str], Mapping[str, str], Path], Process]
"""Streamlit with these arguments, this environment and this file for what it says."""


def app_server(
    entry: str = "asgi.py", *, secrets: str = "", port: str = "", **environ: str
) -> AbstractContextManager[AppServer]:
    return serving(_start, entry, secrets, environ, port)


def _start(arguments: list[str], environ: Mapping[str, str], log: Path) -> Process:
    with log.open("wb") as output:
        command = [sys.executable, "-m", "streamlit", *arguments]
        return subprocess.Popen(command, cwd=ROOT, env=environ, stdout=output, stderr=subprocess.STDOUT)


@contextmanager
def serving(start: Start, entry: str, secrets: str, environ: Mapping[str, str], port: str = "") -> Iterator[AppServer]:
    """`secrets` is the text of a secrets.toml."""
    port = port or str(free_port())
    with tempfile.TemporaryDirectory(prefix="wenyuan-test-") as folder:
        log_path = Path(folder) / "server.log"
        secrets_path = Path(folder) / "secrets.toml"
        if secrets:
            secrets_path.write_text(secrets, "utf-8")
        url = f"http://127.0.0.1:{port}"
        options = {
            "--server.address": "127.0.0.1",
            "--server.port": port,
            "--secrets.files": str(secrets_path),  # never the developer's own
        }
        process = start(
            ["run", entry, *(word for option in options.items() for word in option)],
            {
                **os.environ,
                "DATA_DIR": f"{folder}/data",
                "PUBLIC_URL": url,
                "READING_PAGES": "0",
                "CHECKS_JUDGE": "ask",
                "LEGAL_BUILT_IN": "0",
                **environ,
            },
            log_path,
        )
        try:
            wait_for(f"{url}/_stcore/health", process, log_path)
            yield AppServer(url, process, log_path)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(url: str, process: Process, log_path: Path, seconds: float = 40) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"the app did not start:\n{log_path.read_text('utf-8', errors='replace')}")
