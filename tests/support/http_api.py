"""The HTTP API of an App, called in the process of the test as a server calls it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from starlette.routing import Router

from core.app import App, build_app
from core.search.engine import SearchEngine
from core.serve import API_ROUTES
from core.serve import Scope as May
from support.base import loaded
from support.fake_engines import FakeEngine, results
from support.shared import shared

HERE = ("127.0.0.1", 50_000)
THREE_RESULTS = (FakeEngine("fake", results(3)),)


@dataclass(frozen=True)
class HttpApi:
    """Calls as the operator, or with a token."""

    app: App

    def __call__(self, method: str, path: str, *, token: str = "", **request: Any) -> httpx.Response:
        """Send a request for a path below /api/v1. `request` is what httpx takes."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        headers |= request.pop("headers", {})
        return asyncio.run(self._send(method, f"/api/v1{path}", headers=headers, **request))

    async def _send(self, method: str, path: str, **request: Any) -> httpx.Response:
        transport = httpx.ASGITransport(Router(API_ROUTES), client=HERE)
        with shared(self.app):
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8501") as client:
                return await client.request(method, path, **request)

    def post(self, path: str, token: str = "", **fields: Any) -> httpx.Response:
        return self("POST", path, token=token, json=fields)

    def get(self, path: str, token: str = "", **fields: Any) -> httpx.Response:
        return self("GET", path, token=token, params=fields)

    def new_token(self, who: str, *scopes: May) -> str:
        """Return a token of this maker, for everything if no scopes are given."""
        return self.app.tokens.create(who * 32, "mine", scopes or list(May), per_minute=100_000)[1]


@contextmanager
def http_api(*, engines: Sequence[SearchEngine] | None = THREE_RESULTS, **environ: str) -> Iterator[HttpApi]:
    """The API of a new App without a model. None: the engines that the settings name."""
    app = build_app(loaded(API_ENABLED="true", **environ), engines=engines)
    try:
        yield HttpApi(app)
    finally:
        app.close()


def error_of(reply: httpx.Response) -> tuple[int, str, str]:
    """Return status, kind and sentence of an error."""
    error = reply.json()["error"]
    return reply.status_code, error["kind"], error["message"]


def events_in(reply: httpx.Response) -> list[dict[str, Any]]:
    """Return the events of a stream, each of which must bear its type."""
    events = []
    for block in reply.text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            events.append(json.loads(fields["data"]))
            assert fields["event"] == events[-1]["type"]
    return events
