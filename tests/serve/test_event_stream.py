"""Events on their way to a client that waits, and to one that goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message

from core.serve import event_stream
from core.serve.event_stream import EventStream


class Client:
    """The other end of a connection: `goes` closes it."""

    def __init__(self) -> None:
        self.goes = asyncio.Event()
        self.got: list[Message] = []

    async def receive(self) -> Message:
        await self.goes.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.got.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.got)


def answer(events: AsyncGenerator[bytes], client: Client) -> None:
    async def run() -> None:
        await EventStream(events)({"type": "http", "method": "POST"}, client.receive, client.send)

    asyncio.run(run())


async def two_events() -> AsyncGenerator[bytes]:
    yield b"data: 1\n\n"
    yield b"data: 2\n\n"


def test_the_events_are_sent_as_they_are() -> None:
    client = Client()
    answer(two_events(), client)
    assert client.body == b"data: 1\n\ndata: 2\n\n"
    headers = dict(client.got[0]["headers"])
    assert headers[b"content-type"].startswith(b"text/event-stream")
    assert headers[b"x-accel-buffering"] == b"no", "a proxy does not keep them"
    assert b"content-length" not in headers
    assert len(client.got) == 4, "each on its own, between the start and the end"


class Broken(Exception):
    pass


async def broken_events() -> AsyncGenerator[bytes]:
    for number in range(1):
        raise Broken(number)
    yield b""


def test_an_error_before_the_first_event_may_have_a_status_of_its_own() -> None:
    client = Client()
    with pytest.raises(Broken):
        answer(broken_events(), client)
    assert client.got == []


def test_silence_is_filled_with_comments_from_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT", 0.001)
    goes_on, client = asyncio.Event(), Client()

    class Patient(Client):
        async def send(self, message: Message) -> None:
            await super().send(message)
            if self.body.count(b": ping") > 1:
                goes_on.set()

    async def silent_events() -> AsyncGenerator[bytes]:
        await asyncio.wait_for(goes_on.wait(), 20)
        yield b"data: 1\n\n"

    client = Patient()
    answer(silent_events(), client)
    assert client.got[0]["status"] == 200
    assert client.body.startswith(b": ping")
    assert b"data: 1\n\n" in client.body


@pytest.mark.parametrize("begun", [False, True])
def test_the_events_end_when_the_client_goes(begun: bool) -> None:
    client, ended = Client(), False

    async def endless_events() -> AsyncGenerator[bytes]:
        nonlocal ended
        try:
            if begun:
                yield b"data: 1\n\n"
            client.goes.set()
            await asyncio.Event().wait()
        finally:
            ended = True

    if begun:
        answer(endless_events(), client)
    else:
        with pytest.raises(ClientDisconnect):
            answer(endless_events(), client)
    assert ended


def test_a_client_that_takes_nothing_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "SEND_TIMEOUT", 0.001)
    ended = False

    class Stuck(Client):
        async def send(self, message: Message) -> None:
            if message["type"] == "http.response.body":
                await asyncio.Event().wait()

    async def events() -> AsyncGenerator[bytes]:
        nonlocal ended
        try:
            yield b"data: 1\n\n"
        finally:
            ended = True

    with pytest.raises(ClientDisconnect):
        answer(events(), Stuck())
    assert ended
