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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass
class AppServer:
    url: str
    process: subprocess.Popen[bytes]
    log_path: Path

    @property
    def log(self) -> str:
        return self.log_path.read_text("utf-8", errors="replace")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def app_server(entry: str = "asgi.py", *, secrets: str = "", **environ: str) -> Iterator[AppServer]:
    """`secrets` is the text of a secrets.toml."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="wenyuan-test-") as folder:
        log_path = Path(folder) / "server.log"
        secrets_path = Path(folder) / "secrets.toml"
        if secrets:
            secrets_path.write_text(secrets, "utf-8")
        url = f"http://127.0.0.1:{port}"
        with log_path.open("wb") as log:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "streamlit",
                    "run",
                    entry,
                    "--server.address",
                    "127.0.0.1",
                    "--server.port",
                    str(port),
                    "--secrets.files",
                    str(secrets_path),  # never the developer's own
                ],
                cwd=ROOT,
                env={**os.environ, "DATA_DIR": f"{folder}/data", "PUBLIC_URL": url, "READING_PAGES": "0", **environ},
                stdout=log,
                stderr=subprocess.STDOUT,
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


def wait_for(url: str, process: subprocess.Popen[bytes], log_path: Path, seconds: float = 40) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"the app did not start:\n{log_path.read_text('utf-8', errors='replace')}")
