"""The OpenAI protocol: how soon the model's first token is with a client, beside a bare event stream."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from bench.readers import bare_stream
from bench.rows import Row

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.app_server import app_server
from support.openai_server import OpenAIServer, openai_server
from support.scripted_searxng import scripted_searxng

ROUNDS = 21
MODEL_THINKS = 0.3
"""Seconds before the first token: both servers are asleep by then, as with a real model."""
LIMIT = 10.0
QUESTION = "全固态电池什么时候量产？"
BARE = "a bare event stream"

NOTE = f"""Milliseconds from the moment at which the model's server writes its first token to the one at which a client has it, median of
{ROUNDS}, all in turn in the same run. The model thinks {MODEL_THINKS} s before that; client and model are threads of one process, whose clock
both use. The bare event stream is `bench/apps/bare_stream.py`: one search, then the model's stream passed on line by line."""

Ask = Callable[[httpx.Client], float]


def _first_byte(response: httpx.Response, word: bytes, model: OpenAIServer) -> float:
    """Return how long after the model has sent it the first word is there, in milliseconds."""
    got = b""
    for piece in response.iter_raw():
        got += piece
        if word in got:
            return (time.time() - model.first_token_at) * 1000
    raise AssertionError("the word never came")


def _ours(url: str, path: str, model_name: str, model: OpenAIServer) -> Ask:
    asked: dict[str, Any] = {"model": model_name, "stream": True}
    asked |= {"messages": [{"role": "user", "content": QUESTION}], "input": QUESTION}

    def ask(client: httpx.Client) -> float:
        with client.stream("POST", f"{url}/v1/{path}", json=asked) as response:
            return _first_byte(response, "第一个词".encode(), model)

    return ask


def _bare(url: str, model: OpenAIServer) -> Ask:
    def ask(client: httpx.Client) -> float:
        with client.stream("GET", url, params={"q": QUESTION}) as response:
            return _first_byte(response, "第一个词".encode(), model)

    return ask


def rows() -> Iterator[Row]:
    with openai_server() as model, scripted_searxng() as web:
        model.script, model.pause, model.first_pause = ["第一个词 ", "第二个词 "] * 5, 0.02, MODEL_THINKS
        environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.url, "LLM_MODEL": "openai:script:x"}
        environ |= {"SEARXNG_URL": web.url, "SEARCH_PROVIDER_PRIORITY": "searxng", "API_ENABLED": "true"}
        with (
            app_server(**environ, SEARCH_RATE_LIMIT="1000") as app,
            bare_stream({**os.environ, **environ}) as (bare_url, _),
        ):
            layers = {
                BARE: _bare(bare_url, model),
                "/v1/chat/completions, wenyuan-plain": _ours(app.url, "chat/completions", "wenyuan-plain", model),
                "/v1/chat/completions, wenyuan-chat": _ours(app.url, "chat/completions", "wenyuan-chat", model),
                "/v1/responses, wenyuan-chat": _ours(app.url, "responses", "wenyuan-chat", model),
            }
            taken = _milliseconds(layers)
    bare = taken.pop(BARE)
    for name, milliseconds in taken.items():
        yield Row(f"first token after the model's: {name}", milliseconds, "ms", LIMIT, BARE, bare)


def _milliseconds(layers: dict[str, Ask]) -> dict[str, float]:
    """Return the median of each, asked in turn: a busy moment of the machine hits all of them alike."""
    taken: dict[str, list[float]] = {name: [] for name in layers}
    with httpx.Client(timeout=60) as client:
        for _ in range(ROUNDS + 1):  # the first one imports
            for name, ask in layers.items():
                taken[name].append(ask(client))
    return {name: statistics.median(times[1:]) for name, times in taken.items()}
