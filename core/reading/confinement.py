"""Confinement of the process that parses strangers' bytes: the kernel refuses it everything except computing.

Three walls, each entered for good:

- Landlock, where the kernel has it: no path can be opened, made, removed, renamed or truncated, no TCP port bound or
  connected to, no process outside be signalled or traced.
- Limits: address space, and zero descriptors, processes and bytes of a file.
- A seccomp filter, a list of the system calls that are allowed (ALLOWED_CALLS): memory, clocks, timers, own signal handlers,
  reading and writing of what is open already. Every other call fails with EPERM, also for root: open, unlink, rename,
  truncate, chmod, chown, utimensat, kill, tgkill, pidfd_*, ptrace, process_vm_*, fork, clone (threads too), execve, socket,
  connect, fcntl, prctl, io_uring. Of ioctl only FIONBIO is allowed, because others send signals (FIOSETOWN). A call in
  another architecture's numbers kills the process.

The filter and the limits suffice for the whole promise. Landlock guards against a mistake in the filter, so its absence
is told but forbids nothing.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import struct
import sys
from collections.abc import Iterator
from typing import NamedTuple

MEMORY = 1_000_000_000
"""Limit of the address space in bytes. Memory that the libraries map counts too."""


class Confinement(NamedTuple):
    """What confines a process."""

    missing: list[str]
    """What could not be built, as words for an administrator. Empty: the process is confined."""
    landlock: int = 0
    """Version of Landlock that confines it too; 0: none."""


def confine_process(memory: int = MEMORY) -> Confinement:
    """Give up everything that parsing does not need. Return what confines the process from now on."""
    missing: list[str] = []
    landlock = 0
    try:
        landlock = _enter_landlock()
    except OSError as error:
        missing.append(f"Landlock（{error.strerror}）")
    missing += _set_limits(_LIMITS | {"RLIMIT_AS": memory})
    try:
        _install_filter()
    except OSError as error:
        missing.append(f"seccomp（{error.strerror}）")
    return Confinement(missing, landlock)


# ── Limits ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_LIMITS = {
    "RLIMIT_NOFILE": 0,
    "RLIMIT_NPROC": 0,
    "RLIMIT_FSIZE": 0,
    "RLIMIT_CORE": 0,
}


def _set_limits(limits: dict[str, int]) -> Iterator[str]:
    """Set the limits and yield the names of those that could not be set."""
    for name, most in limits.items():
        kind = getattr(resource, name)
        try:
            hard = resource.getrlimit(kind)[1]
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (least, least))
        except (ValueError, OSError):  # macOS does not limit addresses
            yield name


# ── Landlock ──────────────────────────────────────────────────────────────────────────────────────────────────────────

CREATE_RULESET, RESTRICT_SELF = 444, 446
"""System calls with the same numbers on every architecture."""
_ASK_VERSION = 1
_FILE_RIGHTS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 5: 0xFFFF}
"""All rights on files that a version knows, from that version on. 2 adds linking elsewhere, 3 truncating, 5 ioctl."""
_NETWORK_RIGHTS = {4: 0b11}
"""Binding and connecting of TCP."""
_SCOPES = {6: 0b11}
"""Abstract unix sockets and signals."""


def _enter_landlock() -> int:
    """Deny every right that this kernel's Landlock knows. Return its version; 0 where there is none."""
    version = _landlock_version()
    if version:
        rights = (_known_rights(kind, version) for kind in (_FILE_RIGHTS, _NETWORK_RIGHTS, _SCOPES))
        attributes = struct.pack("=QQQ", *rights)
        rules = _system_call(CREATE_RULESET, attributes, len(attributes), 0)
        try:
            _forbid_new_privileges()
            _system_call(RESTRICT_SELF, rules, 0)
        finally:
            os.close(rules)
    return version


def _landlock_version() -> int:
    if sys.platform != "linux":
        return 0
    try:
        return _system_call(CREATE_RULESET, None, 0, _ASK_VERSION)
    except OSError as error:
        if error.errno in {errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM}:  # an old kernel, switched off, a container
            return 0
        raise


def _known_rights(rights: dict[int, int], version: int) -> int:
    return max((mask for since, mask in rights.items() if since <= version), default=0)


# ── The filter ────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Machine(NamedTuple):
    column: int
    """Column of its numbers in ALLOWED_CALLS."""
    audit_word: int
    """What seccomp calls this architecture."""
    seccomp_call: int


MACHINES = {"x86_64": _Machine(0, 0xC000003E, 317), "aarch64": _Machine(1, 0xC00000B7, 277)}
ALLOWED_CALLS: dict[str, tuple[int | None, int | None]] = {
    # what is open already
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "fstat": (5, 80),
    "lseek": (8, 62),
    "poll": (7, None),
    "ppoll": (271, 73),
    "sendto": (44, 206),
    "recvfrom": (45, 207),
    # memory
    "brk": (12, 214),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    # the process itself
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "futex": (202, 98),
    "sched_yield": (24, 124),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "getrusage": (98, 165),
    "exit": (60, 93),
    "exit_group": (231, 94),
    # time and chance
    "getitimer": (36, 102),
    "setitimer": (38, 103),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "clock_gettime": (228, 113),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "restart_syscall": (219, 128),
    "getrandom": (318, 278),
}
_IOCTL = (16, 29)
_FIONBIO = 0x5421
"""Whether a socket blocks: Python asks for it before it waits."""

_SET_MODE_FILTER, _ALL_THREADS = 1, 1
_NUMBER, _ARCHITECTURE, _SECOND_ARGUMENT = 0, 4, 24
"""Offsets in the kernel's seccomp_data."""
_LOAD, _RETURN, _IS_EQUAL = 0x20, 0x06, 0x15
"""Instructions of BPF."""
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM


def _install_filter() -> None:
    machine = MACHINES.get(platform.machine()) if sys.platform == "linux" else None
    if machine is None:
        raise OSError(errno.ENOSYS, f"没有为 {sys.platform} {platform.machine()} 写过滤规则")
    program = b"".join(_filter_program(machine))
    code = ctypes.create_string_buffer(program, len(program))
    _forbid_new_privileges()
    pointer = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    if _system_call(machine.seccomp_call, _SET_MODE_FILTER, _ALL_THREADS, pointer):
        raise OSError(errno.ESRCH, "另一个线程没有进入")


def _filter_program(machine: _Machine) -> Iterator[bytes]:
    yield from _skip_unless(_ARCHITECTURE, machine.audit_word, then=[_instruction(_RETURN, _KILL)], equal=False)
    for numbers in ALLOWED_CALLS.values():
        number = numbers[machine.column]
        if number is not None:
            yield from _skip_unless(_NUMBER, number, then=[_instruction(_RETURN, _ALLOW)])
    blocking = list(_skip_unless(_SECOND_ARGUMENT, _FIONBIO, then=[_instruction(_RETURN, _ALLOW)]))
    yield from _skip_unless(_NUMBER, _IOCTL[machine.column], then=blocking)
    yield _instruction(_RETURN, _REFUSE)


def _skip_unless(offset: int, value: int, *, then: list[bytes], equal: bool = True) -> Iterator[bytes]:
    """Yield instructions that load a word and run `then` if it is (or is not) equal to the value."""
    jumps = (0, len(then)) if equal else (len(then), 0)
    yield _instruction(_LOAD, offset)
    yield _instruction(_IS_EQUAL, value, *jumps)
    yield from then


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


# ── System calls ──────────────────────────────────────────────────────────────────────────────────────────────────────

_SET_NO_NEW_PRIVS = 38


def _forbid_new_privileges() -> None:
    """Forbid that a program gains rights by being executed: the kernel's condition for both walls without root."""
    if ctypes.CDLL(None, use_errno=True).prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise _last_error()


def _system_call(number: int, *arguments: int | bytes | None) -> int:
    """Make a system call and return its result. Raise OSError."""
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    result = call(ctypes.c_long(number), *map(_long_argument, arguments))
    if result < 0:
        raise _last_error()
    return int(result)


def _long_argument(value: int | bytes | None) -> ctypes.c_long | ctypes.c_char_p:
    return ctypes.c_long(value) if isinstance(value, int) else ctypes.c_char_p(value)


def _last_error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
