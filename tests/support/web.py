"""A web on loopback: many hosts with public addresses, behind one server.

Names resolve, and connections arrive, as on the real one: an address that is not public would be connected to for real,
and is on record in `connected`.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from support.faults import Behaviour, Peer, Server, head, message

PUBLIC = "93.184.215.14"
Route = bytes | Behaviour


class Web:
    def __init__(self) -> None:
        self.routes: dict[str, Route] = {}
        """By host and path."""
        self.names: dict[str, Iterator[Sequence[str]]] = {}
        """What a name resolves to, one answer after the other; every other name is public."""
        self.connected: list[tuple[str, int]] = []
        self.requests: list[bytes] = []
        self.beside: set[int] = set()
        """Ports of servers that the test has besides, which are no part of this web."""
        self._ports: dict[int, int] = {}
        self._servers = ExitStack()

    def serve(self, tls: ssl.SSLContext | None = None) -> None:
        server = self._servers.enter_context(Server(self._answer, tls=tls))
        self._ports[443 if tls else 80] = server.port

    def close(self) -> None:
        self._servers.close()

    def page(self, place: str, body: bytes, *headers: str, status: str = "200 OK") -> str:
        """Puts a page there, and returns its address."""
        self.routes[place] = message(body, *headers, "Connection: close", status=status)
        return f"http://{place}"

    def redirect(self, place: str, location: str) -> str:
        return self.page(place, b"", f"Location: {location}", status="302 Found")

    def behave(self, place: str, behaviour: Behaviour) -> str:
        self.routes[place] = behaviour
        return f"http://{place}"

    def resolve(self, host: Any, port: Any, *_: Any, **__: Any) -> list[Any]:
        name = host.decode() if isinstance(host, bytes) else str(host)
        try:
            addresses: Sequence[str] = [str(ipaddress.ip_address(name))]
        except ValueError:
            addresses = next(self.names[name]) if name in self.names else [PUBLIC]
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0))
            if ":" in address
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in addresses
        ]

    def connecting(self, real: Callable[[socket.socket, Any], None]) -> Callable[[socket.socket, Any], None]:
        def connect(sock: socket.socket, address: Any) -> None:
            if address[0] == "127.0.0.1" and address[1] in self.beside:
                return real(sock, address)
            self.connected.append(address[:2])
            if address[0] != PUBLIC or address[1] not in self._ports:
                raise ConnectionRefusedError
            return real(sock, ("127.0.0.1", self._ports[address[1]]))

        return connect

    def _answer(self, peer: Peer) -> None:
        request = peer.read_request()
        self.requests.append(request)
        lines = request.decode("latin-1").split("\r\n")
        host = next((line[6:] for line in lines if line.lower().startswith("host: ")), "")
        route = self.routes.get(f"{host}{lines[0].split(' ')[1]}", head("Content-Length: 0", status="404 Not Found"))
        if isinstance(route, bytes):
            peer.send(route)
        else:
            peer.unread(request)
            route(peer)


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    web = Web()
    web.serve()
    monkeypatch.setattr(socket.socket, "connect", web.connecting(socket.socket.connect))
    monkeypatch.setattr(socket, "getaddrinfo", web.resolve)
    yield web
    web.close()
