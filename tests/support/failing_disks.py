"""Real disks that fail: small enough to be filled, and switched to read-only. Only where mounting is allowed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


class Disk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        with self._filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"x" * 4096)

    def free(self) -> None:
        self._filler.unlink()

    def remount(self, mode: str) -> None:
        _mount("-o", f"remount,{mode}", self.folder)


def _mount(*arguments: object) -> None:
    done = subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"a disk cannot be mounted here: {done.stderr.strip()}")


@contextmanager
def small_disk(folder: Path, size: str = "3m") -> Iterator[Disk]:
    folder.mkdir(parents=True, exist_ok=True)
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder)
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
