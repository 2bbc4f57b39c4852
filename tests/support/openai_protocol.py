"""A running server of the app for programs that speak the OpenAI protocol, with its model, its search engine and clients."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain

import httpx
from openai import AsyncOpenAI, OpenAI

from support.app_server import AppServer
from support.forked_server import forked_server
from support.openai_server import OpenAIServer, in_turn, openai_server
from support.scripted_searxng import ScriptedSearxng, scripted_searxng

TEXT = ("全固态电池预计在 2027 年", "小批量生产[1]。", "也有人说是 2030 年[1]。")
"""What the model says of what the search finds: one statement that the source supports, and one that it does not."""


@dataclass(frozen=True)
class Served:
    app: AppServer
    model: OpenAIServer
    web: ScriptedSearxng

    @property
    def url(self) -> str:
        return f"{self.app.url}/v1"

    def client(self, *, retries: int = 0) -> OpenAI:
        return OpenAI(base_url=self.url, api_key="none", max_retries=retries)

    def async_client(self) -> AsyncOpenAI:
        return AsyncOpenAI(base_url=self.url, api_key="none", max_retries=0)

    def http(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=60)

    def say_one_by_one(self) -> Callable[[], None]:
        """Let the model say the next part of TEXT only when the function is called: the client has got the one before."""
        gates = [threading.Event() for _ in TEXT[1:]]
        first, *others = TEXT
        self.model.reply = in_turn([first, *chain.from_iterable(zip(gates, others, strict=True))], list(TEXT))
        left = iter(gates)

        def go_on() -> None:
            if gate := next(left, None):
                gate.set()

        return go_on

    @property
    def prompt(self) -> str:
        """The last question as the model got it, with the rules before it and the conversation."""
        return "\n".join(str(message["content"]) for message in self.model.requests[-1]["messages"])


@contextmanager
def serving(*, search_status: int = 200, **environ: str) -> Iterator[Served]:
    """A server of its own, whose model says what `model.reply` makes of the request."""
    with openai_server() as model, scripted_searxng(search_status) as web:
        usual = {
            "API_ENABLED": "true",
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": model.url,
            "LLM_MODEL": "openai:reply",
            "LLM_ATTEMPTS": "1",
            "AGENT_STRATEGY": "tools",
            "SEARCH_PROVIDER_PRIORITY": "searxng",
            "SEARXNG_URL": web.url,
            "SEARCH_RATE_LIMIT": "1000",  # fifty clients ask in a moment
            "CHECKS_JUDGE": "auto",
        }
        with forked_server(**usual | environ) as app:
            yield Served(app, model, web)
            assert "Traceback" not in app.log
