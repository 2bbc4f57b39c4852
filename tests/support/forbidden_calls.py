"""A process that really makes the calls that a broken parser could be made to make: `forbidden_calls.py HOW FOLDER …`.

HOW is `free` or how the process is confined first, by the program's own function. It writes one JSON line per call: the name
of the call, and the number of the error (0: the kernel did it).
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path

X86_64 = os.uname().machine == "x86_64"
# numbers of x86_64, of the others
TRUNCATE, PTRACE, PROCESS_VM_READV = (76, 101, 310) if X86_64 else (45, 117, 270)
TGKILL, PRLIMIT, MEMFD_CREATE = (234, 302, 319) if X86_64 else (131, 261, 279)
PIDFD_OPEN, PIDFD_SEND_SIGNAL, IO_URING_SETUP, CLONE3 = 434, 424, 425, 435
ATTACH, DETACH = 16, 17
FIOSETOWN, OPEN_FILES = 0x8901, 7
LIBC = ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: object) -> int:
    result: int = LIBC.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def trace(process: int) -> None:
    call(PTRACE, ATTACH, process, 0, 0)
    os.waitpid(process, 0x40000000)  # __WALL
    call(PTRACE, DETACH, process, 0, 0)


def read_memory(process: int, address: int) -> None:
    buffer = ctypes.create_string_buffer(8)
    mine = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 8)
    theirs = (ctypes.c_uint64 * 2)(address, 8)
    call(PROCESS_VM_READV, process, mine, ctypes.c_long(1), theirs, ctypes.c_long(1), ctypes.c_long(0))


def fork() -> None:
    if (child := os.fork()) == 0:
        os._exit(0)
    os.waitpid(child, 0)


def forbidden_calls(folder: Path, victim: int, address: int, port: int) -> dict[str, Callable[[], object]]:
    """Each against a file or a process that was made for it."""
    parent, knock = os.getppid(), signal.SIGUSR1
    connection = socket.socket()
    own = connection.fileno()
    pidfd = os.pidfd_open(parent)

    def at(name: str) -> str:
        return str(folder / name)

    return {
        "unlink": lambda: os.unlink(at("unlink")),
        "rmdir": lambda: os.rmdir(at("rmdir")),
        "rename": lambda: os.rename(at("rename"), at("renamed")),
        "link": lambda: os.link(at("link"), at("linked")),
        "symlink": lambda: os.symlink("/", at("symlinked")),
        "mkdir": lambda: os.mkdir(at("made")),
        "truncate": lambda: call(TRUNCATE, at("truncate").encode(), ctypes.c_long(0)),
        "chmod": lambda: os.chmod(at("chmod"), 0o777),
        "chown": lambda: os.chown(at("chown"), os.getuid(), os.getgid()),
        "utime": lambda: os.utime(at("utime"), (0, 0)),
        "setxattr": lambda: os.setxattr(at("setxattr"), "user.a", b"b"),
        "open to read": lambda: os.open(at("read"), os.O_RDONLY),
        "open to write": lambda: os.open(at("write"), os.O_WRONLY | os.O_TRUNC),
        "create": lambda: os.open(at("created"), os.O_CREAT | os.O_WRONLY),
        "list": lambda: os.listdir(folder),
        "memfd": lambda: call(MEMFD_CREATE, b"a", 0),
        "io_uring": lambda: call(IO_URING_SETUP, 1, ctypes.create_string_buffer(120)),
        "signal the parent": lambda: os.kill(parent, knock),
        "signal a thread": lambda: call(TGKILL, parent, parent, int(knock)),
        "signal by pidfd": lambda: call(PIDFD_SEND_SIGNAL, pidfd, int(knock), None, 0),
        "open a pidfd": lambda: call(PIDFD_OPEN, parent, 0),
        "own signals of a descriptor": lambda: fcntl.fcntl(own, fcntl.F_SETOWN, parent),
        "own signals by ioctl": lambda: fcntl.ioctl(own, FIOSETOWN, parent.to_bytes(4, sys.byteorder)),
        "trace": lambda: trace(victim),
        "read memory": lambda: read_memory(victim, address),
        "kill": lambda: os.kill(victim, signal.SIGKILL),
        "fork": fork,
        "clone3": lambda: call(CLONE3, None, 0),
        "socket": lambda: socket.socket(),
        "bind": lambda: connection.bind(("127.0.0.1", 0)),
        "connect": lambda: connection.connect(("127.0.0.1", port)),
        "raise a limit": lambda: call(PRLIMIT, 0, OPEN_FILES, struct.pack("QQ", 9, 9), None),
        "execute": lambda: os.execv("/bin/sh", ["sh", "-c", f"touch {at('executed')}"]),  # the last: it does not return
    }


def main(how: str, folder: str, victim: str, address: str, port: str) -> None:
    calls = forbidden_calls(Path(folder), int(victim), int(address), int(port))
    if how != "free":
        from core.reading import confinement

        if how == "without landlock":
            confinement.CREATE_RULESET = 9_999  # as on an old kernel: it says ENOSYS
        os.write(1, json.dumps(confinement.confine_process()._asdict()).encode() + b"\n")
    for name, make in calls.items():
        try:
            make()
            error = 0
        except OSError as failed:
            error = failed.errno or -1
        os.write(1, json.dumps([name, error]).encode() + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
