"""Websockets only for the app's own pages.

Streamlit lets a page of any local port connect, and looks for the address of this machine on the internet when a page of
another origin tries to: inside the event loop, so that everybody waits. Here the origin is judged before Streamlit sees it.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

_DEFAULT_PORTS = {"http": 80, "https": 443}


class OwnOriginsOnly:
    """Middleware that refuses websockets of foreign pages.

    A page is not foreign if its address is the one that was asked for (`Host`), or one of the configured `origins`.
    Programs other than browsers send no origin, and have no cookies but their own.
    """

    def __init__(self, app: ASGIApp, origins: Iterable[str]) -> None:
        self.app = app
        self.hosts = {host for origin in origins if (host := _host_and_port(origin)) is not None}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and (origin := Headers(scope=scope).get("origin")) is not None:
            if not self._is_own(origin, scope):
                await receive()
                await send({"type": "websocket.close", "code": 1008, "reason": "foreign origin"})  # becomes a 403
                return
            # Streamlit compares the letters of both, and asks the internet where they differ.
            MutableHeaders(scope=scope)["host"] = urlsplit(origin).netloc
        await self.app(scope, receive, send)

    def _is_own(self, origin: str, scope: Scope) -> bool:
        page = _host_and_port(origin)
        if page is None:
            return False
        scheme = origin.partition(":")[0]  # a proxy may end HTTPS: the default port is that of the page
        return page in self.hosts or page == _host_and_port(f"{scheme}://{Headers(scope=scope).get('host', '')}")


def _host_and_port(address: str) -> tuple[str, int] | None:
    """Return host and port of an origin, or None if it is none."""
    try:
        parts = urlsplit(address)
        port = parts.port or _DEFAULT_PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    return (parts.hostname, port) if parts.hostname and parts.username is None else None
