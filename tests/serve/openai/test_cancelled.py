"""A client that goes ends its answer: the model is not asked on, and the next question has its turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from support.openai_protocol import Served, serving
from support.openai_server import HANG, in_turn
from support.waiting import until

ENDLESS = [piece for number in range(2_000) for piece in (f"第{number}词 ", 0.05)]


@pytest.fixture(scope="module")
def narrow() -> Iterator[Served]:
    """A server that writes one answer at a time: one that is left behind would hold up all others."""
    with serving(LIMITS_ANSWERS_AT_ONCE="1", METRICS_PROMETHEUS="1") as served:
        yield served


@pytest.fixture
def one_at_a_time(narrow: Served) -> Served:
    narrow.model.requests.clear()
    narrow.model.broken_off = 0
    return narrow


def asked(question: str, model: str = "wenyuan-plain", **options: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": question}], **options}


def post(served: Served, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(f"{served.url}/chat/completions", json=body, timeout=60)


def post_and_go(served: Served, body: dict[str, Any], when: Callable[[], bool]) -> None:
    """Ask, and close the connection as soon as that holds."""

    async def ask() -> None:
        async with httpx.AsyncClient(base_url=served.url, timeout=60) as client:
            asking = asyncio.create_task(client.post("/chat/completions", json=body))
            await asyncio.to_thread(until, when)
            assert not asking.done()
            asking.cancel()
            await asyncio.wait({asking})

    asyncio.run(ask())


def assert_next_has_its_turn(served: Served) -> None:
    served.model.reply = in_turn(["好。"])
    answer = post(served, asked("下一个"))
    assert answer.json()["choices"][0]["message"]["content"] == "好。"


@pytest.mark.parametrize("model", ["wenyuan-plain", "wenyuan-agent"])
@pytest.mark.parametrize("path", ["/chat/completions", "/responses"])
def test_a_stream_that_is_closed_ends_the_call_of_the_model(one_at_a_time: Served, model: str, path: str) -> None:
    served = one_at_a_time
    served.model.reply = in_turn(ENDLESS)
    body = asked("问题", model, stream=True) | {"input": "问题"}
    with served.http() as client, client.stream("POST", path, json=body) as answer:
        assert any("词" in line for line in answer.iter_lines())
    until(lambda: served.model.broken_off == 1)
    assert_next_has_its_turn(served)


def test_a_client_that_waits_for_the_whole_and_goes_ends_it_too(one_at_a_time: Served) -> None:
    served = one_at_a_time
    served.model.reply = in_turn(ENDLESS)
    post_and_go(served, asked("问题"), lambda: len(served.model.requests) == 1)
    until(lambda: served.model.broken_off == 1)
    assert_next_has_its_turn(served)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_client_that_goes_before_the_first_word_gives_up_its_turn(one_at_a_time: Served, streamed: bool) -> None:
    served = one_at_a_time
    served.model.reply = in_turn([HANG])
    post_and_go(served, asked("问题", stream=streamed), lambda: len(served.model.requests) == 1)
    assert_next_has_its_turn(served)


def test_a_client_that_goes_while_it_waits_in_line_is_never_answered(one_at_a_time: Served) -> None:
    served = one_at_a_time
    served.model.reply = in_turn(ENDLESS)
    body = asked("第一个", stream=True)
    with served.http() as first, first.stream("POST", "/chat/completions", json=body) as answer:
        lines = answer.iter_lines()  # kept: without it the connection is closed
        assert any("词" in line for line in lines)
        post_and_go(served, asked("第二个", stream=True), lambda: waiting_questions(served) == 1)
        until(lambda: waiting_questions(served) == 0)
    assert_next_has_its_turn(served)
    assert [request["messages"][-1]["content"] for request in served.model.requests] == ["第一个", "下一个"]


def waiting_questions(served: Served) -> int:
    lines = httpx.get(f"{served.app.url}/metrics").text.splitlines()
    (count,) = (line.split()[-1] for line in lines if line.startswith("wenyuan_waiting_questions"))
    return int(float(count))
