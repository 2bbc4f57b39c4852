"""Websockets only for the app's own pages.

Streamlit lets a page of any local port connect, and looks for the address of this machine on the internet when a page of
another origin tries to: inside the event loop, so that everybody waits. Here the origin is judged before Streamlit sees it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

_ORIGIN = re.compile(r"(https?)://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?", re.IGNORECASE | re.ASCII)
_DEFAULT_PORTS = {"http": 80, "https": 443}


class OwnOriginsOnly:
    """Middleware that refuses websockets of foreign pages. `origins` are those that somebody has configured.

    Programs other than browsers send no origin, and have no cookies but their own.
    """

    def __init__(self, app: ASGIApp, origins: Iterable[str]) -> None:
        self.app = app
        self.origins = tuple(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "websocket" else {}
        if (origin := headers.get("origin")) is not None:
            if not is_own_page(origin, headers.get("host", ""), self.origins):
                await receive()
                await send({"type": "websocket.close", "code": 1008, "reason": "foreign origin"})  # becomes a 403
                return
            # Streamlit compares the letters of both, and asks the internet where they differ.
            MutableHeaders(scope=scope)["host"] = urlsplit(origin).netloc
        await self.app(scope, receive, send)


def is_own_page(origin: str, host: str, configured: Iterable[str]) -> bool:
    """Return whether a page of this origin is one of the app: its address is the one that was asked for (the header
    `Host`), or one of the configured ones, which may have a path."""
    page = host_and_port(origin)
    scheme = origin.partition(":")[0]  # a proxy may end HTTPS: the default port is that of the page
    own = (f"{scheme}://{host}", *("/".join(address.split("/")[:3]) for address in configured))
    return page is not None and page in map(host_and_port, own)


def host_and_port(origin: str) -> tuple[str, int] | None:
    """Return host and port of an origin, or None if it is not one of the web: a path or a user name is no part of it."""
    found = _ORIGIN.fullmatch(origin)
    if found is None:
        return None
    scheme, host, port = found.groups()
    return host.strip("[]").lower(), int(port or _DEFAULT_PORTS[scheme.lower()])
