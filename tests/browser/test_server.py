"""What asgi.py adds: headers, a health check, and an end that leaves nothing behind."""

from __future__ import annotations

import gzip
import json
import os
import re
import resource
import signal
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.message import Message
from pathlib import Path
from urllib.error import HTTPError
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect
from uvicorn import Config
from uvicorn.protocols.websockets import websockets_sansio_impl
from uvicorn.server import ServerState
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory

from core.base import tuning
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


def test_the_page_is_chinese_an_app_and_a_search_engine(serve: Callable[..., AppServer]) -> None:
    server = serve(SEARCH_PROVIDER_PRIORITY="bundled")

    def get(path: str, **headers: str) -> tuple[str, str]:
        with urllib.request.urlopen(urllib.request.Request(server.url + path, headers=headers)) as response:
            return response.headers["Content-Type"], response.read().decode("utf-8", "replace")

    for path in ("/", "/legal", "/no/such/page"):
        _, html = get(path, **{"If-Modified-Since": "Sat, 01 Jan 2050 00:00:00 GMT", "Accept-Encoding": "gzip"})
        assert '<html lang="zh-CN">' in html, path
    assert "正在打开…" in html
    assert html.index('rel="stylesheet"') < html.index("modulepreload"), "nothing is painted before it is there"
    for name, kind in re.findall(r'<link rel="(manifest|search)".*?href="\./(.*?)"', html):
        assert get(f"/{kind}")[0].startswith("application/"), name
    manifest = json.loads(get("/manifest.webmanifest")[1])
    for icon in manifest["icons"]:
        assert get(icon["src"].removeprefix("."))[0] == icon["type"]
    kind, description = get("/opensearch.xml", Host="localhost:81")
    assert kind.startswith("application/opensearchdescription+xml")
    described = ElementTree.fromstring(description)
    template = described.find("{*}Url").attrib["template"]  # type: ignore[union-attr]
    assert template == "http://localhost:81/?q={searchTerms}&search=1"
    soon = re.findall(r'<link rel="modulepreload" href="\./(.*?)"', html)
    assert {path.removeprefix("static/js/").partition(".")[0] for path in soon} >= {"Html", "TextInput", "MenuButton"}
    assert all("javascript" in get(f"/{path}")[0] for path in soon)
    parts = re.findall(r'(?:href|src)="\./(\w+\.(?:css|js)\?\w{12})"', html)
    assert [part.partition("?")[0] for part in parts] == ["style.css", "scripts.js", "page.js"]
    for part in parts:
        with urllib.request.urlopen(f"{server.url}/{part}") as response:
            assert "immutable" in response.headers["Cache-Control"]
    assert get("/static/nosuch.js")[0].startswith("text/html"), "Streamlit's own"


def test_scripts_and_styles_of_streamlit_are_compressed_for_who_can_read_it(serve: Callable[..., AppServer]) -> None:
    server = serve(SEARCH_PROVIDER_PRIORITY="bundled")

    def get(path: str, **headers: str) -> tuple[Message, bytes]:
        with urllib.request.urlopen(urllib.request.Request(f"{server.url}/{path}", headers=headers)) as response:
            return response.headers, response.read()

    html = get("")[1].decode()
    for path in re.findall(r'="\./(static/(?:js|css)/[\w.-]+)"', html):
        plain_headers, plain = get(path)
        headers, body = get(path, **{"Accept-Encoding": "gzip, br"})
        assert plain_headers["Content-Encoding"] is None
        assert headers["Content-Encoding"] == "gzip"
        assert "immutable" in headers["Cache-Control"]
        assert headers["Content-Security-Policy"]
        assert gzip.decompress(body) == plain
        assert get(path, Range="bytes=0-9")[1] == plain[:10]
    with pytest.raises(HTTPError, match="400"):
        get("static/../../../../asgi.py", **{"Accept-Encoding": "gzip"})


def test_the_server_ends_at_once_when_told() -> None:
    with app_server(SEARCH_PROVIDER_PRIORITY="bundled") as server:
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(25)  # not after some time-out of half a minute
        assert "Traceback" not in server.log


def test_many_who_open_the_page_start_no_threads() -> None:
    with app_server(SEARCH_PROVIDER_PRIORITY="bundled") as server, ThreadPoolExecutor(20) as visitors:
        threads = Path(f"/proc/{server.process.pid}/task")
        before = len(list(threads.iterdir()))
        for html in visitors.map(lambda _: urllib.request.urlopen(server.url).read(), range(100)):
            assert b'<html lang="zh-CN">' in html
        # What the server begins after its start, a thread or two, may fall into this time. Visitors would bring twenty.
        assert len(list(threads.iterdir())) <= before + 3


def test_uvicorn_compresses_for_an_open_page_with_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "ServerPerMessageDeflateFactory"
    monkeypatch.setattr(websockets_sansio_impl, name, getattr(websockets_sansio_impl, name))
    tuning.shrink_websocket_compressors()
    config = Config("asgi:app", ws="websockets-sansio")
    config.load()
    page = websockets_sansio_impl.WebSocketsSansIOProtocol(config, ServerState(), {})
    (deflate,) = page.conn.available_extensions or ()
    assert isinstance(deflate, ServerPerMessageDeflateFactory)
    assert (deflate.server_max_window_bits, deflate.compress_settings) == (12, {"memLevel": 3})


def test_open_pages_are_not_held_to_the_usual_limit_of_handles() -> None:
    usual, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, most))
    try:
        with app_server(SEARCH_PROVIDER_PRIORITY="bundled") as server:
            allowed = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)[0]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (usual, most))
    assert allowed == min(most, 65_536) > 512


@pytest.mark.skipif(len(os.sched_getaffinity(0)) == 1, reason="no cores to choose from")
@pytest.mark.parametrize("tuned", ["on", "off"])
def test_the_server_works_on_one_core_unless_tuning_is_off(tuned: str) -> None:
    with app_server(SEARCH_PROVIDER_PRIORITY="bundled", TUNING=tuned) as server:
        assert (len(os.sched_getaffinity(server.process.pid)) == 1) == (tuned == "on")


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
        visitor.page.wait_for_function("() => getComputedStyle(document.body, '::before').visibility == 'visible'")
        expect(visitor.page.get_by_role("dialog")).to_have_count(0)
