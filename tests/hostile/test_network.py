"""Servers that bend HTTP: framing that lies, answers before the answer, ways into our own network.

What hangs, drips and resets is in tests/base/test_http.py.
"""

from __future__ import annotations

import gzip
import socket
import zlib

import pytest

from core.base.http import Deadline, Request, Response, fetch
from core.base.http.errors import HttpError, HttpNotPublic, HttpProtocolError, HttpRedirect, HttpTimeout, HttpTooLarge
from support.faults import Peer, Server, drip, head, json_answer, keep_alive, message, send_and_close

CAP = 200_000
CHUNKED = head("Transfer-Encoding: chunked")


def get(server: Server, seconds: float = 5.0) -> Response:
    return fetch(Request("GET", server.url), deadline=Deadline(seconds), max_bytes=CAP)


# ── Framing ───────────────────────────────────────────────────────────────────────────────────────────────────────

FRAMED: dict[str, tuple[bytes, bytes | type[HttpError]]] = {
    "a negative length": (head("Content-Length: -5") + b"hello", b"hello"),
    "a length in words": (head("Content-Length: five") + b"hello", b"hello"),
    "a length of 5000 digits": (head("Content-Length: " + "9" * 5000) + b"hello", b"hello"),
    "a length that is too short": (head("Content-Length: 3") + b"hello", b"hel"),
    "a length that is too long": (head("Content-Length: 9") + b"hello", HttpProtocolError),
    "a length with a space before its colon": (b"HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nhello", b"hello"),
    "a length beside chunks": (
        head("Content-Length: 3", "Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n",
        b"hello",
    ),
    "a length and no body at all": (head("Content-Length: 5"), HttpProtocolError),
    "line feeds alone": (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", b"hi"),
    "a folded header": (b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nhi", b"hi"),
    "a NUL in a header": (b"HTTP/1.1 200 OK\r\nX\x00: a\r\nContent-Length: 2\r\n\r\nhi", b"hi"),
    "a chunk of size -1": (CHUNKED + b"-1\r\nhello\r\n0\r\n\r\n", HttpProtocolError),
    "a chunk of size -0": (CHUNKED + b"5\r\nhello\r\n-0\r\n\r\n", b"hello"),
    "a chunk without a size": (CHUNKED + b"\r\nhello\r\n0\r\n\r\n", HttpProtocolError),
    "a chunk with an extension": (CHUNKED + b"5;x=y\r\nhello\r\n0\r\n\r\n", b"hello"),
    "chunks without an end": (CHUNKED + b"5\r\nhello\r\n", HttpProtocolError),
    "a chunk size of 70,000 digits": (CHUNKED + b"1" * 70_000 + b"\r\n", HttpProtocolError),
    "HTTP/0.9": (b"hello", HttpProtocolError),
    "HTTP/2 in words": (b"HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\nhi", HttpProtocolError),
    "status 000": (b"HTTP/1.1 000 OK\r\nContent-Length: 2\r\n\r\nhi", HttpProtocolError),
    "status 1000": (b"HTTP/1.1 1000 OK\r\nContent-Length: 2\r\n\r\nhi", HttpProtocolError),
    "status -200": (b"HTTP/1.1 -200 OK\r\nContent-Length: 2\r\n\r\nhi", HttpProtocolError),
    "no status": (b"HTTP/1.1\r\n\r\n", HttpProtocolError),
    "an encoding of spaces": (message(b"hi", "Content-Encoding:  "), b"hi"),
    "an encoding that is a list of one": (message(b"hi", "Content-Encoding: gzip,"), HttpProtocolError),
    "gzip under deflate's name": (message(gzip.compress(b"hi"), "Content-Encoding: deflate"), HttpProtocolError),
    "deflate under gzip's name": (message(zlib.compress(b"hi"), "Content-Encoding: gzip"), HttpProtocolError),
    "gzip with a wrong checksum": (
        message(gzip.compress(b"hi")[:-8] + bytes(8), "Content-Encoding: gzip"),
        HttpProtocolError,
    ),
    "gzip that never says what it is": (message(gzip.compress(b"hi")), gzip.compress(b"hi")),
}


@pytest.mark.parametrize(("answer", "shown"), FRAMED.values(), ids=FRAMED)
def test_framing_that_lies_is_read_safely_or_refused(answer: bytes, shown: bytes | type[HttpError]) -> None:
    with Server(send_and_close(answer)) as server:
        if isinstance(shown, bytes):
            assert get(server).body == shown
        else:
            with pytest.raises(shown):
                get(server)


class Pour:
    """A behaviour: one piece after another, as fast as they are taken."""

    def __init__(self, start: bytes, piece: bytes) -> None:
        self.start = start
        self.piece = piece
        self.sent = 0

    def __call__(self, peer: Peer) -> None:
        peer.read_request()
        peer.send(self.start)
        while not peer.server.closing.is_set():
            peer.send(self.piece)
            self.sent += len(self.piece)


POURED = {
    "a chunk of size -1": (CHUNKED + b"-1\r\n", b"x" * 65_536),
    "a chunk of two gigabytes": (CHUNKED + b"7fffffff\r\n", b"x" * 65_536),
    "endless chunks": (CHUNKED, b"10000\r\n" + b"x" * 65_536 + b"\r\n"),
    "a negative length": (head("Content-Length: -1"), b"x" * 65_536),
    "a length of 5000 digits": (head("Content-Length: " + "9" * 5000), b"x" * 65_536),
    "packed, and never ending": (head("Content-Encoding: gzip"), b"x" * 65_536),
    "a header without an end": (b"HTTP/1.1 200 OK\r\nX: ", b"x" * 65_536),
    "headers without an end": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 5_000),
    "a status line without an end": (b"HTTP/1.1 200 ", b"x" * 65_536),
    "a chunk's extension without an end": (CHUNKED + b"5;x=", b"x" * 65_536),
}


@pytest.mark.parametrize(("start", "piece"), POURED.values(), ids=POURED)
def test_whatever_is_poured_little_of_it_is_read(start: bytes, piece: bytes) -> None:
    behaviour = Pour(start, piece)
    with Server(behaviour) as server, pytest.raises((HttpTooLarge, HttpProtocolError)):
        get(server)
    assert behaviour.sent < 20_000_000, "what kernels buffer, not what the time would allow"


# ── Answers before the answer ─────────────────────────────────────────────────────────────────────────────────────

HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
INTERIM = {
    "100": b"HTTP/1.1 100 Continue\r\n\r\n",
    "102": b"HTTP/1.1 102 Processing\r\n\r\n",
    "103": HINTS,
    "103 three times": HINTS * 3,
    "100 and 103": b"HTTP/1.1 100 Continue\r\n\r\n" + HINTS,
    "199": b"HTTP/1.1 199 Odd\r\nContent-Length: 3\r\n\r\n",
    "101, which nobody asked for": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
}


@pytest.mark.parametrize("pause", [0.0, 0.03], ids=["at once", "later"])
@pytest.mark.parametrize("interim", INTERIM.values(), ids=INTERIM)
def test_everybody_gets_their_own_answer_whatever_came_before_it(interim: bytes, pause: float) -> None:
    def behave(peer: Peer) -> None:
        while request := peer.read_request():
            peer.send(interim)
            peer.wait(pause)
            peer.send(message(request.split(b" ")[1]))

    with Server(behave) as server:
        for number in (b"1", b"2", b"3"):
            answer = fetch(Request("GET", f"{server.url}{number.decode()}"), deadline=Deadline(5))
            assert (answer.status, answer.body) == (200, b"/" + number)


def test_endless_hints_end_with_the_deadline() -> None:
    with Server(drip(b"", HINTS, every=0.01)) as server, pytest.raises(HttpTimeout):
        get(server, 0.3)


@pytest.mark.parametrize(
    "status", ["204 No Content", "205 Reset Content", "226 IM Used", "451 Legal", "599 x", "999 y"]
)
def test_a_rare_status_is_a_status(status: str) -> None:
    with Server(keep_alive(message(b"", status=status))) as server:
        assert [get(server).status for _ in range(2)] == [int(status[:3])] * 2


# ── Redirects ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 305, 307, 308, 399])
@pytest.mark.parametrize("location", ["http://127.0.0.1:1/", "file:///etc/passwd", "gopher://x", "//evil.example", ""])
def test_no_redirect_of_any_kind_is_followed(status: int, location: str) -> None:
    with Server(keep_alive(message(b"", f"Location: {location}", status=f"{status} X"))) as server:
        with pytest.raises(HttpRedirect) as caught:
            get(server)
        assert len(server.requests) == 1
    assert "passwd" not in str(caught.value), "a host at most is told"


# ── Into our own network ──────────────────────────────────────────────────────────────────────────────────────────

SPELLINGS = [
    *("0", "0.0.0.0", "127.0.0.1.", "127.255.255.254", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.01"),
    *("LOCALHOST", "localhost.", "sub.localhost", "x.local", "db.internal", "intranet"),
    *(
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:7f00:1]",
        "[::ffff:10.0.0.1]",
        "[fe80::1]",
        "[fc00::1]",
        "[64:ff9b::7f00:1]",
    ),
    *("169.254.169.254", "100.100.100.200", "[fd00:ec2::254]", "user@127.0.0.1", "a.example@127.0.0.1"),
    *("１２７.0.0.1", "①②⑦.⓪.⓪.①", "127。0。0。1", "ⓛocalhost"),
]


@pytest.mark.parametrize("host", SPELLINGS)
def test_a_visitor_reaches_no_other_spelling_of_our_network(host: str) -> None:
    with Server(keep_alive(json_answer({}))) as server:
        with pytest.raises(HttpError) as caught:
            fetch(Request("GET", f"http://{host}:{server.port}/"), deadline=Deadline(5), public_only=True)
        assert server.connections == 0
    assert caught.value.kind in {"http_not_public", "http_invalid_request", "http_connect"}


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.1.2.3"],
        ["192.168.0.1"],
        ["169.254.169.254"],
        ["100.64.0.9"],
        ["198.18.0.1"],
        ["0.0.0.0"],
        ["::1"],
        ["fd00::1"],
        ["::ffff:127.0.0.1"],
        ["8.8.8.8", "127.0.0.1"],
        ["127.0.0.1", "8.8.8.8"],
        ["2606:4700::1111", "fe80::1"],
    ],
    ids=",".join,
)
def test_a_visitor_reaches_no_name_whose_addresses_are_ours(
    addresses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(*_: object) -> list[object]:
        return [
            (socket.AF_INET6 if ":" in each else socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, 80))
            for each in addresses
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with pytest.raises(HttpNotPublic):
        fetch(Request("GET", "http://laws.example/"), deadline=Deadline(20), public_only=True)


# ── Encodings ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("label", "body", "text"),
    [
        ("utf-7", b"+ADw-script+AD4-", "+ADw-script+AD4-"),
        ("unicode_escape", rb"\u003cscript\u003e", r"\u003cscript\u003e"),
        ("rot13", b"<fpevcg>", "<fpevcg>"),
        ("base64", b"PHNjcmlwdD4=", "PHNjcmlwdD4="),
        ("zlib", b"x", "x"),
        ("idna", b"xn--a", "xn--a"),
        ("undefined", b"x", "x"),
        ("utf-8\x00gbk", "法".encode(), "法"),
        ("x" * 100_000, "法".encode(), "法"),
        ("../../etc/passwd", "法".encode(), "法"),
        ("utf-16", b"\xff\xfeA\x00B", "A\ufffd"),
        ("gbk", "㐀𠮷".encode("gb18030"), "㐀𠮷"),
        ("big5", b"\xff\xff", "\ufffd\ufffd"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_a_server_does_not_choose_a_codec_that_no_page_is_written_in(label: str, body: bytes, text: str) -> None:
    answer = Response(200, {"Content-Type": f"text/html; charset={label}"}, body, "a.example")
    assert answer.text() == text
