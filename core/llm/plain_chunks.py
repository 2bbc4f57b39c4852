"""OpenAI's streamed chunks as the plain dictionaries they are sent as.

The openai package makes typed objects of every chunk, and LangChain makes dictionaries of them again: half of all that a token
costs. The request, its errors and the protocol stay theirs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

from openai import AsyncStream
from openai.resources.chat import AsyncCompletions

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
        async with aclosing(self._iterator) as chunks:  # type: ignore[type-var]
            async for chunk in chunks:
                for call in _calls(chunk):
                    call.setdefault("index", None)
                    arguments += len(str((call.get("function") or {}).get("arguments") or ""))
                if arguments > MOST_ARGUMENTS:
                    raise ModelError("模型要交给工具的内容太长，没有执行。")
                yield chunk


def _calls(chunk: Any) -> Iterator[dict[str, Any]]:
    """Of tools. On the way it fills in what some servers leave out, the typed objects have, and LangChain counts on."""
    for choice in chunk.get("choices") or ():
        delta = choice.setdefault("delta", None) or {}
        yield from delta.get("tool_calls") or ()
