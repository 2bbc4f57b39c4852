"""Attacks on the services of a real server: what a client can send that a test of the door alone cannot."""

from __future__ import annotations

import gzip
import json
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from core.app import App, build_app
from core.serve import API_ROUTES, Scope
from core.serve.admittance import FAILURES_PER_MINUTE
from core.store.tokens import CACHE_SECONDS
from support.app_server import AppServer
from support.base import loaded
from support.forked_server import forked_server
from support.waiting import until

pytestmark = pytest.mark.servers

TIMEOUT = 5
"""The shortest time limit that may be configured."""
SEARCH = "/api/v1/search"
REFUSED = {401, 429}
"""As a wrong token, or as one of too many from this address."""


class Place:
    """A server, and the same data in this process: what another server of the installation does."""

    def __init__(self, server: AppServer, app: App) -> None:
        self.server, self.app = server, app
        self.token = self.new_token()

    def new_token(self, **options: int) -> str:
        return self.app.tokens.create("m" * 32, "mine", list(Scope), **options)[1]

    def search(self, token: str, **headers: str) -> requests.Response:
        given = {"Authorization": f"Bearer {token}"} if token else {}
        return requests.get(self.server.url + SEARCH, {"query": "联网搜索"}, headers=given | headers, timeout=60)

    def raw(self, *lines: str, body: bytes = b"", token: str = "") -> socket.socket:
        """A connection on which this was sent."""
        own = urlsplit(self.server.url)
        connection = socket.create_connection((own.hostname, own.port), 60)
        more = [f"Authorization: Bearer {token}"] if token else []
        connection.sendall("\r\n".join((*lines, *more, "", "")).encode("latin-1") + body)
        return connection

    def status(self, *lines: str, body: bytes = b"", token: str = "") -> int:
        with self.raw(*lines, body=body, token=token) as connection:
            return _status(connection)

    @property
    def host(self) -> str:
        return urlsplit(self.server.url).netloc


def _status(connection: socket.socket) -> int:
    line = connection.makefile("rb").readline()
    return int(line.split()[1]) if line else 0


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = str(tmp_path_factory.mktemp("served"))
    environ = {"API_ENABLED": "true", "API_TIMEOUT": str(TIMEOUT), "API_BODY_MEGABYTES": "1", "DATA_DIR": folder}
    environ |= {"API_REQUESTS_PER_MINUTE": "100000", "SEARCH_RATE_LIMIT": "100000"}
    app = build_app(loaded(**environ), engines=[])
    with forked_server(SEARCH_PROVIDER_PRIORITY="bundled", **environ) as server:
        yield Place(server, app)
    app.close()


def test_a_token_works_and_a_withdrawn_one_is_refused_within_seconds_although_another_process_did_it(
    place: Place,
) -> None:
    token, secret = place.app.tokens.create("m" * 32, "x", list(Scope))
    until(lambda: place.search(secret).status_code == 200)
    place.app.tokens.withdraw(token.id, None)
    withdrawn = time.monotonic()
    until(lambda: place.search(secret).status_code in REFUSED)
    assert CACHE_SECONDS <= 5
    assert time.monotonic() - withdrawn < 60, "a busy machine; the store's own test has the seconds"


def test_without_a_token_only_this_machine_by_its_own_name(place: Place) -> None:
    get = f"GET {SEARCH}?query=x HTTP/1.1"
    assert place.status(get, f"Host: {place.host}") == 200
    assert place.status(get, "Host: evil.test") == 403
    assert place.status(get, "Host: evil.test", token=place.token) == 403
    assert place.status(f"GET {SEARCH}?query=x HTTP/1.0") in (400, 403)
    assert place.status(get) in (400, 403)
    assert place.status(get, f"Host: {place.host}", "Host: evil.test") in (400, 403)
    assert place.status(f"GET http://evil.test{SEARCH}?query=x HTTP/1.1", f"Host: {place.host}") in (200, 400, 403, 404)


SERVICES = ("/api/v1", "/api/v1/search", "/v1/models", "/v1/chat/completions", "/mcp")


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "DELETE"])
def test_no_page_of_another_origin_gets_in_or_may_read(place: Place, service: str, method: str) -> None:
    wanted = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    for headers in ({"Origin": "https://evil.test"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        reply = requests.request(method, place.server.url + service, headers=headers | wanted, timeout=60)
        assert reply.status_code == 403, headers
        assert not [name for name in reply.headers if name.lower().startswith("access-control")]
    with_token = {"Origin": "https://evil.test", "Authorization": f"Bearer {place.token}"}
    reply = requests.request(method, place.server.url + service, headers=with_token, timeout=60)
    assert reply.status_code == 403
    wrong = {"Authorization": "Bearer wy-x"}
    assert requests.request(method, place.server.url + service, headers=wrong, timeout=60).status_code in REFUSED | {
        403
    }


@pytest.mark.parametrize("service", SERVICES)
def test_no_service_is_asked_for_by_another_name_or_over_a_websocket(place: Place, service: str) -> None:
    assert place.status(f"GET {service} HTTP/1.1", "Host: evil.test", token=place.token) == 403
    upgrade = (
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {'A' * 22}==",
    )
    assert place.status(f"GET {service} HTTP/1.1", f"Host: {place.host}", *upgrade, token=place.token) in (403, 404)


def test_every_service_is_among_them() -> None:
    mounted = {getattr(route, "path", "") for route in API_ROUTES}
    assert all(any(service.startswith(path) for service in SERVICES) for path in mounted)
    assert mounted == {"/api/v1", "/v1", "/mcp"}


def test_files_that_came_with_a_token_are_its_makers_alone(place: Place) -> None:
    """What a token may see is its maker's, from another token of theirs too; an id or a name in the address opens nothing."""
    own, others = place.new_token(), place.app.tokens.create("y" * 32, "yours", list(Scope))[1]
    until(lambda: place.search(others).status_code == 200)
    folder = f"{place.server.url}/api/v1/documents"

    def call(method: str, path: str, token: str, **more: Any) -> requests.Response:
        return requests.request(method, folder + path, headers={"Authorization": f"Bearer {token}"}, timeout=60, **more)

    file = "/灯塔/files/钥匙.txt"
    assert call("PUT", file, place.token, data="钥匙放在第三块砖下面。".encode()).status_code in (200, 201, 202)
    query = {"query": "钥匙"}
    until(lambda: "第三块砖" in call("POST", "/search", own, json=query).text)
    assert "灯塔" in call("GET", "", own).text
    for token in (others, ""):
        for method, path in (("GET", "/灯塔"), ("DELETE", file), ("DELETE", "/灯塔")):
            assert call(method, path, token).status_code in (401, 404), path
        assert "灯塔" not in call("GET", "", token).text
        assert "第三块砖" not in call("POST", "/search", token, json=query).text
        named = call("POST", "/search", token, json=query | {"collections": ["灯塔"]})
        assert named.status_code in (401, 404)
    assert "第三块砖" in call("POST", "/search", own, json=query).text, "nothing was deleted"


def test_a_large_body_is_refused_announced_or_not_and_a_packed_one_is_not_unpacked(place: Place) -> None:
    url, headers = (
        place.server.url + SEARCH,
        {"Authorization": f"Bearer {place.token}", "Content-Type": "application/json"},
    )
    assert requests.post(url, b"x" * (2**20 + 1), headers=headers, timeout=60).status_code == 413
    assert requests.post(url, (b"x" * 2**16 for _ in range(40)), headers=headers, timeout=60).status_code == 413
    assert requests.post(url, b'{"query": "x"}', headers=headers, timeout=60).status_code == 200
    bomb = gzip.compress(b'{"query": "' + b"x" * 50 * 2**20 + b'"}')
    assert len(bomb) < 2**20
    packed = requests.post(url, bomb, headers=headers | {"Content-Encoding": "gzip"}, timeout=60)
    assert packed.status_code == 400, "no JSON"


def test_a_body_that_does_not_come_holds_nobody_up_and_ends(place: Place) -> None:
    head = (f"POST {SEARCH} HTTP/1.1", f"Host: {place.host}", "Content-Type: application/json", "Content-Length: 20")
    slow = [place.raw(*head, body=b'{"query"', token=place.token) for _ in range(30)]
    assert place.search(place.token).status_code == 200, "while they wait"
    assert {_status(connection) for connection in slow} <= {408, 504}
    for connection in slow:
        connection.close()


def test_a_flood_of_wrong_tokens_is_refused_and_fills_no_log(place: Place) -> None:
    with ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(lambda number: place.search(f"wy-{number:043}"), range(300)))
    statuses = [reply.status_code for reply in replies]
    assert set(statuses) <= REFUSED
    assert statuses.count(401) <= FAILURES_PER_MINUTE
    assert place.search(place.token).status_code == 200
    log = place.server.log
    assert log.count("refused: ") <= 200
    assert "token_refused" in log


def test_no_token_is_in_the_log(place: Place) -> None:
    place.search(place.token)
    place.search("wy-" + "Zz9_" * 10)
    requests.get(f"{place.server.url}{SEARCH}?query=x&token={place.token}", timeout=60)
    assert place.token[3:] not in place.server.log
    assert "Zz9_Zz9_" not in place.server.log


def test_fifty_at_once_are_served_and_counted(place: Place) -> None:
    token, secret = place.app.tokens.create("m" * 32, "x", list(Scope))
    until(lambda: place.search(secret).status_code == 200)
    before = counted(place.app, token.id)
    with ThreadPoolExecutor(50) as pool:
        replies = list(pool.map(lambda _: place.search(secret), range(50)))
    assert {reply.status_code for reply in replies} == {200}
    until(lambda: counted(place.app, token.id) >= max(before, 1) + 50)


def counted(app: App, token_id: str) -> int:
    uses = app.metrics_store.token_uses(0, 1e12)
    return sum(use.times for use in uses if use.token_id == token_id and use.outcome == "ok")


def test_a_limit_is_told_with_the_seconds_to_wait(place: Place) -> None:
    secret = place.new_token(per_minute=3)
    until(lambda: place.search(secret).status_code == 200)
    replies = [place.search(secret) for _ in range(4)]
    assert replies[-1].status_code == 429
    assert 1 <= int(replies[-1].headers["Retry-After"]) <= 60
    assert re.search(r"请在 \d+ 秒后再试", json.loads(replies[-1].content)["error"]["message"])


def test_after_a_request_through_a_proxy_this_machine_needs_a_token_too() -> None:
    """It comes last: the server remembers."""
    with forked_server(SEARCH_PROVIDER_PRIORITY="bundled", API_ENABLED="true") as server:
        assert requests.get(server.url + "/api/v1", timeout=60).status_code == 200
        requests.get(server.url + "/healthz", headers={"X-Forwarded-For": "192.0.2.7"}, timeout=60)
        assert requests.get(server.url + "/api/v1", timeout=60).status_code == 401


def test_what_is_off_says_so() -> None:
    with forked_server(SEARCH_PROVIDER_PRIORITY="bundled") as server:
        reply = requests.get(server.url + "/api/v1", timeout=60)
        assert (reply.status_code, reply.json()["error"]["kind"]) == (404, "api_off")
