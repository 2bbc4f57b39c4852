"""The real nginx with the site of deploy/nginx.conf, on loopback."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.app_server import AppServer, free_port
from support.base import ROOT
from support.faults import self_signed

PROGRAM = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
SERVED_BY = "X-Served-By"
_USER = "user root;" if os.getuid() == 0 else ""  # the folders of a test are open to nobody else

# What a distribution's nginx.conf says around a site; and who has answered, which the tests want to know.
MAIN = """
{user}
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    add_header {served_by} $upstream_addr always;
    include {folder}/site.conf;
}}
"""


def _site(folder: Path, port: int, servers: Sequence[AppServer], *, tls: bool) -> str:
    """deploy/nginx.conf with the addresses of the test."""
    text = (ROOT / "deploy" / "nginx.conf").read_text("utf-8")
    upstream = "    server {} max_fails=3 fail_timeout=10s;\n"
    if not tls:
        text = re.sub(r"\n    ssl_.*", "", text)
    changes = {
        upstream.format("10.0.0.11:8501"): "".join(upstream.format(app.url.removeprefix("http://")) for app in servers),
        upstream.format("10.0.0.12:8501"): "",
        "listen 80;": f"listen 127.0.0.1:{free_port()};",
        "listen 443 ssl http2;": f"listen 127.0.0.1:{port}{' ssl http2' if tls else ''};",
        "/etc/ssl/wenyuan/fullchain.pem": f"{folder}/certificate.pem",
        "/etc/ssl/wenyuan/privkey.pem": f"{folder}/key.pem",
    }
    for old, new in changes.items():
        assert text.count(old) == 1 or not tls, old
        text = text.replace(old, new)
    return text


@contextmanager
def nginx(folder: Path, servers: Sequence[AppServer], *, tls: bool = True) -> Iterator[str]:
    """The address at which visitors open the app."""
    if PROGRAM is None:
        pytest.skip("NOT TESTED: nginx is not installed here (as root: apt-get install nginx-light)")
    port = free_port()
    self_signed(folder)
    (folder / "site.conf").write_text(_site(folder, port, servers, tls=tls), "utf-8")
    (folder / "nginx.conf").write_text(MAIN.format(folder=folder, served_by=SERVED_BY, user=_USER), "utf-8")
    command = [PROGRAM, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    process = subprocess.Popen(command)
    try:
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert time.monotonic() < deadline, (folder / "error.log").read_text()
                time.sleep(0.05)
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)
