"""All of the network that Chrome's pages can reach: a few origins. How Chrome is kept to them.

Chrome is told a proxy that does not exist for everything but these origins; loopback, which it would leave out by itself,
is no exception. Names are resolved for them alone. Where the installation has a proxy, that one must not be told to Chrome
either: it would connect a page with the machine and the network that it stands in. It gets a gate in front of it.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Self
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

DEAD_PROXY = "http://nowhere.invalid:1"
"""A proxy whose name is not resolved, so that not even a connection is tried."""
_PORTS = {"http": 80, "https": 443}
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class WebOrigin:
    """Scheme, host and port of a web address."""

    scheme: str
    host: str
    """Host as written in an address: IPv6 in brackets."""
    port: int

    @classmethod
    def from_url(cls, url: str) -> Self:
        parts = urlsplit(url)
        host = parts.hostname or ""
        return cls(parts.scheme, f"[{host}]" if ":" in host else host, parts.port or _PORTS[parts.scheme])

    def __str__(self) -> str:
        """Return the origin as Chrome writes it."""
        return f"{self.scheme}://{self.host}" + ("" if self.port == _PORTS[self.scheme] else f":{self.port}")

    @property
    def host_port(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def proxy(self) -> str:
        """Proxy that other requests to this origin use; empty if none. The gate has only tunnels, so plain http has
        none."""
        if self.scheme != "https" or self.host in {"localhost", "127.0.0.1"} or proxy_bypass(self.host_port):
            return ""
        proxies = getproxies()
        proxy = proxies.get("https") or proxies.get("http") or ""
        return proxy if "://" in proxy or not proxy else f"http://{proxy}"


def foreign_request_pattern(origins: Collection[WebOrigin]) -> re.Pattern[str]:
    """Return a pattern that matches all addresses outside of these origins. Playwright reads it as JavaScript."""
    return re.compile(f"^(?!(data|blob|about):|({'|'.join(re.escape(str(origin)) for origin in origins)})/)")


def network_arguments(origins: Collection[WebOrigin], gate: str) -> list[str]:
    """Return the arguments for Chrome's command line. `gate` is the proxy for all origins that are not reached
    directly."""
    direct = [origin for origin in origins if not origin.proxy]
    hosts = sorted({origin.host for origin in (*direct, *([] if gate == DEAD_PROXY else [WebOrigin.from_url(gate)]))})
    return [
        f"--proxy-server={gate}",
        f"--proxy-bypass-list={';'.join(('<-loopback>', *(origin.host_port for origin in direct)))}",
        f"--host-resolver-rules={','.join(('MAP * ~NOTFOUND', *(f'EXCLUDE {host}' for host in hosts)))}",
        # The name has changed over time. No UDP past the proxy: there is no WebRTC then.
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    ]


class ProxyGate:
    """A proxy on loopback that opens tunnels to these origins only, through the installation's proxy."""

    def __init__(self, origins: Collection[WebOrigin]) -> None:
        self._proxies = {origin.host_port: origin.proxy for origin in origins if origin.proxy}
        self._server: asyncio.Server | None = None

    async def open(self) -> str:
        """Start the gate if it is needed and return its address."""
        if not self._proxies:
            return DEAD_PROXY
        self._server = await asyncio.start_server(self._serve_client, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def close(self) -> None:
        """Stop accepting connections. Tunnels end with Chrome, which holds their other end."""
        if self._server is not None:
            self._server.close()

    async def _serve_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, EOFError, ValueError, asyncio.LimitOverrunError):  # it has gone, or speaks no HTTP
            method, place, _ = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split(" ", 2)
            if method == "CONNECT" and place in self._proxies:
                await _tunnel(place, self._proxies[place], reader, writer)
        writer.close()  # without an answer, which Chrome would take for the page


async def _tunnel(host_port: str, proxy: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Open a tunnel through the proxy and relay it. The proxy's answer goes to Chrome as it is."""
    try:
        beyond = await _request_tunnel(proxy, host_port)
    except (OSError, LookupError):  # it is not there, or no HTTP proxy
        writer.write(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")
        return
    await _join((reader, writer), beyond)


async def _request_tunnel(proxy: str, host_port: str) -> Streams:
    """Return a connection to the proxy that has been asked for this host and has not answered yet."""
    parts = urlsplit(proxy)
    reader, writer = await asyncio.open_connection(
        parts.hostname, parts.port or _PORTS[parts.scheme], ssl=True if parts.scheme == "https" else None
    )
    writer.write(f"CONNECT {host_port} HTTP/1.1\r\nHost: {host_port}\r\n{_credentials(proxy)}\r\n".encode())
    return reader, writer


async def _join(one: Streams, other: Streams) -> None:
    """Relay two connections until one of them ends."""
    ways = [asyncio.ensure_future(_pour(*way)) for way in ((one[0], other[1]), (other[0], one[1]))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        other[1].close()


def _credentials(proxy: str) -> str:
    parts = urlsplit(proxy)
    if not parts.username:
        return ""
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Proxy-Authorization: Basic {base64.b64encode(pair.encode()).decode()}\r\n"


async def _pour(source: asyncio.StreamReader, into: asyncio.StreamWriter) -> None:
    with suppress(OSError):  # one of the two has gone
        while piece := await source.read(65536):
            into.write(piece)
            await into.drain()
