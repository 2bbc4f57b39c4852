"""The search service: caches, limits and failover around one search."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from core.base.http import Deadline
from core.base.settings import ModelChoice, SearchSettings
from core.base.text import is_blank
from core.base.threads import run_in_thread
from core.base.visitors import COMMAND_LINE, Visitor
from core.search.cache import ResultCache, SessionCache
from core.search.engine import SearchEngine
from core.search.errors import AllEnginesFailed, EngineError, NoEngine, QueryError, RateLimited
from core.search.failover import Failover, RaceResult, all_failed_error, web_failure
from core.search.health import EngineHealth, Rest
from core.search.search_limits import SearchLimits
from core.search.single_flight import SingleFlight
from core.search.types import Attempt, AttemptOutcome, CacheLayer, SearchEnd, SearchQuery, SearchResponse

log = logging.getLogger(__name__)

MAX_QUERY_LENGTH = 20_000


@dataclass(slots=True)
class _Search:
    """One search in progress."""

    original_query: SearchQuery
    """Query as the reader wrote it."""
    query: SearchQuery
    """Query as the engines get it."""
    key: str
    engine: str | None
    visitor: Visitor | None
    deadline: Deadline
    started: float
    is_fresh: bool = False
    """True if the reader asked for a new search: an engine that rests may have been put right."""
    layer: CacheLayer = CacheLayer.NONE
    """Cache that had the results already, as far as it is known."""


class SearchService:
    """Thread-safe. `search` runs in the calling thread, `asearch` is for coroutines."""

    def __init__(
        self,
        engines: Sequence[SearchEngine],
        *,
        settings: SearchSettings | None = None,
        cache: ResultCache | None = None,
        limits: SearchLimits | None = None,
        health: EngineHealth | None = None,
        prepare: Callable[[SearchQuery], SearchQuery] = lambda query: query,
        on_end: Callable[[SearchEnd], None] = lambda end: None,
        clock: Callable[[], float] = time.monotonic,
        single_flight: SingleFlight | None = None,
        failover: Failover | None = None,
        no_engine_cure: str = "",
    ) -> None:
        """Create the service. `on_end` is told of every search, in the thread that made it; it must not raise.
        `no_engine_cure` says what is missing if there are no engines. `single_flight` and `failover` are those of another service whose searches and health this one shares."""
        self._engines = tuple(engines)
        self._settings = settings or SearchSettings()
        self._cache = cache
        self._limits = limits
        self._prepare = prepare
        self._on_end = on_end
        self._clock = clock
        self._no_engine_cure = no_engine_cure
        self._single_flight = single_flight or SingleFlight()
        self._failover = failover or Failover(
            health or EngineHealth(engine.name for engine in engines),
            hedge_after=self._settings.hedge_after,
            take_turn=limits.take_turn if limits else None,
            clock=clock,
        )

    def for_tools(self, model: ModelChoice) -> SearchService:
        """Return a service with the engines that the tools of an agent with this model use. All else is shared."""
        return SearchService(
            [usable for engine in self._engines if (usable := engine.for_tools(model)) is not None],
            settings=self._settings,
            cache=self._cache,
            limits=self._limits,
            prepare=self._prepare,
            on_end=self._on_end,
            clock=self._clock,
            single_flight=self._single_flight,
            failover=self._failover,
            no_engine_cure=self._no_engine_cure,
        )

    @property
    def has_engines(self) -> bool:
        return bool(self._engines)

    @property
    def reaches_web(self) -> bool:
        """True if there is more to search than the built-in manual."""
        return any(engine.reaches_web for engine in self._engines)

    @property
    def is_web_ready(self) -> bool:
        """True if an engine that reaches the web can be asked now."""
        rests = self.engine_rests()
        return any(engine.reaches_web and rests[engine.name] is None for engine in self._engines)

    @property
    def web_pause(self) -> Attempt | None:
        """The engine that is the first to be asked again, if all that reach the web are paused; else None."""
        rests = self.engine_rests()
        reaching = [(rests[engine.name], engine.name) for engine in self._engines if engine.reaches_web]
        paused = [(rest.seconds, rest.skipped_attempt(name)) for rest, name in reaching if rest is not None]
        return min(paused, key=lambda one: one[0])[1] if paused and len(paused) == len(reaching) else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the settings page about the cache and Redis."""
        warnings = (part.warning for part in (self._cache, self._limits) if part is not None)
        return tuple(dict.fromkeys(filter(None, warnings)))

    def engine_rests(self) -> dict[str, Rest | None]:
        """Return every engine in the chain with its rest, or None."""
        return self._failover.health.rests()

    def admit(self, visitor: Visitor) -> None:
        """Count a request to the web that another part makes, like a search. Raise RateLimited."""
        if self._limits is not None:
            self._limits.admit(visitor)

    def reserve_for_caller(self, engine: str, *, visitor: Visitor | None) -> bool:
        """Return whether this visitor's search would begin with this engine now. Then the caller may make it instead.

        A model searches by itself while it answers, and no other part can do that for it. The search is counted here,
        and the caller reports how it went. False: search as usual, which also explains a limit that is reached.
        """
        if not self._engines or self._engines[0].name != engine or self._failover.health.admit(engine) is not None:
            return False
        if self._limits is not None:
            try:
                if visitor is not None:
                    self._limits.admit(visitor)
                self._limits.take_turn(engine, Deadline(0, self._clock))
            except RateLimited:
                return False
        return True

    def report_reserved_search(
        self, engine: str, error: EngineError | None = None, *, response: SearchResponse | None = None
    ) -> None:
        """Record how a reserved search went. Without a response, nothing was searched for in the end."""
        if error is None:
            self._failover.health.record_success(engine)
        else:
            self._failover.health.record_failure(engine, error)
        if response is not None:
            self._on_end(SearchEnd(response.query, response.search_time, response, attempts=response.attempts))

    def search(
        self,
        query: SearchQuery,
        *,
        visitor: Visitor | None = COMMAND_LINE,
        engine: str | None = None,
        session_cache: SessionCache | None = None,
        skip_caches: bool = False,
        deadline: Deadline | None = None,
    ) -> SearchResponse:
        """Search and return the response. `engine` names the only one to use, even if it rests. `skip_caches` reads
        neither cache, fills both, and tries engines that rest. `visitor` is the one whose limit counts the search, unless a cache or a running
        search answers it. None is the operator, without a limit. By default, `deadline` is that of the settings."""
        started = self._clock()
        deadline = deadline or Deadline(self._settings.timeout, self._clock)
        _refuse_unusable(query)
        prepared = self._prepare(query)
        key = f"{engine or ''}|{prepared.key(sort_words=self._settings.sort_words)}"
        search = _Search(query, prepared, key, engine, visitor, deadline, started, is_fresh=skip_caches)
        try:
            response = None if skip_caches else self._cached_response(search, session_cache)
            if response is None:
                response = self._join_or_fetch(search)
        except BaseException as error:
            self._report_end(search, error=error)
            raise
        response = replace(response, query=query, search_time=self._clock() - started)
        if session_cache is not None and not response.failure:
            session_cache.put(key, response)
        self._report_end(search, response)
        return response

    async def asearch(
        self,
        query: SearchQuery,
        *,
        visitor: Visitor | None = COMMAND_LINE,
        session_cache: SessionCache | None = None,
        skip_caches: bool = False,
    ) -> SearchResponse:
        """Search like `search`. Cancelling the task that awaits it cancels the search."""
        deadline = Deadline(self._settings.timeout, self._clock)
        search = partial(self.search, visitor=visitor, session_cache=session_cache, skip_caches=skip_caches)
        try:
            return await run_in_thread(lambda: search(query, deadline=deadline), name="search")
        except asyncio.CancelledError:
            deadline.cancel()
            raise

    def close(self) -> None:
        if self._cache is not None:
            self._cache.close()

    # ── The layers ────────────────────────────────────────────────────────────────────────────────────────────────

    def _cached_response(self, search: _Search, session_cache: SessionCache | None) -> SearchResponse | None:
        response, layer = None, CacheLayer.SESSION
        if session_cache is not None:
            response = session_cache.get(search.key, search.original_query)
        if response is None and self._cache is not None:
            response, layer = self._cache.get(search.key, search.query), CacheLayer.SHARED
        if response is not None:
            search.layer = layer
            log.info("%s cache hit: results of %s, %.0f s old", layer, response.provider, response.cache_age or 0)
        return response

    def _join_or_fetch(self, search: _Search) -> SearchResponse:
        search.layer = CacheLayer.JOINED  # changed below if this is the search that others join
        try:
            # Who wants to have an engine tried that rests must not be answered by a search that skips it.
            key = f"{'fresh' if search.is_fresh else ''}|{search.key}"
            return self._single_flight.run(key, search.deadline, lambda: self._fetch(search))
        except TimeoutError:
            raise all_failed_error((), timeout=self._settings.timeout) from None

    def _fetch(self, search: _Search) -> SearchResponse:
        search.layer = CacheLayer.NONE
        engines = self._chain(search.engine)
        if self._limits is not None and search.visitor is not None:
            self._limits.admit(search.visitor)
        raced = self._failover.run(
            engines,
            search.query,
            search.deadline,
            include_resting=search.engine is not None,
            probe_resting=search.is_fresh,
        )
        failure, cure = web_failure(raced.attempts, engines)
        if raced.results and failure:
            return self._stale_response(search, raced) or replace(
                self._build_response(search, raced), failure=failure, cure=cure
            )
        if raced.results:
            response = self._build_response(search, raced)
            winner = next(engine for engine in engines if engine.name == raced.provider)
            if self._cache is not None and winner.is_cacheable:
                self._cache.put(search.key, response)
            return response
        return self._without_results(search, raced, failure, cure)

    def _chain(self, engine: str | None) -> Sequence[SearchEngine]:
        chain = [candidate for candidate in self._engines if engine in (None, candidate.name)]
        if not chain:
            raise NoEngine(f"没有名为「{engine}」的可用引擎。") if engine else NoEngine(cure=self._no_engine_cure)
        return chain

    # ── How it ends ───────────────────────────────────────────────────────────────────────────────────────────────

    def _build_response(self, search: _Search, race: RaceResult) -> SearchResponse:
        response = SearchResponse(
            query=search.query,
            results=tuple(race.results[: search.query.limit]),
            attempts=race.attempts,
            provider=race.provider,
            skipped=race.results.skipped,
            notes=race.results.notes,
            total=race.results.total,
        )
        log.info("%s found %d results in %.2f s", race.provider, len(race.results), self._clock() - search.started)
        return response

    def _stale_response(self, search: _Search, race: RaceResult) -> SearchResponse | None:
        """Return expired results, or None if there are none."""
        old = self._cache.get(search.key, search.query, even_stale=True) if self._cache is not None else None
        if old is None:
            return None
        search.layer = CacheLayer.STALE
        log.warning("no engine could answer; serving results that are %.0f s old", old.cache_age or 0)
        return replace(old, attempts=race.attempts)

    def _without_results(self, search: _Search, race: RaceResult, failure: str, cure: str) -> SearchResponse:
        """Return an empty response if every engine said so, else old results. Raise an error if there are none."""
        unanswered = [attempt for attempt in race.attempts if attempt.outcome is not AttemptOutcome.EMPTY]
        if unanswered and (old := self._stale_response(search, race)):
            return old
        if race.bug is not None:
            raise race.bug
        if failure or len(unanswered) == len(race.attempts):
            error = all_failed_error(race.attempts, timeout=self._settings.timeout)
            if failure and len(race.attempts) > 1:
                error = AllEnginesFailed(failure, cure=cure or error.cure, attempts=race.attempts, cause=error.cause)
            raise error
        answered = [attempt.engine for attempt in race.attempts if attempt.outcome is AttemptOutcome.EMPTY]
        return SearchResponse(query=search.query, attempts=race.attempts, provider=answered[-1])

    def _report_end(
        self, search: _Search, response: SearchResponse | None = None, error: BaseException | None = None
    ) -> None:
        end = response or error
        attempts = end.attempts if isinstance(end, SearchResponse | AllEnginesFailed) else ()
        if search.layer in (CacheLayer.SESSION, CacheLayer.SHARED, CacheLayer.JOINED):
            attempts = ()  # those of an earlier search
        seconds = self._clock() - search.started
        self._on_end(SearchEnd(search.original_query, seconds, response, error, search.layer, attempts))


def _refuse_unusable(query: SearchQuery) -> None:
    if is_blank(query.text):
        raise QueryError
    if len(query.text) > MAX_QUERY_LENGTH:
        raise QueryError(
            f"搜索词有 {len(query.text):,} 个字符，超过了 {MAX_QUERY_LENGTH:,} 个字符的上限，没有执行搜索。",
            cure="请缩短后再搜索。",
        )
