"""The protocol between the program and its workers: a JSON head and a body of bytes, each preceded by its length."""

from __future__ import annotations

import json
import signal
import socket
import struct
from collections.abc import Callable
from typing import Any

_LENGTHS = struct.Struct(">II")
MAX_FRAME = 32_000_000
NextTimeout = Callable[[], float | None]
"""Function that returns the seconds for the next wait; None is no limit."""


Task = dict[str, Any]


def run_tasks(parent: socket.socket, run_task: Callable[[bytes, Task], tuple[dict[str, object], bytes]]) -> None:
    """Run tasks until the socket is closed. The kernel ends this process when a task has used up its processor time."""
    while frame := receive_frame(parent):
        head, body = frame
        task = json.loads(head)
        signal.setitimer(signal.ITIMER_PROF, task["seconds"])
        answer, made = run_task(body, task)
        signal.setitimer(signal.ITIMER_PROF, 0)
        send_frame(parent, json.dumps(answer, ensure_ascii=False).encode(), made)


def send_frame(sock: socket.socket, head: bytes, body: bytes = b"") -> None:
    """Send one frame."""
    sock.sendall(_LENGTHS.pack(len(head), len(body)) + head + body)


def receive_frame(sock: socket.socket, *, next_timeout: NextTimeout = lambda: None) -> tuple[bytes, bytes] | None:
    """Return one frame as (head, body); None if the other side has gone."""
    lengths = _receive_exactly(sock, _LENGTHS.size, next_timeout)
    if lengths is None:
        return None
    head_length, body_length = _LENGTHS.unpack(lengths)
    if head_length + body_length > MAX_FRAME:
        return None
    head, body = _receive_exactly(sock, head_length, next_timeout), _receive_exactly(sock, body_length, next_timeout)
    return None if head is None or body is None else (head, body)


def _receive_exactly(sock: socket.socket, length: int, next_timeout: NextTimeout) -> bytes | None:
    data = bytearray()
    while len(data) < length:
        sock.settimeout(next_timeout())
        piece = sock.recv(min(length - len(data), 1 << 20))
        if not piece:
            return None
        data += piece
    return bytes(data)
