"""Tuning of this process, of its interpreter and of its C library. Each function gives its measured effect.

`TUNING=off` switches off all but the higher limit of file handles: without it, a server fails at some 250 open pages.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

_is_on = True


def switch_tuning(*, on: bool) -> None:
    """Switch tuning on or off for the whole process. Call it before anything is tuned."""
    global _is_on
    _is_on = on


def tune_server(number: int) -> None:
    """Tune a process that serves pages; servers with consecutive numbers work on different cores."""
    if _is_on:
        pin_to_one_core(number)
        limit_malloc_arenas()
        shrink_websocket_compressors()
        collect_garbage_less_often()
        send_without_delay()


# ── Cores ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

if sys.platform == "linux":
    _ALL_CORES = frozenset(os.sched_getaffinity(0))

    def pin_to_one_core(number: int) -> None:
        """Keep all threads on one core: with fifty askers at once, each takes 22 ms of processor time instead of 38.
        Python's threads compute in turn, and to hand over to another core takes longer than most turns."""
        core = sorted(_ALL_CORES)[number % len(_ALL_CORES)]
        for thread in map(int, os.listdir("/proc/self/task")):
            with suppress(OSError):  # it has ended
                if os.sched_getaffinity(thread) == _ALL_CORES:
                    os.sched_setaffinity(thread, {core})

    @contextmanager
    def use_all_cores() -> Iterator[None]:
        """Give all cores to the calling thread and to what it starts meanwhile: Chrome, readers of files, imports."""
        before = os.sched_getaffinity(0)
        with suppress(OSError):  # some were taken from this process
            os.sched_setaffinity(0, _ALL_CORES)
        try:
            yield
        finally:
            with suppress(OSError):
                os.sched_setaffinity(0, before)

else:

    def pin_to_one_core(number: int) -> None:
        """Leave the choice to the system."""

    @contextmanager
    def use_all_cores() -> Iterator[None]:
        yield


# ── Memory ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_M_ARENA_MAX, _ARENAS = -8, 4


def limit_malloc_arenas() -> None:
    """Limit glibc to four arenas instead of eight a core. With small compressors, an open page then takes 0.18 MB
    instead of 0.21. Only one thread at a time runs Python, and free memory of one arena serves no other."""
    with suppress(OSError, AttributeError):  # only glibc has them
        ctypes.CDLL("libc.so.6").mallopt(_M_ARENA_MAX, _ARENAS)


def shrink_websocket_compressors() -> None:
    """Make the compressors smaller: 12 kB less for each open page, and not a byte more sent. Uvicorn has no setting."""
    from uvicorn.protocols.websockets import websockets_sansio_impl
    from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory

    class SmallDeflate(ServerPerMessageDeflateFactory):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**{**settings, "compress_settings": {"memLevel": 3}})

    setattr(websockets_sansio_impl, "ServerPerMessageDeflateFactory", SmallDeflate)  # noqa: B010 (to mypy it is a constant)


def collect_garbage_less_often() -> None:
    """Collect after 10,000 new objects instead of 700: no round of 8 ms stops everybody.
    An answer of 600 tokens takes 35 ms instead of 36."""
    gc.set_threshold(10_000, 10, 5)


def give_back_memory() -> None:
    """Collect garbage and trim the heap. Called once a minute, it frees the memory and sockets of closed pages."""
    if _is_on:
        gc.collect()
        with suppress(OSError, AttributeError):  # only glibc keeps what it could give back, and can be asked to
            ctypes.CDLL("libc.so.6").malloc_trim(0)


def exempt_from_garbage_collection() -> None:
    """Exempt all present objects from collection: LangChain's 216,000 cost 130 ms a round, and none is garbage."""
    if _is_on:
        gc.freeze()


MAX_FILE_HANDLES = 65_536


def raise_file_handle_limit() -> None:
    """Raise the limit for 16,000 open pages instead of 250: each takes four handles, and the usual limit is 1,024."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_FILE_HANDLES if most == resource.RLIM_INFINITY else min(most, MAX_FILE_HANDLES)
    if allowed != resource.RLIM_INFINITY and allowed < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


# ── Network ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def send_without_delay() -> None:
    """Send each part of a response at once: a small one over a connection that is kept takes 2 ms instead of 44. asyncio does
    so for sockets that it knows to be TCP, and Streamlit makes its own without saying so."""

    def set_nodelay(connection: socket.socket) -> None:
        if connection.family in (socket.AF_INET, socket.AF_INET6) and connection.type == socket.SOCK_STREAM:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    setattr(asyncio.base_events, "_set_nodelay", set_nodelay)  # noqa: B010 (to mypy it does not exist)


# ── Turns ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

_SHORT = 0.0005
_lock = threading.Lock()
_under_way = 0
_usual = sys.getswitchinterval()


@contextmanager
def short_switch_interval() -> Iterator[None]:
    """Let other threads in after 0.5 ms instead of 5, around imports that take seconds. A page drawn meanwhile waits
    after each of its fifty messages: 25 ms in all instead of 250."""
    global _under_way
    with _lock:
        _under_way += 1
        if _is_on:
            sys.setswitchinterval(_SHORT)
    try:
        yield
    finally:
        with _lock:
            _under_way -= 1
            if not _under_way:
                sys.setswitchinterval(_usual)
