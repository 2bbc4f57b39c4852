"""OpenAI's streamed chunks as the plain dictionaries they are sent as.

The openai package makes typed objects of every chunk, and LangChain makes dictionaries of them again: half of all that a token
costs. The request and its errors stay theirs; from the bytes of the answer on, the reading is ours.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import aclosing, suppress
from typing import Any

from httpx2 import HTTPError, Response
from openai import APIError
from openai.resources.chat import AsyncCompletions

from core.llm.bursts import in_bursts
from core.llm.errors import ModelError
from core.llm.event_stream import EventReader

MOST_ARGUMENTS = 4_000
"""Characters of a call of tools. From what is no JSON, LangChain drops one character after another and reads the rest again:
a hundred thousand hold up all answers for minutes."""
LAST_BYTES_SECONDS = 0.1
"""After the last event: a connection is used again only if nothing is left in it."""


class PlainChunks:
    """Stands in for the `async_client` of LangChain's ChatOpenAI."""

    def __init__(self, completions: AsyncCompletions) -> None:
        self._completions = completions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._completions, name)

    async def create(self, **payload: Any) -> Any:
        if not payload.get("stream"):
            return await self._completions.create(**payload)
        return PlainStream((await self._completions.with_raw_response.create(**payload)).http_response)


class PlainStream:
    """The chunks of one answer, neighbours joined."""

    def __init__(self, response: Response) -> None:
        self._response = response
        self._events = EventReader()
        self._ended = False
        self._arguments = 0

    async def __aenter__(self) -> PlainStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._response.aclose()

    async def __aiter__(self) -> AsyncIterator[Any]:
        async with aclosing(self._response.aiter_bytes()) as received, aclosing(in_bursts(received)) as bursts:  # type: ignore[type-var]
            first = True
            async for burst in bursts:
                chunks, failure = self._chunks(b"".join(burst))
                for chunk in chunks if first else joined(chunks):
                    yield chunk
                if failure is not None:
                    raise failure
                if self._ended:
                    break
                first = first and not chunks  # alone, so that a service that streams is known by its second piece
            with suppress(TimeoutError, HTTPError):
                async with asyncio.timeout(LAST_BYTES_SECONDS):
                    async for _ in bursts:
                        pass

    def _chunks(self, received: bytes) -> tuple[list[Any], Exception | None]:
        """And what went wrong after them."""
        chunks: list[Any] = []
        try:
            for data in self._events.feed(received):
                if data.startswith("[DONE]"):
                    self._ended = True
                    break
                chunks.append(self._checked(json.loads(data)))
        except Exception as failure:
            return chunks, failure
        return chunks, None

    def _checked(self, chunk: Any) -> Any:
        if error := chunk.get("error"):
            told = error.get("message") if isinstance(error, dict) else None
            raise APIError(str(told or "the stream tells of an error"), request=self._response.request, body=error)
        for call in _calls(chunk):
            call.setdefault("index", None)
            self._arguments += len(str((call.get("function") or {}).get("arguments") or ""))
        if self._arguments > MOST_ARGUMENTS:
            raise ModelError("模型要交给工具的内容太长，没有执行。")
        return chunk


def joined(chunks: Iterable[Any]) -> Iterator[Any]:
    """Neighbours that are nothing but text of the same kind, as one."""
    for kind, group in itertools.groupby(chunks, key=kind_of_text):
        if not kind:
            yield from group
            continue
        first, *others = group
        delta = first["choices"][0]["delta"]
        delta[kind] = "".join([delta[kind], *(other["choices"][0]["delta"][kind] for other in others)])
        yield first


def kind_of_text(chunk: Any) -> str:
    """The one field that a chunk brings; empty for one that brings several, another, or news of the answer as a whole."""
    match chunk:
        case {"choices": [{"delta": dict() as delta} as choice]} if not chunk.get("usage"):
            brought = [name for name, value in delta.items() if value and name != "role"]
            if len(brought) == 1 and isinstance(delta[brought[0]], str) and not choice.get("finish_reason"):
                return str(brought[0])
    return ""


def _calls(chunk: Any) -> Iterator[dict[str, Any]]:
    """Of tools. On the way it fills in what some servers leave out, the typed objects have, and LangChain counts on."""
    for choice in chunk.get("choices") or ():
        delta = choice.setdefault("delta", None) or {}
        yield from delta.get("tool_calls") or ()
