"""LangChain's ChatOpenAI, and what the models think before they speak.

OpenAI sends no reasoning, so LangChain drops the field; nearly everybody else who speaks the protocol sends it, under one of
two names. DeepSeek answers 400 to a turn with tool calls that comes back without it.
"""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI

from core.llm.reasoning import reasoning_field


class OpenAIChat(ChatOpenAI):
    """Reasoning stands in `additional_kwargs`, under the name that the service gave it, and goes back under it."""

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
