"""The ASGI entry that `make run` starts: Home.py with security headers, a health check, start and stop hooks."""

from __future__ import annotations

import asyncio
import io
import logging
import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request, cookie_parser
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core import VISITOR_COOKIE, __version__
from core.base import tuning
from core.base.logs import configure_logging
from core.base.settings import (
    SETUP_VALIDITY,
    SettingsNotSaved,
    SetupLinks,
    are_proxies_configured,
    is_claimed,
    load_settings,
)
from core.serve import API_ROUTES, Outsiders, OwnOriginsOnly, close_services
from core.ui.compressed import CompressedFiles
from core.ui.identity import is_visitor_mark
from core.ui.index_html import ROUTES, IndexHtml
from core.ui.server_logs import route_server_logs
from core.ui.uploads import OnlyExpectedUploads

if TYPE_CHECKING:
    from core.app import App

log = logging.getLogger("asgi")

# Streamlit's front end needs inline styles and WebAssembly; it never needs anything from another host. A remote
# image would tell a stranger who reads what, so none is loaded, whatever an answer contains.
HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'self'",
            "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "media-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "frame-src 'self'",
            "frame-ancestors 'self'",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
        )
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}


UNKNOWN_ADDRESS = "unknown"
UNSUPPORTED_DATA = 1003
"""Code of a websocket that is closed because of what came."""
VISITOR_DAYS = 400
"""Lifetime of the visitor cookie. Browsers keep no cookie longer."""


class SecurityHeaders:
    """Add security headers, and give each browser a random mark, which its conversations belong to."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = "headers" not in scope or _has_visitor_cookie(Headers(scope=scope))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if not known and headers.get("content-type", "").startswith("text/html"):
                    headers.append("set-cookie", _visitor_cookie(secure=scope.get("scheme") == "https"))
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _has_visitor_cookie(headers: Headers) -> bool:
    return is_visitor_mark(cookie_parser(headers.get("cookie", "")).get(VISITOR_COOKIE))


class StatisticsClosed:
    """Middleware that hides Streamlit's own statistics, which tell anybody how many pages are open."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_closed = scope["type"] == "http" and scope["path"].rstrip("/").endswith("/_stcore/metrics")
        await (Response("Not Found", 404) if is_closed else self.app)(scope, receive, send)


class OpenPages:
    """Middleware that counts the pages that are open: each has one websocket."""

    count = 0

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_page = scope["type"] == "websocket"
        OpenPages.count += is_page
        try:
            await self.app(scope, receive, send)
        finally:
            OpenPages.count -= is_page


class BinaryFramesOnly:
    """Middleware that closes a websocket on which text comes. Pages send none, and Streamlit fails with a traceback."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_binary() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and message.get("bytes") is None:
                log.warning("a websocket was closed: a text frame came, which no page sends")
                await send({"type": "websocket.close", "code": UNSUPPORTED_DATA})
                return {"type": "websocket.disconnect", "code": UNSUPPORTED_DATA}
            return message

        await self.app(scope, receive_binary if scope["type"] == "websocket" else receive, send)


class TrustedClientAddress:
    """Replace a `client` address that cannot be trusted. Streamlit and the pages know visitors by it.

    Uvicorn takes it from X-Forwarded-For if FORWARDED_ALLOW_IPS names the proxy. Without that variable it trusts
    everything that comes from this machine, where a tunnel may end that passes on what strangers have written.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.are_proxies_configured = are_proxies_configured()
        self.has_warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.are_proxies_configured and scope.get("client"):
            forwarded = ",".join(Headers(scope=scope).getlist("x-forwarded-for"))
            if scope["client"][0] in forwarded:
                scope["client"] = (UNKNOWN_ADDRESS, 0)
                self._warn()
        await self.app(scope, receive, send)

    def _warn(self) -> None:
        if not self.has_warned:
            self.has_warned = True
            log.warning(
                "X-Forwarded-For is not believed: FORWARDED_ALLOW_IPS names no proxy. All who come through it count as "
                "one address for the limits."
            )


def _visitor_cookie(*, secure: bool) -> str:
    return (
        f"{VISITOR_COOKIE}={secrets.token_urlsafe(24)}; Path=/; Max-Age={VISITOR_DAYS * 86400}; HttpOnly; SameSite=Lax"
        + ("; Secure" if secure else "")
    )


ALL_INTERFACES = ("0.0.0.0", "::")  # noqa: S104 (what is compared with)
CLEAN_EVERY = 60.0


async def clean_up_regularly() -> None:
    """Free what closed pages have left behind, again and again: idle connections, memory, sockets."""
    while True:
        await asyncio.sleep(CLEAN_EVERY)
        await run_in_threadpool(_close_idle_connections)
        tuning.give_back_memory()


def _close_idle_connections() -> None:
    from core.app import close_idle_connections

    close_idle_connections()


def _own_address() -> str:
    host = st.get_option("server.address") or "localhost"
    return f"http://{'localhost' if host in ALL_INTERFACES else host}:{st.get_option('server.port')}"


async def open_app() -> None:
    """Open the app before the first page asks for it, and print the setup link of an installation without an owner."""
    from core.app import shared_app

    try:
        _print_setup_link(await run_in_threadpool(shared_app))
    except Exception:  # the first page says what is wrong
        log.exception("the app could not be opened")


def _print_setup_link(app: App) -> None:
    if app.settings.settings.edit_by == "local" and not is_claimed(app.loaded_settings.saved.values):
        address = app.loaded_settings.configured_public_url or _own_address()
        try:
            link = SetupLinks(app.saved_settings).create_link(address)
        except SettingsNotSaved as error:
            log.warning("no setup link: %s", error)
        else:
            print(f"首次设置：{link}（{SETUP_VALIDITY}）", flush=True)


def _accept_chinese_on_stdout() -> None:
    """Let standard output escape what its encoding lacks, as standard error does, instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _configured_origins() -> list[str]:
    public_url = load_settings(sections=()).configured_public_url
    return [*filter(None, [public_url]), *st.get_option("server.corsAllowedOrigins")]


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[dict[str, Any]]:
    settings = load_settings(sections=()).values
    configure_logging(level=settings.log.level, format=settings.log.format, secrets=settings.secrets())
    route_server_logs()
    _accept_chinese_on_stdout()
    tuning.raise_file_handle_limit()
    tuning.switch_tuning(on=settings.process.tuning == "on")
    tuning.tune_server(st.get_option("server.port"))
    tasks = [asyncio.create_task(clean_up_regularly()), asyncio.create_task(open_app())]
    print(f"问源已启动：{_own_address()}（按 Ctrl+C 停止）", flush=True)
    yield {}
    for task in tasks:
        task.cancel()
    await close_services()
    from core.app import close_shared_app

    close_shared_app()


async def healthz(_: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "version": __version__})


async def readyz(_: Request) -> JSONResponse:
    """Return whether this process can answer and keep: its app is open, and its database answers."""
    from core.app import is_ready

    ready = await run_in_threadpool(is_ready)
    return JSONResponse({"status": "ready" if ready else "not ready"}, 200 if ready else 503)


async def metrics(_: Request) -> Response:
    """Return the metrics for Prometheus, if the administrator has switched it on."""
    from core.app import shared_app

    app = await run_in_threadpool(shared_app)
    exposition, line = app.metrics.exposition, app.chat.admission
    if exposition is None:
        return Response("Not Found", status_code=404)
    text = exposition.text(open_pages=OpenPages.count, waiting_questions=line.waiting_questions if line else 0)
    return Response(text, media_type=exposition.CONTENT_TYPE)


def on_script_error(error: Exception) -> bool:
    """Log the traceback of a bug in a page, and show the reader a sentence."""
    log.error("page failed", exc_info=error)
    st.error(
        "这个页面出了问题，细节已写入日志。已有的对话没有丢失，请刷新页面重试；若仍然出现，请把日志交给管理员。",
        icon=":material/error:",
    )
    return True


app = st.App(
    "Home.py",
    lifespan=lifespan,
    middleware=[
        Middleware(SecurityHeaders),
        Middleware(Outsiders),
        Middleware(OwnOriginsOnly, origins=_configured_origins()),
        Middleware(OpenPages),
        Middleware(BinaryFramesOnly),
        Middleware(StatisticsClosed),
        Middleware(TrustedClientAddress),
        Middleware(OnlyExpectedUploads),
        Middleware(CompressedFiles),
        Middleware(IndexHtml),
    ],
    routes=[Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics), *API_ROUTES, *ROUTES],
    on_script_error=on_script_error,
)
