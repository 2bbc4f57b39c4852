"""Wording of a question as statutes would put it, by a model, for the law library alone.

People and statutes use different words. The model is asked once, while the web is searched for the reader's own words, and is
not waited for longer than that takes. What it writes is searched beside the reader's words and never sent anywhere.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.base.text import one_line, shorten
from core.llm import Model, ask_once, estimate_tokens
from core.llm.errors import ModelEmptyAnswer, ModelError, ModelTimeout
from core.llm.pieces import TokenUsage
from core.run.prompts import fill_template
from core.run.query_rewriting import NOTHING_SPENT, SECONDS, TOKENS
from core.run.slow_models import SlowModels

log = logging.getLogger(__name__)

LEAST_SECONDS = 1.5
"""The time that a model has where the web search is faster, or there is none."""
MAX_WORDING_LENGTH = 300
QUESTION_LENGTH = 500
NOT_LEGAL = "无"


@dataclass(frozen=True, slots=True)
class StatuteWording:
    text: str = ""
    """Words of statutes, and articles in the form 《法》第几条. Empty if the model gave none."""
    note: str = ""
    """A sentence for the search ledger; empty if no model was asked."""
    usage: TokenUsage = NOTHING_SPENT


NOT_ASKED = StatuteWording()


class StatuteWorder:
    """Asks models for words of statutes, and remembers which are too slow for it. The arguments are for tests."""

    def __init__(
        self,
        *,
        seconds: float = SECONDS,
        least_seconds: float = LEAST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = seconds
        self._least_seconds = least_seconds
        self._slow_models = SlowModels(patience=seconds / 2, clock=clock)

    def may_ask(self, model: Model) -> bool:
        """Return whether this model can help: the words of small ones bring nothing (docs/benchmarks.md)."""
        return not (model.choice.is_embedded or model.choice.is_small or self._slow_models.is_resting(model))

    async def ask(self, question: str, model: Model, *, meanwhile: asyncio.Task[Any] | None = None) -> StatuteWording:
        """Return the wording if it comes while `meanwhile` runs, or soon enough without it."""
        prompt = fill_template("statute_wording", question=shorten(one_line(question), QUESTION_LENGTH))
        began = self._slow_models.began()
        asking = asyncio.create_task(_ask(model, prompt, self._seconds))
        soon = asyncio.create_task(asyncio.sleep(self._least_seconds))
        try:
            for other in filter(None, (meanwhile, soon)):
                await asyncio.wait({asking, other}, return_when=asyncio.FIRST_COMPLETED)
            found = asking.result() if asking.done() else None
        finally:
            asking.cancel()
            soon.cancel()
        if found is not None:
            return found
        self._slow_models.report_failure(model, began)
        spent = TokenUsage(estimate_tokens(prompt), 0, estimated=True)
        return StatuteWording(note="模型没有及时给出法条用语，只按原话查找。", usage=spent)


async def _ask(model: Model, prompt: str, seconds: float) -> StatuteWording | None:
    """Return what the model wrote, or how it failed; None if it wrote nothing in time."""
    try:
        reply = await ask_once(model, prompt, max_tokens=TOKENS, seconds=seconds)
    except (ModelTimeout, ModelEmptyAnswer):
        return None
    except ModelError as error:
        log.info("no words of statutes: %s", error)
        return StatuteWording(note=f"没有得到模型给出的法条用语，只按原话查找：{error.message}")
    text = shorten(one_line(reply.text), MAX_WORDING_LENGTH)
    if text.strip(" 。「」") in {"", NOT_LEGAL}:
        return StatuteWording(note="模型认为问题与法律条文无关，只按原话查找。", usage=reply.usage)
    return StatuteWording(text, f"同时按模型给出的法条用语查找：{text}", reply.usage)
