"""Fifty clients at once, each of which gets its whole answer."""

from __future__ import annotations

import asyncio

from openai import AsyncOpenAI

from support.openai_protocol import TEXT, Served
from support.openai_server import in_turn

CLIENTS = 50


def test_fifty_clients_at_once_get_whole_answers(served: Served) -> None:
    served.model.reply = in_turn([piece for text in TEXT for piece in (text, 0.01)])

    async def ask(client: AsyncOpenAI, number: int) -> str:
        question = f"第 {number} 个问题：全固态电池什么时候量产？"
        chunks = await client.chat.completions.create(
            model=("wenyuan-chat", "wenyuan-agent", "wenyuan-plain")[number % 3],
            messages=[{"role": "user", "content": question}],
            stream=True,
        )
        return "".join([chunk.choices[0].delta.content or "" async for chunk in chunks])

    async def ask_all() -> list[str]:
        async with served.async_client() as client:
            return await asyncio.gather(*(ask(client, number) for number in range(CLIENTS)))

    answers = asyncio.run(ask_all())
    searched = "".join(TEXT)
    plain = searched.replace("[1]", "")
    assert [answer.startswith(plain if number % 3 else searched) for number, answer in enumerate(answers)] == [
        True
    ] * CLIENTS
    assert all("**参考文献**" in answer for answer in answers[::3])
    assert len(served.model.requests) == CLIENTS
