"""A SearXNG whose answers a test scripts, and which remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

FOUND = {
    "title": "全固态电池的量产时间",
    "url": "https://example.org/a",
    "content": "全固态电池预计在 2027 年小批量生产。",
}


@dataclass
class ScriptedSearxng:
    url: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """The words of every search. The check at a start of the app has none."""
    parameters: list[dict[str, str]] = field(default_factory=list)
    """All that each search asked for."""


@contextmanager
def scripted_searxng(status: int = 200, **headers: str) -> Iterator[ScriptedSearxng]:
    server = ScriptedSearxng(status=status, headers={name.replace("_", "-"): value for name, value in headers.items()})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked_for = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            words = asked_for.get("q", "")
            if words:
                server.asked.append(words)
                server.parameters.append(asked_for)
            body = json.dumps({"results": [FOUND]} if words else {"error": "No query"}).encode()
            status = server.status if words or server.status != 200 else 400
            self.send_response(status)
            for name, value in (server.headers if status != 200 else {}).items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    server.url = f"http://127.0.0.1:{http.server_port}"
    yield server
    http.shutdown()
    http.server_close()
