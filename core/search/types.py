"""Value types of searches: plain, frozen and already cleaned."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

from core.base.text import normalize, time_ago

SHORT_PAUSE = 300.0
"""Seconds of a pause below which its end is told to the second."""

DOCUMENTS = "documents"
"""Name of the reader's collections of documents (资料) as a provider of results."""
ReadLevel = Literal["snippet", "page", "file", "library"]
"""The way in which a source was read before it was cited: an engine's snippet, or the page, file or library text
itself."""


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


MAX_RESULTS = 10
"""Results that a response carries at most."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query. `text` goes to the engine as the user wrote it; `key` is what the caches compare."""

    text: str
    type: SearchType = SearchType.GENERAL
    limit: int = MAX_RESULTS
    language: str = ""
    """Code such as `zh-CN`; `auto`: the language of the words; empty: as the settings say."""
    time_range: TimeRange | None = None
    sites: tuple[str, ...] = ()
    question: str = ""
    """The whole question, if `text` has only some of its words. The built-in manual answers the question."""

    def key(self, *, sort_words: bool = False) -> str:
        words = normalize(self.text)
        if sort_words:
            words = " ".join(sorted(words.split()))
        parts = [words, self.type, self.limit, self.language, self.time_range or "", self.sites]
        parts += [normalize(self.question)] if self.question else []
        return json.dumps(parts, ensure_ascii=False)  # JSON, so that no part can imitate the border between two


@dataclass(frozen=True, slots=True)
class SearchResult:
    title: str
    url: str
    snippet: str
    source: str
    """Host of the URL, without `www.`"""
    published: str | None = None
    """ISO day, such as 2026-01-31."""
    engine: str = ""
    rank: int = 0
    read: ReadLevel = "snippet"
    text: str = ""
    """Full text, if the engine sent it or a library holds it."""

    def to_json(self) -> dict[str, Any]:
        return {"title": self.title, "url": self.url, "snippet": self.snippet, "source": self.source}


@dataclass(frozen=True, slots=True)
class Source:
    """The target of `[number]`: one number per URL in one turn."""

    number: int
    title: str
    url: str
    snippet: str
    engine: str = ""
    published: str | None = None
    read: ReadLevel = "snippet"
    characters: int = 0
    """Length of the text, if more than a snippet was read."""
    unread: str = ""
    """Reason why only a snippet was read, in a word or two; empty if reading was not tried."""
    collection: str = ""
    """Name of the collection of documents that the file is from; empty for any other source."""
    is_outdated: bool = False
    """True if the collection has a newer version of the file."""
    given: int = 0
    """Characters of the text that the model was given; 0 if not known."""
    given_places: str = ""
    """The places of what was given, where it is not the whole: 第 3–9、14 页."""
    given_parts: int = 0
    """Number of parts that the model read one after the other; 0 where it was given the text at once."""
    tool: str = ""
    """The foreign tool that has brought it, server.tool; empty for any other source."""

    @classmethod
    def from_result(cls, result: SearchResult, *, number: int) -> Source:
        return cls(number, result.title, result.url, result.snippet, result.engine, result.published, result.read)

    @property
    def collection_label(self) -> str:
        """The collection in words, 资料「合同」; empty for a source that is not from one."""
        return f"资料「{self.collection}」" if self.collection else ""

    @property
    def tool_label(self) -> str:
        """The foreign tool in words; empty for a source that is not from one."""
        return f"外部工具 {self.tool}" if self.tool else ""

    @property
    def is_own_file(self) -> bool:
        """True if the reader has attached it to a question."""
        return self.read == "file" and not (self.collection or self.tool)

    def to_json(self) -> dict[str, Any]:
        document = {
            "number": self.number,
            "title": self.title,
            "url": self.url,
            "snippet": self.snippet,
            "published": self.published,
            "read": self.read,
        }
        document |= self.given_json() if self.given else {}
        document |= {"tool": self.tool} if self.tool else {}
        return document | ({"collection": self.collection, "outdated": self.is_outdated} if self.collection else {})

    def given_json(self) -> dict[str, Any]:
        """Return how much of the text the model was given."""
        document = {"characters": self.characters, "given": self.given}
        places = {"givenPlaces": self.given_places} if self.given_places else {}
        return document | places | ({"givenParts": self.given_parts} if self.given_parts else {})


class AttemptOutcome(StrEnum):
    OK = "ok"
    EMPTY = "empty"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Pause:
    """The time in which an engine that failed is not asked: two moments, in seconds since 1970."""

    failed_at: float
    until: float
    is_firm: bool = False
    """True if not even a person who asks for it has the engine tried before the end."""

    def words(self, now: datetime) -> str:
        """Return the pause in the words and on the clock of a reader: 11 分钟前失败过，暂停到 19:07."""
        ago = time_ago(max(0.0, now.timestamp() - self.failed_at)).strip()
        return f"{ago}失败过，暂停到 {self.end(now)}"

    def end(self, now: datetime) -> str:
        """Return its end on the clock of `now`: with seconds if it is short, with the day if that is another one."""
        until = datetime.fromtimestamp(self.until, now.tzinfo)
        day = "" if until.date() == now.date() else f"{until.month} 月 {until.day} 日 "
        return f"{day}{until:%H:%M:%S}" if self.until - self.failed_at < SHORT_PAUSE else f"{day}{until:%H:%M}"

    def to_json(self) -> dict[str, Any]:
        moments = {"failedAt": self.failed_at, "pausedUntil": self.until}
        return {name: datetime.fromtimestamp(moment, UTC).isoformat("T", "seconds") for name, moment in moments.items()}


def first_pause(attempts: Iterable[Attempt]) -> Pause | None:
    """Return the pause that ends first; None if no engine is paused."""
    return min((attempt.pause for attempt in attempts if attempt.pause), key=lambda pause: pause.until, default=None)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One engine's part in one search. Failure is data, and the reader may see it."""

    engine: str
    outcome: AttemptOutcome
    seconds: float = 0.0
    reason: str = ""
    kind: str = ""
    """The error's `kind`, so that a notice can be chosen without reading the sentence."""
    cure: str = ""
    """Advice for the reader, if the error has one."""
    status: int = 0
    """The HTTP status of the engine's answer, where the error knows."""
    pause: Pause | None = None
    """The pause of the engine after a failure: now, or before this search, which then skipped it."""

    @property
    def was_paused(self) -> bool:
        """True if the engine was not asked, because it had failed shortly before."""
        return self.outcome is AttemptOutcome.SKIPPED and self.pause is not None

    def to_json(self) -> dict[str, Any]:
        return {
            "provider": self.engine,
            "outcome": self.outcome.value,
            "seconds": round(self.seconds, 3),
            "reason": self.reason,
        } | (self.pause.to_json() if self.pause else {})


@dataclass(frozen=True, slots=True)
class SearchResponse:
    query: SearchQuery
    results: tuple[SearchResult, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    provider: str = ""
    from_cache: bool = False
    cache_age: float | None = None
    """Seconds since the results were fetched; None if they were fetched just now."""
    stale: bool = False
    """True if expired results are served because no newer ones could be had."""
    search_time: float = 0.0
    skipped: int = 0
    """Number of results that the engine sent and that cannot be used (no link, no title, wrong types)."""
    notes: tuple[str, ...] = field(default=())
    failure: str = ""
    """Reason why the web was not searched although there are results: only built-in sources could be searched."""
    cure: str = ""
    total: int | None = None
    """Number of results that the engine reports; None if it reports none."""

    @property
    def without_texts(self) -> SearchResponse:
        """The response without the full texts of its results, as it is shown and stored. The texts are stored as pages."""
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
    """The cache that had the results already."""

    NONE = ""
    SESSION = "session"
    SHARED = "shared"
    JOINED = "joined"
    """An identical search that was running."""
    STALE = "stale"
    """The shared cache, after the results have expired."""


@dataclass(frozen=True, slots=True)
class SearchEnd:
    """The end of one search, for the metrics: a response, or an error."""

    query: SearchQuery
    seconds: float
    response: SearchResponse | None = None
    error: BaseException | None = None
    layer: CacheLayer = CacheLayer.NONE
    attempts: tuple[Attempt, ...] = ()
    """Attempts of the engines for this search, not for an earlier one whose results it got."""
