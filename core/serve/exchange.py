"""A request and its answer on their way through the door: how large the one is, and how far the other has come."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Send

from core.serve.errors import ApiError, BodyTooSlow, RequestTooLarge

EVENT_STREAM = "text/event-stream"
BODY_SECONDS = 20.0
"""Longest pause between two pieces of a request's body."""


class Exchange:
    """Passes on what is received and sent. A body that is refused stays so, whatever the service makes of the error."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._limit = 0
        self._received = 0
        self._is_body_complete = False
        self.status = 0
        """The status that was sent; 0 before."""
        self.is_open_stream = False
        """True for a stream of events that has not ended."""
        self.refusal: ApiError | None = None
        """Why the body was refused."""

    @property
    def outcome(self) -> str:
        return "ok" if self.status < 400 else "refused" if self.status < 500 else "failed"

    def limit_body(self, limit: int, headers: Headers) -> None:
        """Raise RequestTooLarge for a body that is announced to be larger, and later for one that becomes larger."""
        self._limit = limit
        announced = headers.get("content-length", "0")
        if not announced.isdecimal() or int(announced) > limit:
            raise RequestTooLarge(limit)

    async def receive(self) -> Message:
        if self._is_body_complete:
            return await self._receive()  # the end of the connection, for which a service may wait long
        try:
            async with asyncio.timeout(BODY_SECONDS):
                message = await self._receive()
        except TimeoutError:
            self.refusal = BodyTooSlow()
            raise self.refusal from None
        self._received += len(message.get("body", b""))
        if self._received > self._limit:
            self.refusal = RequestTooLarge(self._limit)
            raise self.refusal
        self._is_body_complete = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Pass on what the service sends."""
        if self.refusal and not self.status:
            raise self.refusal
        await self.send_at_last(message)

    async def send_at_last(self, message: Message) -> None:
        """Pass on what the door says instead of the service, or after it."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.is_open_stream = Headers(raw=message["headers"]).get("content-type", "").startswith(EVENT_STREAM)
        elif message["type"] == "http.response.body" and not message.get("more_body"):
            self.is_open_stream = False
        await self._send(message)
