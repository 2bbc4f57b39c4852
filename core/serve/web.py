"""The web for other programs: a search, and the text of a page."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from core.base.http import Deadline
from core.reading import Page
from core.search.errors import AllEnginesFailed
from core.search.types import SearchQuery, SearchResponse
from core.serve.access import Caller, Scope
from core.serve.errors import UnknownEngine

if TYPE_CHECKING:
    from core.app import App


_READER_STARTS = 20.0
"""Seconds."""


def search_web(
    app: App, caller: Caller, query: SearchQuery, engine: str = "", deadline: Deadline | None = None
) -> dict[str, Any]:
    """Search, and return the search JSON. Raise SearchError. Cancelling the deadline ends the search."""
    caller.require(Scope.SEARCH)
    require_engine(app, engine)
    within = deadline.with_limit(app.settings.search.timeout) if deadline else None
    return search_json(app.search.search(query, visitor=caller.visitor, engine=engine or None, deadline=within))


def search_json(response: SearchResponse) -> dict[str, Any]:
    """Return the search JSON of a response. Results of the built-in manual alone carry the reason under `error`."""
    if not response.failure:
        return response.to_json()
    message = f"{response.failure}{response.cure}".rstrip()
    return {**response.to_json(), "error": {"kind": AllEnginesFailed.kind, "message": message}}


def require_engine(app: App, engine: str) -> None:
    """Raise UnknownEngine if an engine is named that cannot be used: with the reason, or with those that can."""
    names = [one.name for one in app.chain.engines]
    if engine and engine not in names:
        left_out = {entry.name: f"{entry.reason}{entry.cure_for_administrators}" for entry in app.chain.unavailable}
        cure = left_out.get(engine) or f"可用的有：{'、'.join(names) or '没有'}。"
        raise UnknownEngine(f"没有名为「{engine}」的可用引擎。", cure=cure)


def read_page(
    app: App, caller: Caller, url: str, start: int = 0, length: int = 20_000, deadline: Deadline | None = None
) -> dict[str, Any]:
    """Return the text of a page from `start` on. Raise ReadingError. Cancelling the deadline ends the reading."""
    caller.require(Scope.SEARCH)
    deadline = deadline or Deadline(inf)
    wait_for_reader(app, deadline)
    page = app.reader.read(url, deadline=deadline.with_limit(app.reader.timeout))
    return _page_json(page, start, length)


def wait_for_reader(app: App, deadline: Deadline) -> None:
    """Wait for the first process that reads pages: no page has to answer for the time in which it starts."""
    if not app.reader.is_ready:
        app.reader.wait_until_ready(deadline.with_limit(_READER_STARTS))


def _page_json(page: Page, start: int, length: int) -> dict[str, Any]:
    end = min(start + length, page.length)
    return {
        "url": page.address,
        "finalUrl": page.final_address,
        "title": page.title,
        "published": page.published,
        "kind": page.kind,
        "text": page.text[start:end],
        "characters": page.length,
        "nextStart": end if end < page.length else None,
        "isCut": page.is_cut,
        "instructions": page.instructions,
    }
