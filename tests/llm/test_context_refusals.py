"""Refusals for length in the words of many services, and refusals that mean something else."""

from __future__ import annotations

import pytest

from core.llm.context_refusals import named_limit, refuses_length

TOO_LONG = {
    "OpenAI": (400, "{'error': {'message': \"This model's maximum context length is 128000 tokens. However, your messages resulted in 150012 tokens. Please reduce the length of the messages.\", 'code': 'context_length_exceeded'}}", 128_000),
    "OpenAI, Responses": (400, "{'message': 'Your input exceeds the context window of this model. Please adjust your input and try again.', 'code': 'context_length_exceeded'}", None),
    "vLLM": (400, "{'object': 'error', 'message': \"This model's maximum context length is 4096 tokens. However, you requested 5120 tokens (4608 in the messages, 512 in the completion).\", 'type': 'BadRequestError'}", 4_096),
    "vLLM 0.10": (400, "The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that max_model_len is no smaller", 8_192),
    "DeepSeek": (400, "{'error': {'message': \"This model's maximum context length is 131072 tokens. However, you requested 140000 tokens\", 'type': 'invalid_request_error'}}", 131_072),
    "llama.cpp": (400, "{'error': {'code': 400, 'message': 'the request exceeds the available context size. try increasing the context size or enable context shift', 'type': 'exceed_context_size_error', 'n_prompt_tokens': 9000, 'n_ctx': 8192}}", 8_192),
    "llama.cpp, later": (400, "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it", 8_192),
    "Ollama": (400, "{'error': {'message': 'the input length exceeds the context length', 'type': 'api_error'}}", None),
    "Ollama, prompt": (500, "{'error': 'prompt too long; exceeded max context length by 512 tokens'}", None),
    "LM Studio": (400, "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length", None),
    "LM Studio, earlier": (400, "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.", 4_096),
    "SGLang": (400, "The input (9000 tokens) is longer than the model's context length (8192 tokens).", 8_192),
    "Anthropic": (400, "{'error': {'type': 'invalid_request_error', 'message': 'prompt is too long: 210000 tokens > 200000 maximum'}}", 200_000),
    "Gemini": (400, "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
    "Qwen": (400, "{'error': {'code': 'invalid_parameter_error', 'message': '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]'}}", 30_720),
    "Kimi": (400, "Invalid request: Your request exceeded model token limit: 131072", 131_072),
    "GLM": (400, "{'error': {'code': '1261', 'message': 'Prompt 超长'}}", None),
    "MiniMax": (400, "invalid params, context window exceeds limit (2013)", None),
    "Mistral": (400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768),
    "a proxy": (413, "Request Entity Too Large", None),
    "in a stream": (None, "the request exceeds the available context size", None),
}  # fmt: skip
OTHERS = {
    "tokens per minute": (
        429,
        "Rate limit reached: Limit 30000 tokens per min, your request is too large: Requested 40000",
    ),
    "an unknown parameter": (400, "Unrecognized request argument supplied: stream_options"),
    "a small answer limit": (
        400,
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
    ),
    "a filter": (400, "The response was filtered due to the prompt triggering content management policy."),
    "a tool": (400, "does not support tools"),
    "a key": (401, "maximum context length"),
    "a broken server": (500, "Internal Server Error"),
    "a broken stream": (None, "peer closed connection without sending complete message body"),
}


@pytest.mark.parametrize(("status", "words", "limit"), TOO_LONG.values(), ids=TOO_LONG)
def test_a_refusal_for_length_is_known_with_its_limit(status: int | None, words: str, limit: int | None) -> None:
    assert refuses_length(status, words)
    assert named_limit(words) == limit


@pytest.mark.parametrize(("status", "words"), OTHERS.values(), ids=OTHERS)
def test_other_refusals_are_others(status: int | None, words: str) -> None:
    assert not refuses_length(status, words)
