"""OpenAI's streamed chunks as plain dictionaries, read from the bytes of the response.

The openai package makes typed objects of every chunk, and LangChain makes dictionaries of them again: half of the cost
of a token. Requests and their errors stay with the openai package; the response is read here.
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

from core.base.text import clean
from core.llm.bursts import in_bursts
from core.llm.errors import ModelError
from core.llm.event_stream import EventReader

MAX_ARGUMENTS_LENGTH = 4_000
"""Characters of a tool call's arguments. LangChain parses broken JSON again and again, each time one character shorter:
a hundred thousand characters block all answers for minutes."""
LAST_BYTES_SECONDS = 0.1
"""Seconds to read on after the last event: a connection is reused only if no bytes are left in it."""


class PlainChunksClient:
    """A replacement for the `async_client` of LangChain's ChatOpenAI."""

    def __init__(self, completions: AsyncCompletions) -> None:
        self._completions = completions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._completions, name)

    async def create(self, **payload: Any) -> Any:
        if not payload.get("stream"):
            return await self._completions.create(**payload)
        return JoinedChunks((await self._completions.with_raw_response.create(**payload)).http_response)


class JoinedChunks:
    """The chunks of one answer. Neighbours with text of the same kind are joined."""

    def __init__(self, response: Response) -> None:
        self._response = response
        self._events = EventReader()
        self._ended = False
        self._arguments = 0

    async def __aenter__(self) -> JoinedChunks:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._response.aclose()

    async def __aiter__(self) -> AsyncIterator[Any]:
        async with aclosing(self._response.aiter_bytes()) as received, aclosing(in_bursts(received)) as bursts:
            first = True
            async for burst in bursts:
                chunks, failure = self._read_chunks(b"".join(burst))
                for chunk in chunks if first else join_chunks(chunks):
                    yield chunk
                if failure is not None:
                    raise failure
                if self._ended:
                    break
                first = first and not chunks  # the first burst is not joined: two pieces show that a service streams
            with suppress(TimeoutError, HTTPError):
                async with asyncio.timeout(LAST_BYTES_SECONDS):
                    async for _ in bursts:
                        pass

    def _read_chunks(self, received: bytes) -> tuple[list[Any], Exception | None]:
        """Return the chunks in the bytes, and the exception that came after them, if any."""
        chunks: list[Any] = []
        try:
            for data in self._events.feed(received):
                if data.startswith("[DONE]"):
                    self._ended = True
                    break
                chunks.append(self._check_chunk(json.loads(data)))
        except Exception as failure:
            return chunks, failure
        return chunks, None

    def _check_chunk(self, chunk: Any) -> Any:
        if error := chunk.get("error"):
            message = error.get("message") if isinstance(error, dict) else None
            raise APIError(str(message or "the stream tells of an error"), request=self._response.request, body=error)
        for call in _tool_calls(chunk):
            call.setdefault("index", None)
            _clean_names(call)
            self._arguments += len(str((call.get("function") or {}).get("arguments") or ""))
        if self._arguments > MAX_ARGUMENTS_LENGTH:
            raise ModelError("模型要交给工具的内容太长，没有执行。")
        return chunk


def _clean_names(call: dict[str, Any]) -> None:
    """Remove from a call's id and tool what no request could carry back: half characters."""
    for part, name in ((call, "id"), (call.get("function"), "name")):
        if isinstance(part, dict) and isinstance(part.get(name), str):
            part[name] = clean(part[name])


def join_chunks(chunks: Iterable[Any]) -> Iterator[Any]:
    """Yield the chunks, with neighbours joined that hold only text of the same kind."""
    for kind, group in itertools.groupby(chunks, key=text_field):
        if not kind:
            yield from group
            continue
        first, *others = group
        delta = first["choices"][0]["delta"]
        delta[kind] = "".join([delta[kind], *(other["choices"][0]["delta"][kind] for other in others)])
        yield first


def text_field(chunk: Any) -> str:
    """Return the name of the only field that a chunk fills; empty for several, no text, or a report of end or usage."""
    match chunk:
        case {"choices": [{"delta": dict() as delta} as choice]} if not chunk.get("usage"):
            filled = [name for name, value in delta.items() if value and name != "role"]
            if len(filled) == 1 and isinstance(delta[filled[0]], str) and not choice.get("finish_reason"):
                return str(filled[0])
    return ""


def _tool_calls(chunk: Any) -> Iterator[dict[str, Any]]:
    """Yield the tool calls of a chunk. Adds the fields that some servers leave out and LangChain expects."""
    for choice in chunk.get("choices") or ():
        delta = choice.setdefault("delta", None) or {}
        yield from delta.get("tool_calls") or ()
