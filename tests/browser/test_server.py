"""What asgi.py adds: headers, a health check, and an end that leaves nothing behind."""

from __future__ import annotations

import json
import resource
import signal
import time
import urllib.request
from collections.abc import Callable

from support.app_server import AppServer, app_server
from support.visitor import Visitor


def test_health_and_security_headers(serve: Callable[..., AppServer]) -> None:
    server = serve(SEARCH_PROVIDER_PRIORITY="bundled")
    with urllib.request.urlopen(f"{server.url}/healthz") as response:
        assert json.load(response)["status"] == "ok"
    with urllib.request.urlopen(server.url) as response:
        policy = response.headers["Content-Security-Policy"]
        assert "img-src 'self' data: blob:" in policy
        assert "object-src 'none'" in policy
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Referrer-Policy"] == "no-referrer"
    assert f"问源已启动：{server.url}" in server.log
    assert "Streamlit" not in server.log


def test_the_server_ends_at_once_when_told() -> None:
    with app_server(SEARCH_PROVIDER_PRIORITY="bundled") as server:
        server.process.send_signal(signal.SIGTERM)
        started = time.monotonic()
        server.process.wait(30)
        assert time.monotonic() - started < 15, "not after some time-out of half a minute"
        assert "Traceback" not in server.log


def test_open_pages_are_not_held_to_the_usual_limit_of_handles() -> None:
    usual, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, most))
    try:
        with app_server(SEARCH_PROVIDER_PRIORITY="bundled") as server:
            allowed = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)[0]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (usual, most))
    assert allowed == min(most, 65_536) > 512


def test_a_server_that_is_gone_is_said(visit: Callable[..., Visitor]) -> None:
    with app_server(SEARCH_PROVIDER_PRIORITY="bundled") as server:
        visitor = visit(server)
        said = "() => getComputedStyle(document.body, '::before').content"
        assert visitor.page.evaluate(said) == "none"
        server.process.kill()
        server.process.wait(10)
        visitor.page.wait_for_function(
            "() => getComputedStyle(document.body, '::before').content.includes('连接断开了')"
        )
        visitor.page.wait_for_timeout(3_000)
        assert visitor.page.evaluate("() => getComputedStyle(document.body, '::before').visibility") == "visible"
