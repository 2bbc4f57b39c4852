"""Connections that obey the deadline of the request they carry.

requests and urllib3 wait anew for every piece of an answer. Here every wait (connect, proxy tunnel, TLS, sending, each
read) gets only what is left of one wall-clock deadline, and `Deadline.cancel` can shut the socket down.
"""

from __future__ import annotations

import functools
import http.client
import io
import os
import socket
import ssl
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import requests
from requests.adapters import DEFAULT_CA_BUNDLE_PATH, HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import NewConnectionError
from urllib3.util.connection import allowed_gai_family
from urllib3.util.ssl_ import create_urllib3_context

from core.base.http.deadline import Deadline
from core.base.http.errors import HttpNotPublic
from core.base.http.networks import is_public

MAX_IDLE_CONNECTIONS = 4
"""Idle connections kept for each host: enough for a search every few seconds, and few file handles."""


class FetchContext(threading.local):
    """The fetch that runs in this thread. urllib3 has no other way to pass it to a connection."""

    deadline: Deadline
    is_reused: bool
    """True if the request uses a connection that served an earlier one."""
    public_only: bool
    return_redirects: bool


current_fetch = FetchContext()


def _require_public(connection: HTTPConnection, addresses: Iterable[str]) -> None:
    """Raise HttpNotPublic if a direct connection leads to a private address. Behind a proxy, the proxy decides."""
    if current_fetch.public_only and connection.proxy is None and not all(map(is_public, addresses)):
        connection.close()
        raise HttpNotPublic(host=connection.host)


class _DeadlineReader(io.RawIOBase):
    """Read a socket. No wait is longer than the time that the whole request has left."""

    def __init__(self, source: io.RawIOBase, sock: socket.socket) -> None:
        self._source = source
        self._sock = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(current_fetch.deadline.next_timeout())
        return self._source.readinto(buffer)

    def close(self) -> None:
        self._source.close()
        super().close()


class _DeadlineResponse(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_DeadlineReader(self.fp.detach(), sock))

    def _read_status(self) -> tuple[str, int, str]:
        """Skip interim answers. http.client takes 103 for the answer, and the next request would get the real one."""
        version, status, reason = super()._read_status()  # type: ignore[misc]
        while 100 < status < 200:
            http.client.parse_headers(self.fp)
            version, status, reason = super()._read_status()  # type: ignore[misc]
        return version, status, reason

    def _read_next_chunk_size(self) -> int:
        """Refuse negative sizes. http.client takes `-1` for a size and reads everything at once, past any limit."""
        size: int = super()._read_next_chunk_size()  # type: ignore[misc]
        if size < 0:
            raise ValueError
        return size


class _DeadlineConnection(HTTPConnection):
    response_class = _DeadlineResponse

    def _new_conn(self) -> socket.socket:
        current_fetch.is_reused = False
        host = self._dns_host.strip("[]")
        addresses = socket.getaddrinfo(host, self.port, allowed_gai_family(), socket.SOCK_STREAM)
        _require_public(self, (str(address[0]) for *_, address in addresses))
        failure: OSError | None = None
        for tried, (family, kind, protocol, _, address) in enumerate(addresses):
            try:
                return self._connect_to(address, socket.socket(family, kind, protocol), share=len(addresses) - tried)
            except OSError as error:
                failure = error
        # urllib3 takes a bare reset for one that struck while sending, and would go on to read.
        raise NewConnectionError(self, "no address answered") from failure

    def _connect_to(self, address: Any, sock: socket.socket, *, share: int) -> socket.socket:
        """Connect to one of `share` addresses that are left to try. Each gets an equal part of the time."""
        deadline = current_fetch.deadline
        try:
            deadline.attach_socket(sock.fileno())
            for option in self.socket_options or ():
                sock.setsockopt(*option)
            sock.settimeout(deadline.next_timeout() / share)
            sock.connect(address)
            sock.settimeout(deadline.next_timeout())  # one limit for the whole TLS handshake, which inherits it
        except BaseException:
            sock.close()
            raise
        return sock

    def _tunnel(self) -> None:
        super()._tunnel()
        self.sock.settimeout(current_fetch.deadline.next_timeout())

    def send(self, data: Any) -> None:
        if self.sock is not None:
            self.sock.settimeout(current_fetch.deadline.next_timeout())
        super().send(data)


class _DeadlineTlsConnection(_DeadlineConnection, HTTPSConnection):
    pass


class _CancellablePool(HTTPConnectionPool):
    """A pool in which `Deadline.cancel` can shut down a connection in use, but never an idle one."""

    ConnectionCls = _DeadlineConnection

    def _get_conn(self, timeout: float | None = None) -> Any:
        connection: Any = super()._get_conn(timeout)
        if connection.sock is not None:
            with suppress(OSError):  # not connected any more: it will connect anew
                _require_public(connection, [connection.sock.getpeername()[0]])
            current_fetch.deadline.attach_socket(connection.sock.fileno())
        return connection

    def _put_conn(self, conn: Any) -> None:
        current_fetch.deadline.detach_socket()
        if conn is not None and current_fetch.deadline.cancelled:
            conn.close()
        super()._put_conn(conn)


class _CancellableTlsPool(_CancellablePool, HTTPSConnectionPool):
    ConnectionCls = _DeadlineTlsConnection


_POOLS = {"http": _CancellablePool, "https": _CancellableTlsPool}


class _Adapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        if proxy.lower().startswith("socks"):  # urllib3's SOCKS connections would not know the deadline
            raise requests.exceptions.InvalidProxyURL
        manager = super().proxy_manager_for(proxy, **kwargs)
        manager.pool_classes_by_scheme = _POOLS
        return manager

    def build_connection_pool_key_attributes(self, request: Any, verify: Any, cert: Any = None) -> Any:
        host, _ = super().build_connection_pool_key_attributes(request, verify, cert)
        return host, {"ssl_context": tls_context(verify)} if host["scheme"] == "https" else {}

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """Do nothing. The TLS context already holds the certificates and demands verification."""


@functools.cache
def tls_context(ca_bundle: str) -> ssl.SSLContext:
    """Return the TLS context of a CA bundle. Loading takes 40 ms, which requests spends on every new connection."""
    context = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED)
    try:
        if os.path.isdir(ca_bundle):
            context.load_verify_locations(capath=ca_bundle)
        else:
            context.load_verify_locations(cafile=ca_bundle)
    except OSError as error:
        raise ssl.SSLError("the CA bundle cannot be read") from error
    return context


@functools.lru_cache(maxsize=256)
def environment_settings(origin: str) -> tuple[dict[str, str], str]:
    """Return the proxies and the CA bundle that the environment names for this scheme, host and port."""
    with requests.Session() as session:
        found = session.merge_environment_settings(origin, {}, stream=None, verify=None, cert=None)
    ca_bundle = found["verify"]
    return dict(found["proxies"]), ca_bundle if isinstance(ca_bundle, str) else DEFAULT_CA_BUNDLE_PATH


http_adapter = _Adapter(pool_connections=32, pool_maxsize=MAX_IDLE_CONNECTIONS)
