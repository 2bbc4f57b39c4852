"""What the tests of search engines share: a fetch that answers from a script, and every engine's shape of an answer."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from requests.structures import CaseInsensitiveDict

from core.base.http import Deadline, Request, Response, exchange, fetch
from core.base.settings import Settings
from core.search.registry import build_chain
from support.base import loaded
from support.faults import Server

HOST = "engine.example"
KEY = "sk-very-secret-key"

Row = tuple[Any, Any, Any]
"""Title, address, snippet."""


def answer(value: Any, status: int = 200, **headers: str) -> Response:
    """JSON for anything but bytes."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Response(status, CaseInsensitiveDict(named), body, HOST)


@dataclass
class ScriptedFetch:
    """Gives one answer after the other (the last one for ever) and remembers what it was asked."""

    script: list[Response | Exception]
    asked: list[Request] = field(default_factory=list)

    def __call__(self, request: Request, *, deadline: Any) -> Response:
        self.asked.append(request)
        turn = self.script[min(len(self.asked), len(self.script)) - 1]
        if isinstance(turn, Exception):
            raise turn
        return turn


def scripted(*script: Response | Exception) -> ScriptedFetch:
    return ScriptedFetch(list(script))


def through(server: Server) -> Callable[..., Response]:
    """The real way out, with this server in the place of every host."""

    def fetch_there(request: Request, *, deadline: Deadline) -> Response:
        path = urlsplit(request.url).path.lstrip("/")
        return fetch(replace(request, url=f"{server.url}{path}"), deadline=deadline)

    return fetch_there


def granted_seconds(engines: Iterable[Any]) -> list[float]:
    """How long each search of these engines may take, as the network is told; filled while they are sent for real."""
    seconds: list[float] = []

    def send(request: Request, *, deadline: Deadline) -> Response:
        if request.json or "q" in request.params:  # not the check at the start, which asks for nothing
            seconds.append(deadline.remaining())
        return fetch(request, deadline=deadline)

    _send_with(send, engines)
    return seconds


@dataclass(frozen=True)
class SentRequest:
    """A request as it leaves the machine, decoded again."""

    method: str
    address: str
    params: dict[str, str]
    headers: CaseInsensitiveDict[str]
    body: Any


def wire(request: Request) -> SentRequest:
    prepared, _ = exchange._prepare(request)
    assert prepared.url is not None
    prepared.url.encode("ascii")
    parts = urlsplit(prepared.url)
    params = {name: value for name, (value,) in parse_qs(parts.query, keep_blank_values=True).items()}
    body = json.loads(prepared.body) if prepared.body else None
    address = f"{parts.scheme}://{parts.netloc}{parts.path}"
    return SentRequest(str(prepared.method), address, params, CaseInsensitiveDict(prepared.headers), body)


def _with(title: str, url: str, snippet: str) -> Callable[[Row], dict[str, Any]]:
    return lambda row: dict(zip((title, url, snippet), row, strict=True))


def _responses(rows: list[Row]) -> Any:
    notes = [{"type": "url_citation", "title": title, "url": url, "start_index": 2} for title, url, _ in rows]
    text = {"type": "output_text", "text": "甲乙。", "annotations": notes}
    call = {"type": "web_search_call", "status": "completed", "action": {"type": "search", "sources": []}}
    return {"status": "completed", "output": [call, {"type": "message", "content": [text]}]}


@dataclass(frozen=True)
class EngineSample:
    """One engine: the environment in which it is usable, and an answer of its server with the given results."""

    environ: dict[str, str]
    payload: Callable[[list[Row]], Any]


def _sample(
    payload: Callable[[list[Any]], Any], row: Callable[[Row], Any] = lambda row: row, **environ: str
) -> EngineSample:
    return EngineSample(environ, lambda rows: payload([row(entry) for entry in rows]))


ENGINE_SAMPLES = {
    "native": _sample(_responses, OPENAI_API_KEY=KEY),
    "perplexity": _sample(
        lambda rows: {"id": "1", "results": rows}, _with("title", "url", "snippet"), PERPLEXITY_API_KEY=KEY
    ),
    "exa": _sample(
        lambda rows: {"requestId": "1", "results": rows},
        lambda row: {"id": row[1], "title": row[0], "url": row[1], "highlights": [row[2]]},
        EXA_API_KEY=KEY,
    ),
    "tavily": _sample(lambda rows: {"results": rows}, _with("title", "url", "content"), TAVILY_API_KEY=KEY),
    "tavily_keyless": _sample(lambda rows: {"results": rows}, _with("title", "url", "content")),
    "serpapi": _sample(
        lambda rows: {"search_metadata": {"status": "Success"}, "organic_results": rows},
        _with("title", "link", "snippet"),
        SERPAPI_API_KEY=KEY,
    ),
    "zhipu": _sample(
        lambda rows: {"id": "1", "search_result": rows}, _with("title", "link", "content"), ZHIPU_API_KEY=KEY
    ),
    "bocha": _sample(
        lambda rows: {"code": 200, "msg": None, "data": {"webPages": {"value": rows}}},
        _with("name", "url", "summary"),
        BOCHA_API_KEY=KEY,
    ),
    "searxng": _sample(
        lambda rows: {"query": "q", "results": rows, "unresponsive_engines": []},
        _with("title", "url", "content"),
        SEARXNG_URL="http://127.0.0.1:8888",
    ),
}


@functools.cache
def _settings(name: str, **environ: str) -> Settings:
    return loaded(SEARCH_PROVIDER_PRIORITY=name, **ENGINE_SAMPLES[name].environ, **environ).values


def usable(name: str, fetch: Callable[..., Response], **environ: str) -> Any:
    """The registered engine as its settings build it, with this fetch in place of the network."""
    (engine,) = build_chain(_settings(name, **environ)).engines
    _send_with(fetch, [engine])
    return engine


def _send_with(fetch: Callable[..., Response], engines: Iterable[Any]) -> None:
    """Servers that are asked for the engine send their requests by themselves."""
    for engine in engines:
        for part in getattr(engine, "servers", (engine,)):
            part._fetch = fetch
