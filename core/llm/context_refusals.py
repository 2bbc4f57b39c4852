"""Refusals of model services for the length of a request, in the words of each, and the length that they name.

OpenAI, vLLM, DeepSeek, SGLang, llama.cpp, Ollama, LM Studio, Anthropic, Gemini, Qwen, Kimi, GLM, MiniMax and OpenRouter, as their
documentation and sources had it in November 2026. A limit of tokens per minute is another thing, with status 429.
"""

from __future__ import annotations

import re

_STATUSES = frozenset({400, 413, 422, 500})
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|model_max_prompt_tokens_exceeded|maximum context length|maximum model length"
    r"|exceeds? (?:the |this )?(?:model'?s )?(?:available |maximum )?(?:context|model token limit)|exceeded model token limit"
    r"|context (?:length|window|size) (?:exceeded|exceeds|overflow)|longer than the (?:model'?s )?(?:maximum )?context"
    r"|context the overflows|greater than the context length|(?:prompt|input|request|message)s? (?:is |are )?too (?:long|large)"
    r"|input token count .{0,40}exceeds|range of input length should be|too large for model with .{0,20}context"
    r"|(?:input|prompt) length .{0,40}exceed|上下文(?:长度|窗口)?.{0,10}(?:超|上限)|超.{0,12}(?:上下文|最大长度)|(?:prompt|输入|内容)\s*(?:超长|过长)",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"(?:maximum context length|maximum model length|context length) (?:is|of)(?: only)? (\d+)|context (?:size|length|window) \(?(\d+)"
    r"|n_ctx\D{1,5}(\d+)|> (\d+) maximum|should be \[\d+, ?(\d+)\]|token limit: (\d+)|tokens allowed \((\d+)\)"
    r"|with (\d+) maximum context|provides only a context of (\d+)",
    re.IGNORECASE,
)
LEAST_BELIEVED = 256


def refuses_length(status: int | None, details: str) -> bool:
    """Return whether a service refuses a request because it is too long. `status` is None in the middle of a stream."""
    return status == 413 or ((status is None or status in _STATUSES) and bool(_TOO_LONG.search(details)))


def named_limit(details: str) -> int | None:
    """Return the context length in tokens that the refusal names; None if it names none."""
    found = _LIMIT.search(details)
    limit = int(next(filter(None, found.groups()))[:9]) if found else 0
    return limit if limit >= LEAST_BELIEVED else None
