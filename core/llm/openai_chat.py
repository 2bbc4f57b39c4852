"""LangChain's ChatOpenAI, extended by the reasoning that models send before their answer.

OpenAI sends no reasoning, so LangChain drops the field. Nearly every other service that speaks the protocol sends it,
under one of two names. DeepSeek answers 400 to a turn with tool calls that comes back without it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI

from core.llm.pieces import ThoughtPiece
from core.llm.plain_chunks import text_field
from core.llm.reasoning import REASONING_FIELDS, reasoning_field

StreamedPart = str | ThoughtPiece | BaseMessage


class OpenAIChat(ChatOpenAI):
    """ChatOpenAI that keeps reasoning in `additional_kwargs`, under the service's own name, and sends it back."""

    @property
    def uses_chat_completions(self) -> bool:
        """True if requests without tools go to chat completions. Some models of OpenAI are only in the Responses API."""
        return not self._use_responses_api(self.model_kwargs)

    async def stream_pieces(self, prompt: LanguageModelInput, **options: Any) -> AsyncGenerator[StreamedPart]:
        """Stream as `astream` does, without callbacks: text as plain pieces, all else as LangChain messages."""
        options["stream_options"] = {"include_usage": True}
        payload = self._get_request_payload(prompt, stream=True, **options)
        chunk = None
        async with await self.async_client.create(**payload) as chunks:
            async for chunk in chunks:
                if (part := _text_piece(chunk) or self._to_message(chunk)) is not None:
                    yield part
        if chunk is None:
            raise ValueError("the stream has ended without a word")

    def _to_message(self, chunk: dict[str, Any]) -> BaseMessage | None:
        made = self._convert_chunk_to_generation_chunk(chunk, AIMessageChunk, None)
        if made is None:
            return None
        made.message.response_metadata |= made.generation_info or {}
        return made.message

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        made = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        if made is not None and (choices := chunk.get("choices")):
            made.message.additional_kwargs |= reasoning_field(choices[0].get("delta"))
        return made

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        messages = self._convert_input(input_).to_messages()
        payload = super()._get_request_payload(messages, stop=stop, **kwargs)
        for message, sent in zip(messages, payload.get("messages", ()), strict=False):
            if isinstance(message, AIMessage) and message.tool_calls:
                sent.update(reasoning_field(message.additional_kwargs))
        return payload


def _text_piece(chunk: dict[str, Any]) -> str | ThoughtPiece | None:
    kind = text_field(chunk)
    if kind != "content" and kind not in REASONING_FIELDS:
        return None
    text: str = chunk["choices"][0]["delta"][kind]
    return text if kind == "content" else ThoughtPiece(text)
