"""Cleaning of engine results: only web links, each address once, text safe to show."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from core.base.chinese.calendar import iso_day
from core.base.text import clean, one_line, shorten
from core.base.web_addresses import URL_LENGTH, canonical_url, host_of, without_user
from core.search.types import SearchResult

log = logging.getLogger(__name__)

TITLE_LENGTH = 200
SNIPPET_LENGTH = 1_000
TEXT_LENGTH = 100_000
MAX_LOGGED_PROBLEMS = 5
"""Number of unreadable results that the log describes."""


@dataclass(frozen=True, slots=True)
class RawResult:
    """One result as an engine's parser reads it. Any field may be missing, hostile or of the wrong type."""

    title: Any
    url: Any
    snippet: Any = ""
    published: Any = None
    text: Any = ""
    """Full text of the page, if the engine sends it."""


class EngineResults(list[SearchResult]):
    """The usable results of one engine, and the number of those that were not usable."""

    def __init__(
        self,
        results: Iterable[SearchResult] = (),
        *,
        skipped: int = 0,
        notes: tuple[str, ...] = (),
        total: int | None = None,
    ) -> None:
        """Create the list. `total` is the number of results that the engine itself reports."""
        super().__init__(results)
        self.skipped = skipped
        self.notes = notes
        self.total = total


def clean_results(
    raw: Iterable[RawResult], *, engine: str, limit: int, notes: tuple[str, ...] = (), total: Any = None
) -> EngineResults:
    """Return the first `limit` usable results. A broken one costs only itself."""
    found: dict[str, SearchResult] = {}
    problems: list[str] = []
    for place, entry in enumerate(raw, 1):
        try:
            result = _clean(entry, engine, rank=len(found) + 1)
        except ValueError as problem:
            problems.append(f"result {place}: {problem}")
            continue
        if len(found) < limit:
            found.setdefault(canonical_url(result.url), result)
    if problems:
        log.warning(
            "engine %s: %d results could not be read and were skipped (%s)",
            engine,
            len(problems),
            "; ".join(problems[:MAX_LOGGED_PROBLEMS]),
        )
    known = total if type(total) is int and total > len(found) else None  # SearXNG sends 0 where it does not know
    return EngineResults(found.values(), skipped=len(problems), notes=notes, total=known)


def _clean(raw: RawResult, engine: str, *, rank: int) -> SearchResult:
    """Return the cleaned result. Raise ValueError that says what is wrong, without quoting it."""
    if not isinstance(raw.url, str):
        raise ValueError("no address" if raw.url is None else f"the address is of type {type(raw.url).__name__}")
    if not isinstance(raw.title, str | None):
        raise ValueError(f"the title is of type {type(raw.title).__name__}")
    url = without_user(one_line(raw.url[: URL_LENGTH + 1]).replace(" ", "%20"))
    source = host_of(url)
    if len(url) > URL_LENGTH:
        raise ValueError(f"the address is longer than {URL_LENGTH} characters")
    if not source or urlsplit(url).scheme not in {"http", "https"}:
        raise ValueError("the address is not one of the web")
    return SearchResult(
        title=_words(raw.title or "", TITLE_LENGTH) or source,
        url=url,
        snippet=_words(raw.snippet, SNIPPET_LENGTH) if isinstance(raw.snippet, str) else "",
        source=source,
        published=iso_day(raw.published[:40]) if isinstance(raw.published, str) else None,
        engine=engine,
        rank=rank,
        text=clean(raw.text[:TEXT_LENGTH]) if isinstance(raw.text, str) else "",
    )


def _words(text: str, limit: int) -> str:
    """Return text as a reader would see it: many engines send text that was escaped for HTML (`AT&amp;T`)."""
    return shorten(one_line(unescape(text[: limit * 4])), limit)
