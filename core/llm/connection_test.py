"""A test question to a model that somebody is about to connect: its answer, its speed, and what the model can do."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import aclosing
from dataclasses import dataclass

from core.base.settings import Settings
from core.base.text import one_line, shorten
from core.llm.call_limit import ModelCallLimit
from core.llm.errors import ModelRefused, to_model_error
from core.llm.model import Model
from core.llm.pieces import TextPiece, ThoughtPiece
from core.llm.retry import log_cause

log = logging.getLogger(__name__)

QUESTION = "请用一两句话介绍你自己。"
TOOL_QUESTION = "请调用工具 current_time 查一下现在几点。"
TOOL = {
    "type": "function",
    "function": {
        "name": "current_time",
        "description": "现在的时间",
        "parameters": {"type": "object", "properties": {}},
    },
}
FIRST_PIECE_SECONDS = 20.0
TOTAL_SECONDS = 60.0
MAX_ANSWER_LENGTH = 300
"""Characters of the answer after which the stream is closed: more is not needed."""


@dataclass(frozen=True, slots=True)
class ConnectionTestResult:
    answer: str
    first_seconds: float
    """Seconds until the first word or thought."""
    seconds: float
    streams: bool
    thinks: bool
    calls_tools: bool | None
    """True if the model called the tool. None if this could not be found out."""


async def run_connection_test(settings: Settings, *, limit: ModelCallLimit | None = None) -> ConnectionTestResult:
    """Ask the model two questions at once, each only once. Raises the ModelError that a reader would meet."""
    llm = settings.llm.model_copy(
        update={"attempts": 1, "first_token_timeout": FIRST_PIECE_SECONDS, "idle_timeout": FIRST_PIECE_SECONDS}
    )
    model = Model(settings.model_copy(update={"llm": llm}), limit=limit)
    await model.achat_model()  # the first call in a process imports packages for seconds; the service is not to blame
    tools = asyncio.create_task(_calls_tools(model))
    try:
        return await _measure_answer(model, tools)
    finally:
        tools.cancel()


async def _measure_answer(model: Model, tools: asyncio.Task[bool | None]) -> ConnectionTestResult:
    started, first, pieces, thinks, answer = time.monotonic(), 0.0, 0, False, ""
    try:
        async with asyncio.timeout(TOTAL_SECONDS), aclosing(model.stream([("human", QUESTION)])) as stream:
            async for piece in stream:
                if not isinstance(piece, TextPiece | ThoughtPiece):
                    continue
                first = first or time.monotonic() - started
                pieces += 1
                thinks |= isinstance(piece, ThoughtPiece)
                answer += piece.text if isinstance(piece, TextPiece) else ""
                if len(answer) > MAX_ANSWER_LENGTH:
                    break
    except TimeoutError as error:
        raise log_cause(to_model_error(error), error) from None
    took = time.monotonic() - started
    return ConnectionTestResult(shorten(one_line(answer), 120), first, took, pieces > 1, thinks, await tools)


async def _calls_tools(model: Model) -> bool | None:
    try:
        chat = await model.achat_model()
        await model.count_call()
        # Streamed: some reasoning models answer no other kind of request.
        answer = chat.bind_tools([TOOL]).astream([("human", TOOL_QUESTION)])
        async with asyncio.timeout(TOTAL_SECONDS), aclosing(answer) as chunks:  # type: ignore[type-var]
            async for chunk in chunks:
                if getattr(chunk, "tool_call_chunks", ()):
                    return True
        return False
    except Exception as error:
        cause = to_model_error(error)
        log.info("tools could not be tried: %s", cause.kind)
        return False if isinstance(cause, ModelRefused) or isinstance(error, NotImplementedError) else None
