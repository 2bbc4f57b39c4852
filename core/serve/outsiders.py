"""Requests from elsewhere that reach this machine through a proxy or a tunnel, so that coming from here proves nothing."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from core.base.visitors import LOCAL_NAMES
from core.serve.origins import host_and_port

_PROXY_HEADERS = (
    *(
        "via",
        "forwarded",
        "x-forwarded",
        "x-original-",
        "x-real-",
        "x-remote-",
        "x-scheme",
        "x-proxy",
        "x-request-start",
    ),
    *("client-ip", "x-client-", "true-client-", "x-cluster-client-ip", "wl-proxy-client-ip"),
    *("cdn-", "cf-", "fastly-", "akamai-", "x-akamai-", "incap-", "x-sucuri-", "ali-", "eo-", "x-varnish"),
    *("fly-", "x-amz", "x-azure-", "x-arr-", "x-appengine-", "x-cloud-trace-", "x-vercel-", "x-nf-", "x-railway-"),
    *("ngrok-", "tailscale-", "x-envoy-", "x-b3-", "x-haproxy-"),
)
"""Beginnings of the names of headers that proxies, content delivery networks and tunnels add. Browsers send none."""


class Outsiders:
    """Middleware that notes that somebody from elsewhere has reached this process.

    A tunnel that adds no header passes on whatever names a stranger writes, also those of this machine. But the readers
    whom it is for come by its own name. It stands before OwnOriginsOnly, which replaces the name that was asked for.
    """

    were_seen = False

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "headers" in scope and is_from_elsewhere(Headers(scope=scope).items()):
            Outsiders.were_seen = True
        await self.app(scope, receive, send)


def is_from_elsewhere(headers: Iterable[tuple[str, str]]) -> bool:
    """Return whether the headers of a request show that it does not come from a browser on this machine: they name
    another host, or a proxy has added one."""
    return any(
        not _is_local(value) if name == "host" else name.startswith(_PROXY_HEADERS)
        for name, value in ((name.lower(), value) for name, value in headers)
    )


def _is_local(host: str) -> bool:
    address = host_and_port(f"http://{host}")
    return address is not None and address[0] in LOCAL_NAMES
