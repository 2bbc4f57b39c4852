"""Work for a client that goes."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message

from core.serve.disconnects import run_while_connected


class Client:
    """A client whose body has been received, and who goes when it is told."""

    def __init__(self) -> None:
        self.goes = asyncio.Event()
        self._said = False

    async def receive(self) -> Message:
        if not self._said:  # a GET says that its body is empty
            self._said = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.goes.wait()
        return {"type": "http.disconnect"}


def test_the_result_and_the_error_of_the_work_are_passed_on() -> None:
    async def main() -> None:
        async def work() -> str:
            return "done"

        async def fails() -> str:
            raise ValueError("wrong")

        assert await run_while_connected(Client().receive, work()) == "done"
        with pytest.raises(ValueError, match="wrong"):
            await run_while_connected(Client().receive, fails())

    asyncio.run(main())


def test_work_ends_when_the_client_goes() -> None:
    async def main() -> None:
        client, ended = Client(), asyncio.Event()

        async def work() -> None:
            try:
                client.goes.set()
                await asyncio.Event().wait()
            finally:
                ended.set()

        with pytest.raises(ClientDisconnect):
            await run_while_connected(client.receive, work())
        assert ended.is_set()

    asyncio.run(main())


def test_work_ends_when_the_request_is_cancelled() -> None:
    async def main() -> None:
        begun, ended = asyncio.Event(), asyncio.Event()

        async def work() -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        request = asyncio.create_task(run_while_connected(Client().receive, work()))
        await begun.wait()
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)
        assert ended.is_set()

    asyncio.run(main())
