"""The search of the law library beside the web. Articles that answer the question well become sources, whole.

It is a search of its own, with its own events. Its results do not prove that the web was searched.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from core.answer.events import RunEvent, SearchFinished, SearchStarted
from core.run.run_sources import RunSources
from core.search.types import SearchResponse

log = logging.getLogger(__name__)

WEB_SEARCH_FAILED = "联网搜索没有成功。"

ArticleLookup = Callable[[str, str], SearchResponse | None]
"""A function of the law library: it takes the question and its rewritten form, and returns the articles."""


async def search_articles(
    lookup: ArticleLookup | None, question: str, run_sources: RunSources, *, rewritten_question: str = ""
) -> tuple[RunEvent, ...]:
    """Return the events of the search. Empty if the library has no answer or failed: no answer may break because of it."""
    try:
        found = await asyncio.to_thread(lookup, question, rewritten_question) if lookup else None
    except Exception:
        log.exception("the law library could not be asked")
        found = None
    if found is None:
        return ()
    return SearchStarted(found.query.text), SearchFinished(found.without_texts, run_sources.add_results(found.results))
