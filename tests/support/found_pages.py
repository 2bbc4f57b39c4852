"""A SearXNG that finds three pages, and the pages, for an app that reads before it answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.openai_server import OpenAIServer
from support.web_pages import NEWS


@dataclass
class FoundPages:
    """A SearXNG that finds three pages, and the pages."""

    address: str = ""
    open: threading.Event = field(default_factory=threading.Event)
    """Until it is set, the first page does not answer."""
    titles: dict[str, str] = field(default_factory=lambda: {"news": "供水量增加", "second": "第二条", "gone": "第三条"})
    """The title of each page, as the engine gives it."""
    refuses: bool = True
    """The second page does, and the third is always gone."""
    waiting: int = 0
    """Number of readers that have asked for the first page since it was closed."""

    def results_page(self) -> bytes:
        entries = [
            {"title": title, "url": f"http://{self.address}/{path}", "content": "今年前三季度全市供水总量"}
            for path, title in self.titles.items()
        ]
        return json.dumps({"results": entries}).encode()


@contextmanager
def found_pages() -> Iterator[FoundPages]:
    world = FoundPages()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path == "/search":
                self._send(200, world.results_page(), "application/json")
            elif path == "/news":
                world.waiting += not world.open.is_set()
                world.open.wait(60)
                self._send(200, NEWS.encode())
            elif path == "/second" and not world.refuses:
                self._send(200, NEWS.encode())
            else:
                self._send(403 if path == "/second" else 404, b"")

        def _send(self, status: int, body: bytes, kind: str = "text/html; charset=utf-8") -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):  # the reader has gone
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    world.address = f"127.0.0.1:{server.server_port}"
    yield world
    world.open.set()
    server.shutdown()
    server.server_close()


def reading_environment(model_server: OpenAIServer, world: FoundPages, **environ: str) -> dict[str, str]:
    """Of an app that searches this web, reads it and asks this model."""
    return dict(
        SEARCH_PROVIDER_PRIORITY="searxng",
        SEARXNG_URL=f"http://{world.address}",
        OPENAI_API_KEY="k",
        OPENAI_BASE_URL=model_server.url,
        CHAT_FOLLOW_UPS="0",
        READING_PAGES="3",
        READING_TIMEOUT="30",
        READING_ALLOW_HOSTS=world.address,
        **environ,
    )
