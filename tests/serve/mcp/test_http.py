"""MCP over HTTP: the door before it, what clients accept, several servers, and clients that go."""

from __future__ import annotations

import asyncio
import json
import signal
from typing import Any

import httpx2
import pytest
from mcp import Client

from core.reading.download import MAX_PER_HOST
from support.app_server import AppServer
from support.forked_server import forked_server
from support.mcp_world import HELLO, LIST, World
from support.waiting import until

JSON_ONLY = {"Accept": "application/json"}


def post(server: AppServer, path: str = "/mcp", json: Any = None, **options: Any) -> httpx2.Response:
    return httpx2.post(f"{server.url}{path}", json=LIST if json is None else json, timeout=60, **options)


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_a_client_that_takes_json_alone_gets_json_at_once(server: AppServer, path: str) -> None:
    answer = post(server, path, headers=JSON_ONLY)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert len(answer.json()["result"]["tools"]) == 8


def test_a_client_that_takes_streams_gets_its_progress_in_one(server: AppServer, world: World) -> None:
    arguments, words = world.calls["verify_statutes"]
    params = {"name": "verify_statutes", "arguments": arguments, "_meta": {"progressToken": "p"}}
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    answer = post(server, json=call, headers={"Accept": "application/json, text/event-stream"})
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]
    assert [event.get("method") for event in events] == ["notifications/progress"] * 2 + [None]
    assert words in events[-1]["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    "foreign",
    [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}],
    ids=lambda headers: next(iter(headers)),
)
def test_pages_of_strangers_are_refused(world: World, foreign: dict[str, str]) -> None:
    with forked_server(**world.environ, API_ENABLED="true") as own:  # after one of these, all need a token there
        answer = post(own, headers=JSON_ONLY | foreign)
        assert answer.status_code == 403
        assert answer.json()["error"]["data"]["kind"] == "origin_refused"


def test_a_page_of_ones_own_and_other_names_of_the_machine_are_no_strangers(server: AppServer) -> None:
    port = server.url.rpartition(":")[2]
    for host in (f"localhost:{port}", f"127.0.0.1:{port}"):
        answer = post(server, headers=JSON_ONLY | {"Host": host, "Origin": f"http://{host}"})
        assert answer.status_code == 200, host


def test_a_browser_that_opens_the_address_is_told_what_it_accepts(server: AppServer) -> None:
    answer = httpx2.get(f"{server.url}/mcp")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["error"]["message"] == "这个地址不接受这种请求方法。可以用 POST。"


def test_where_it_is_off_clients_show_the_sentence(world: World) -> None:
    with forked_server(**world.environ) as off:
        answer = post(off)
        assert (answer.status_code, answer.json()["error"]["data"]["kind"]) == (404, "api_off")

        async def connect() -> None:
            async with Client(f"{off.url}/mcp") as connected:
                await connected.list_tools()

        with pytest.raises(ExceptionGroup) as raised:
            asyncio.run(connect())
        assert "API_ENABLED=true" in sentences(raised.value)


def test_a_body_beyond_the_limit_is_refused_by_the_door(world: World) -> None:
    with forked_server(**world.environ, API_ENABLED="true", API_BODY_MEGABYTES="1") as small:
        answer = post(small, json={**LIST, "params": {"padding": "x" * 2**20}}, headers=JSON_ONLY)
        assert (answer.status_code, answer.json()["error"]["data"]["kind"]) == (413, "too_large")
        assert "Traceback" not in small.log


def test_a_conversation_may_be_answered_by_several_servers(server: AppServer, world: World) -> None:
    """Nothing is kept between two requests, in the older protocol either."""
    both = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    call = {"name": "search_documents", "arguments": {"query": "租金"}}
    with forked_server(**world.environ, API_ENABLED="true") as other:
        welcome = post(other, json=HELLO, headers=both)
        assert "mcp-session-id" not in welcome.headers
        assert (
            post(server, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=both).status_code
            == 202
        )
        for one in (other, server):
            answer = post(one, json={"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}, headers=both)
            assert "八千六百" in answer.text


@pytest.mark.parametrize("accepts", ["application/json", "application/json, text/event-stream"], ids=["json", "stream"])
@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_a_client_that_goes_ends_its_calls(server: AppServer, world: World, accepts: str, version: str) -> None:
    """Two calls wait for a page, as many as may ask one site at a time. When their clients go, a third one can."""
    meta = {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}}
    headers = {"Accept": accepts, "MCP-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": "read_page"}

    async def read(client: httpx2.AsyncClient, page: str) -> str:
        arguments = {"url": f"http://{world.pages.address}/{page}"}
        params = {"name": "read_page", "arguments": arguments, "_meta": meta if version == "2026-07-28" else {}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return (await client.post("/mcp", json=message, headers=headers)).text

    async def use() -> None:
        async with httpx2.AsyncClient(base_url=server.url, timeout=None) as client:
            waiting = [asyncio.create_task(read(client, f"news?{version}{n}{accepts}")) for n in range(MAX_PER_HOST)]
            await asyncio.to_thread(until, lambda: world.pages.waiting == MAX_PER_HOST)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            async with asyncio.timeout(25):  # calls that go on would take thirty
                assert '"isError":true' in await read(client, f"second?{version}{accepts}")

    world.pages.open.clear()
    world.pages.waiting = 0
    try:
        asyncio.run(use())
    finally:
        world.pages.open.set()


def test_the_server_ends_quietly_after_it_was_used(world: World) -> None:
    with forked_server(**world.environ, API_ENABLED="true") as own:
        assert post(own, headers=JSON_ONLY).status_code == 200
        own.process.send_signal(signal.SIGINT)
        own.process.wait(60)
        assert "Traceback" not in own.log
        assert "Task was destroyed" not in own.log


def sentences(error: BaseException) -> str:
    """Return what an error says, and those that it groups."""
    return str(error) + "".join(map(sentences, getattr(error, "exceptions", ())))
