"""The HTTP API of a real server: many clients at once, and those who go away."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from support.app_server import AppServer
from support.faults import Peer, Server
from support.forked_server import forked_server
from support.openai_server import OpenAIServer, openai_server
from support.scripted_searxng import scripted_searxng
from support.waiting import until

CLIENTS = 50
SLOWLY, REVIEW = "请慢慢说", "无法判断"
ANSWER = "全固态电池预计在 2027 年小批量生产[1]。"


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    """Says the answer, or speaks for ever: where it is asked to, and in a review."""

    def reply(asked: dict[str, Any]) -> Sequence[Any]:
        said = str(asked["messages"][-1]["content"])
        for_ever = [piece for number in range(4_000) for piece in (f"第{number}词。", 0.05)]
        return for_ever if SLOWLY in said or REVIEW in said else [ANSWER]

    with openai_server() as server:
        server.reply = reply
        yield server


@pytest.fixture(scope="module")
def server(model: OpenAIServer) -> Iterator[AppServer]:
    with (
        scripted_searxng() as engine,
        forked_server(
            API_ENABLED="true",
            OPENAI_API_KEY="k",
            OPENAI_BASE_URL=model.url,
            LLM_MODEL="openai:reply",
            SEARXNG_URL=engine.url,
            SEARCH_PROVIDER_PRIORITY="searxng",
            CHECKS_JUDGE="auto",
        ) as server,
    ):
        yield server


@pytest.fixture(scope="module")
def client(server: AppServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=60, trust_env=False) as client:
        yield client


@contextmanager
def asked_until(client: httpx.Client, event: str, **fields: Any) -> Iterator[dict[str, Any]]:
    """Follow an answer until this event, and leave at the end."""
    with client.stream("POST", "/ask", json=fields) as reply:
        assert reply.status_code == 200, reply.read()
        lines = reply.iter_lines()
        assert f"event: {event}" in lines
        yield json.loads(next(lines).removeprefix("data: "))


def test_an_answer_ends_when_its_client_goes(client: httpx.Client, model: OpenAIServer) -> None:
    before = model.broken_off
    with asked_until(client, "text_delta", question=SLOWLY) as event:
        assert event["text"]
        assert model.broken_off == before
    until(lambda: model.broken_off == before + 1)


def test_an_answer_in_one_document_ends_when_its_client_goes(server: AppServer, model: OpenAIServer) -> None:
    before, asked = model.broken_off, len(model.requests)
    body = json.dumps({"question": SLOWLY, "stream": False})
    head = (
        f"POST /api/v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    host, _, port = server.url.rpartition("/")[2].partition(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(f"{head}\r\n\r\n{body}".encode())
        until(lambda: len(model.requests) == asked + 1)
    until(lambda: model.broken_off == before + 1)


def test_a_review_ends_when_its_client_goes(client: httpx.Client, model: OpenAIServer) -> None:
    before, asked = model.broken_off, len(model.requests)
    with asked_until(client, "usage", question="全固态电池何时量产？", search=True):
        until(lambda: any(REVIEW in str(one["messages"]) for one in model.requests[asked:]))
    until(lambda: model.broken_off == before + 1)


def test_those_who_wait_in_line_leave_it_when_they_go(client: httpx.Client, model: OpenAIServer) -> None:
    """Three answers of one caller are written at once. Twelve come and go; then the next one is answered at once."""

    async def come_and_go() -> None:
        async with httpx.AsyncClient(base_url=client.base_url, timeout=60, trust_env=False) as many:
            asking = [asyncio.create_task(many.post("/ask", json={"question": f"{SLOWLY} {n}"})) for n in range(12)]
            await asyncio.to_thread(until, lambda: len(model.requests) >= asked + 3)
            for one in asking:
                one.cancel()
            await asyncio.gather(*asking, return_exceptions=True)

    asked, before = len(model.requests), model.broken_off
    asyncio.run(come_and_go())
    assert client.post("/ask", json={"question": "量产？", "stream": False}).json()["text"] == ANSWER.replace("[1]", "")
    until(lambda: model.broken_off == before + 3)
    assert len(model.requests) == asked + 4, "of those who waited nobody was answered"


def test_what_is_fetched_for_a_client_is_given_up_when_it_goes() -> None:
    """An engine and a page that never answer, and would be waited for a minute."""
    given_up: list[bytes] = []

    def never(peer: Peer) -> None:
        request = peer.read_request()
        peer.wait_for_hang_up()
        given_up.append(request)

    async def come_and_go(address: str, marker: bytes, **params: str) -> None:
        async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
            asking = asyncio.create_task(client.get(address, params=params))
            await asyncio.to_thread(until, lambda: any(marker in request for request in slow.requests))
            assert not any(marker in request for request in given_up)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        until(lambda: any(marker in request for request in given_up))

    with Server(never) as slow:
        engine = {"SEARXNG_URL": slow.url, "SEARCH_PROVIDER_PRIORITY": "searxng", "SEARCH_TIMEOUT": "60"}
        pages = {"READING_PAGES": "3", "READING_TIMEOUT": "60", "READING_ALLOW_HOSTS": slow.host}
        with forked_server(API_ENABLED="true", **engine, **pages) as server:
            asyncio.run(come_and_go(f"{server.url}/api/v1/search", b"lighthouse", query="lighthouse"))
            asyncio.run(come_and_go(f"{server.url}/api/v1/page", b"/beacon", url=f"{slow.url}beacon"))


REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/search", {"params": {"query": "全固态电池 {n}"}}),
    (
        "POST",
        "/check/pairs",
        {"json": {"pairs": [{"statement": "水在 100 度沸腾。", "source": "水在 90 度沸腾。"}] * 20}},
    ),
    ("POST", "/ask", {"json": {"question": "全固态电池何时量产？", "stream": False}}),
    ("GET", "/documents", {}),
    ("GET", "/openapi.json", {}),
]


def test_fifty_clients_at_once_are_all_answered_and_so_is_a_page(server: AppServer) -> None:
    async def main() -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=CLIENTS + 1)
        async with httpx.AsyncClient(base_url=server.url, timeout=120, trust_env=False, limits=limits) as many:
            calls = [many.request(method, f"/api/v1{path}", **sent) for method, path, sent in REQUESTS * (CLIENTS // 5)]
            return await asyncio.gather(*calls, many.get("/"))

    *replies, page = asyncio.run(main())
    assert [reply.status_code for reply in replies] == [200] * CLIENTS
    assert page.status_code == 200
    assert all(reply.json()["complete"] for reply in replies[2::5])
    assert "Traceback" not in server.log
