"""OpenAI's streamed chunks as the plain dictionaries they are sent as.

The openai package makes typed objects of every chunk, and LangChain makes dictionaries of them again: half of all that a token
costs. The request, its errors and the protocol stay theirs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from openai import AsyncStream
from openai.resources.chat import AsyncCompletions


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


class _PlainStream(AsyncStream[object]):
    async def __aiter__(self) -> AsyncIterator[object]:
        async for chunk in self._iterator:
            yield _filled(chunk)


def _filled(chunk: Any) -> Any:
    """With what some servers leave out, the typed objects fill in, and LangChain counts on."""
    for choice in chunk.get("choices") or ():
        delta = choice.setdefault("delta", None) or {}
        for call in delta.get("tool_calls") or ():
            call.setdefault("index", None)
    return chunk
