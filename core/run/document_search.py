"""The search of the reader's collections beside the web and the law library. A library that fails costs a sentence, never
the answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from core.answer.events import Notice, RunEvent, SearchFinished, SearchStarted
from core.base.text import one_line, shorten
from core.documents import PassageHit
from core.run.chosen_collections import FAILED_KIND, ChosenCollections, describe_failure
from core.run.run_sources import FoundDocument, RunSources
from core.search import SNIPPET_LENGTH
from core.search.types import DOCUMENTS, Attempt, AttemptOutcome, SearchQuery, SearchResponse, SearchResult, Source

MAX_PASSAGES = 8
"""Number of passages that are looked for. They may be of one file or of several."""
EMPTY_KIND, UNFINISHED_KIND = "documents_empty", "documents_unfinished"


@dataclass(frozen=True, slots=True)
class DocumentFindings:
    """What a search of the collections has brought."""

    response: SearchResponse
    sources: tuple[Source, ...] = ()
    """The files, each once, with their numbers."""
    notices: tuple[Notice, ...] = ()
    note: str = ""
    """A sentence for the model if nothing was found, or nothing could be searched."""

    @property
    def events(self) -> tuple[RunEvent, ...]:
        """The events of a search that the program makes by itself."""
        return SearchStarted(self.response.query.text), self.finished(), *self.notices

    def finished(self, *, call_id: str = "") -> SearchFinished:
        return SearchFinished(self.response, self.sources, call_id=call_id)


async def search_documents(
    chosen: ChosenCollections,
    query: str,
    run_sources: RunSources,
    *,
    other_wording: str = "",
    limit: int = MAX_PASSAGES,
) -> DocumentFindings:
    """Search the collections, add the files to the sources, and return what was found. It does not raise."""
    started = time.monotonic()
    try:
        hits, files = await asyncio.to_thread(_look_up, chosen, (query, other_wording), limit)
        reason = ""
    except Exception as error:
        hits, files, reason = (), (), describe_failure(error)
    response = _response(chosen, query, hits, reason, time.monotonic() - started)
    sources = run_sources.add_documents(files)
    return DocumentFindings(response, sources, tuple(_notices(chosen, hits, reason)), _note(chosen, hits, reason))


def _look_up(
    chosen: ChosenCollections, queries: Sequence[str], limit: int
) -> tuple[tuple[PassageHit, ...], tuple[FoundDocument, ...]]:
    hits = chosen.search(queries, limit=limit)
    files = tuple(chosen.read(hits))
    there = {file.page.address for file in files}
    return tuple(hit for hit in hits if hit.document.address in there), files


def _response(
    chosen: ChosenCollections, query: str, hits: Sequence[PassageHit], reason: str, seconds: float
) -> SearchResponse:
    results = tuple(_result(hit, rank) for rank, hit in enumerate(hits, 1))
    outcome = AttemptOutcome.FAILED if reason else AttemptOutcome.OK if results else AttemptOutcome.EMPTY
    scope = (f"查的是{chosen.label}。",) if chosen.collections else ()
    notes = (*scope, *chosen.problems, *filter(None, [chosen.unfinished_note]))
    attempt = Attempt(DOCUMENTS, outcome, seconds, reason=reason)
    asked, failure = SearchQuery(query), reason if chosen.collections else "".join(chosen.problems)
    return SearchResponse(asked, results, (attempt,), DOCUMENTS, search_time=seconds, notes=notes, failure=failure)


def _result(hit: PassageHit, rank: int) -> SearchResult:
    place = f" · {hit.place.label}" if hit.place else ""
    return SearchResult(
        title=f"{one_line(hit.document.name)}{place}",
        url=hit.document.address,
        snippet=shorten(one_line(hit.text), SNIPPET_LENGTH),
        source=one_line(hit.collection_name),
        published=hit.document.modified,
        engine=DOCUMENTS,
        rank=rank,
        read="file",
    )


def _notices(chosen: ChosenCollections, hits: Sequence[PassageHit], reason: str) -> list[Notice]:
    notices = list(chosen.problem_notices)
    if reason:
        notices.append(Notice(FAILED_KIND, f"{chosen.label}没有查成：{reason}以下回答没有用到它。"))
    elif chosen.collections and not hits:
        notices.append(Notice(EMPTY_KIND, f"在{chosen.label}中没有找到与问题有关的内容。可以换一种说法再问。"))
    if chosen.unfinished_note and not reason:
        notices.append(Notice(UNFINISHED_KIND, chosen.unfinished_note))
    return notices


def _note(chosen: ChosenCollections, hits: Sequence[PassageHit], reason: str) -> str:
    """Return the sentence for the model. Names of collections are left out: they may be somebody else's words."""
    if hits:
        return ""
    if reason or not chosen.collections:
        return "（用户选了自己的资料，但这次没有查成。请告诉用户；不要编造资料的内容。）"
    return "（已在用户选的资料里查找，没有找到与问题有关的内容。请告诉用户；不要编造资料的内容。）"
