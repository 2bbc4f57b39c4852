"""The law library beside the web: where it answers a question well, its articles are sources like any other, with their whole text.

It is a search of its own, told as one. Nothing that it finds proves that the web was searched.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from core.answer.events import RunEvent, SearchFinished, SearchStarted
from core.run.evidence import Evidence
from core.search.types import SearchResponse

log = logging.getLogger(__name__)

WITHOUT_WEB = "联网搜索没有成功。"

LookUp = Callable[[str, str], SearchResponse | None]
"""`LegalDesk.articles_for`: the question, and what it was taken to mean."""


async def articles(
    look_up: LookUp | None, question: str, evidence: Evidence, *, meant: str = ""
) -> tuple[RunEvent, ...]:
    """What is to be told of it; nothing where the library has nothing to say, or failed: no answer breaks for it."""
    try:
        found = await asyncio.to_thread(look_up, question, meant) if look_up else None
    except Exception:
        log.exception("the law library could not be asked")
        found = None
    if found is None:
        return ()
    return SearchStarted(found.query.text), SearchFinished(found.told, evidence.number(found.results))
