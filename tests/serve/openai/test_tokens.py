"""Tokens at this door: what they may do, and how often, in the errors of OpenAI's client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import openai
import pytest
from openai import AsyncOpenAI

from core.app import App
from core.documents import Access
from core.serve.access import Scope
from core.serve.openai.service import SERVICE
from support.filled_collections import LEASE, fill_collection
from support.reading import kept_workers
from support.scripted_app import scripted_app
from support.shared import shared

__all__ = ["kept_workers"]

ASKED: Any = [{"role": "user", "content": "问"}]


def token(app: App, *scopes: Scope) -> str:
    return app.tokens.create("m" * 32, "x", list(scopes))[1]


def call(app: App, secret: str, use: Callable[[AsyncOpenAI], Awaitable[Any]]) -> Any:
    """Use a client of a program on another machine."""

    async def run() -> Any:
        transport = httpx2.ASGITransport(app=SERVICE, client=("192.0.2.7", 1))
        async with httpx2.AsyncClient(transport=transport) as http:
            client = AsyncOpenAI(base_url="http://127.0.0.1:8501/v1", api_key=secret, max_retries=0, http_client=http)
            return await use(client)

    with shared(app):
        return asyncio.run(run())


async def ask(client: AsyncOpenAI) -> str:
    answer = await client.chat.completions.create(model="wenyuan-plain", messages=ASKED)
    return answer.choices[0].message.content or ""


def test_a_token_for_questions_asks_until_its_limit_is_reached() -> None:
    with scripted_app(says=[["答。"]], API_ENABLED="1", LIMITS_ANSWERS_PER_MINUTE="2") as (app, _):
        secret = token(app, Scope.ASK)
        assert [call(app, secret, ask) for _ in range(2)] == ["答。", "答。"]
        with pytest.raises(openai.RateLimitError) as refused:
            call(app, secret, ask)
    assert refused.value.code == "too_many_questions"
    assert int(refused.value.response.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    "use",
    [
        ask,
        lambda client: client.responses.create(model="wenyuan-plain", input="问"),
        lambda client: client.models.retrieve("wenyuan-plain"),
    ],
)
def test_a_token_for_other_things_is_refused(use: Callable[[AsyncOpenAI], Awaitable[Any]]) -> None:
    with scripted_app(says=[["答。"]], API_ENABLED="1") as (app, model):
        secret = token(app, *(set(Scope) - {Scope.ASK}))
        with pytest.raises(openai.PermissionDeniedError) as refused:
            call(app, secret, use)
        assert model.asked == []
    assert (refused.value.code, refused.value.type) == ("scope_missing", "permission_error")


@pytest.mark.parametrize("way", ["chat", "responses"])
def test_a_token_asks_in_collections_of_its_maker_and_nobody_elses(way: str) -> None:
    async def text(client: AsyncOpenAI) -> str:
        chosen: Any = {"model": "wenyuan-plain", "extra_body": {"collections": ["合同"]}}
        if way == "responses":
            return str((await client.responses.create(input="月租金多少？", **chosen)).output_text)
        answer = await client.chat.completions.create(messages=[{"role": "user", "content": "月租金多少？"}], **chosen)
        return answer.choices[0].message.content or ""

    with scripted_app(says=[["八千六百元[1]。"]], API_ENABLED="1") as (app, model):
        fill_collection(app, "合同", Access("m" * 32), lease_txt=LEASE)
        may_read = token(app, Scope.ASK, Scope.DOCUMENTS)
        assert "**参考文献**" in call(app, may_read, text)
        assert LEASE.splitlines()[-1] in str(model.asked[-1])
        with pytest.raises(openai.PermissionDeniedError):
            call(app, token(app, Scope.ASK), text)
        stranger = app.tokens.create("s" * 32, "x", [Scope.ASK, Scope.DOCUMENTS])[1]
        with pytest.raises(openai.NotFoundError) as refused:
            call(app, stranger, text)
        assert len(model.asked) == 1
    assert "「合同」" in refused.value.message


def test_without_a_token_nobody_asks_from_elsewhere() -> None:
    with (
        scripted_app(says=[["答。"]], API_ENABLED="1") as (app, _),
        pytest.raises(openai.AuthenticationError) as refused,
    ):
        call(app, "none", ask)
    assert refused.value.code == "invalid_api_key"


def test_while_the_interface_is_off_it_is_not_there() -> None:
    with scripted_app(says=[["答。"]]) as (app, _), pytest.raises(openai.NotFoundError) as refused:
        call(app, "none", ask)
    assert refused.value.code == "api_off"
