"""A chat model that says what the test wrote down, and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field


class ScriptedChatModel(BaseChatModel):
    """Each call takes the next entry of `script`: a list of pieces, in which a string is said, a number is waited
    for that many seconds, an exception is raised, and a dict is reported as usage."""

    script: list[list[Any]]
    asked: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _pieces(self, messages: list[BaseMessage]) -> list[Any]:
        self.asked.append(messages)
        return self.script[min(len(self.asked), len(self.script)) - 1]

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for piece in self._pieces(messages):
            if isinstance(piece, BaseException):
                raise piece
            if isinstance(piece, int | float):
                await asyncio.sleep(piece)
            else:
                yield _chunk(piece)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for piece in self._pieces(messages):
            if isinstance(piece, BaseException):
                raise piece
            if not isinstance(piece, int | float):
                yield _chunk(piece)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        text = "".join(str(chunk.message.content) for chunk in self._stream(messages))
        return ChatResult(generations=[ChatGeneration(message=AIMessageChunk(content=text))])


def _chunk(piece: str | dict[str, int]) -> ChatGenerationChunk:
    if isinstance(piece, dict):
        return ChatGenerationChunk(message=AIMessageChunk(content="", usage_metadata=piece))
    return ChatGenerationChunk(message=AIMessageChunk(content=piece))
