"""The command `run`: becomes the server of the pages."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from contextlib import suppress
from typing import NoReturn

from core.base.paths import PROGRAM_DIR, USER_DIR
from core.commands.output import WRONG_USAGE

ONE_PROCESS = (
    "这个命令只启动 1 个进程。要用几个进程，请用 systemd 的模板 deploy/wenyuan@.service 各启动一个，"
    "前面放 nginx（deploy/nginx.conf）；步骤见 docs/deployment.md 的「More than one core」。"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="监听的地址，默认只有本机能打开")
    parser.add_argument("--port", type=int, default=8501, help="端口，默认 8501")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="只能是 1；更多进程用 systemd 和 nginx")
    parser.set_defaults(without_app=run)


def run(options: argparse.Namespace) -> int:
    """Become the server of the pages."""
    if not 0 < options.port < 65_536:
        print(f"端口 {options.port} 无法使用。请用 1 到 65535 之间的数。", file=sys.stderr)
        return WRONG_USAGE
    if problem := _host_problem(options.host):
        cure = "请写本机的一个地址：127.0.0.1 只有本机能打开，0.0.0.0 其他机器也能打开。"
        print(f"--host {options.host} 无法使用：{problem}。{cure}", file=sys.stderr)
        return WRONG_USAGE
    if options.workers < 1:
        print(f"--workers {options.workers} 无法使用：至少要有 1 个进程。", file=sys.stderr)
        return WRONG_USAGE
    if options.workers == 1:
        _become_server(options.host, options.port)
    print(ONE_PROCESS, file=sys.stderr)
    return WRONG_USAGE


def _become_server(host: str, port: int) -> NoReturn:
    """Start Streamlit in place of this process. It reads config.toml beside asgi.py and where it is started, and
    secrets.toml where it is started: in the user's folder, if there can be one."""
    with suppress(OSError):
        USER_DIR.mkdir(parents=True, exist_ok=True)
    os.chdir(USER_DIR if USER_DIR.is_dir() else PROGRAM_DIR)
    address = ["--server.address", host, "--server.port", str(port)]
    server = [sys.executable, "-P", "-m", "streamlit", "run", str(PROGRAM_DIR / "asgi.py"), *address]
    os.execv(sys.executable, server)  # noqa: S606 (our own)


def _host_problem(host: str) -> str:
    """Return why this machine cannot listen at an address or name; empty if it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        address = socket.getaddrinfo(host, 0, family, socket.SOCK_STREAM)[0][4]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind(address)
    except (socket.gaierror, UnicodeError):
        return "没有叫这个名字的机器"
    except OSError:
        return "本机没有这个地址"
    return ""
