"""Two processes behind a real nginx, as `make run WORKERS=2` starts them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.load_visitor import Visitor
from core.serve import workers
from support.app_server import free_port, wait_for
from support.base import ROOT
from support.nginx import PROGRAM
from support.waiting import until

pytestmark = pytest.mark.servers


@contextmanager
def running(folder: Path, port: int, **environ: str) -> Iterator[subprocess.Popen[bytes]]:
    log = folder / "log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-m", "core", "run", "--workers", "2", "--port", str(port)],
            cwd=ROOT,
            env={**os.environ, "DATA_DIR": str(folder / "data"), "SEARCH_PROVIDER_PRIORITY": "bundled", **environ},
            stdout=written,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/healthz", process, log)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def children(of: int) -> dict[int, str]:
    """Their commands, by process id."""
    found = (Path(f"/proc/{of}/task/{of}/children").read_text()).split()
    return {int(pid): Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode() for pid in found}


def apps(of: int) -> set[int]:
    return {pid for pid, command in children(of).items() if "asgi.py" in command}


def answers(port: int, visitor: str) -> bool:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/healthz", headers={"Cookie": f"wenyuan_visitor={visitor}"}
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return bool(response.status == 200)


@pytest.mark.skipif(
    PROGRAM is None, reason="NOT TESTED: nginx is not installed here (as root: apt-get install nginx-light)"
)
def test_two_processes_serve_one_address_and_one_that_dies_comes_back(tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, port) as process:
        first = apps(process.pid)
        assert len(first) == 2
        asyncio.run(Visitor(1, f"http://127.0.0.1:{port}").open())  # through nginx, websocket and all
        os.kill(min(first), signal.SIGKILL)
        assert all(answers(port, f"visitor{number}") for number in range(6)), "the other one does"
        until(lambda: len(apps(process.pid) - {min(first)}) == 2)
        started = children(process.pid)
    assert process.returncode == 0
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()], "nothing is left behind"
    assert f"问源已启动：http://127.0.0.1:{port}（2 个进程" in (tmp_path / "log").read_text("utf-8")


def test_without_nginx_there_is_one_process_and_a_sentence(tmp_path: Path) -> None:
    port = free_port()
    script = f"import core.serve.workers as w; w._nginx = lambda: None; w.run('127.0.0.1', {port}, 2)"
    log = tmp_path / "log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={**os.environ, "DATA_DIR": str(tmp_path / "data")},
            stdout=written,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/healthz", process, log)
        assert not apps(process.pid), "it is itself the app"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    assert "没有找到 nginx，只启动 1 个进程" in log.read_text("utf-8")


def test_a_proxy_before_this_machine_is_believed_only_if_it_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    assert "real_ip" not in workers.configuration(tmp_path, "127.0.0.1", 80, [1, 2])
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "10.0.0.5, 10.1.0.0/16")
    text = workers.configuration(tmp_path, "::1", 80, [1, 2])
    assert "set_real_ip_from 10.0.0.5;" in text
    assert "set_real_ip_from 10.1.0.0/16;" in text
    assert "listen [::1]:80;" in text
