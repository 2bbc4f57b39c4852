"""A real PostgreSQL for the tests: Debian's binaries, a folder of its own, a Unix socket and no port."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest


def _binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    on_path = shutil.which("postgres")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


# PostgreSQL refuses to run as root; Debian's package brings a user for it.
_USER: dict[str, Any] = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}


class Postgres:
    def __init__(self, folder: Path, binaries: Path) -> None:
        self._folder = folder
        self._binaries = binaries
        self._server: subprocess.Popen[bytes] | None = None
        self._databases = 0
        self._run(
            "initdb", "-D", folder / "data", "-U", "wenyuan", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C"
        )

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self._binaries / program), *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder, env={"LC_ALL": "C"}, **_USER)

    def start(self) -> None:
        if self._server is not None:
            return
        options = {
            "listen_addresses": "",
            "unix_socket_directories": self._folder,
            "fsync": "off",
            "max_connections": 40,
        }
        command = [str(self._binaries / "postgres"), "-D", str(self._folder / "data")]
        command += [f"--{name}={value}" for name, value in options.items()]
        with (self._folder / "log").open("ab") as log:
            self._server = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder, **_USER)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                self.execute("SELECT 1")
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise RuntimeError((self._folder / "log").read_text())

    def stop(self) -> None:
        if self._server is not None:
            self._server.send_signal(signal.SIGQUIT)  # "immediate shutdown": as if the machine had gone
            self._server.wait(20)
            self._server = None

    def execute(self, sql: str, database: str = "postgres") -> None:
        with psycopg.connect(host=str(self._folder), user="wenyuan", dbname=database, autocommit=True) as connection:
            connection.execute(sql)

    def new_database(self) -> str:
        """The address of an empty database."""
        self._databases += 1
        name = f"test{self._databases}"
        self.execute(f"CREATE DATABASE {name}")
        return f"postgresql+psycopg://wenyuan@/{name}?host={self._folder}"


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed here (apt-get install postgresql): nothing was tested on it")
    folder = Path(tempfile.mkdtemp(prefix="wy-pg-", dir="/tmp"))  # a socket's path has about 100 characters at most
    if _USER:
        shutil.chown(folder, "postgres", "postgres")
    server = Postgres(folder, binaries)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
