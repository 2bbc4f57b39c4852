"""Plain chunks against the openai package's typed ones: LangChain must make the same messages of both."""

from __future__ import annotations

import functools
import json
import operator
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import openai
import pytest
from langchain_core.messages import BaseMessageChunk
from langchain_openai import ChatOpenAI

from core.base.loop import LoopThread
from core.llm.plain_chunks import PlainChunks


@contextmanager
def streaming(events: list[Any]) -> Iterator[str]:
    """A server that answers everything with these events; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()


@pytest.fixture(scope="module")
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.stop()


def streamed(loop: LoopThread, address: str, *, plain: bool) -> list[BaseMessageChunk]:
    chat = ChatOpenAI(model="m", api_key="k", base_url=address, max_retries=0, stream_usage=True)
    if plain:
        chat.async_client = PlainChunks(chat.async_client)

    async def collect() -> list[BaseMessageChunk]:
        return [chunk.model_copy(update={"id": ""}) async for chunk in chat.astream("问题")]

    return loop.submit(collect()).result(30)


def chunk(delta: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": "c",
        "object": "chat.completion.chunk",
        "model": "m",
        "choices": [{"index": 0, "delta": delta, **more}],
    }


CALL = {"id": "call_1", "type": "function", "function": {"name": "web_search", "arguments": '{"query": "法"}'}}
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
ENDING = chunk({}, finish_reason="stop")


@pytest.mark.parametrize(
    "events",
    [
        [chunk({"role": "assistant", "content": ""}), chunk({"content": "你"}), chunk({"content": "好"}), ENDING],
        [chunk({"content": "你"}), ENDING, {"choices": [], "usage": USAGE}],
        [chunk({"content": "你"}), {**ENDING, "usage": USAGE | {"prompt_tokens_details": {"cached_tokens": 1}}}],
        [chunk({"content": "你"}), {"choices": None}, ENDING],
        [chunk({"content": "你"}), {"choices": [{"index": 0, "finish_reason": "stop"}]}],
        [chunk({"content": "你"}), chunk(None, finish_reason="stop")],
        [chunk({"content": None, "tool_calls": None}), chunk({"content": "你", "reasoning_content": "想"}), ENDING],
        [chunk({"tool_calls": [{**CALL, "index": 0}]}), chunk({}, finish_reason="tool_calls")],
        [chunk({"tool_calls": [CALL]}), chunk({}, finish_reason="tool_calls")],
        [chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}), ENDING],
    ],
)
def test_langchain_makes_the_same_of_both(loop: LoopThread, events: list[Any]) -> None:
    with streaming(events) as address:
        plain, typed = streamed(loop, address, plain=True), streamed(loop, address, plain=False)
    assert functools.reduce(operator.add, plain) == functools.reduce(operator.add, typed)


def test_an_error_in_mid_stream_is_an_error(loop: LoopThread) -> None:
    with (
        streaming([chunk({"content": "你"}), {"error": {"message": "overloaded"}}]) as address,
        pytest.raises(openai.APIError, match="overloaded"),
    ):
        streamed(loop, address, plain=True)


def test_without_a_stream_it_is_the_client_itself(loop: LoopThread) -> None:
    class Client:
        async def create(self, **payload: Any) -> Any:
            return payload

    client: Any = PlainChunks(Client())  # type: ignore[arg-type]
    assert loop.submit(client.create(model="m")).result(5) == {"model": "m"}
