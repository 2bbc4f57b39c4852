"""A site on loopback that plays Google: the first word of the query says what it does.

The pages are written here, in the shapes that Google's pages have had over the years; none is a copy of one.
"""

from __future__ import annotations

import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

Row = tuple[str, str, str]
"""Title, address, snippet."""

ROWS: list[Row] = [(f"结果 {n}", f"https://site{n}.example/page?a=1&b={n}", f"第 {n} 条摘要。") for n in range(1, 11)]


def item(title: str, url: str, snippet: str) -> str:
    return (
        f'<div class="MjjYud"><div class="g tF2Cxc"><div class="yuRUbf"><a href="{escape(url)}"><h3 class="LC20lb">'
        f"{escape(title)}</h3><div><cite>{escape(url[:40])}</cite></div></a>"
        f'<div class="B6fmyf"><cite>{escape(url[:40])}</cite></div></div>'
        f'<div class="VwiC3b"><span>{escape(snippet)}</span><a href="{escape(url)}"><span>更多</span></a></div></div></div>'
    )


def page(body: str, *, query: str = "", head: str = "") -> str:
    return (
        f'<!doctype html><html lang="zh-CN"><head><title>{escape(query)} - Google 搜索</title>{head}</head><body>'
        f'<form action="/search"><textarea name="q">{escape(query)}</textarea></form>{body}</body></html>'
    )


def google_results(
    rows: list[Row] = ROWS, *, query: str = "", inside: str = "", before: str = "", head: str = "", size: int = 0
) -> str:
    """The layout of 2023 to 2026. `inside` goes among the results, `before` ahead of them; `size` pads the page."""
    # Of Google's pages more than three quarters are scripts and styles; 400 kB hold some 1,500 elements.
    filling = "<script>var filling = '" + "x" * 1500 + "'</script>" + "<div><span>·</span></div>" * 6
    return page(
        f'<div id="main"><div id="center_col">{before}<div id="topstuff"></div><div id="search"><div id="rso">'
        f"{inside}{''.join(item(*row) for row in rows)}</div></div>{filling * (size // len(filling))}"
        '<div id="botstuff"><a href="/search?q=x&start=10"><h3>更多结果</h3></a></div></div></div>',
        query=query,
        head=head,
    )


def without_javascript(rows: list[Row] = ROWS, *, query: str = "") -> str:
    cards = "".join(
        f'<div><div class="Gx5Zad"><div class="egMi0"><a href="/url?q={quote(url, safe=":/")}&amp;sa=U&amp;ved=2ah">'
        f'<h3><div class="BNeawe">{escape(title)}</div></h3><div class="BNeawe">site › page</div></a></div>'
        f'<div class="kCrYT"><div class="BNeawe">{escape(snippet)}</div></div></div></div>'
        for title, url, snippet in rows
    )
    local = '<div><div class="X7NTVe"><a href="/search?q=cafe&amp;ludocid=1"><h3>附近的店</h3></a></div></div>'
    return page(f'<div id="main">{local}{cards}<footer></footer></div>', query=query)


def news(rows: list[Row] = ROWS) -> str:
    cards = "".join(
        f'<div class="SoaBEf"><a class="WlydOe" href="{escape(url)}"><div><div role="heading">{escape(title)}</div>'
        f'<div class="GI74Re">{escape(snippet)}</div><div class="LfVVr">3 小时前</div></div></a></div>'
        for title, url, snippet in rows
    )
    return page(f'<div id="search"><div id="rso">{cards}</div></div><div id="botstuff"></div>')


def nothing(query: str, sentence: str = "找不到和您查询的“{}”相符的内容或信息。") -> str:
    told = escape(sentence).format(f"<em>{escape(query)}</em>")
    return page(
        f'<div id="main"><div id="topstuff"><div class="mnr-c"><p role="heading" aria-level="3">{told}</p>'
        '<ul><li>请检查输入字词有无错误。</li></ul></div></div><div id="search"></div><div id="botstuff"></div></div>',
        query=query,
    )


def nothing_below(query: str) -> str:
    """2026: the sentence is no heading any more, and may stand below the results that are not there."""
    told = f"<p>您的搜索 - {escape(query)} - 未匹配到任何文档。</p><ul><li>请检查输入字词有无错误。</li></ul>"
    return page(
        f'{NOSCRIPT}<div id="main"><div id="center_col"><div id="topstuff"></div><div id="search"></div>'
        f'<div id="botstuff"><div class="mnr-c"><div class="card-section">{told}</div></div></div></div></div>',
        query=query,
    )


def nothing_in_a_banner(query: str, *, among: str = "") -> str:
    """2026 too: the sentence does not quote the query, and searches that may do better stand below it."""
    banner = (
        '<div class="ULSxyf"><div class="uzjuFc"><div class="v3jTId" role="heading">您的搜索未匹配到任何文档</div>'
        '<div class="Cy9gW">需要帮助？请看<a href="https://support.google.com/websearch/answer/134479">搜索技巧</a>。</div>'
        '<a class="TjBpC" href="/search?q=y"><div class="AbPV3">y</div></a></div></div>'
    )
    return page(
        f'{NOSCRIPT}<div id="main"><div id="center_col"><div id="topstuff"></div><div id="search"><div id="rso">'
        f'{banner}{among}</div></div><div id="botstuff"></div></div></div>',
        query=query,
    )


CAPTCHA = (
    "<html><body><form id='captcha-form' action='index' method='post'>"
    "<div class='g-recaptcha'></div></form></body></html>"
)
CONSENT = (
    '<html><body><h1>Før du fortsetter</h1><form action="https://consent.google.com/save" method="POST">'
    '<input type="hidden" name="continue" value="https://www.google.com/search?q=x"><button>Godta</button></form></body></html>'
)
NOSCRIPT = (
    '<noscript><meta content="0;url=/httpservice/retry/enablejs?sei=x" http-equiv="refresh">'
    '<div>Cliquez <a href="/httpservice/retry/enablejs?sei=x">ici</a></div></noscript>'
)
SCRIPT_WALL = f"<html><head><title>Google Search</title></head><body>{NOSCRIPT}<div>…</div></body></html>"
# The check that lets a browser through: its script sets a cookie and asks again.
SCRIPT_CHECK = SCRIPT_WALL.replace(
    "</body>", "<script>setTimeout(() => { document.cookie = 'SG_SS=1'; location.reload() }, 150)</script></body>"
)
HEAVY = (
    "<style>@font-face{font-family:x;src:url(/font.woff2)} body{font-family:x;background:url(/back.png)}</style>"
    '<img src="/image.png"><video autoplay src="/film.mp4"></video><audio autoplay src="/sound.mp3"></audio>'
)


class GoogleSite:
    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.pages: dict[str, str] = {}
        """By first word, besides those that are written below."""
        self.scripts: dict[str, str] = {}
        """By path."""
        self.closing = threading.Event()
        self.released = threading.Event()
        """Until then `held` is not answered."""
        self.running = 0
        """Requests that never end and that nobody has given up yet."""
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                site.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
                site.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @property
    def searches(self) -> list[dict[str, str]]:
        asked = (urlsplit(path) for path, _ in self.requests)
        return [{n: v[0] for n, v in parse_qs(a.query).items()} for a in asked if a.path == "/search"]

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        address = urlsplit(handler.path)
        params = parse_qs(address.query)
        query = params.get("q", [""])[0]
        word = query.partition(" ")[0]
        if address.path == "/sorry/index":
            send(handler, CAPTCHA, status=429)
        elif address.path == "/bounce":
            send(handler, "", status=302, Location=params["to"][0])
        elif address.path in self.scripts:
            send(handler, self.scripts[address.path], kind="text/javascript")
        elif address.path != "/search":
            send(handler, "", status=404)
        elif word in self.pages:
            send(handler, self.pages[word])
        else:
            getattr(self, f"_{word}", self._results)(handler, query)

    # ── What a first word does ────────────────────────────────────────────────────────────────────────────────────

    def _results(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        send(handler, google_results(query=query, size=400_000))

    def _captcha(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        send(handler, "", status=302, Location="/sorry/index?continue=x")

    def _consent(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        send(handler, CONSENT)

    def _wall(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        send(handler, SCRIPT_WALL)

    def _check(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        passed = "SG_SS=1" in handler.headers.get("Cookie", "")
        send(handler, google_results(query=query) if passed else SCRIPT_CHECK)

    def _nothing(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        send(handler, nothing(query))

    def _changed(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        send(handler, page("<main><section>Something new</section></main>"))

    def _heavy(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        send(handler, google_results(query=query, before=HEAVY))

    def _about(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        """Pages about what was asked for, in the language that was asked for."""
        asked = parse_qs(urlsplit(handler.path).query)
        language = "中文" if "lang_zh-CN" in asked.get("lr", [""])[0] else "English"
        send(handler, google_results([(f"{language}：{query}", url, snippet) for _, url, snippet in ROWS], query=query))

    def _broken(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        send(handler, "<html><body>Internal Server Error</body></html>", status=500)

    def _slow(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        self.closing.wait(1.0)
        self._results(handler, query)

    def _held(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        self.released.wait(60)
        self._results(handler, query)

    def _hangup(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.close_connection = True
        handler.connection.close()

    def _silent(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        self._forever(handler, b"")

    def _busy(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        """A script that never lets go."""
        send(handler, page("<script>for (;;);</script>"))

    def _endless(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        """Results, and then a page that goes on for ever without coming to its end."""
        self._forever(handler, google_results(query=query).partition('<div id="botstuff">')[0].encode())

    def _ready(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        """Goes on for ever too, but behind the last result."""
        self._forever(handler, google_results(query=query).encode())

    def _empty(self, handler: BaseHTTPRequestHandler, query: str) -> None:
        """Goes on for ever and never brings a result."""
        self._forever(handler, b"<html><body><div id=main>")

    def _forever(self, handler: BaseHTTPRequestHandler, start: bytes) -> None:
        self.running += 1
        try:
            if start:
                handler.wfile.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n\r\n" + start
                )
            handler.connection.settimeout(0.05)
            while not self.closing.is_set():
                if start:
                    handler.wfile.write(b"<p>.</p>")
                try:
                    if not handler.connection.recv(1):
                        return
                except TimeoutError:
                    continue
        except OSError:  # given up
            pass
        finally:
            self.running -= 1
            handler.close_connection = True

    def wait_until_given_up(self, seconds: float = 20.0) -> bool:
        """Whether every request that never ends has been given up by the browser."""
        return wait_until(lambda: self.running == 0, seconds)


def wait_until(true: Callable[[], bool], seconds: float = 2.0) -> bool:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def send(
    handler: BaseHTTPRequestHandler, text: str, *, status: int = 200, kind: str = "text/html", **headers: str
) -> None:
    body = text.encode()
    lines = [
        f"HTTP/1.1 {status} OK",
        f"Content-Type: {kind}; charset=utf-8",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    handler.wfile.write("\r\n".join((*lines, "", "")).encode() + body)


@contextmanager
def google_site(tls: ssl.SSLContext | None = None) -> Iterator[GoogleSite]:
    site = GoogleSite()
    if tls:
        site._server.socket = tls.wrap_socket(site._server.socket, server_side=True)
    thread = threading.Thread(target=site._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        site._server.shutdown()
        site._server.server_close()
        thread.join()
