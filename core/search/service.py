"""One search: the engines in their order, the first good answer wins, and every attempt is reported."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from core.errors import AllEnginesFailed, EngineError, NoEngine, QueryError
from core.search.engine import SearchEngine
from core.search.types import Attempt, Outcome, SearchQuery, SearchResponse, SearchResult

log = logging.getLogger(__name__)


class SearchService:
    def __init__(self, engines: Sequence[SearchEngine], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._engines = tuple(engines)
        self._clock = clock

    @property
    def available(self) -> bool:
        return bool(self._engines)

    def search(self, query: SearchQuery, *, user: str = "local", engine: str | None = None) -> SearchResponse:
        """`engine` names the only one to use; otherwise the whole chain is tried."""
        if not query.text.strip():
            raise QueryError
        chain = [candidate for candidate in self._engines if engine in (None, candidate.name)]
        if not chain:
            raise NoEngine(f"没有名为「{engine}」的可用引擎。" if engine else "")
        started = self._clock()
        attempts: list[Attempt] = []
        for candidate in chain:
            results, attempt = self._try(candidate, query)
            attempts.append(attempt)
            if results:
                break
        else:
            results = []
            if all(attempt.outcome is Outcome.FAILED for attempt in attempts):
                raise AllEnginesFailed(attempts=tuple(attempts))
        return SearchResponse(
            query=query,
            results=tuple(results[: query.limit]),
            attempts=tuple(attempts),
            provider=attempts[-1].engine,
            search_time=self._clock() - started,
        )

    def _try(self, engine: SearchEngine, query: SearchQuery) -> tuple[list[SearchResult], Attempt]:
        started = self._clock()
        try:
            results = list(engine.search(query, query.limit))
        except EngineError as error:
            log.warning("engine %s: %s", engine.name, error)
            seconds = self._clock() - started
            return [], Attempt(engine.name, Outcome.FAILED, seconds, error.message, error.kind)
        outcome = Outcome.OK if results else Outcome.EMPTY
        return results, Attempt(engine.name, outcome, self._clock() - started)
