"""core.base.http against servers that misbehave: it ends in time, in bounded memory, and tells no secrets."""

from __future__ import annotations

import gzip
import json
import logging
import os
import resource
import socket
import ssl
import subprocess
import threading
import time
import traceback
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from core import __version__
from core.base import http
from core.base.http import Deadline, Request, Response, connections, exchange, fetch
from core.base.http.errors import (
    HttpCancelled,
    HttpConnectError,
    HttpError,
    HttpInvalidJson,
    HttpInvalidRequest,
    HttpNotPublic,
    HttpProtocolError,
    HttpRedirect,
    HttpTimeout,
    HttpTooLarge,
)
from core.base.http.networks import trust_fake_addresses
from support.faults import (
    Behaviour,
    Peer,
    Server,
    drip,
    full_backlog,
    head,
    ignore,
    json_answer,
    keep_alive,
    message,
    self_signed,
    send_and_close,
    send_and_reset,
    send_and_wait,
    silence,
    unused_port,
)
from support.waiting import until

SECRET = "sk-verysecret"
LIMIT = 0.3
GRACE = 5.0
"""For a busy machine: whoever does not keep to a deadline here hangs for good."""
"""For a busy machine; the faults themselves would last for ever."""
RESULTS = {"results": [{"title": f"标题 {n}", "url": f"https://example.com/{n}"} for n in range(10)]}


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    """Every test starts without kept connections, and leaves neither a descriptor nor a thread behind."""
    forget_connections()
    threads, descriptors = set(threading.enumerate()), _descriptors()
    yield
    forget_connections()
    assert set(threading.enumerate()) <= threads
    until(lambda: _descriptors() <= descriptors)  # another test may have left one, and what is closed takes a moment


def forget_connections() -> None:
    """Closes the connections kept for reuse, and forgets which proxies and certificates the environment named."""
    adapter = connections.http_adapter
    for manager in (adapter.poolmanager, *adapter.proxy_manager.values()):
        for key in manager.pools.keys():  # noqa: SIM118 (this mapping refuses to be iterated)
            if pool := manager.pools.get(key):
                pool.close()
    adapter.close()
    connections.environment_settings.cache_clear()
    connections.tls_context.cache_clear()


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def get(server: Server | str, seconds: float = 5.0, max_bytes: int = http.MAX_BYTES) -> Response:
    """A request with a secret in every place that could leak one."""
    url = server if isinstance(server, str) else server.url
    request = Request("GET", url, params={"key": SECRET}, headers={"X-Api-Key": SECRET})
    return fetch(request, deadline=Deadline(seconds), max_bytes=max_bytes)


E = TypeVar("E", bound=HttpError)


def failure(kind: type[E], call: Callable[[], object]) -> E:
    """The error that the call ends in, which must not tell the secret even in its traceback."""
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    told = "".join(traceback.format_exception(error)) + str(error) + repr(error) + repr(vars(error))
    assert SECRET not in told
    assert "key=" not in told
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__
    return error


def assert_ends_in_time(url: str | Server, seconds: float = LIMIT) -> None:
    started = time.monotonic()
    failure(HttpTimeout, lambda: get(url, seconds))
    assert seconds - 0.05 <= time.monotonic() - started <= seconds + GRACE


class Tls:
    def __init__(self, folder: Path) -> None:
        self.server, self.certificate = self_signed(folder)


@pytest.fixture(scope="session")
def tls_files(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    return Tls(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def tls(tls_files: Tls, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """The server's side of a TLS connection whose certificate is trusted."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tls_files.certificate))
    return tls_files.server


# ── An ordinary answer ────────────────────────────────────────────────────────────────────────────────────────────


def test_reads_an_answer() -> None:
    with Server(keep_alive(json_answer(RESULTS))) as server:
        response = get(server)
    assert response.status == 200
    assert response.headers["content-TYPE"] == "application/json"
    assert response.json() == RESULTS
    assert response.host == server.host


def test_sends_what_it_was_asked_to_send() -> None:
    with Server(keep_alive(json_answer({}))) as server:
        request = Request("POST", server.url, params={"q": "天气"}, headers={"accept": "text/x-own"}, json={"n": 1})
        fetch(request, deadline=Deadline(5))
    sent = server.requests[0].decode()
    assert sent.startswith("POST /?q=%E5%A4%A9%E6%B0%94 HTTP/1.1\r\n")
    assert sent.endswith('\r\n\r\n{"n": 1}')
    assert f"User-Agent: Wenyuan/{__version__}\r\n" in sent
    assert "Accept-Encoding: gzip, deflate\r\n" in sent
    assert sent.lower().count("\r\naccept: ") == 1
    assert "text/x-own" in sent
    assert "cookie" not in sent.lower()


@pytest.mark.parametrize("status", ["204 No Content", "404 Not Found", "429 Too Many Requests", "500 Oops"])
def test_a_status_is_returned_not_raised(status: str) -> None:
    with Server(keep_alive(message(b"", "Retry-After: 7", status=status))) as server:
        response = get(server)
    assert response.status == int(status[:3])
    assert response.headers["retry-after"] == "7"


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b"plain text")),
        ("GZIP", gzip.compress(b"plain text")),
        ("deflate", zlib.compress(b"plain text")),
        ("deflate", zlib.compress(b"plain text", wbits=-15)),
        ("identity", b"plain text"),
    ],
    ids=["gzip", "GZIP", "deflate", "bare deflate", "identity"],
)
def test_decompresses(encoding: str, packed: bytes) -> None:
    with Server(keep_alive(message(packed, f"Content-Encoding: {encoding}"))) as server:
        assert get(server).body == b"plain text"


def test_an_empty_body_needs_no_decompression() -> None:
    with Server(keep_alive(message(b"", "Content-Encoding: gzip"))) as server:
        assert get(server).body == b""


def test_reads_chunks_and_bodies_without_a_length() -> None:
    chunked = head("Transfer-Encoding: chunked") + b"5\r\nhello\r\n4\r\n you\r\n0\r\n\r\n"
    with Server(keep_alive(chunked)) as server:
        assert get(server).body == b"hello you"
    with Server(send_and_close(head() + b"hello")) as server:
        assert get(server).body == b"hello"


# ── Connections ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "answer",
    [json_answer(RESULTS), head("Transfer-Encoding: chunked") + b"2\r\n{}\r\n0\r\n\r\n"],
    ids=["sized", "chunked"],
)
def test_a_connection_is_used_again(answer: bytes) -> None:
    with Server(keep_alive(answer)) as server:
        for _ in range(3):
            get(server)
        assert (server.connections, len(server.requests)) == (1, 3)


def test_a_tls_connection_is_used_again(tls: ssl.SSLContext) -> None:
    with Server(keep_alive(json_answer(RESULTS)), tls=tls) as server:
        for _ in range(3):
            assert get(server).json() == RESULTS
        assert server.connections == 1


def test_certificates_may_be_a_folder(tls_files: Tls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = ["openssl", "x509", "-noout", "-hash", "-in", str(tls_files.certificate)]
    name = subprocess.run(named, check=True, capture_output=True, text=True).stdout.strip()
    (tmp_path / f"{name}.0").write_bytes(tls_files.certificate.read_bytes())
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path))
    with Server(keep_alive(json_answer(RESULTS)), tls=tls_files.server) as server:
        assert get(server).json() == RESULTS


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (message(b"x" * 200_000), HttpTooLarge),
        (message(b"", "Location: /elsewhere", status="302 Found"), HttpRedirect),
        (head("Content-Length: 9") + b"x", HttpTimeout),
    ],
    ids=["too large", "redirect", "timeout"],
)
def test_a_connection_that_was_not_read_to_the_end_is_closed(answer: bytes, error: type[HttpError]) -> None:
    with Server(send_and_wait(answer)) as server:
        failure(error, lambda: get(server, LIMIT, max_bytes=1000))
        assert server.hung_up.wait(10)


def test_a_kept_connection_that_the_server_gives_up_is_replaced() -> None:
    def answer_once(peer: Peer) -> None:
        peer.read_request()
        peer.send(json_answer(RESULTS))
        peer.read_request()  # and hangs up without a word

    with Server(answer_once) as server:
        assert get(server).json() == RESULTS
        assert get(server).json() == RESULTS
        assert server.connections == 2
        assert len(server.requests) == 3


def test_a_post_is_never_sent_twice() -> None:
    def answer_once(peer: Peer) -> None:
        peer.read_request()
        peer.send(json_answer(RESULTS))
        peer.read_request()

    with Server(answer_once) as server:
        post = Request("POST", server.url, json={})
        fetch(post, deadline=Deadline(5))
        assert failure(HttpConnectError, lambda: fetch(post, deadline=Deadline(5))).reason == "reset"
        assert len(server.requests) == 2


def test_fifty_at_once() -> None:
    def echo(peer: Peer) -> None:
        while request := peer.read_request():
            peer.wait(0.02)
            peer.send(message(request.split(b" ")[1]))

    def ask(number: int) -> bytes:
        return fetch(Request("GET", f"{server.url}{number}"), deadline=Deadline(5)).body

    with Server(echo) as server:
        before = _descriptors()
        with ThreadPoolExecutor(50) as pool:
            assert list(pool.map(ask, range(200))) == [b"/%d" % number for number in range(200)]
        assert server.connections < 200, "some travelled on the connection of another"
        both_ends = 2 * connections.MAX_IDLE_CONNECTIONS
        until(lambda: _descriptors() <= before + both_ends)


# ── The deadline ──────────────────────────────────────────────────────────────────────────────────────────────────

DRIPS = {
    "silence": silence,
    "headers": drip(b"HTTP/1.1 200 OK\r\nX-Slow: "),
    "header lines": drip(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    "interim answers": drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "body": drip(head("Content-Length: 1000")),
    "endless body": drip(head()),
    "chunks": drip(head("Transfer-Encoding: chunked"), b"1\r\nx\r\n"),
    "chunk size": drip(head("Transfer-Encoding: chunked"), b"0"),
    "trailer": drip(head("Transfer-Encoding: chunked") + b"0\r\n", b"X: y\r\n"),
    "gzip": drip(head("Content-Encoding: gzip") + gzip.compress(b"x" * 99)[:12], b"\x00"),
}


@pytest.mark.parametrize("behaviour", DRIPS.values(), ids=DRIPS.keys())
def test_the_deadline_ends_every_drip(behaviour: Behaviour) -> None:
    with Server(behaviour) as server:
        assert_ends_in_time(server)


@pytest.mark.parametrize("name", ["silence", "headers", "body", "gzip"])
def test_the_deadline_ends_every_drip_inside_tls(name: str, tls: ssl.SSLContext) -> None:
    with Server(DRIPS[name], tls=tls) as server:
        assert_ends_in_time(server)


@pytest.mark.parametrize("piece", [b"", b"\x16\x03\x03\x40\x00" + b"x"], ids=["silent", "dripped"])
def test_the_deadline_ends_a_tls_handshake(piece: bytes, tls: ssl.SSLContext) -> None:
    def drip_a_record(peer: Peer) -> None:
        data = piece
        while not peer.wait(0.05):
            peer.send(data)
            data = data[-1:]

    with Server(drip_a_record) as server:
        assert_ends_in_time(server.url.replace("http:", "https:"))


def test_the_deadline_ends_a_connect() -> None:
    with full_backlog() as port:
        assert_ends_in_time(f"http://127.0.0.1:{port}/")


def test_addresses_share_the_time_to_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first address is a black hole; the second one is still reached."""
    with full_backlog() as black_hole, Server(keep_alive(json_answer(RESULTS))) as server:
        addresses = [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)) for port in (black_hole, server.port)
        ]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_: addresses)
        started = time.monotonic()
        assert get("http://search.example/", 2.0).json() == RESULTS
        assert time.monotonic() - started > 0.9


def test_the_deadline_ends_a_request_that_nobody_reads() -> None:
    with Server(ignore) as server:
        upload = Request("POST", server.url, json="x" * 30_000_000)
        started = time.monotonic()
        failure(HttpTimeout, lambda: fetch(upload, deadline=Deadline(LIMIT)))
        assert time.monotonic() - started <= LIMIT + GRACE  # preparing 30 MB takes its time, too


def test_nothing_is_sent_after_the_deadline() -> None:
    with Server(keep_alive(json_answer({}))) as server:
        failure(HttpTimeout, lambda: get(server, 0))
        assert server.connections == 0


def test_the_deadline_follows_its_clock() -> None:
    now = 100.0
    deadline = Deadline(5, clock=lambda: now)
    assert deadline.remaining() == 5
    now = 103.0
    assert deadline.remaining() == 2
    now = 999.0
    assert deadline.remaining() == 0


# ── Cancelling ────────────────────────────────────────────────────────────────────────────────────────────────────


def assert_cancel_ends(url: str) -> None:
    deadline = Deadline(30)
    cancelled_at = 0.0

    def cancel() -> None:
        nonlocal cancelled_at
        cancelled_at = time.monotonic()
        deadline.cancel()

    timer = threading.Timer(0.15, cancel)
    timer.start()
    failure(HttpCancelled, lambda: fetch(Request("GET", url, {"key": SECRET}), deadline=deadline))
    assert time.monotonic() - cancelled_at < GRACE  # the request had half a minute
    timer.join()
    assert deadline.cancelled


@pytest.mark.parametrize("behaviour", DRIPS.values(), ids=DRIPS.keys())
def test_cancel_ends_a_request_at_once(behaviour: Behaviour) -> None:
    with Server(behaviour) as server:
        assert_cancel_ends(server.url)


def test_cancel_ends_a_tls_request_at_once(tls: ssl.SSLContext) -> None:
    with Server(silence, tls=tls) as server:
        assert_cancel_ends(server.url)


def test_cancel_ends_a_tls_handshake_at_once(tls: ssl.SSLContext) -> None:
    with Server(silence) as server:
        assert_cancel_ends(server.url.replace("http:", "https:"))


def test_cancel_ends_a_connect_at_once() -> None:
    with full_backlog() as port:
        assert_cancel_ends(f"http://127.0.0.1:{port}/")


def test_cancel_ends_a_request_on_a_kept_connection() -> None:
    def answer_once(peer: Peer) -> None:
        peer.read_request()
        peer.send(json_answer(RESULTS))
        silence(peer)

    with Server(answer_once) as server:
        get(server)
        assert_cancel_ends(server.url)
        assert server.hung_up.wait(10)
        assert server.connections == 1


def test_a_cancelled_deadline_sends_nothing() -> None:
    deadline = Deadline(5)
    deadline.cancel()
    with Server(keep_alive(json_answer({}))) as server:
        failure(HttpCancelled, lambda: fetch(Request("GET", server.url), deadline=deadline))
        assert server.connections == 0


def test_one_cancel_ends_every_request_under_the_deadline() -> None:
    deadline = Deadline(30)
    with Server(silence) as server, ThreadPoolExecutor(8) as pool:
        running = [pool.submit(fetch, Request("GET", server.url), deadline=deadline) for _ in range(8)]
        while len(server.requests) < 8:
            time.sleep(0.01)
        started = time.monotonic()
        deadline.cancel()
        assert all(isinstance(one.exception(), HttpCancelled) for one in running)
        assert time.monotonic() - started < GRACE


def test_a_late_cancel_leaves_the_kept_connection_alone() -> None:
    """The connection of a finished request may already carry somebody else's."""
    with Server(keep_alive(json_answer(RESULTS))) as server:
        deadline = Deadline(5)
        fetch(Request("GET", server.url), deadline=deadline)
        deadline.cancel()
        get(server)
        assert server.connections == 1


def test_cancel_never_reaches_a_connection_that_lies_in_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    deadline = Deadline(5)

    def cancel_in_passing(body: bytes, *_: object) -> bytes:
        deadline.cancel()  # the body is complete: its connection has gone back, the call has not returned
        return body

    with Server(keep_alive(json_answer(RESULTS))) as server:
        with monkeypatch.context() as patch:
            patch.setattr(exchange, "_decompress", cancel_in_passing)
            fetch(Request("GET", server.url), deadline=deadline)
        get(server)
        assert server.connections == 1


# ── Size ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_gzip_bomb_stays_small() -> None:
    packer = zlib.compressobj(wbits=31)
    start = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    megabyte = packer.compress(bytes(1_000_000)) + packer.flush(zlib.Z_FULL_FLUSH)
    bomb = start + 1000 * megabyte
    assert len(bomb) < http.MAX_BYTES
    with Server(send_and_wait(message(bomb, "Content-Encoding: gzip"))) as server:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert failure(HttpTooLarge, lambda: get(server)).limit == http.MAX_BYTES
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kilobytes


@pytest.mark.parametrize("start", [head(), head("Content-Length: 900000000")], ids=["endless", "announced"])
def test_reading_stops_at_the_cap(start: bytes) -> None:
    sent = 0

    def pour(peer: Peer) -> None:
        nonlocal sent
        peer.read_request()
        peer.send(start)
        while not peer.server.closing.is_set():
            peer.send(b"x" * 100_000)
            sent += 100_000

    with Server(pour) as server:
        failure(HttpTooLarge, lambda: get(server, max_bytes=500_000))
    assert sent < 20_000_000


def test_the_cap_itself_is_allowed() -> None:
    with Server(keep_alive(message(b"x" * 1000))) as server:
        assert len(get(server, max_bytes=1000).body) == 1000
        failure(HttpTooLarge, lambda: get(server, max_bytes=999))
    with Server(keep_alive(message(gzip.compress(b"x" * 1000), "Content-Encoding: gzip"))) as server:
        assert len(get(server, max_bytes=1000).body) == 1000
        failure(HttpTooLarge, lambda: get(server, max_bytes=999))


# ── Answers that are none ─────────────────────────────────────────────────────────────────────────────────────────

NOT_HTTP = {
    "garbage": b"\x00\xff\x13 what is this?\r\n\r\n",
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n",
    "no status": b"HTTP/1.1 abc OK\r\n\r\n",
    "huge header": head("X-Big: " + "x" * 70_000),
    "many headers": head(*(f"X-{n}: y" for n in range(200))),
    "truncated body": head("Content-Length: 1000") + b"only this",
    "truncated chunk": head("Transfer-Encoding: chunked") + b"ff\r\nonly this",
    "bad chunk size": head("Transfer-Encoding: chunked") + b"zz\r\nonly this",
    "two lengths": head("Content-Length: 3", "Content-Length: 4") + b"abcd",
    "truncated gzip": message(gzip.compress(b"x" * 999)[:-9], "Content-Encoding: gzip"),
    "no gzip": message(b"plain", "Content-Encoding: gzip"),
    "more after gzip": message(gzip.compress(b"a") * 2, "Content-Encoding: gzip"),
    "brotli": message(b"\x0b\x02\x80hello\x03", "Content-Encoding: br"),
    "twice packed": message(gzip.compress(gzip.compress(b"a")), "Content-Encoding: gzip, gzip"),
}


@pytest.mark.parametrize("answer", NOT_HTTP.values(), ids=NOT_HTTP.keys())
def test_what_is_not_http_is_a_protocol_error(answer: bytes) -> None:
    with Server(send_and_close(answer)) as server:
        error = failure(HttpProtocolError, lambda: get(server))
    assert server.host in str(error)


def test_a_refused_port() -> None:
    port = unused_port()
    error = failure(HttpConnectError, lambda: get(f"http://127.0.0.1:{port}/"))
    assert error.reason == "refused"
    assert str(port) in str(error)


def test_a_password_in_the_address_stays_there() -> None:
    failure(HttpConnectError, lambda: get(f"http://user:{SECRET}@127.0.0.1:{unused_port()}/"))


def test_an_unknown_host(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert failure(HttpConnectError, lambda: get("http://nowhere.example/")).reason == "dns"


@pytest.mark.parametrize(
    "sent", [b"", b"HTTP/1.1 200", head("Content-Length: 1000") + b"x"], ids=["at once", "in the head", "in the body"]
)
def test_a_reset(sent: bytes) -> None:
    with Server(send_and_reset(sent)) as server:
        assert failure(HttpConnectError, lambda: get(server)).reason == "reset"


def test_a_server_that_hangs_up_without_a_word() -> None:
    with Server(send_and_close(b"")) as server:
        assert failure(HttpConnectError, lambda: get(server)).reason == "reset"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        (f"https://user:{SECRET}@evil.example:8443/?key={SECRET}", "evil.example"),
        (f"/login?key={SECRET}", "127.0.0.1"),
        (f"http://[::1?key={SECRET}", "127.0.0.1"),
        (f"http://a b<{SECRET}>/", "127.0.0.1"),
    ],
    ids=["other host", "relative", "unreadable", "no host name"],
)
def test_a_redirect_is_not_followed(location: str, target: str) -> None:
    with Server(keep_alive(message(b"", f"Location: {location}", status="307 Temporary Redirect"))) as server:
        error = failure(HttpRedirect, lambda: get(server))
        assert error.target.partition(":")[0] == target
        assert target in str(error)
        assert len(server.requests) == 1


# ── Addresses that visitors type ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses(address: str) -> None:
    assert http.is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "10.0.0.1",
            "172.16.3.4",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "168.63.129.16",
            "198.18.0.7",
        ),
        *("::1", "::", "fe80::1%eth0", "fd00::1", "ff02::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"),
        *("::127.0.0.1", "::ffff:0:7f00:1", "fec0::1", "64:ff9b:1::7f00:1", "2001::1"),
    ],
)
def test_addresses_of_our_own_network(address: str) -> None:
    assert not http.is_public(address)


def test_fake_addresses_of_a_proxy_lead_out_where_the_administrator_says_so() -> None:
    trust_fake_addresses(True)
    try:
        assert http.is_public("198.18.0.7")
    finally:
        trust_fake_addresses(False)
    assert not http.is_public("198.18.0.7")


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]"])
def test_a_visitor_reaches_no_spelling_of_this_machine(host: str) -> None:
    with Server(keep_alive(json_answer({}))) as server:
        with pytest.raises(HttpNotPublic):
            fetch(Request("GET", f"http://{host}:{server.port}/"), deadline=Deadline(5), public_only=True)
        assert server.requests == []


def test_a_visitor_reaches_no_name_that_leads_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also not on a connection that the program itself had opened there."""
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest: real("127.0.0.1", *rest))
    with Server(keep_alive(json_answer({}))) as server:
        address = Request("GET", f"http://laws.example:{server.port}/")
        with pytest.raises(HttpNotPublic):
            fetch(address, deadline=Deadline(5), public_only=True)
        assert fetch(address, deadline=Deadline(5)).status == 200
        with pytest.raises(HttpNotPublic):
            fetch(address, deadline=Deadline(5), public_only=True)
        assert len(server.requests) == 1


def test_it_is_told_how_much_has_arrived() -> None:
    seen: list[int] = []
    with Server(send_and_close(head() + b"x" * 300_000)) as server:
        body = fetch(Request("GET", server.url), deadline=Deadline(5), on_bytes=seen.append).body
    assert seen == sorted(seen)
    assert seen[-1] == len(body) == 300_000


@pytest.mark.parametrize(
    "change",
    [
        {"url": f"localhost:8080/?key={SECRET}"},
        {"url": f"ftp://127.0.0.1/?key={SECRET}"},
        {"url": f"http://?key={SECRET}"},
        {"url": f"http://127.0.0.1:99999/?key={SECRET}"},
        {"headers": {"Authorization": f"Bearer {SECRET}\r\nX-Injected: 1"}},
        {"headers": {"Authorization": f"Bearer {SECRET}密钥"}},
        {"params": {"key": f"{SECRET}\ud800"}},
        {"json": {SECRET: float("nan")}},
    ],
)
def test_a_request_that_cannot_be_sent(change: dict[str, object]) -> None:
    with Server(keep_alive(json_answer({}))) as server:
        request = replace(Request("GET", server.url), **change)  # type: ignore[arg-type]
        failure(HttpInvalidRequest, lambda: fetch(request, deadline=Deadline(1)))
        assert not server.requests


# ── TLS and proxies ───────────────────────────────────────────────────────────────────────────────────────────────


def test_an_untrusted_certificate(tls_files: Tls) -> None:
    with Server(keep_alive(json_answer({})), tls=tls_files.server) as server:
        assert failure(HttpConnectError, lambda: get(server)).reason == "tls"
        assert not server.requests


def test_a_certificate_for_another_host(tls: ssl.SSLContext) -> None:
    with Server(keep_alive(json_answer({})), tls=tls) as server:
        assert failure(HttpConnectError, lambda: get(server.url.replace("127.0.0.1", "localhost"))).reason == "tls"


def test_a_missing_ca_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/ca.pem")
    assert failure(HttpConnectError, lambda: get("https://127.0.0.1:1/")).reason == "tls"


def test_plain_http_on_a_tls_port(tls: ssl.SSLContext) -> None:
    with Server(lambda peer: peer.send(json_answer({}))) as server:
        assert failure(HttpConnectError, lambda: get(server.url.replace("http:", "https:"))).reason == "tls"


def proxy_from_environment(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, proxy)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def test_a_proxy_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(keep_alive(json_answer(RESULTS))) as proxy, Server(keep_alive(json_answer({}))) as direct:
        proxy_from_environment(monkeypatch, f"http://user:pass@{proxy.host}")
        assert get("http://search.example/find").json() == RESULTS
        assert get(direct).json() == {}
    assert proxy.requests[0].startswith(b"GET http://search.example/find?key=")
    assert b"Proxy-Authorization: Basic" in proxy.requests[0]
    assert len(proxy.requests) == len(direct.requests) == 1


def test_tls_through_a_proxy(monkeypatch: pytest.MonkeyPatch, tls: ssl.SSLContext) -> None:
    def tunnel(peer: Peer) -> None:
        peer.read_request()
        peer.send(head())
        keep_alive(json_answer(RESULTS))(peer.secured(tls))

    with Server(tunnel) as proxy:
        proxy_from_environment(monkeypatch, f"http://{proxy.host}")
        for _ in range(2):
            assert get("https://search.example/").json() == RESULTS
        assert proxy.connections == 1
    assert proxy.requests[0].startswith(b"CONNECT search.example:443 ")
    assert SECRET.encode() not in proxy.requests[0]


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("behaviour", [silence, drip(b"HTTP/1.1 200 OK\r\nX-Slow: ")], ids=["silence", "drip"])
@pytest.mark.usefixtures("tls")
def test_the_deadline_holds_for_a_proxy(scheme: str, behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(behaviour) as proxy:
        proxy_from_environment(monkeypatch, f"http://{proxy.host}")
        assert_ends_in_time(f"{scheme}://search.example/")


@pytest.mark.usefixtures("tls")
def test_the_deadline_holds_for_a_handshake_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow_tunnel(peer: Peer) -> None:
        peer.read_request()
        peer.wait(0.7)
        peer.send(head())
        peer.wait()

    with Server(slow_tunnel) as proxy:
        proxy_from_environment(monkeypatch, f"http://{proxy.host}")
        assert_ends_in_time("https://search.example/", 0.8)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_proxy_errors_tell_no_secret(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy_from_environment(monkeypatch, f"http://user:{SECRET}@127.0.0.1:{unused_port()}")
    error = failure(HttpConnectError, lambda: get(f"{scheme}://search.example/"))
    assert error.reason == "proxy"
    assert "search.example" in str(error)


def test_a_proxy_that_refuses_the_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(keep_alive(message(b"", status="407 Proxy Authentication Required"))) as proxy:
        proxy_from_environment(monkeypatch, f"http://user:{SECRET}@{proxy.host}")
        assert failure(HttpConnectError, lambda: get("https://search.example/")).reason == "proxy"


def test_a_socks_proxy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy_from_environment(monkeypatch, f"socks5://user:{SECRET}@127.0.0.1:1080")
    assert failure(HttpConnectError, lambda: get("http://search.example/")).reason == "proxy"


def test_the_log_tells_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with Server(send_and_close(b"HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 2\r\n\r\n{}")) as server:
        get(server)
    assert SECRET not in caplog.text


# ── Text and JSON ─────────────────────────────────────────────────────────────────────────────────────────────────


def response(body: bytes, content_type: str = "application/json") -> Response:
    return Response(status=200, headers={"Content-Type": content_type}, body=body, host="search.example")


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b'{"a": 1', b"[" * 100_000, b'{"a":' * 100_000, b"1" * 5000],
    ids=["empty", "html", "cut", "deep list", "deep object", "huge number"],
)
def test_invalid_json(body: bytes) -> None:
    error = failure(HttpInvalidJson, lambda: response(body).json())
    assert "search.example" in str(error)


def test_json_is_utf_8_whatever_the_label() -> None:
    body = json.dumps({"a": "中文"}, ensure_ascii=False).encode()
    assert response(body, "application/json; charset=iso-8859-1").json() == {"a": "中文"}
    assert response(b"\xef\xbb\xbf" + body).json() == {"a": "中文"}


def test_a_broken_byte_costs_one_character() -> None:
    assert response(b'{"a": "x\xffy"}').json() == {"a": "x\ufffdy"}
    assert response(b"x\xffy", "text/plain").text() == "x\ufffdy"


def test_a_lone_surrogate_passes_through() -> None:
    assert response(rb'{"a": "\ud800"}').json() == {"a": "\ud800"}


@pytest.mark.parametrize(
    ("content_type", "encoding"),
    [
        ("text/html", "utf-8"),
        ("", "utf-8"),
        ("text/html; charset=GBK", "gbk"),
        ('text/html; Charset = "gb2312"', "gb18030"),
        ("text/html; charset=big5", "big5"),
        ("text/html; charset=utf-16", "utf-16"),
        ("text/html; charset=klingon", "utf-8"),
        ("text/html; charset=punycode", "utf-8"),
        ("text/html; charset=hex", "utf-8"),
        ("text/html; charset=", "utf-8"),
    ],
)
def test_text_follows_a_charset_that_makes_sense(content_type: str, encoding: str) -> None:
    assert response("中文".encode(encoding), content_type).text() == "中文"


def test_json_in_the_encoding_that_its_header_names() -> None:
    body = json.dumps({"标题": "国务院"}, ensure_ascii=False).encode("gb18030")
    answer = head("Content-Type: application/json; charset=GBK", f"Content-Length: {len(body)}") + body
    with Server(keep_alive(answer)) as server:
        assert get(server).json() == {"标题": "国务院"}
