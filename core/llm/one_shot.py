"""A short call of a model beside the answer itself: tried once, limited in length and time."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import NamedTuple

from core.llm.errors import ModelEmptyAnswer, ModelTimeout
from core.llm.model import Model
from core.llm.pieces import TextPiece, TokenUsage


class ShortAnswer(NamedTuple):
    text: str
    usage: TokenUsage


async def ask_once(model: Model, prompt: str, *, max_tokens: int, seconds: float) -> ShortAnswer:
    """Return the model's text and its token usage. Raises a ModelError, also if the call takes too long."""
    written, stream = "", model.stream_short([("human", prompt)], max_tokens=max_tokens)
    try:
        async with asyncio.timeout(seconds), aclosing(stream) as pieces:
            async for piece in pieces:
                if isinstance(piece, TextPiece):
                    written += piece.text
                elif isinstance(piece, TokenUsage):
                    return ShortAnswer(written, piece)
    except TimeoutError:
        raise ModelTimeout from None
    raise ModelEmptyAnswer
