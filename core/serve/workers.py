"""One process of the app, or several behind nginx: an interpreter uses one core, however many readers there are."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

from core.base.paths import FILES

log = logging.getLogger(__name__)

MOST = 64
LOOK_EVERY = 1.0
"""Seconds between checks that all processes run. One that has ended is started again."""
END_SECONDS = 10.0

NO_PAGES = "这里只装了命令行，没有页面。请在问源的源代码目录里运行。"
NO_NGINX = "没有找到 nginx，只启动 1 个进程。要用 {workers} 个进程，请先安装它（Debian：apt-get install nginx-light）。"
ALONE = "没有设置 CACHE_URL（Redis）：{workers} 个进程各有各的缓存和限额。"


def run(host: str, port: int, workers: int) -> int:
    """Run the app until it is told to end, and return the exit status."""
    if not (FILES / "asgi.py").is_file():
        print(NO_PAGES, file=sys.stderr)
        return 1
    nginx = _nginx() if workers > 1 else None
    if workers > 1 and nginx is None:
        print(NO_NGINX.format(workers=workers), file=sys.stderr)
    if nginx is None:
        os.chdir(FILES)
        os.execv(sys.executable, _app(host, port))
    return _run_behind(nginx, host, port, workers)


def _run_behind(nginx: str, host: str, port: int, workers: int) -> int:
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with tempfile.TemporaryDirectory(prefix="wenyuan-nginx-") as folder:
        ports = _free_ports(workers)
        configured = Path(folder) / "nginx.conf"
        configured.write_text(configuration(Path(folder), host, port, ports), "utf-8")
        commands = [_app("127.0.0.1", each) for each in ports]
        commands.append([nginx, "-p", folder, "-c", str(configured), "-e", "stderr"])
        if not os.environ.get("CACHE_URL"):
            print(ALONE.format(workers=workers), flush=True)
        print(f"问源已启动：http://{host}:{port}（{workers} 个进程，按 Ctrl+C 停止）", flush=True)
        _keep_running(commands, ended)
    return 0


def _keep_running(commands: Sequence[Sequence[str]], ended: threading.Event) -> None:
    environ = _environment(os.environ)
    processes = [_start(command, environ) for command in commands]
    try:
        while not ended.wait(LOOK_EVERY):
            for place, process in enumerate(processes):
                if process.poll() is not None:
                    log.error("a process has ended with status %d and is started again", process.returncode)
                    processes[place] = _start(commands[place], environ)
    finally:
        _end(processes)


def _start(command: Sequence[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    # A process group of its own: Ctrl+C reaches only this process, which then ends the others. Their output, with internal
    # addresses, is not shown.
    return subprocess.Popen(command, cwd=FILES, env=environ, stdout=subprocess.DEVNULL, start_new_session=True)


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the processes: one cookie secret for all, and only nginx says where a visitor comes
    from."""
    secret = environ.get("STREAMLIT_SERVER_COOKIE_SECRET") or secrets.token_hex(32)
    return {**environ, "STREAMLIT_SERVER_COOKIE_SECRET": secret, "FORWARDED_ALLOW_IPS": "127.0.0.1"}


def configuration(folder: Path, host: str, port: int, ports: Sequence[int]) -> str:
    """Return nginx's configuration. nginx trusts a proxy that FORWARDED_ALLOW_IPS names, as the app would."""
    proxies = [name.strip() for name in os.environ.get("FORWARDED_ALLOW_IPS", "").split(",") if name.strip()]
    trusted = [f"        set_real_ip_from {'0.0.0.0/0' if name == '*' else name};" for name in proxies]
    return Template(Path(__file__).with_name("nginx.conf").read_text("utf-8")).substitute(
        user="user root;" if os.getuid() == 0 else "",  # its folder is open to nobody else
        folder=folder,
        address=f"[{host}]:{port}" if ":" in host else f"{host}:{port}",
        servers="\n".join(f"        server 127.0.0.1:{each} max_fails=3 fail_timeout=10s;" for each in ports),
        proxies="\n".join([*trusted, "        real_ip_header X-Forwarded-For;"] if trusted else []),
        scheme="$wenyuan_scheme" if trusted else "$scheme",
    )


def _app(host: str, port: int) -> list[str]:
    address = ["--server.address", host, "--server.port", str(port)]
    return [sys.executable, "-m", "streamlit", "run", "asgi.py", *address]


def _nginx() -> str | None:
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


def _free_ports(count: int) -> list[int]:
    """Return free ports. All are taken at once, or the same one might be returned twice."""
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    found = [int(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return found
