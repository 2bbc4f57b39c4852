"""A small service behind the door of an App, called as a server calls it: with any headers, from any address."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.app import App
from core.serve import Door, entry_of
from core.serve import Scope as May
from support.shared import shared

HERE = ("127.0.0.1", 50_000)
ELSEWHERE = ("192.0.2.7", 50_000)
LOCAL_HOST = ("host", "localhost:8501")
_REQUEST = {
    "type": "http",
    "http_version": "1.1",
    "path": "/api/v1/x",
    "query_string": b"",
    "server": ("127.0.0.1", 8501),
    "scheme": "http",
}


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def kind(self) -> str:
        return str(self.json["error"]["kind"])


async def who_calls(scope: Scope, receive: Receive, send: Send) -> None:
    """Says who was let in, and how much they have sent."""
    body = await Request(scope, receive).body()
    caller = entry_of(scope).caller
    known = {"token": caller.token_id, "scopes": sorted(caller.scopes), "owner": caller.access.owner}
    await JSONResponse({**known, "visitor": caller.visitor.name, "received": len(body)})(scope, receive, send)


@dataclass
class AtTheDoor:
    """Calls of one service at the door of one App."""

    app: App
    service: ASGIApp = who_calls
    calls: int = field(default=0, init=False)
    """How often the service was reached."""

    @cached_property
    def token(self) -> str:
        """A good one, for everything, without a limit that a test reaches."""
        return self.app.tokens.create("m" * 32, "mine", list(May), per_minute=100_000)[1]

    def __call__(
        self,
        *headers: tuple[str, str],
        token: str = "",
        client: tuple[str, int] | None = HERE,
        method: str = "GET",
        body: Sequence[bytes] = (b"",),
        is_whole: bool = True,
        **scope: Any,
    ) -> Reply:
        """Send a request, by default to localhost. A header without a name leaves out that of the host. After a body that is
        not whole nothing comes any more."""
        given = [*headers, *([("authorization", f"Bearer {token}")] if token else [])]
        if not any(name.lower() in ("host", "") for name, _ in given):
            given.append(LOCAL_HOST)
        return asyncio.run(self._call([each for each in given if each[0]], client, method, body, is_whole, scope))

    async def _call(
        self,
        headers: Sequence[tuple[str, str]],
        client: tuple[str, int] | None,
        method: str,
        body: Sequence[bytes],
        is_whole: bool,
        more: dict[str, Any],
    ) -> Reply:
        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
        scope: Scope = dict(_REQUEST, method=method, headers=raw, client=client, **more)
        pieces = [{"type": "http.request", "body": piece, "more_body": True} for piece in body]
        pieces[-1]["more_body"] = not is_whole
        sent: list[Message] = []

        async def receive() -> Message:
            if pieces:
                return pieces.pop(0)
            await asyncio.Event().wait()  # the client stays
            raise AssertionError

        async def send(message: Message) -> None:
            sent.append(message)

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            self.calls += 1
            await self.service(scope, receive, send)

        with shared(self.app):
            await Door(counted)(scope, receive, send)
        begin = sent[0]
        given = {name.decode(): value.decode() for name, value in begin["headers"]}
        return Reply(begin["status"], given, b"".join(one.get("body", b"") for one in sent[1:]))
