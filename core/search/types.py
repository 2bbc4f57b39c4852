"""The values that every part of search speaks. Plain, frozen, already cleaned."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

from core.base.text import fold

Read = Literal["snippet", "page", "file", "library"]
"""How much of a source was read before it was cited: an engine's few lines, or the thing itself."""


class SearchType(StrEnum):
    GENERAL = "general"
    NEWS = "news"
    REGULATION = "regulation"
    CASE = "case"


class TimeRange(StrEnum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """`text` goes to the engine as the user wrote it; `key` is what the caches compare."""

    text: str
    type: SearchType = SearchType.GENERAL
    limit: int = 10
    language: str = ""
    """A code as in `zh-CN`; `auto`: that of the words themselves; empty: as the settings say."""
    time_range: TimeRange | None = None
    sites: tuple[str, ...] = ()

    def key(self, *, sort_words: bool = False) -> str:
        words = fold(self.text)
        if sort_words:
            words = " ".join(sorted(words.split()))
        parts = (words, self.type, self.limit, self.language, self.time_range or "", self.sites)
        return json.dumps(parts, ensure_ascii=False)  # nothing in a part can pass for the border between two


@dataclass(frozen=True, slots=True)
class SearchResult:
    title: str
    url: str
    snippet: str
    source: str
    """The host of the URL, without `www.`"""
    published: str | None = None
    """The day, as 2026-01-31."""
    engine: str = ""
    rank: int = 0
    read: Read = "snippet"
    text: str = ""
    """The page itself, where the engine sent it along; all of what a library holds there."""

    def to_json(self) -> dict[str, Any]:
        return {"title": self.title, "url": self.url, "snippet": self.snippet, "source": self.source}


@dataclass(frozen=True, slots=True)
class Source:
    """What `[number]` points to: one number per URL in one turn."""

    number: int
    title: str
    url: str
    snippet: str
    engine: str = ""
    published: str | None = None
    read: Read = "snippet"
    characters: int = 0
    """How long the text is, where more than a snippet was read."""
    unread: str = ""
    """Why no more than a snippet was read, in a word or two; empty where nobody tried."""

    @classmethod
    def of(cls, result: SearchResult, *, number: int) -> Source:
        return cls(number, result.title, result.url, result.snippet, result.engine, result.published, result.read)

    def to_json(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "title": self.title,
            "url": self.url,
            "snippet": self.snippet,
            "published": self.published,
            "read": self.read,
        }


class Outcome(StrEnum):
    OK = "ok"
    EMPTY = "empty"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one engine did for one search. Failure is data, and the reader may see it."""

    engine: str
    outcome: Outcome
    seconds: float = 0.0
    reason: str = ""
    kind: str = ""
    """The error's `kind`, so that a notice can be chosen without reading the sentence."""
    cure: str = ""
    """What the reader can do about it, where the error knows."""
    status: int = 0
    """The HTTP status of the engine's answer, where the error knows."""

    def to_json(self) -> dict[str, Any]:
        return {
            "provider": self.engine,
            "outcome": self.outcome.value,
            "seconds": round(self.seconds, 3),
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class SearchResponse:
    query: SearchQuery
    results: tuple[SearchResult, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    provider: str = ""
    from_cache: bool = False
    cache_age: float | None = None
    """Seconds since the results were fetched; None when they were fetched just now."""
    stale: bool = False
    """Served past its time because nothing newer could be had."""
    search_time: float = 0.0
    skipped: int = 0
    """Results that the engine sent but nobody could use (no link, no title, wrong types)."""
    notes: tuple[str, ...] = field(default=())
    failure: str = ""
    """Why the web was not searched although these are results: what is built in was all that could be looked through."""
    cure: str = ""
    total: int | None = None
    """How many the engine says there are, where it says so."""

    @property
    def told(self) -> SearchResponse:
        """As it is shown and stored: what the results say in full is kept as what was read, where that is wanted."""
        return replace(self, results=tuple(replace(result, text="") for result in self.results))

    @property
    def total_results(self) -> int:
        return len(self.results) if self.total is None else self.total

    def to_json(self) -> dict[str, Any]:
        return {
            "query": self.query.text,
            "type": self.query.type.value,
            "results": [result.to_json() for result in self.results],
            "totalResults": self.total_results,
            "searchTime": round(self.search_time, 3),
            "provider": self.provider,
            "fromCache": self.from_cache,
            "cacheAge": None if self.cache_age is None else round(self.cache_age, 1),
            "attempts": [attempt.to_json() for attempt in self.attempts],
        } | ({"failure": self.failure} if self.failure else {})


class CacheLayer(StrEnum):
    """Who had the results already."""

    NONE = ""
    SESSION = "session"
    SHARED = "shared"
    JOINED = "joined"
    """An identical search that was under way."""
    STALE = "stale"
    """The shared cache, past the time for which results are good."""


@dataclass(frozen=True, slots=True)
class SearchEnd:
    """How one search went, for whoever keeps count: a response, or an error."""

    query: SearchQuery
    seconds: float
    response: SearchResponse | None = None
    error: BaseException | None = None
    layer: CacheLayer = CacheLayer.NONE
    attempts: tuple[Attempt, ...] = ()
    """What the engines did for this search; not what they had done for the one whose results it was given."""
