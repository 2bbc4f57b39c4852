"""The protocol between the program and its workers: a JSON head and a body of bytes, each preceded by its length."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable

_LENGTHS = struct.Struct(">II")
MAX_FRAME = 32_000_000


def send(sock: socket.socket, head: bytes, body: bytes = b"") -> None:
    """Send one frame."""
    sock.sendall(_LENGTHS.pack(len(head), len(body)) + head + body)


def receive(sock: socket.socket, *, patience: Callable[[], float | None] = lambda: None) -> tuple[bytes, bytes] | None:
    """Return one frame as (head, body); None if the other side has gone. `next_timeout` returns the seconds for the
    next wait."""
    lengths = _exactly(sock, _LENGTHS.size, patience)
    if lengths is None:
        return None
    head_length, body_length = _LENGTHS.unpack(lengths)
    if head_length + body_length > MAX_FRAME:
        return None
    head, body = _exactly(sock, head_length, patience), _exactly(sock, body_length, patience)
    return None if head is None or body is None else (head, body)


def _exactly(sock: socket.socket, length: int, patience: Callable[[], float | None]) -> bytes | None:
    data = bytearray()
    while len(data) < length:
        sock.settimeout(patience())
        piece = sock.recv(min(length - len(data), 1 << 20))
        if not piece:
            return None
        data += piece
    return bytes(data)
