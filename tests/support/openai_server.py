"""A loopback server that speaks OpenAI's streaming chat protocol and misbehaves on demand.

The model's name says how: `ok`, `slow` (one word every 50 ms, for longer than anybody waits), `hang`, `trickle`,
`disconnect`, `reset`, `empty`, `no-usage`, `think`, `401`, `404`, `429`, `500`, `quota`, `flaky` (500 once, then ok), `garbage`, `echo` (says what it was asked),
`as-asked` (the last word of the question is one of these names), `reply` (what `server.reply` makes of the request:
text, `Call`s of tools, pauses in seconds or until an `Event`, `Fail`, `HANG`, `DISCONNECT`).
`GET /v1/models` lists `server.models` in OpenAI's shape, or answers with `server.listing` as it is: a status and a body.
With `server.api_key` every request must bear that key, or gets a 401.
`/v1/responses` streams what `server.searching` makes of the request: pieces as in `support.responses`, or whole events.
`python -m support.openai_server PORT` runs it by hand.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from support import responses

ANSWER = "问源的回答会给出来源[1]。第二句话说明细节[2]。"


@dataclass(frozen=True)
class Call:
    """A native call of a tool; several in one reply are parallel calls."""

    name: str
    arguments: str


@dataclass(frozen=True)
class Fail:
    status: int
    body: dict[str, Any] | None = None
    """What is answered; None for a few words."""


@dataclass(frozen=True)
class CutOff:
    """The answer ends here, and the service says why."""

    reason: str


@dataclass(frozen=True)
class Thinks:
    """Reasoning in a field of its own, in so many parts with a pause after each."""

    text: str
    field: str = "reasoning_content"
    parts: int = 1
    pause: float = 0.0


@dataclass(frozen=True)
class Redirect:
    """307: send the same request to another address."""

    to: str


HANG = object()
DISCONNECT = object()

Reply = Callable[[dict[str, Any]], Sequence[Any]]


def in_turn(*replies: Sequence[Any]) -> Reply:
    """Each request gets the next reply; the last one again and again."""
    left = list(replies)
    return lambda asked: left.pop(0) if len(left) > 1 else left[0]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: OpenAIServer

    def setup(self) -> None:
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().setup()

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.server.listed.append(self.path)
        if not self._admitted():
            return self._error(401, code="invalid_api_key")
        if self.server.listing is not None:
            return self._send(*self.server.listing, "application/json")
        entries = [{"id": name, "object": "model", "owned_by": "test"} for name in self.server.models]
        return self._send(200, json.dumps({"object": "list", "data": entries}).encode(), "application/json")

    def _admitted(self) -> bool:
        return self.server.api_key in {None, self.headers.get("Authorization", "").removeprefix("Bearer ")}

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(asked)
        if not self._admitted():
            return self._error(401, code="invalid_api_key")
        try:
            if self.path.endswith("/responses"):
                self._respond(self.server.searching(asked))
            else:
                self._answer(asked["model"], asked)
        except (BrokenPipeError, ConnectionResetError):
            self.server.broken_off += 1
        return None

    def _answer(self, model: str, asked: dict[str, Any]) -> None:
        if model == "as-asked":  # one app server for many behaviours: the question says which
            model = str(asked["messages"][-1]["content"]).split()[-1]
        if model == "flaky" and len(self.server.requests) % 2:
            return self._error(500)
        if model.isdigit():
            return self._error(int(model))
        if model == "quota":
            return self._error(429, code="insufficient_quota")
        if model == "hang":
            self.server.released.wait(30)
            return None
        if model == "reply":
            return self._reply(self.server.reply(asked), asked)
        if model == "garbage":
            return self._send(200, b"\x00\xff not a stream", "text/event-stream")
        if asked.get("tools") and self.server.calls_tools:
            return self._reply([Call(asked["tools"][0]["function"]["name"], "{}")], asked)
        self._begin()
        self.server.released.wait(self.server.first_pause)
        self.server.first_token_at = time.time()
        for text, pause in self._script(model, asked):
            self._event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]})
            self.server.released.wait(pause)
        if model == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            return None
        if model == "disconnect":
            self.connection.shutdown(socket.SHUT_RDWR)
            return None
        self._finish("stop", usage=model != "no-usage")
        return None

    def _respond(self, pieces: Sequence[Any]) -> None:
        if pieces and isinstance(pieces[0], responses.Refuse):
            body = {"error": {"message": pieces[0].message, "type": "invalid_request_error", "code": None}}
            return self._send(pieces[0].status, json.dumps(body).encode(), "application/json")
        self._begin()
        recorded = bool(pieces) and isinstance(pieces[0], dict)
        for event in pieces if recorded else responses.events(pieces):
            if event["type"] == "pause" and event["piece"] is DISCONNECT:
                self.connection.shutdown(socket.SHUT_RDWR)
                return None
            if event["type"] == "pause":
                self.server.released.wait(event["piece"])
                continue
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode())
            self.wfile.flush()
        return None

    def _reply(self, pieces: Sequence[Any], asked: dict[str, Any]) -> None:
        forgotten = (m for m in asked["messages"] if m.get("tool_calls") and not m.get("reasoning_content"))
        if self.server.wants_reasoning_back and next(forgotten, None):
            return self._error(400)
        if pieces and isinstance(pieces[0], Fail):
            if pieces[0].body is not None:
                return self._send(pieces[0].status, json.dumps(pieces[0].body).encode(), "application/json")
            return self._error(pieces[0].status)
        if pieces and isinstance(pieces[0], Redirect):
            return self._redirect(pieces[0].to)
        self._begin()
        calls, ending = 0, "stop"
        for piece in pieces:
            if piece is HANG:
                self.server.released.wait(30)
                return None
            if piece is DISCONNECT:
                self.connection.shutdown(socket.SHUT_RDWR)
                return None
            if isinstance(piece, float):
                self.server.released.wait(piece)
            elif isinstance(piece, threading.Event):  # a test says when it goes on
                piece.wait(60)
            elif isinstance(piece, Thinks):
                self._think(piece)
            elif isinstance(piece, threading.Event):
                piece.wait(60)
            elif isinstance(piece, CutOff):
                ending = piece.reason
            elif isinstance(piece, Call):
                self._call(piece, calls)
                calls += 1
            else:
                self._event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": piece}}]})
        self._finish("tool_calls" if calls else ending, usage=self.server.reports_usage)
        return None

    def _think(self, thinks: Thinks) -> None:
        self.server.first_thought_at = time.time()
        size = -(-len(thinks.text) // thinks.parts)
        for start in range(0, len(thinks.text), size):
            delta = {"role": "assistant", "content": None, thinks.field: thinks.text[start : start + size]}
            self._event({"choices": [{"index": 0, "delta": delta}]})
            self.server.released.wait(thinks.pause)

    def _redirect(self, to: str) -> None:
        self.send_response(307)
        self.send_header("Location", f"{to}/chat/completions")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _call(self, call: Call, index: int) -> None:
        """As OpenAI sends it: the name first, then the arguments in two parts."""
        middle = len(call.arguments) // 2
        for function in (
            {"name": call.name, "arguments": ""},
            {"arguments": call.arguments[:middle]},
            {"arguments": call.arguments[middle:]},
        ):
            delta: dict[str, Any] = {"index": index, "function": function}
            if "name" in function:
                delta |= {"id": f"call_{len(self.server.requests)}_{index}", "type": "function"}
            self._event({"choices": [{"index": 0, "delta": {"tool_calls": [delta]}}]})

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def _finish(self, reason: str, *, usage: bool) -> None:
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        if usage:
            counts: dict[str, Any] = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
            if self.server.reasoning_tokens:
                counts["completion_tokens_details"] = {"reasoning_tokens": self.server.reasoning_tokens}
            self._event({"choices": [], "usage": counts})
        self.wfile.write(b"data: [DONE]\n\n")

    def _script(self, model: str, asked: dict[str, Any]) -> Iterator[tuple[str, float]]:
        if model == "echo":
            yield str(asked["messages"][-1]["content"]), 0
        elif model == "think":
            yield from (("<thi", 0), ("nk>先想一想</th", 0), ("ink>\n", 0), (ANSWER, 0))
        elif model == "empty":
            yield "", 0
        elif model in {"disconnect", "reset"}:
            yield "前半句已经写出", 0.05
        elif model == "trickle":
            while True:
                yield "慢", 0.2
        elif model == "slow":
            for number in range(1, 2_001):
                yield f"第{number}词 ", 0.05
        elif model.startswith("script:"):
            for piece in self.server.script:
                yield piece, self.server.pause
        else:
            yield from ((character, 0) for character in ANSWER)

    def _event(self, data: dict[str, Any]) -> None:
        frame = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m", **data}
        text = json.dumps(frame, ensure_ascii=False)
        if any("\ud800" <= character <= "\udfff" for character in text):  # as services send half characters
            text = json.dumps(frame)
        self.wfile.write(f"data: {text}\n\n".encode())
        self.wfile.flush()

    def _error(self, status: int, code: str = "error") -> None:
        body = {"error": {"message": "the key sk-verysecretkey1234567890 is wrong", "type": "x", "code": code}}
        self._send(status, json.dumps(body).encode(), "application/json")

    def _send(self, status: int, body: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class OpenAIServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128  # many runs connect in the same moment

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.requests: list[dict[str, Any]] = []
        self.api_key: str | None = None
        self.models: list[str] = ["ok"]
        self.listing: tuple[int, bytes] | None = None
        self.listed: list[str] = []
        self.released = threading.Event()
        self.broken_off = 0
        self.first_token_at = 0.0
        self.script: list[str] = []
        self.reply: Reply = in_turn([ANSWER])
        self.searching: Reply = in_turn([])
        self.reports_usage = True
        self.calls_tools = False
        """Whatever the model, the first tool that it is offered is called."""
        self.first_pause = 0.0
        self.first_thought_at = 0.0
        self.reasoning_tokens = 0
        self.wants_reasoning_back = False
        """DeepSeek's rule: a turn with tool calls comes back with its reasoning, or is refused."""
        self.pause = 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def openai_server(port: int = 0) -> Iterator[OpenAIServer]:
    server = OpenAIServer(port)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    with openai_server(int(sys.argv[1])):
        time.sleep(3600)
