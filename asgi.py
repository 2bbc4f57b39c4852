"""The hardened entry that `make run` starts: Home.py with security headers, a health check, start and stop hooks."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.websockets import websockets_sansio_impl
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory

from core import VISITOR_COOKIE, __version__
from core.base.cores import LOOK_EVERY, OneCore
from core.base.settings import proxies_named
from core.ui.compressed import CompressedFiles
from core.ui.shell import ROUTES, Shell
from core.ui.uploads import OnlyExpectedUploads

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
VISITOR_DAYS = 400
"""Browsers keep no cookie longer."""


class SecurityHeaders:
    """Also gives each browser a random mark, which has the conversations that were begun in it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = "headers" not in scope or VISITOR_COOKIE in Headers(scope=scope).get("cookie", "")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if not known and headers.get("content-type", "").startswith("text/html"):
                    headers.append("set-cookie", _visitor_cookie(secure=scope.get("scheme") == "https"))
            await send(message)

        await self.app(scope, receive, send_with_headers)


class BelievedAddresses:
    """Leaves `client` only an address that can be believed: what Streamlit and the pages know of where somebody is.

    Uvicorn takes it from X-Forwarded-For if FORWARDED_ALLOW_IPS names the proxy. Without that variable it believes
    whatever comes from this machine itself, where a tunnel may end that passes on what strangers have written.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.proxies_named = proxies_named()
        self.warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.proxies_named and scope.get("client"):
            told = ",".join(Headers(scope=scope).getlist("x-forwarded-for"))
            if scope["client"][0] in told:
                scope["client"] = (UNKNOWN_ADDRESS, 0)
                self._warn()
        await self.app(scope, receive, send)

    def _warn(self) -> None:
        if not self.warned:
            self.warned = True
            log.warning(
                "X-Forwarded-For is not believed: FORWARDED_ALLOW_IPS names no proxy. All who come through it count as "
                "one address for the limits."
            )


def _visitor_cookie(*, secure: bool) -> str:
    return (
        f"{VISITOR_COOKIE}={secrets.token_urlsafe(24)}; Path=/; Max-Age={VISITOR_DAYS * 86400}; HttpOnly; SameSite=Lax"
        + ("; Secure" if secure else "")
    )


EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 (what is compared with)
MOST_HANDLES = 65_536


def use_more_handles() -> None:
    """Each open page takes four; the usual 1,024 is there for programs that still call select()."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_HANDLES if most == resource.RLIM_INFINITY else min(most, MOST_HANDLES)
    if allowed != resource.RLIM_INFINITY and allowed < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


M_ARENA_MAX = -8
ARENAS = 4
"""glibc would make eight for each core. Only one thread at a time runs Python, and what one arena has free serves no thread of
another."""


def use_few_arenas() -> None:
    with suppress(OSError, AttributeError):  # only glibc has them
        ctypes.CDLL("libc.so.6").mallopt(M_ARENA_MAX, ARENAS)


class _FrugalDeflate(ServerPerMessageDeflateFactory):
    """12 kB less for each open page, and not a byte more to send: what a page gets at once is small. Uvicorn has no setting for it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "compress_settings": {"memLevel": 3}})


def compress_frugally() -> None:
    setattr(websockets_sansio_impl, "ServerPerMessageDeflateFactory", _FrugalDeflate)  # noqa: B010 (to mypy it is a constant)


COLLECT_EVERY = 60.0


async def collect_garbage_less_often() -> None:
    """The usual 700 new objects are there with every few tokens, and each round stops all readers. Once a minute is enough to
    give back the memory and the sockets of pages that were closed."""
    gc.set_threshold(10_000, 10, 5)
    while True:
        await asyncio.sleep(COLLECT_EVERY)
        await run_in_threadpool(_let_idle_go)
        gc.collect()
        with suppress(OSError, AttributeError):  # only glibc keeps what it could give back, and can be asked to
            ctypes.CDLL("libc.so.6").malloc_trim(0)


def _let_idle_go() -> None:
    from core.app import let_idle_go

    let_idle_go()


async def stay_on_one_core() -> None:
    core = OneCore()
    while True:
        await asyncio.sleep(LOOK_EVERY)
        core.look()


def _own_address() -> str:
    host = st.get_option("server.address") or "localhost"
    return f"http://{'localhost' if host in EVERYWHERE else host}:{st.get_option('server.port')}"


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[dict[str, Any]]:
    use_more_handles()
    use_few_arenas()
    compress_frugally()
    housekeeping = [asyncio.create_task(collect_garbage_less_often()), asyncio.create_task(stay_on_one_core())]
    print(f"问源已启动：{_own_address()}（按 Ctrl+C 停止）", flush=True)
    yield {}
    for task in housekeeping:
        task.cancel()
    from core.app import close_shared_app

    close_shared_app()


async def healthz(_: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "version": __version__})


async def metrics(_: Request) -> Response:
    """For Prometheus, where the administrator has switched it on."""
    from core.app import shared_app

    exposition = (await run_in_threadpool(shared_app)).metrics.exposition
    if exposition is None:
        return Response("Not Found", status_code=404)
    return Response(exposition.text(), media_type=exposition.CONTENT_TYPE)


def on_script_error(error: Exception) -> bool:
    """A bug in a page: the log gets the traceback, the reader a sentence."""
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
        Middleware(BelievedAddresses),
        Middleware(OnlyExpectedUploads),
        Middleware(CompressedFiles),
        Middleware(Shell),
    ],
    routes=[Route("/healthz", healthz), Route("/metrics", metrics), *ROUTES],
    on_script_error=on_script_error,
)
