"""The search of the law library beside the web. Articles that answer the question well become sources, whole.

It is a search of its own, with its own events. Its results do not prove that the web was searched.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from core.answer.events import RunEvent, SearchFinished, SearchStarted
from core.legal.entities import LAWS, MAX_ARTICLES
from core.run.run_sources import RunSources
from core.run.statute_wording import NOT_ASKED, StatuteWording
from core.search.types import Attempt, AttemptOutcome, SearchQuery, SearchResponse, SearchType

if TYPE_CHECKING:
    from core.legal import LegalServices

log = logging.getLogger(__name__)

WEB_SEARCH_FAILED = "联网搜索没有成功。"


async def may_be_in_library(legal: LegalServices | None, question: str) -> bool:
    """Return whether a model may be asked for words of statutes. False if the library cannot be asked."""
    try:
        return legal is not None and await asyncio.to_thread(legal.may_have_articles_for, question)
    except Exception:
        log.exception("the law library could not be asked")
        return False


async def search_articles(
    legal: LegalServices | None,
    question: str,
    run_sources: RunSources,
    *,
    rewritten_question: str = "",
    wording: StatuteWording = NOT_ASKED,
    limit: int = MAX_ARTICLES,
) -> tuple[RunEvent, ...]:
    """Return the events of the search. Empty if the library has no answer or failed, unless a model was asked for words of
    statutes: no answer may break because of it."""
    try:
        found = (
            await asyncio.to_thread(legal.articles_for, question, rewritten_question, wording.text, limit=limit)
            if legal
            else None
        )
    except Exception:
        log.exception("the law library could not be asked")
        found = None
    if found is None and wording.note:
        nothing = SearchQuery(question, type=SearchType.REGULATION)
        found = SearchResponse(nothing, (), (Attempt(LAWS, AttemptOutcome.EMPTY),), provider=LAWS)
    if found is None:
        return ()
    if wording.note:
        found = replace(found, notes=(wording.note, *found.notes))
    return SearchStarted(found.query.text), SearchFinished(found.without_texts, run_sources.add_results(found.results))
