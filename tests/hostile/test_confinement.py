"""A parser that a page has taken over: whatever it calls the kernel for, nothing on the machine changes.

The calls are really made, against files and processes that are made for them, also as root. Without the confinement each
of them works: the list tests something.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.base import ROOT

SCRIPT = ROOT / "tests" / "support" / "forbidden_calls.py"
FILES = ("unlink", "rename", "link", "truncate", "chmod", "chown", "utime", "setxattr", "read", "write")
CALLS = 33
# A process that lets itself be traced, also where only one's own children may be.
VICTIM = """
import ctypes, time
word = ctypes.create_string_buffer(b"secret!")
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)
print(ctypes.addressof(word), flush=True)
time.sleep(600)
"""
# On this machine these may fail for reasons of their own: a file system without attributes, a kernel without io_uring.
MAY_FAIL_WITHOUT = {"setxattr", "io_uring", "clone3"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).write_text("kept")
        (tmp_path / name).chmod(0o600)
    (tmp_path / "rmdir").mkdir()
    return tmp_path


@pytest.fixture
def victim() -> Iterator[tuple[subprocess.Popen[str], int]]:
    with subprocess.Popen([sys.executable, "-c", VICTIM], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process, int(process.stdout.readline())
        process.kill()


@pytest.fixture
def knocks() -> Iterator[list[int]]:
    """The signals that reach this process."""
    heard: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _frame: heard.append(number))
    yield heard
    signal.signal(signal.SIGUSR1, before)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        yield server


def listing(folder: Path) -> dict[str, tuple[int, int, int]]:
    return {one.name: (one.stat().st_mode, one.stat().st_size, one.stat().st_mtime_ns) for one in folder.iterdir()}


def make_calls(how: str, folder: Path, victim: int, address: int, port: int) -> list[str]:
    arguments = [how, str(folder), str(victim), str(address), str(port)]
    done = subprocess.run(
        [sys.executable, SCRIPT, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


Victim = tuple[subprocess.Popen[str], int]


@pytest.mark.parametrize("how", ["confined", "without landlock"])
def test_every_call_is_refused_and_nothing_changes(
    how: str, folder: Path, victim: Victim, knocks: list[int], listener: socket.socket
) -> None:
    before = listing(folder)
    process, address = victim
    told, *lines = make_calls(how, folder, process.pid, address, listener.getsockname()[1])
    assert json.loads(told)["missing"] == []
    outcomes = dict(map(json.loads, lines))
    assert len(outcomes) == CALLS
    assert set(outcomes.values()) == {errno.EPERM}, outcomes
    assert listing(folder) == before
    assert (process.poll(), knocks) == (None, [])
    with pytest.raises(TimeoutError):
        listener.accept()


def test_without_it_every_call_works(folder: Path, victim: Victim, knocks: list[int], listener: socket.socket) -> None:
    process, address = victim
    outcomes = dict(map(json.loads, make_calls("free", folder, process.pid, address, listener.getsockname()[1])))
    assert len(outcomes) == CALLS - 1  # the last turned it into another program
    assert {name for name, error in outcomes.items() if error} <= MAY_FAIL_WITHOUT, outcomes
    left = listing(folder)
    assert not {"unlink", "rmdir", "rename"} & left.keys()
    assert {"renamed", "linked", "made", "created", "executed"} <= left.keys()
    assert (left["truncate"][1], left["write"][1]) == (0, 0)
    assert process.wait(10) == -signal.SIGKILL
    assert len(knocks) >= 1
    listener.accept()[0].close()


def test_calls_in_other_numbers_kill_it() -> None:
    """Those of 32 bits, where 10 is unlink: the list is one of numbers, so it must know whose numbers they are."""
    if os.uname().machine != "x86_64":
        pytest.skip("the machine code is of x86_64")
    script = """
import ctypes, mmap, os
from core.reading.confinement import confine_process
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")  # mov eax, 20 (getpid); int 0x80; ret
run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
assert confine_process().missing == []
os.write(1, b"confined")
run()
os.write(1, b"still here")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, cwd=ROOT, timeout=60)
    assert (done.stdout, done.returncode) == (b"confined", -signal.SIGSYS), done.stderr


def test_the_landlock_wall_stands_alone(tmp_path: Path) -> None:
    """Without the filter it still refuses changes of files, and signals where the kernel knows that."""
    kept = tmp_path / "kept"
    kept.write_text("kept")
    script = f"""
import os, signal
from core.reading import confinement
confinement.MACHINES = {{}}
version = confinement.confine_process().landlock
for make in (lambda: os.unlink({str(kept)!r}), lambda: os.truncate({str(kept)!r}, 0), lambda: os.kill(os.getppid(), 0)):
    try:
        make()
        print("done")
    except OSError as error:
        print(error.errno)
print(version)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=60)
    *outcomes, version = map(str, done.stdout.split())
    if int(version) == 0:
        pytest.skip("this kernel has no Landlock")
    assert outcomes[:2] == [str(errno.EACCES), str(errno.EACCES) if int(version) >= 3 else "done"], done
    assert outcomes[2] == (str(errno.EPERM) if int(version) >= 6 else "done")
    assert kept.exists()


def test_both_architectures_filters_are_whole_programs() -> None:
    """Jumps stay within the program, and every path ends in an answer."""
    from core.reading import confinement

    for machine in confinement.MACHINES.values():
        program = b"".join(confinement._filter_program(machine))
        assert len(program) % 8 == 0
        codes = [ctypes.c_uint16.from_buffer_copy(program, at).value for at in range(0, len(program), 8)]
        ends = [place for place, code in enumerate(codes) if code == 0x06]
        assert ends[-1] == len(codes) - 1
        for place, code in enumerate(codes):
            if code == 0x15:
                assert place + 1 + max(program[place * 8 + 2 : place * 8 + 4]) < len(codes)
