"""Strangers at the door: pages of other origins, forged headers, addresses and cookies."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
import requests
from requests import Response
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from core import VISITOR_COOKIE
from core.serve import is_own_page
from support.app_server import AppServer, app_server
from support.forked_server import forked_server
from support.waiting import until
from support.wire import Wire

pytestmark = pytest.mark.servers

PUBLIC = "https://ask.example"


class Outside(ThreadingHTTPServer):
    """Everything that is not this machine, reached through a proxy: it never answers, and notes who was asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Silence)
        self.asked: list[str] = []
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Silence(BaseHTTPRequestHandler):
    server: Outside

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.closing.wait(30)

    do_CONNECT = do_GET


@contextmanager
def outside() -> Iterator[Outside]:
    server = Outside()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def world() -> Iterator[Outside]:
    with outside() as server:
        yield server


@pytest.fixture(scope="module")
def server(world: Outside) -> Iterator[AppServer]:
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), world.url)
    with forked_server(SEARCH_PROVIDER_PRIORITY="bundled", PUBLIC_URL=PUBLIC, **proxies) as running:
        yield running


def handshake(server: AppServer, origin: str | None, *, host: str = "", **headers: str) -> int:
    """The status with which the server answers a page of that origin that has asked for that host."""
    own = urlsplit(server.url)
    given = headers | ({} if origin is None else {"Origin": origin})
    try:
        with connect(
            f"ws://{host or own.netloc}/_stcore/stream",
            address=(own.hostname, own.port),
            additional_headers=given,
            subprotocols=[Subprotocol("streamlit")],
            open_timeout=60,
        ):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("{own}", 101),
        (None, 101),
        (PUBLIC, 101),
        ("https://ASK.example:443", 101),
        ("https://evil.test", 403),
        ("http://127.0.0.1:1", 403),
        ("http://localhost:3000", 403),
        ("http://localhost", 403),
        ("null", 403),
        ("", 403),
        ("http://[", 403),
        ("http://evil.test@127.0.0.1", 403),
        ("https://ask.example.evil.test", 403),
        ("https://ask.example:444", 403),
        ("https://ask.example:0", 403),
        ("https://ask.example/", 403),
        ("https://ask.example?", 403),
        ("https://ask.example#", 403),
        ("https://@ask.example", 403),
        ("https://ask\t.example", 403),
        ("https:\\\\ask.example", 403),
        ("ftp://ask.example:443", 403),
        ("ws://ask.example:443", 403),
        ("//ask.example:443", 403),
        ("http://localhost:8501", 403),
        ("file://", 403),
    ],
)
def test_only_own_pages_connect_and_nobody_outside_is_asked(
    world: Outside, server: AppServer, origin: str | None, status: int
) -> None:
    named = origin and origin.format(own=server.url)
    assert handshake(server, named) == status
    assert world.asked == []


def test_the_name_that_was_asked_for_is_an_own_one(server: AppServer) -> None:
    """Behind a proxy that ends HTTPS and passes the name on."""
    assert handshake(server, "https://wen.example", host="wen.example") == 101
    assert handshake(server, "https://wen.example", host="wen.example:443") == 101
    assert handshake(server, "https://wen.example:8443", host="wen.example") == 403


@pytest.mark.parametrize(
    "host", ["ask\t.example", "ask.example\x01", "ask.example\n", "me@ask.example", "ask.example/", "ask.example:"]
)
def test_a_host_that_is_none_is_nobodys_own(host: str) -> None:
    for origin in (f"https://{host}", "https://ask.example"):
        assert not is_own_page(origin, host, ())
    assert is_own_page("https://ask.example", "ask.example", ())


@pytest.fixture(scope="module", params=["", "no address"])
def private(request: pytest.FixtureRequest) -> Iterator[AppServer]:
    """Nobody has said at which address readers open it, or not so that it can be used."""
    with forked_server(SEARCH_PROVIDER_PRIORITY="bundled", PUBLIC_URL=request.param) as running:
        yield running


@pytest.mark.parametrize("host", ["", "localhost:8502", "tunnel.example"])
def test_the_default_of_the_public_address_is_no_own_one(private: AppServer, host: str) -> None:
    assert handshake(private, "http://localhost:8501", host=host) == 403


def test_own_pages_connect_where_no_public_address_is_set(private: AppServer) -> None:
    assert handshake(private, private.url) == 101
    assert handshake(private, "http://localhost:8501", host="localhost:8501") == 101


# ── Who is at the machine ─────────────────────────────────────────────────────────────────────────────────────────


def may_save(server: AppServer, *, host: str = "", **headers: str) -> bool:
    """Whether the form of the settings is drawn for whoever sends these headers."""
    with Wire(server.url, page="settings", host=host, headers={"Origin": server.url} | headers) as tab:
        shown = tab.news
    assert ("粘贴到这里" in shown) != ("才能在这里修改" in shown)
    return "粘贴到这里" in shown


def test_an_origin_of_this_machine_gives_no_rights_to_who_asks_for_another_name() -> None:
    local = "http://localhost:8501"
    with forked_server(SEARCH_PROVIDER_PRIORITY="bundled", PUBLIC_URL=local) as server:
        assert may_save(server, Origin=local)
        assert not may_save(server, host="tunnel.example", Origin=local)


@pytest.mark.parametrize(
    "headers",
    [{"Host": "tunnel.example"}, {"Host": "local\thost"}, {"Ngrok-Trace-Id": "1"}, {"X-Forwarded-For": "::1"}],
)
def test_after_a_request_from_elsewhere_the_place_counts_for_nothing(headers: dict[str, str]) -> None:
    """It came through a tunnel: the next one may have forged the names of this machine."""
    with forked_server(SEARCH_PROVIDER_PRIORITY="bundled", PUBLIC_URL="") as server:
        assert may_save(server)
        assert get(server, "/healthz", Host="localhost").ok
        assert may_save(server)
        get(server, "/healthz", **headers)
        assert not may_save(server)


# ── Answers to anybody ────────────────────────────────────────────────────────────────────────────────────────────


def get(server: AppServer, path: str, **headers: str) -> Response:
    return requests.get(server.url + path, headers=headers, timeout=60)


@pytest.mark.parametrize(
    ("cookie", "is_new"),
    [
        ("", True),
        (f"{VISITOR_COOKIE}=", True),
        (f"{VISITOR_COOKIE}=short", True),
        (f"not_{VISITOR_COOKIE}={'a' * 32}", True),
        (f"x={VISITOR_COOKIE}", True),
        (f"{VISITOR_COOKIE}={'a' * 31}!", True),
        (f"{VISITOR_COOKIE}={'a' * 32}", False),
        (f"other=1; {VISITOR_COOKIE}={'a' * 32}", False),
    ],
)
def test_every_browser_without_a_mark_gets_one(server: AppServer, cookie: str, is_new: bool) -> None:
    answer = get(server, "/", Cookie=cookie)
    assert (f"{VISITOR_COOKIE}=" in answer.headers.get("Set-Cookie", "")) is is_new


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/metrics/", "//_stcore/metrics", "/metrics"])
def test_statistics_are_closed(server: AppServer, path: str) -> None:
    answer = get(server, path)
    assert (answer.status_code == 404) or "wenyuan" not in answer.text
    assert "active_sessions" not in answer.text


def test_a_made_up_host_is_not_repeated(server: AppServer) -> None:
    assert "evil.test" not in get(server, "/opensearch.xml", Host="evil.test").text
    assert f"{PUBLIC}/?q=" in get(server, "/opensearch.xml", Host="evil.test").text
    assert f"{server.url}/?q=" in get(server, "/opensearch.xml").text


@pytest.mark.parametrize("public", ["", "ask.example"], ids=["not set", "no address"])
def test_without_a_public_address_no_wrong_one_is_given(public: str) -> None:
    """`PUBLIC_URL` has a default, which is the address of nothing when another port is served or a name is asked for."""
    with forked_server(SEARCH_PROVIDER_PRIORITY="bundled", PUBLIC_URL=public) as server:
        for host in ("ask.example", "ask.example:8501", "192.0.2.7", "localhost.ask.example"):
            answer = get(server, "/opensearch.xml", Host=host)
            assert answer.status_code == 404, host
            assert "localhost" not in answer.text
            assert answer.headers["Cache-Control"] == "no-store", "a cache in front serves other names too"
        assert f"{server.url}/?q=" in get(server, "/opensearch.xml").text
        assert "http://localhost:81/?q=" in get(server, "/opensearch.xml", Host="localhost:81").text


def test_only_a_process_whose_database_answers_is_ready(server: AppServer) -> None:
    until(lambda: get(server, "/readyz").status_code == 200)
    with forked_server(SEARCH_PROVIDER_PRIORITY="bundled", DATABASE_URL="postgresql://127.0.0.1:1/none") as away:
        assert get(away, "/healthz").status_code == 200
        assert get(away, "/readyz").status_code == 503
        until(lambda: "对话数据库" in away.log or "database" in away.log)
        assert get(away, "/readyz").status_code == 503


def close_code(server: AppServer, frame: str | bytes) -> int | None:
    """The code with which the server closes a page's connection after that frame."""
    address = f"{server.url.replace('http', 'ws', 1)}/_stcore/stream"
    with connect(address, subprotocols=[Subprotocol("streamlit")]) as page:
        page.send(frame)
        try:
            while True:
                page.recv(timeout=30)
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None


def test_what_strangers_send_is_a_line_of_the_log_and_every_line_is_json() -> None:
    """Also on a terminal without Unicode, and also what Streamlit and uvicorn say."""
    environ = {"LOG_FORMAT": "json", "PYTHONIOENCODING": "ascii", "SEARCH_PROVIDER_PRIORITY": "bundled"}
    with app_server(SEARCH_TIMEOUT="\u00e9\U0001f600\u95ee", **environ) as server:
        until(lambda: get(server, "/readyz").status_code == 200)
        for _ in range(3):
            assert close_code(server, "hello") == 1003
            assert close_code(server, b"\xff\xff\xff") == 1002
            address = urlsplit(server.url)
            with socket.create_connection((address.hostname, address.port)) as connection:
                connection.sendall(b"no HTTP\r\n\r\n")
                assert b" 400 " in connection.recv(100)
        assert get(server, "/healthz").status_code == 200
        until(lambda: "setup=" in server.log)  # the app is ready a moment before its link is printed
        lines = server.log.splitlines()
    said_by_us = [line for line in lines if not line.startswith("{")]
    assert len(said_by_us) == 2, said_by_us
    assert all(server.url in line for line in said_by_us), "the address and the setup link"
    records = [json.loads(line) for line in lines if line.startswith("{")]
    assert any("\u00e9\U0001f600\u95ee" in record["message"] for record in records)
    warnings = [record for record in records if record["level"] in {"WARNING", "ERROR"}]
    assert [record for record in warnings if "exception" in record] == []
    for words in ("text frame", "Error deserializing back message", "Invalid HTTP request received."):
        assert len([record for record in warnings if words in record["message"]]) == 1, words
    assert not any("accepted" in record["message"] for record in records), "nobody's address"
