"""Download of a page without opening a way into this machine's network.

Every redirect is checked like the first address: its scheme, its port, the administrator's lists and, at the moment of
connecting, whether the address behind the name is public. No cookie, key or Referer is sent.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from core.base.http import Cancelled, Deadline, Request, Response, fetch, normalize_url
from core.base.http.errors import (
    HttpCancelled,
    HttpError,
    HttpInvalidRequest,
    HttpNotPublic,
    HttpProtocolError,
    HttpTimeout,
    HttpTooLarge,
)
from core.reading.errors import ReadingError, Reason
from core.reading.settings import ReadingSettings

MAX_BYTES = 10_000_000
MAX_REDIRECTS = 3
MAX_PER_HOST = 2

_PORTS = {"http": 80, "https": 443}
_HEADERS = {
    "Accept": "text/html, application/xhtml+xml, application/pdf, text/plain, text/markdown, */*;q=0.1",
    "Accept-Language": "zh-CN, zh;q=0.9, en;q=0.8",
}


@dataclass(frozen=True, slots=True)
class DownloadedPage:
    """The bytes of a page and their origin."""

    address: str
    """Last address, after every redirect."""
    host: str
    content_type: str
    body: bytes
    is_public: bool
    """False if the administrator allowed the host although it may be private."""


@dataclass(frozen=True, slots=True)
class FetchTarget:
    """An address that may be read, as it would be sent."""

    url: str
    host: str
    is_secure: bool
    public_only: bool


class Downloader:
    def __init__(self, settings: ReadingSettings) -> None:
        self._allowed = frozenset(settings.allow_hosts)
        self._denied = frozenset(settings.deny_hosts)
        self._host_slots = _HostSlots(MAX_PER_HOST)

    def download(self, target: FetchTarget, deadline: Deadline) -> DownloadedPage:
        """Fetch the page and follow redirects. Raise ReadingError or Cancelled."""
        for _ in range(MAX_REDIRECTS + 1):
            answer = self._ask(target, deadline)
            if not 300 <= answer.status < 400:
                content_type = answer.headers.get("Content-Type", "")
                return DownloadedPage(
                    target.url, target.host, content_type, _successful_body(answer, target.host), target.public_only
                )
            next_place = self.target_for(_redirect_url(target, answer.headers.get("Location", "")))
            if target.is_secure and not next_place.is_secure:
                raise ReadingError("insecure", host=target.host)
            target = next_place
        raise ReadingError("redirects", host=target.host)

    def target_for(self, address: str) -> FetchTarget:
        """Return the target of the address. Raise ReadingError if it may not be read."""
        try:
            url = normalize_url(address)
        except HttpInvalidRequest:
            raise ReadingError("address") from None
        parts = urlsplit(url)
        if "@" in parts.netloc:
            raise ReadingError("address")
        host = (parts.hostname or "").rstrip(".")
        name = f"[{host}]" if ":" in host else host
        port = parts.port or _PORTS[parts.scheme]
        if not self._denied.isdisjoint((*_domains(name), f"{name}:{port}")):
            raise ReadingError("denied", host=name)
        is_usual = port in _PORTS.values()
        allowed = f"{name}:{port}" in self._allowed or (is_usual and name in self._allowed)
        if not is_usual and not allowed:
            raise ReadingError("address")
        return FetchTarget(url, name, parts.scheme == "https", public_only=not allowed)

    def _ask(self, target: FetchTarget, deadline: Deadline) -> Response:
        try:
            with self._host_slots.slot(target.host, deadline):
                return fetch(
                    Request("GET", target.url, headers=_HEADERS),
                    deadline=deadline,
                    max_bytes=MAX_BYTES,
                    public_only=target.public_only,
                    return_redirects=True,
                )
        except HttpCancelled:
            raise Cancelled from None
        except HttpError as error:
            raise ReadingError(_reason(error), host=target.host) from None


def _redirect_url(target: FetchTarget, location: str) -> str:
    try:
        return urljoin(target.url, location)
    except ValueError:
        raise ReadingError("address") from None


def _domains(host: str) -> Iterator[str]:
    """Yield news.example.com, example.com, com."""
    while host:
        yield host
        host = host.partition(".")[2]


def _reason(error: HttpError) -> Reason:
    match error:
        case HttpNotPublic():
            return "private"
        case HttpTimeout():
            return "timeout"
        case HttpTooLarge():
            return "large"
        case HttpProtocolError():
            return "broken"
        case HttpInvalidRequest():
            return "address"
        case _:
            return "unreachable"


_STATUSES: dict[int, Reason] = {
    **dict.fromkeys((401, 402, 407), "login"),
    **dict.fromkeys((403, 429, 451), "refused"),
    **dict.fromkeys((404, 410), "missing"),
}


def _successful_body(answer: Response, host: str) -> bytes:
    if 200 <= answer.status < 300:
        return answer.body
    raise ReadingError(_STATUSES.get(answer.status, "failed"), host=host)


class _HostSlots:
    """Slots for simultaneous requests to one host: ten readers with the same result must not look like an attack."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._changed = threading.Condition()
        self._busy: Counter[str] = Counter()

    @contextmanager
    def slot(self, host: str, deadline: Deadline) -> Iterator[None]:
        self._take(host, deadline)
        try:
            yield
        finally:
            with self._changed:
                self._busy[host] -= 1
                if not self._busy[host]:
                    del self._busy[host]
                self._changed.notify_all()

    def _take(self, host: str, deadline: Deadline) -> None:
        with self._changed:
            while self._busy[host] >= self._most:
                if deadline.cancelled:
                    raise Cancelled
                if not deadline.remaining():
                    raise ReadingError("timeout", host=host)
                self._changed.wait(min(deadline.remaining(), 0.1))  # a cancellation does not wake it
            self._busy[host] += 1
