"""A loopback server that speaks OpenAI's streaming chat protocol and misbehaves on demand.

The model's name says how: `ok`, `slow` (one word every 50 ms), `hang`, `trickle`, `disconnect`, `reset`, `empty`, `no-usage`,
`think`, `401`, `404`, `429`, `500`, `quota`, `flaky` (500 once, then ok), `garbage`, `echo` (says what it was asked),
`as-asked` (the last word of the question is one of these names).
`python -m support.openai_server PORT` runs it by hand.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = "问源的回答会给出来源[1]。第二句话说明细节[2]。"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: OpenAIServer

    def setup(self) -> None:
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().setup()

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(asked)
        try:
            self._answer(asked["model"], asked)
        except (BrokenPipeError, ConnectionResetError):
            self.server.broken_off += 1

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
        if model == "garbage":
            return self._send(200, b"\x00\xff not a stream", "text/event-stream")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
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
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        if model != "no-usage":
            usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
            self._event({"choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")
        return None

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
            for number in range(1, 401):
                yield f"第{number}词 ", 0.05
        elif model.startswith("script:"):
            for piece in self.server.script:
                yield piece, self.server.pause
        else:
            yield from ((character, 0) for character in ANSWER)

    def _event(self, data: dict[str, Any]) -> None:
        frame = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m", **data}
        self.wfile.write(f"data: {json.dumps(frame, ensure_ascii=False)}\n\n".encode())
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

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.requests: list[dict[str, Any]] = []
        self.released = threading.Event()
        self.broken_off = 0
        self.script: list[str] = []
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
