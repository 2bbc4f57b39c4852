"""A server that is reached over HTTP (streamable HTTP), with limits on what it may send.

The library follows redirects only within the server's origin. Beyond that: no compressed answers, which could unpack to
any size; a limit for the length and for the seconds of each answer; and no lasting stream, as we only ask. A failure of the
network is answered in the server's name, because an exception would end the connection for everybody who uses it.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import anyio
import httpx2
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client

from core.base.settings import McpServer
from core.mcp_client.stdio_transport import MAX_MESSAGE

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

# Codes of errors that stand for what has happened on the way. Servers use none of them.
UNREACHABLE, TOO_LARGE, TOO_SLOW, ELSEWHERE, COMPRESSED = range(-31_005, -31_000)
STATUS = -31_100
"""`STATUS` is the base of those for a status of HTTP: -31500 is 400."""
STATUS_CODES = range(STATUS - 599, STATUS - 399)


def status_of(code: int) -> int | None:
    """Return the status of HTTP that a code stands for."""
    return STATUS - code if code in STATUS_CODES else None


class HttpTransport:
    """The connection to one server. `problem` is the code of what has broken off an answer last."""

    def __init__(self, server: McpServer, *, seconds: float) -> None:
        """`seconds`: the time that each answer may take."""
        self._server = server
        self._seconds = seconds
        self.problem: int | None = None

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[TransportStreams]:
        client = httpx2.AsyncClient(
            headers=_headers(self._server),
            transport=_LimitedTransport(self._server.url, self._seconds, self._note_problem),
            timeout=httpx2.Timeout(self._seconds),
            trust_env=False,
        )
        url, longest = self._server.url, 2 * MAX_MESSAGE  # the whole answer is limited to less
        async with client, streamable_http_client(url, http_client=client, max_sse_event_size=longest) as streams:
            yield streams

    def _note_problem(self, code: int) -> None:
        self.problem = code


def _headers(server: McpServer) -> dict[str, str]:
    plain = {"Accept-Encoding": "identity", "User-Agent": "Wenyuan"}
    if server.token is None:
        return plain
    token = server.token.get_secret_value()
    return plain | ({server.header: token} if server.header else {"Authorization": f"Bearer {token}"})


def _proxy_for(url: str) -> str | None:
    """Return the proxy of this installation for an address, as other requests use it."""
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc):
        return None
    return getproxies().get(parts.scheme)


class _LimitedTransport(httpx2.AsyncBaseTransport):
    def __init__(self, url: str, seconds: float, note_problem: Callable[[int], None]) -> None:
        self._inner = httpx2.AsyncHTTPTransport(proxy=_proxy_for(url))
        self._seconds = seconds
        self._note_problem = note_problem

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET" and "last-event-id" not in request.headers:
            return httpx2.Response(405)  # the stream of what the server wants to tell unasked
        end = time.monotonic() + self._seconds
        try:
            with anyio.fail_after(self._seconds):
                response = await self._inner.handle_async_request(request)
        except (httpx2.TimeoutException, TimeoutError):
            return _error(TOO_SLOW)
        except (httpx2.TransportError, httpx2.InvalidURL):
            return _error(UNREACHABLE)
        if (code := _code_of(response, request)) is not None:
            await response.aclose()
            return _error(code)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        limited = _LimitedStream(response.stream, end, self._note_problem)
        return httpx2.Response(response.status_code, headers=response.headers, stream=limited)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _code_of(response: httpx2.Response, request: httpx2.Request) -> int | None:
    """Return the code for an answer that is not read; None for one that is."""
    status, headers = response.status_code, response.headers
    if headers.get("content-encoding", "identity") != "identity":
        return COMPRESSED
    announced = headers.get("content-length", "0")
    if not announced.isdecimal() or int(announced) > MAX_MESSAGE:
        return TOO_LARGE
    if response.has_redirect_location and not _is_same_server(request.url, headers["location"]):
        return ELSEWHERE
    if status >= 400:
        is_answer = headers.get("content-type", "").startswith("application/json")
        has_lost_session = status == 404 and MCP_SESSION_ID in request.headers
        return None if is_answer and not has_lost_session and status not in (401, 403) else STATUS - min(status, 599)
    return None


def _is_same_server(url: httpx2.URL, location: str) -> bool:
    try:
        target = url.join(location)
    except httpx2.InvalidURL:
        return False
    return target.host == url.host


def _error(code: int) -> httpx2.Response:
    """Return an answer with an error of the protocol, which only the asking request gets."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": ""}}
    return httpx2.Response(500, headers={"content-type": "application/json"}, content=json.dumps(error).encode())


class _LimitedStream(httpx2.AsyncByteStream):
    """The body of an answer, broken off where it is too long or takes too long."""

    def __init__(self, inner: httpx2.AsyncByteStream, end: float, note_problem: Callable[[int], None]) -> None:
        self._inner = inner
        self._end = end
        self._note_problem = note_problem

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces, length = aiter(self._inner), 0
        while True:
            try:
                with anyio.fail_after(max(self._end - time.monotonic(), 0)):
                    piece = await anext(pieces)
            except StopAsyncIteration:
                return
            except (TimeoutError, httpx2.TimeoutException):
                raise self._broken_off(TOO_SLOW) from None
            except httpx2.TransportError:
                raise self._broken_off(UNREACHABLE) from None
            length += len(piece)
            if length > MAX_MESSAGE:
                raise self._broken_off(TOO_LARGE)
            yield piece

    def _broken_off(self, code: int) -> httpx2.StreamError:
        """Return the error at which the library ends this request, and no other one."""
        self._note_problem(code)
        return httpx2.StreamError("the answer was broken off")

    async def aclose(self) -> None:
        await self._inner.aclose()
