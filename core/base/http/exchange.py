"""The HTTP client: every outbound request of the program goes through `fetch`.

requests waits anew for every piece of an answer, so a slow server can hold a caller for ever. Here every wait (connect,
proxy tunnel, TLS, sending, each read) gets only what is left of one wall-clock deadline. Another thread can end the
request at once by shutting its socket down. No redirect is followed, because keys would travel with it. No cookie is
kept. Nothing is read past a byte limit, compressed or not. No error names more than a host.

An address that a visitor typed is fetched with `public_only`: never from this machine or its network.
"""

from __future__ import annotations

import http.client
import json
import logging
import re
import socket
import ssl
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import requests
import urllib3
from requests.structures import CaseInsensitiveDict
from urllib3.exceptions import ProxyError

from core import __version__
from core.base.charsets import charset_label, web_codec
from core.base.http.connections import current_fetch, environment_settings, http_adapter
from core.base.http.deadline import Deadline
from core.base.http.errors import (
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
from core.base.http.networks import is_private_name

MAX_BYTES = 4_000_000

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
    """A complete answer with any status. The caller decides what a 404 or a 429 means."""

    status: int
    headers: Mapping[str, str]
    """Headers; their names are compared without regard to case."""
    body: bytes
    host: str

    def text(self) -> str:
        return self.body.decode(web_codec(charset_label(self.headers.get("Content-Type", ""))) or "utf-8", "replace")

    def json(self) -> Any:
        """Return the decoded JSON, read as UTF-8. The header's charset is used only if the body is not UTF-8. A broken
        byte costs one character, not the answer."""
        try:
            text = self.body.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = self.text().removeprefix("\ufeff")
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise HttpInvalidJson(host=self.host) from None


def fetch(
    request: Request,
    *,
    deadline: Deadline,
    max_bytes: int = MAX_BYTES,
    public_only: bool = False,
    return_redirects: bool = False,
    on_bytes: Callable[[int], None] = lambda _: None,
) -> Response:
    """Send the request and read the whole answer before the deadline, or raise an `HttpError`.

    `return_redirects`: return a redirect as an answer, for callers that have no key to lose and check the target
    themselves. `on_bytes` is called with the number of bytes that have arrived.

    A system resolver that hangs cannot be interrupted. Callers that must not wait for it abandon the thread.
    """
    prepared, origin = _prepare(request)
    if public_only and is_private_name(origin.host):
        raise HttpNotPublic(host=origin.host)
    current_fetch.deadline, current_fetch.public_only = deadline, public_only
    current_fetch.return_redirects = return_redirects
    while True:
        current_fetch.is_reused = True
        try:
            return _exchange(prepared, origin, max_bytes, on_bytes)
        except _FOREIGN_ERRORS as error:
            problem = _to_http_error(error, origin.host)
        finally:
            deadline.detach_socket()
        # A server may hang up on a kept connection at the moment it is used again; that says nothing about the server.
        hung_up = isinstance(problem, HttpConnectError) and problem.reason == "reset"
        if not (hung_up and current_fetch.is_reused and request.method == "GET"):
            raise problem  # outside the handler, because the exception that was handled holds the full URL


# ── The request and its answer ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Origin:
    url: str
    """Scheme, host and port: all that the choice of a proxy depends on."""
    host: str
    """Host and port, for errors: they never name more."""


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


def normalize_url(url: str) -> str:
    """Return the address as `fetch` would send it, with the host that it would connect to. Raise `HttpInvalidRequest`."""
    prepared, _ = _prepare(Request("GET", url))
    return prepared.url or ""


def _exchange(
    prepared: requests.PreparedRequest, origin: _Origin, max_bytes: int, on_bytes: Callable[[int], None]
) -> Response:
    deadline = current_fetch.deadline
    proxies, ca_bundle = environment_settings(origin.url)
    with http_adapter.send(
        prepared, stream=True, timeout=deadline.next_timeout(), proxies=proxies, verify=ca_bundle
    ) as answer:
        if 300 <= answer.status_code < 400:
            if current_fetch.return_redirects:
                return Response(status=answer.status_code, headers=answer.headers, body=b"", host=origin.host)
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


def _host_in(url: str) -> str:
    with suppress(ValueError):
        host = urlsplit(url).hostname or ""
        if re.fullmatch(r"[\w.:-]{1,253}", host, re.ASCII):
            return host
    return ""


# ── What goes wrong below, in our words ───────────────────────────────────────────────────────────────────────────

_FOREIGN_ERRORS = (OSError, ValueError, http.client.HTTPException, urllib3.exceptions.HTTPError)


def _to_http_error(error: BaseException, host: str) -> HttpError:
    if current_fetch.deadline.cancelled:
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
