"""What passes between the program and its workers: a head of JSON and a body of bytes, each with its length before it."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable

_LENGTHS = struct.Struct(">II")
MAX_FRAME = 32_000_000


def send(sock: socket.socket, head: bytes, body: bytes = b"") -> None:
    sock.sendall(_LENGTHS.pack(len(head), len(body)) + head + body)


def receive(sock: socket.socket, *, patience: Callable[[], float | None] = lambda: None) -> tuple[bytes, bytes] | None:
    """None when the other side has gone. `patience` says how long the next wait may take."""
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
