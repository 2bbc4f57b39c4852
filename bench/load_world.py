"""The world outside the app, for `bench.load` and `bench.readers`: a model that streams at a fixed pace, and a SearXNG.

Each runs in a process of its own, `python -m bench.load_world model` or `… search`, and prints its port. A stream costs one
timer and one write per token: at a hundred readers nothing else would be left of two cores.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from functools import cache
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit
from zlib import crc32

SEARCH_SECONDS = 0.12
FIRST_TOKEN_SECONDS = 0.3
TOKENS_PER_SECOND = 60
TOKENS = 600
ANSWER_SECONDS = SEARCH_SECONDS + FIRST_TOKEN_SECONDS + (TOKENS - 1) / TOKENS_PER_SECOND
"""From the question to the last word, if nobody loses any time."""


def model_name(tokens: int = TOKENS, tokens_per_second: int = TOKENS_PER_SECOND) -> str:
    """What the model is asked by: it says how much it will write, and how quickly."""
    return f"{tokens}x{tokens_per_second}"


PAGE_SECONDS = (0.05, 0.1, 0.3)
PAGE = (
    "<!DOCTYPE html><html><head><title>劳动报酬</title></head><body><ul>"
    + "".join(f'<li><a href="/{n}">栏目{n}</a></li>' for n in range(60))
    + "</ul><article>"
    + "".join(f"<p>第{n}段：用人单位没有按时足额支付劳动报酬的，劳动者可以向劳动监察部门投诉。</p>" for n in range(120))
    + "</article></body></html>"
).encode()

VISITOR = re.compile(r"访客\d{4}")
DIGITS = "山水云雨风雪花草树石江河湖海星光田野村桥路船车马牛羊鱼鸟门窗"
"""Plain words instead of figures: an answer of six hundred numbers, each to be checked, is nobody's."""
WORD = re.compile(f"词([{DIGITS}]{{3}})")


def answer(visitor: str, tokens: int = TOKENS) -> list[str]:
    """As long as a real one, in paragraphs with citations; each word has its number, so that none can be missed."""
    return [f"答{visitor}：", *map(_token, range(1, tokens))]


def words(text: str) -> list[int]:
    """The numbers of those in it."""
    return [_number(digits) for digits in WORD.findall(text)]


def last_word(text: str) -> int | None:
    found = WORD.match(text, max(text.rfind("词"), 0))
    return _number(found[1]) if found else None


def _token(number: int) -> str:
    high, low = divmod(number, len(DIGITS))
    word = f"词{DIGITS[high // len(DIGITS)]}{DIGITS[high % len(DIGITS)]}{DIGITS[low]}"
    cites = "，期限 30 日[1][2]。" if number % 15 == 0 else ""
    return word + cites + ("\n\n" if number % 60 == 0 else "")


def _number(digits: str) -> int:
    high, middle, low = map(DIGITS.index, digits)
    return (high * len(DIGITS) + middle) * len(DIGITS) + low


class Sent(NamedTuple):
    """Seconds of the machine's monotonic clock, the same in every process."""

    asked: float
    first: float
    last: float


class _Server(asyncio.Protocol):
    """As much of HTTP/1.1 as the app's clients speak."""

    def __init__(self) -> None:
        self._received = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (request := self._next_request()) is not None:
            self.handle(*request)

    def _next_request(self) -> tuple[str, bytes] | None:
        head, end, rest = self._received.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        size = int(length[1]) if length else 0
        if not end or len(rest) < size:
            return None
        self._received = rest[size:]
        return head.split(b" ", 2)[1].decode(), rest[:size]

    def handle(self, target: str, body: bytes) -> None:
        raise NotImplementedError

    def reply(self, document: object, status: HTTPStatus = HTTPStatus.OK) -> None:
        body = json.dumps(document, ensure_ascii=False).encode()
        head = f"HTTP/1.1 {status} {status.phrase}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)


class Search(_Server):
    """And the pages that it finds, other ones for every question."""

    def handle(self, target: str, body: bytes) -> None:
        if target.startswith("/page/"):
            asyncio.get_running_loop().call_later(PAGE_SECONDS[int(target[-1]) % len(PAGE_SECONDS)], self._send_page)
            return None
        asked = parse_qs(urlsplit(target).query).get("q")
        if not asked:
            return self.reply({"error": "No query"}, HTTPStatus.BAD_REQUEST)
        port = self._transport.get_extra_info("sockname")[1]
        found = [
            {
                "title": f"第 {number} 条结果",
                "url": f"http://127.0.0.1:{port}/page/{crc32(asked[0].encode())}/{number}",
                "content": f"关于{asked[0]}的说明。" * 5,
            }
            for number in range(1, 11)
        ]
        reply = {"query": asked[0], "results": found, "unresponsive_engines": []}
        asyncio.get_running_loop().call_later(SEARCH_SECONDS, self.reply, reply)
        return None

    def _send_page(self) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(PAGE)}\r\n\r\n"
        self._transport.write(head.encode() + PAGE)


class Model(_Server):
    sent: dict[str, Sent] = {}  # noqa: RUF012

    def handle(self, target: str, body: bytes) -> None:
        if target == "/sent":
            return self.reply(self.sent)
        asked = json.loads(body)
        messages = asked["messages"]
        visitor = VISITOR.findall(json.dumps(messages, ensure_ascii=False))[-1]
        self._transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        if asked.get("tools") and messages[-1]["role"] != "tool":
            self._call_search(visitor)
        else:
            tokens, pace = map(int, asked["model"].split("x"))
            Stream(self._transport, visitor, tokens, pace, self.sent)
        return None

    def _call_search(self, visitor: str) -> None:
        function = {"name": "web_search", "arguments": json.dumps({"query": f"{visitor}的问题"}, ensure_ascii=False)}
        call = {"index": 0, "id": f"call-{visitor}", "type": "function", "function": function}
        self._transport.write(_event({"role": "assistant", "tool_calls": [call]}) + _end("tool_calls"))


class Stream:
    """One answer, each token at its time: a server that was held up catches up."""

    def __init__(self, transport: Any, visitor: str, tokens: int, pace: int, sent: dict[str, Sent]) -> None:
        self._transport, self._visitor, self._pace, self._sent = transport, visitor, pace, sent
        self._loop = asyncio.get_running_loop()
        self._asked = time.monotonic()
        self._times: list[float] = []
        self._events = [_event({"role": "assistant", "content": answer(visitor)[0]}), *_later_tokens(tokens)]
        self._loop.call_later(FIRST_TOKEN_SECONDS, self._send)

    def _send(self) -> None:
        self._transport.write(self._events[len(self._times)])
        self._times.append(time.monotonic())
        if self._transport.is_closing():  # the reader has gone
            return
        if len(self._times) < len(self._events):
            self._loop.call_at(self._times[0] + len(self._times) / self._pace, self._send)
        else:
            self._transport.write(_end("stop"))
            self._sent[self._visitor] = Sent(self._asked, self._times[0], self._times[-1])


def _event(delta: dict[str, Any] | None, ending: str | None = None, **more: Any) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": ending}]
    common = {"id": "chatcmpl-load", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "load"}
    return _chunk(f"data: {json.dumps({**common, 'choices': choices, **more}, ensure_ascii=False)}\n\n".encode())


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _end(reason: str) -> bytes:
    usage = {"prompt_tokens": 1_000, "completion_tokens": TOKENS, "total_tokens": 1_000 + TOKENS}
    return _event({}, reason) + _event(None, usage=usage) + _chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"


@cache
def _later_tokens(tokens: int) -> list[bytes]:
    return [_event({"content": text}) for text in answer("", tokens)[1:]]


async def serve(kind: type[_Server]) -> None:
    server = await asyncio.get_running_loop().create_server(kind, "127.0.0.1", 0, backlog=1_000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve({"model": Model, "search": Search}[sys.argv[1]]))
