"""Plain chunks against the openai package's typed ones: LangChain must make the same messages of both."""

from __future__ import annotations

import functools
import json
import operator
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import openai
import pytest
from langchain_core.messages import BaseMessageChunk
from langchain_openai import ChatOpenAI

from core.base.threads import LoopThread
from core.llm import plain_chunks
from core.llm.openai_chat import OpenAIChat
from core.llm.pieces import ThoughtPiece
from core.llm.plain_chunks import PlainChunksClient
from core.llm.reasoning import reasoning_text


@contextmanager
def streaming(events: list[Any], connections: list[Any] | None = None) -> Iterator[str]:
    """A server that answers everything with these events, a string being data as it is; its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            if connections is not None:
                connections.append(self.client_address)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            data = [event if isinstance(event, str) else json.dumps(event) for event in events]
            body = "".join(f"data: {each}\n\n" for each in [*data, "[DONE]"])
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(body.encode()), body.encode()))
            self.wfile.flush()
            if connections is not None:
                time.sleep(0.02)  # the body ends a moment after its last event
            self.wfile.write(b"0\r\n\r\n")

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


def directly(loop: LoopThread, address: str, into: list[Any] | None = None, *, times: int = 1) -> list[Any]:
    into = [] if into is None else into
    chat = OpenAIChat(model="m", api_key="k", base_url=address, max_retries=0)
    chat.async_client = PlainChunksClient(chat.async_client)

    async def collect() -> list[Any]:
        for _ in range(times):
            async for heard in chat.stream_pieces("问题"):
                into.append(heard)
        return into

    return loop.submit(collect()).result(30)


def streamed(
    loop: LoopThread, address: str, *, plain: bool, kind: type[ChatOpenAI] = ChatOpenAI
) -> list[BaseMessageChunk]:
    chat = kind(model="m", api_key="k", base_url=address, max_retries=0, stream_usage=True)
    if plain:
        chat.async_client = PlainChunksClient(chat.async_client)

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


STREAMS: list[list[Any]] = [
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
]


@pytest.mark.parametrize("events", STREAMS)
def test_langchain_makes_the_same_of_both(loop: LoopThread, events: list[Any]) -> None:
    with streaming(events) as address:
        plain, typed = streamed(loop, address, plain=True), streamed(loop, address, plain=False)
    assert functools.reduce(operator.add, plain) == functools.reduce(operator.add, typed)


@pytest.mark.parametrize("events", STREAMS)
def test_whoever_hears_it_directly_hears_what_langchain_would_tell(loop: LoopThread, events: list[Any]) -> None:
    def told(message: Any) -> tuple[str, str, Any, Any]:
        if isinstance(message, str):
            return message, "", None, None
        if isinstance(message, ThoughtPiece):
            return "", message.text, None, None
        ending = message.response_metadata.get("finish_reason")
        return message.text, reasoning_text(message), message.usage_metadata, ending

    def whole(messages: list[Any]) -> tuple[str, str, list[Any], list[Any]]:
        texts, thoughts, usages, endings = zip(*map(told, messages), strict=True)
        return "".join(texts), "".join(thoughts), [*filter(None, usages)], [*filter(None, endings)]

    with streaming(events) as address:
        heard, langchain = directly(loop, address), streamed(loop, address, plain=False, kind=OpenAIChat)
    assert whole(heard) == whole(langchain)


def test_text_alone_becomes_no_message(loop: LoopThread) -> None:
    with streaming([chunk({"reasoning": "想"}), chunk({"role": "assistant", "content": "说"}), ENDING]) as address:
        *texts, ending = directly(loop, address)
    assert texts == [ThoughtPiece("想"), "说"]
    assert ending.response_metadata["finish_reason"] == "stop"


def test_what_came_before_a_broken_event_is_kept(loop: LoopThread) -> None:
    heard: list[Any] = []
    with (
        streaming([chunk({"content": "你"}), chunk({"content": "好"}), '{"choices": [']) as address,
        pytest.raises(json.JSONDecodeError),
    ):
        directly(loop, address, heard)
    assert "".join(heard) == "你好"


def test_a_connection_is_used_again(loop: LoopThread, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_chunks, "LAST_BYTES_SECONDS", 10)
    connections: list[Any] = []
    with streaming([chunk({"content": "你"}), ENDING], connections) as address:
        assert directly(loop, address, times=2).count("你") == 2
    assert len(connections) == 1


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

    client: Any = PlainChunksClient(Client())  # type: ignore[arg-type]
    assert loop.submit(client.create(model="m")).result(5) == {"model": "m"}
