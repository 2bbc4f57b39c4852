"""The addresses of the services for other programs. What serves them is imported when the first request comes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any, NoReturn

from starlette.concurrency import run_in_threadpool
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import ASGIApp, Receive, Scope, Send


class Lazy:
    """ASGI application that is imported with the first request: `core.serve.http:SERVICE`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._service: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._service is None:
            self._service = await run_in_threadpool(self._load)
        await self._service(scope, receive, send)

    def _load(self) -> ASGIApp:
        module, _, attribute = self._name.partition(":")
        service: ASGIApp = getattr(import_module(module), attribute)
        return service


class Below(BaseRoute):
    """The route of an address and of all that is below it. What follows may be any characters, also a line break."""

    def __init__(self, path: str, app: ASGIApp) -> None:
        self.path = path
        self._app = app

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        path = scope.get("path", "")
        return (Match.FULL if path == self.path or path.startswith(f"{self.path}/") else Match.NONE), {}

    def url_path_for(self, name: str, /, **path_params: Any) -> NoReturn:
        raise NoMatchFound(name, path_params)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


API_ROUTES: tuple[BaseRoute, ...] = (
    Below("/api/v1", Lazy("core.serve.http:SERVICE")),
    Below("/v1", Lazy("core.serve.openai:SERVICE")),
    Below("/mcp", Lazy("core.serve.mcp.endpoint:ENDPOINT")),
)

_closers: list[Callable[[], Awaitable[None]]] = []


def close_at_end(close: Callable[[], Awaitable[None]]) -> None:
    """Have `close` called when the server ends, for a service that has started something."""
    _closers.append(close)


async def close_services() -> None:
    """Close what the services have started. They start it again if they are asked again."""
    while _closers:
        await _closers.pop()()
