"""A real Chrome under watch: its temporary files go to a folder of their own, by which its processes are found too."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.search.chrome import find_chrome
from core.search.errors import EngineMisconfigured

try:
    CHROME = find_chrome()
    NO_CHROME = ""
except EngineMisconfigured as missing:
    CHROME, NO_CHROME = "", str(missing)
if not Path("/proc/self/environ").exists():
    NO_CHROME = "processes are watched through /proc"


class Watched:
    def __init__(self, folder: str) -> None:
        self.folder = folder

    def processes(self) -> dict[int, str]:
        """Everything that runs with this folder for its temporary files, and its command line."""
        found = {}
        for path in Path("/proc").iterdir():
            if not path.name.isdecimal() or int(path.name) == os.getpid():
                continue
            with suppress(OSError):  # it has ended meanwhile, or is not ours to look at
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if command and self.folder in command + (path / "environ").read_bytes().decode(errors="replace"):
                    found[int(path.name)] = command
        return found

    def chrome(self) -> int | None:
        """Chrome's main process."""
        commands = self.processes().items()
        mains = [pid for pid, command in commands if "--remote-debugging-pipe" in command and "--type=" not in command]
        return mains[0] if mains else None

    def driver(self) -> int:
        (pid,) = [pid for pid, command in self.processes().items() if "run-driver" in command]
        return pid

    def profiles(self) -> list[str]:
        return [name for name in os.listdir(self.folder) if name.startswith("playwright")]

    def memory(self) -> int:
        """Bytes that Chrome's processes hold for themselves; what they share is not counted once for each."""
        total = 0
        for pid, command in self.processes().items():
            if "run-driver" not in command:
                with suppress(OSError):
                    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
                    total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
        return total


@contextmanager
def watched() -> Iterator[Watched]:
    """Sets TMPDIR, which the driver and Chrome take over."""
    folder = tempfile.mkdtemp(prefix="wy")  # short: Chrome puts a socket there
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = folder
    try:
        yield Watched(folder)
    finally:
        os.environ.pop("TMPDIR")
        if before is not None:
            os.environ["TMPDIR"] = before
        shutil.rmtree(folder, ignore_errors=True)
