"""The one way out: every outbound HTTP request of the program goes through `fetch`.

requests waits anew for every piece of an answer, so a server that drips bytes can hold a caller for ever. Here every
wait (connect, proxy tunnel, TLS, sending, each read) gets only what is left of one wall-clock deadline, and another
thread can end the request at once by shutting its socket down. No redirect is followed, because keys would travel
with it; no cookie is kept; nothing is read past a byte cap, compressed or not; and no error names more than a host.

An address that a visitor of the page typed is fetched with `public_only`: never from this machine or its network.
"""

from __future__ import annotations

import codecs
import functools
import http.client
import io
import ipaddress
import json
import logging
import os
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import requests
import urllib3
from requests.adapters import DEFAULT_CA_BUNDLE_PATH, HTTPAdapter
from requests.structures import CaseInsensitiveDict
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import NewConnectionError, ProxyError
from urllib3.util.connection import allowed_gai_family
from urllib3.util.ssl_ import create_urllib3_context

from core import __version__
from core.base.errors import (
    HttpCancelled,
    HttpConnectError,
    HttpError,
    HttpInvalidJson,
    HttpInvalidRequest,
    HttpNotPublic,
    HttpProtocolError,
    HttpRedirect,
    HttpTimeout,
    HttpTooLarge,
)

MAX_BYTES = 4_000_000
MAX_KEPT_CONNECTIONS = 64

# Below this level urllib3 writes whole URLs into the log, and the keys in them.
logging.getLogger("urllib3").setLevel(logging.ERROR)


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    url: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None


@dataclass(frozen=True, slots=True)
class Response:
    """A complete answer, whatever its status: what a 404 or a 429 means is for the caller to say."""

    status: int
    headers: Mapping[str, str]
    """Names are compared without regard to case."""
    body: bytes
    host: str

    def text(self) -> str:
        return self.body.decode(_charset(self.headers.get("Content-Type", "")), "replace")

    def json(self) -> Any:
        """JSON is UTF-8 whatever the header says; a broken byte costs one character, not the answer."""
        try:
            return json.loads(self.body.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError):
            raise HttpInvalidJson(host=self.host) from None


class Deadline:
    """The moment by which everything that was given this deadline has ended. It may be shared between threads."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds
        self._lock = threading.Lock()
        self._cancelled = False
        self._held: dict[int, socket.socket] = {}

    def remaining(self) -> float:
        return max(0.0, self._end - self._clock())

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def cancel(self) -> None:
        """Ends every running fetch that waits under this deadline, and every later one before it starts."""
        with self._lock:
            self._cancelled = True
            for handle in self._held.values():
                _shut_down(handle)

    def patience(self) -> float:
        """How long the next blocking call may wait."""
        left = self.remaining()
        if self.cancelled or left <= 0:
            raise TimeoutError
        return left

    def share(self, parts: int) -> Deadline:
        """An equal part of what is left, for one of several tries; to cancel the whole is to cancel the part."""
        return _Share(self, self.remaining() / parts)

    def within(self, seconds: float) -> Deadline:
        """A shorter wait; to cancel the whole is to cancel it."""
        return _Share(self, min(seconds, self.remaining()))

    def hold(self, fileno: int) -> None:
        """Lets `cancel` reach the connection that this thread is about to wait for.

        The descriptor is duplicated: TLS takes the socket object over in the middle of connecting, and a number that
        was closed may already belong to somebody else's file.
        """
        self.let_go()
        handle = socket.socket(fileno=os.dup(fileno))
        with self._lock:
            self._held[threading.get_ident()] = handle

    def let_go(self) -> None:
        with self._lock:
            handle = self._held.pop(threading.get_ident(), None)
        if handle is not None:
            handle.close()


class _Share(Deadline):
    def __init__(self, whole: Deadline, seconds: float) -> None:
        super().__init__(seconds, whole._clock)
        self._whole = whole

    @property
    def cancelled(self) -> bool:
        return self._whole.cancelled

    def cancel(self) -> None:
        self._whole.cancel()

    def hold(self, fileno: int) -> None:
        self._whole.hold(fileno)

    def let_go(self) -> None:
        self._whole.let_go()


def fetch(
    request: Request,
    *,
    deadline: Deadline,
    max_bytes: int = MAX_BYTES,
    public_only: bool = False,
    on_bytes: Callable[[int], None] = lambda _: None,
) -> Response:
    """Sends the request and reads the whole answer before the deadline, or raises an `HttpError`.

    `on_bytes` is told how much of the answer has arrived.

    One thing cannot be interrupted: a system resolver that hangs. Callers that must not wait for it abandon the thread.
    """
    prepared, origin = _prepare(request)
    _running.deadline, _running.reused, _running.public_only = deadline, True, public_only
    if public_only and _is_private_name(origin.host):
        raise HttpNotPublic(host=origin.host)
    try:
        return _exchange(prepared, origin, max_bytes, on_bytes)
    except _FOREIGN_ERRORS as error:
        problem = _translate(error, origin.host)
    finally:
        deadline.let_go()
    # A server may hang up on a kept connection at the moment it is used again; that says nothing about the server.
    hung_up = isinstance(problem, HttpConnectError) and problem.reason == "reset"
    if hung_up and _running.reused and request.method == "GET":
        return fetch(request, deadline=deadline, max_bytes=max_bytes, public_only=public_only, on_bytes=on_bytes)
    # Raised outside the handler, because the exception that was handled holds the full URL.
    raise problem


def close_connections() -> None:
    """Closes the connections kept for reuse, and forgets which proxies and certificates the environment named."""
    _adapter.close()
    _environment.cache_clear()
    _tls_context.cache_clear()


# ── The request and its answer ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Origin:
    url: str
    """Scheme, host and port: all that the choice of a proxy depends on."""
    host: str
    """What errors name: never more than host and port."""


_DEFAULT_HEADERS = {
    "User-Agent": f"Wenyuan/{__version__}",
    "Accept": "application/json, text/html;q=0.9, */*;q=0.8",
    "Accept-Encoding": "gzip, deflate",
}


def _prepare(request: Request) -> tuple[requests.PreparedRequest, _Origin]:
    headers = CaseInsensitiveDict(_DEFAULT_HEADERS)
    headers.update(request.headers)
    prepared = requests.PreparedRequest()
    with suppress(ValueError, requests.RequestException):
        prepared.prepare(
            method=request.method, url=request.url, params=request.params, headers=headers, json=request.json
        )
        # The prepared URL is the one that gets connected to; urlsplit reads `http://a\@b/` differently.
        parts = urlsplit(prepared.url or "")
        if parts.scheme in ("http", "https") and parts.hostname:
            netloc = parts.netloc.rpartition("@")[2]
            return prepared, _Origin(url=f"{parts.scheme}://{netloc}", host=netloc)
    raise HttpInvalidRequest


def _exchange(
    prepared: requests.PreparedRequest, origin: _Origin, max_bytes: int, on_bytes: Callable[[int], None]
) -> Response:
    deadline = _running.deadline
    proxies, ca_bundle = _environment(origin.url)
    with _adapter.send(prepared, stream=True, timeout=deadline.patience(), proxies=proxies, verify=ca_bundle) as answer:
        if 300 <= answer.status_code < 400:
            raise HttpRedirect(host=origin.host, target=_host_in(answer.headers.get("Location", "")) or origin.host)
        body = _read(answer.raw, max_bytes, origin.host, on_bytes)
    if deadline.cancelled:  # a body without a stated length looks complete when its socket was shut down
        raise HttpCancelled(host=origin.host)
    body = _decompress(body, answer.headers.get("Content-Encoding", ""), max_bytes, origin.host)
    return Response(status=answer.status_code, headers=answer.headers, body=body, host=origin.host)


def _read(raw: urllib3.HTTPResponse, max_bytes: int, host: str, on_bytes: Callable[[int], None]) -> bytes:
    body = bytearray()
    while chunk := raw.read(65536, decode_content=False):
        body += chunk
        on_bytes(len(body))
        if len(body) > max_bytes:
            raise HttpTooLarge(host=host, limit=max_bytes)
    return bytes(body)


# "deflate" is zlib by the standard, and bare deflate from servers that misread it.
_WINDOW_BITS = {"gzip": (31,), "x-gzip": (31,), "deflate": (15, -15)}


def _decompress(data: bytes, encoding: str, max_bytes: int, host: str) -> bytes:
    encoding = encoding.strip().lower()
    if not data or encoding in ("", "identity"):
        return data
    for window_bits in _WINDOW_BITS.get(encoding, ()):
        stream = zlib.decompressobj(window_bits)
        with suppress(zlib.error):
            plain = stream.decompress(data, max_bytes + 1)
            if len(plain) > max_bytes:
                raise HttpTooLarge(host=host, limit=max_bytes)
            if stream.eof and not stream.unused_data:
                return plain
    raise HttpProtocolError(host=host)


# Codecs that real pages are written in. Python has others that a server must not choose: punycode, for one, takes
# minutes for a megabyte.
_WEB_CHARSET = re.compile(r"utf-(8|16)|gb|big5|shift_jis|euc_|iso8859-|cp125|koi8")


def _charset(content_type: str) -> str:
    label = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", content_type, re.ASCII | re.IGNORECASE)
    try:
        name = codecs.lookup(label[1]).name if label else "utf-8"
    except LookupError:
        return "utf-8"
    if name in ("gb2312", "gbk"):  # pages with these labels use characters that only the superset knows
        return "gb18030"
    return name if _WEB_CHARSET.match(name) else "utf-8"


def _host_in(url: str) -> str:
    with suppress(ValueError):
        host = urlsplit(url).hostname or ""
        if re.fullmatch(r"[\w.:-]{1,253}", host, re.ASCII):
            return host
    return ""


# ── Which addresses are public ────────────────────────────────────────────────────────────────────────────────────

# Behind a proxy like Clash every name resolves into this range, which nobody routes.
_FAKE_ADDRESSES = ipaddress.ip_network("198.18.0.0/15")
# Addresses that stand for an IPv4 address, whichever it is.
_TRANSLATED = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")))


def is_public(address: str) -> bool:
    """Whether a numeric address lies outside of this machine and its network."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is None:
            return ip.is_global and not ip.is_multicast and not any(ip in network for network in _TRANSLATED)
        ip = ip.ipv4_mapped
    return ip in _FAKE_ADDRESSES or (ip.is_global and not ip.is_multicast)


def _is_private_name(netloc: str) -> bool:
    """What can be told without asking a resolver: a proxy may be the one who asks it."""
    host = (urlsplit(f"//{netloc}").hostname or "").rstrip(".").lower()
    try:
        return not is_public(host)
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal"))


def _insist_on_public(connection: HTTPConnection, addresses: Iterable[str]) -> None:
    """For a direct connection; where a proxy stands between, the proxy decides whom it connects to."""
    if _running.public_only and connection.proxy is None and not all(map(is_public, addresses)):
        connection.close()
        raise HttpNotPublic(host=connection.host)


# ── What goes wrong below, in our words ───────────────────────────────────────────────────────────────────────────

_FOREIGN_ERRORS = (OSError, ValueError, http.client.HTTPException, urllib3.exceptions.HTTPError)


def _translate(error: BaseException, host: str) -> HttpError:
    if _running.deadline.cancelled:
        return HttpCancelled(host=host)
    causes = tuple(_causes(error))

    def caused_by(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if caused_by(TimeoutError):
        return HttpTimeout(host=host)
    if caused_by(ProxyError, requests.exceptions.InvalidProxyURL):
        return HttpConnectError(host=host, reason="proxy")
    if caused_by(ssl.SSLError):
        return HttpConnectError(host=host, reason="tls")
    if caused_by(socket.gaierror):
        return HttpConnectError(host=host, reason="dns")
    if caused_by(ConnectionRefusedError):
        return HttpConnectError(host=host, reason="refused")
    if caused_by(ConnectionError):
        return HttpConnectError(host=host, reason="reset")
    if caused_by(http.client.HTTPException, urllib3.exceptions.InvalidHeader):
        return HttpProtocolError(host=host)
    if caused_by(ValueError):  # a header that cannot be encoded, a host name that cannot be looked up
        return HttpInvalidRequest()
    return HttpConnectError(host=host, reason="unreachable")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


# ── Connections that know the deadline ────────────────────────────────────────────────────────────────────────────


class _Running(threading.local):
    """The fetch under way in this thread. urllib3 has no way to hand it to a connection."""

    deadline: Deadline
    reused: bool
    """Whether the request travels on a connection that served an earlier one."""
    public_only: bool


_running = _Running()


def _shut_down(handle: socket.socket) -> None:
    with suppress(OSError):  # not connected any more
        handle.shutdown(socket.SHUT_RDWR)


class _PatientReader(io.RawIOBase):
    """Reads a socket; no wait is longer than what the whole request may still take."""

    def __init__(self, source: io.RawIOBase, sock: socket.socket) -> None:
        self._source = source
        self._sock = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(_running.deadline.patience())
        return self._source.readinto(buffer)

    def close(self) -> None:
        self._source.close()
        super().close()


class _PatientResponse(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_PatientReader(self.fp.detach(), sock))


class _PatientConnection(HTTPConnection):
    response_class = _PatientResponse

    def _new_conn(self) -> socket.socket:
        _running.reused = False
        host = self._dns_host.strip("[]")
        addresses = socket.getaddrinfo(host, self.port, allowed_gai_family(), socket.SOCK_STREAM)
        _insist_on_public(self, (str(address[0]) for *_, address in addresses))
        failure: OSError | None = None
        for tried, (family, kind, protocol, _, address) in enumerate(addresses):
            try:
                return self._connect_to(address, socket.socket(family, kind, protocol), share=len(addresses) - tried)
            except OSError as error:
                failure = error
        # urllib3 takes a bare reset for one that struck while sending, and would go on to read.
        raise NewConnectionError(self, "no address answered") from failure

    def _connect_to(self, address: Any, sock: socket.socket, *, share: int) -> socket.socket:
        """`share` addresses are left to try, and each gets an equal part of the time."""
        deadline = _running.deadline
        try:
            deadline.hold(sock.fileno())
            for option in self.socket_options or ():
                sock.setsockopt(*option)
            sock.settimeout(deadline.patience() / share)
            sock.connect(address)
            sock.settimeout(deadline.patience())  # the TLS handshake inherits this, as one limit for the whole of it
        except BaseException:
            sock.close()
            raise
        return sock

    def _tunnel(self) -> None:
        super()._tunnel()
        self.sock.settimeout(_running.deadline.patience())

    def send(self, data: Any) -> None:
        if self.sock is not None:
            self.sock.settimeout(_running.deadline.patience())
        super().send(data)


class _PatientTlsConnection(_PatientConnection, HTTPSConnection):
    pass


class _HoldingPool(HTTPConnectionPool):
    """Whoever has taken a connection out can have it cut by `cancel`; nobody can cut one that lies in the pool."""

    ConnectionCls = _PatientConnection

    def _get_conn(self, timeout: float | None = None) -> Any:
        connection: Any = super()._get_conn(timeout)
        if connection.sock is not None:
            with suppress(OSError):  # not connected any more: it will connect anew
                _insist_on_public(connection, [connection.sock.getpeername()[0]])
            _running.deadline.hold(connection.sock.fileno())
        return connection

    def _put_conn(self, conn: Any) -> None:
        _running.deadline.let_go()
        if conn is not None and _running.deadline.cancelled:
            conn.close()
        super()._put_conn(conn)


class _HoldingTlsPool(_HoldingPool, HTTPSConnectionPool):
    ConnectionCls = _PatientTlsConnection


_POOLS = {"http": _HoldingPool, "https": _HoldingTlsPool}


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

    def close(self) -> None:
        for manager in (self.poolmanager, *self.proxy_manager.values()):
            for key in manager.pools.keys():  # noqa: SIM118 (this mapping refuses to be iterated)
                if pool := manager.pools.get(key):
                    pool.close()
        super().close()

    def build_connection_pool_key_attributes(self, request: Any, verify: Any, cert: Any = None) -> Any:
        host, _ = super().build_connection_pool_key_attributes(request, verify, cert)
        return host, {"ssl_context": _tls_context(verify)} if host["scheme"] == "https" else {}

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """Nothing to add: the TLS context already holds the certificates and demands verification."""


@functools.cache
def _tls_context(ca_bundle: str) -> ssl.SSLContext:
    """Loading the certificates takes some 40 ms, which requests spends on every new connection."""
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
def _environment(origin: str) -> tuple[dict[str, str], str]:
    """The proxies and the CA bundle that the environment names for this scheme, host and port."""
    with requests.Session() as session:
        found = session.merge_environment_settings(origin, {}, stream=None, verify=None, cert=None)
    ca_bundle = found["verify"]
    return dict(found["proxies"]), ca_bundle if isinstance(ca_bundle, str) else DEFAULT_CA_BUNDLE_PATH


_adapter = _Adapter(pool_connections=32, pool_maxsize=MAX_KEPT_CONNECTIONS)
