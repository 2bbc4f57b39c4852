"""Servers on loopback that misbehave in one chosen way each.

    with Server(drip(b"HTTP/1.1 200 OK\\r\\n", every=0.05)) as server:
        fetch(Request("GET", server.url), deadline=Deadline(0.3))

A behaviour is a function of one accepted connection. It runs in a thread of its own and ends when the server closes.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


class Peer:
    """One accepted connection, from the server's side."""

    def __init__(self, sock: socket.socket, server: Server) -> None:
        self.sock = sock
        self.server = server
        self._unread = b""

    def read_request(self) -> bytes:
        """The head of the next request and its body, or nothing when the client has gone."""
        while b"\r\n\r\n" not in self._unread:
            if not self._receive():
                return b""
        head, _, self._unread = self._unread.partition(b"\r\n\r\n")
        length = 0
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        while len(self._unread) < length:
            if not self._receive():
                return b""
        body, self._unread = self._unread[:length], self._unread[length:]
        request = head + b"\r\n\r\n" + body
        self.server.requests.append(request)
        return request

    def unread(self, request: bytes) -> None:
        """For whoever answers instead, and reads it again."""
        self._unread = request + self._unread

    def _receive(self) -> bool:
        data = self.sock.recv(65536)
        self._unread += data
        return bool(data)

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def wait(self, seconds: float | None = None) -> bool:
        """Does nothing until the server closes (True) or the time has passed (False)."""
        return self.server.closing.wait(seconds)

    def wait_for_hang_up(self) -> None:
        """Until the client closes its side, which is then on record."""
        with suppress(OSError):  # a client that leaves something unread resets the connection
            while self.sock.recv(65536):
                pass
        self.server.hung_up.set()

    def secured(self, context: ssl.SSLContext) -> Peer:
        """The same connection, inside TLS from now on."""
        sock = context.wrap_socket(self.sock, server_side=True, do_handshake_on_connect=False)
        self.server.keep(sock)
        sock.do_handshake()
        return Peer(sock, self.server)

    def reset(self) -> None:
        """Closes with RST instead of FIN."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


Behaviour = Callable[[Peer], None]


class Server:
    def __init__(self, behaviour: Behaviour, *, tls: ssl.SSLContext | None = None, address: str = "127.0.0.1") -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        self.closing = threading.Event()
        self.hung_up = threading.Event()
        self._behaviour = behaviour
        self._tls = tls
        self._listener = socket.create_server((address, 0), backlog=128)
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]
        self.host = f"{address}:{self.port}"
        self.url = f"{'https' if tls else 'http'}://{self.host}/"

    def __enter__(self) -> Server:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        for sock in (self._listener, *self._open):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        for sock in (self._listener, *self._open):
            sock.close()

    def _start(self, target: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connections += 1
                self.keep(sock)
                self._start(self._serve, Peer(sock, self))

    def keep(self, sock: socket.socket) -> None:
        """Closed with the server at the latest."""
        self._open.append(sock)

    def _serve(self, peer: Peer) -> None:
        with suppress(OSError):  # the client has hung up, as the tests mean it to
            if self._tls:
                peer = peer.secured(self._tls)
            self._behaviour(peer)
        peer.sock.close()


def head(*headers: str, status: str = "200 OK") -> bytes:
    return "\r\n".join((f"HTTP/1.1 {status}", *headers, "", "")).encode("latin-1")


def message(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    return head(f"Content-Length: {len(body)}", *headers, status=status) + body


def ignore(peer: Peer) -> None:
    """Does not even read."""
    peer.wait()


def silence(peer: Peer) -> None:
    peer.read_request()
    peer.wait_for_hang_up()


def drip(start: bytes, piece: bytes = b"x", every: float = 0.05) -> Behaviour:
    """Sends `start`, then one small piece after another, for ever."""

    def behave(peer: Peer) -> None:
        peer.read_request()
        peer.send(start)
        while not peer.wait(every):
            peer.send(piece)

    return behave


def send_and_close(data: bytes) -> Behaviour:
    def behave(peer: Peer) -> None:
        peer.read_request()
        peer.send(data)

    return behave


def send_and_reset(data: bytes) -> Behaviour:
    def behave(peer: Peer) -> None:
        peer.read_request()
        peer.send(data)
        peer.wait(0.1)
        peer.reset()

    return behave


def send_and_wait(data: bytes) -> Behaviour:
    def behave(peer: Peer) -> None:
        peer.read_request()
        peer.send(data)
        peer.wait_for_hang_up()

    return behave


def keep_alive(data: bytes) -> Behaviour:
    """A well-behaved server: the same answer to every request on the connection."""

    def behave(peer: Peer) -> None:
        while peer.read_request():
            peer.send(data)

    return behave


def json_answer(value: Any) -> bytes:
    return message(json.dumps(value).encode(), "Content-Type: application/json")


@contextmanager
def full_backlog() -> Iterator[int]:
    """The port of a listener whose queue is full, so that a further connect hangs as it does at a black hole."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        port = listener.getsockname()[1]
        waiting: list[socket.socket] = []
        try:
            for _ in range(16):
                sock = socket.socket()
                waiting.append(sock)
                sock.settimeout(0.1)
                try:
                    sock.connect(("127.0.0.1", port))
                except TimeoutError:
                    break
            else:
                raise RuntimeError("the backlog never filled up")
            yield port
        finally:
            for sock in waiting:
                sock.close()


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def self_signed(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """A server context for 127.0.0.1, and the certificate that a client has to trust for it."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", "/CN=wenyuan-test"),
            *("-addext", "subjectAltName=IP:127.0.0.1,DNS:search.example"),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, certificate
