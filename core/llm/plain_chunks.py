"""OpenAI's streamed chunks as the plain dictionaries they are sent as.

The openai package makes typed objects of every chunk, and LangChain makes dictionaries of them again: half of all that a token
costs. The request, its errors and the protocol stay theirs.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import aclosing
from typing import Any

from openai import AsyncStream
from openai.resources.chat import AsyncCompletions

from core.llm.bursts import in_bursts
from core.llm.errors import ModelError


class PlainChunks:
    """Stands in for the `async_client` of LangChain's ChatOpenAI."""

    def __init__(self, completions: AsyncCompletions) -> None:
        self._completions = completions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._completions, name)

    async def create(self, **payload: Any) -> Any:
        if not payload.get("stream"):
            return await self._completions.create(**payload)
        response = await self._completions.with_raw_response.create(**payload)
        return response.parse(to=_PlainStream)


MOST_ARGUMENTS = 4_000
"""Characters of a call of tools. From what is no JSON, LangChain drops one character after another and reads the rest again:
a hundred thousand hold up all answers for minutes."""


class _PlainStream(AsyncStream[object]):
    async def __aiter__(self) -> AsyncIterator[object]:
        arguments = 0
        async with aclosing(self._iterator) as chunks, aclosing(in_bursts(chunks)) as bursts:  # type: ignore[type-var]
            first = True
            async for burst in bursts:
                for chunk in burst if first else _joined(burst):
                    for call in _calls(chunk):
                        call.setdefault("index", None)
                        arguments += len(str((call.get("function") or {}).get("arguments") or ""))
                    if arguments > MOST_ARGUMENTS:
                        raise ModelError("模型要交给工具的内容太长，没有执行。")
                    yield chunk
                first = False  # alone, so that a service that streams is known by its second piece


def _joined(burst: Iterable[Any]) -> Iterator[Any]:
    """Neighbours that are nothing but text of the same kind, as one."""
    for kind, group in itertools.groupby(burst, key=_kind_of_text):
        if not kind:
            yield from group
            continue
        first, *others = group
        delta = first["choices"][0]["delta"]
        delta[kind] = "".join([delta[kind], *(other["choices"][0]["delta"][kind] for other in others)])
        yield first


def _kind_of_text(chunk: Any) -> str:
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
