"""Failover: engines are asked in order under one deadline, and the first one that finds something wins.

The next engine starts at once when the one before it fails or finds nothing. It also starts when that one has not
answered after a short while; then both run. When one wins, the others are cancelled. An engine that cannot be cancelled
is abandoned, and its thread ends when the engine does.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Literal

from core.base.http import Cancelled, Deadline
from core.base.threads import ThreadPool
from core.search.engine import SearchEngine
from core.search.errors import AllEnginesFailed, EngineError, EngineTimeout, EngineUnavailable, RateLimited
from core.search.health import EngineHealth, Rest
from core.search.results import EngineResults, RawResult, clean_results
from core.search.types import Attempt, AttemptOutcome, SearchQuery, SearchResult

log = logging.getLogger(__name__)

BUILT_IN_SECONDS = 0.5
BUILT_IN_SHARE = 0.1
"""The built-in engines need a few milliseconds. So much of the deadline, at most a tenth, is left for them."""
RETRY_SECONDS = 1.0
MIN_SECONDS = 0.01
"""Shortest time in which it makes sense to ask an engine."""


_Resting = Literal["skip", "probe", "ask"]
"""The way to treat an engine that rests."""


@dataclass(frozen=True, slots=True)
class RaceResult:
    """Result of a race: the winner's results (empty without a winner) and the attempts of all engines that mattered."""

    results: EngineResults
    provider: str
    attempts: tuple[Attempt, ...]
    bug: Exception | None = None
    """Error in our own code. It does not stop the other engines, and it is raised if they find nothing."""


@dataclass(frozen=True, slots=True)
class Failover:
    health: EngineHealth
    hedge_after: float
    take_turn: Callable[[str, Deadline], None] | None = None
    """Function that waits until our own quota allows a request to the engine, or raises RateLimited."""
    workers: ThreadPool = field(default_factory=ThreadPool)
    clock: Callable[[], float] = time.monotonic

    def run(
        self,
        engines: Sequence[SearchEngine],
        query: SearchQuery,
        deadline: Deadline,
        *,
        include_resting: bool = False,
        probe_resting: bool = False,
    ) -> RaceResult:
        """Ask the engines and return the result. `include_resting` asks resting engines too. `probe_resting` does so
        unless another search has just tried, or the engine has said when it wants to be asked again."""
        resting: _Resting = "ask" if include_resting else "probe" if probe_resting else "skip"
        return _Race(self, engines, query, deadline, resting=resting).run()


@dataclass(slots=True)
class _Running:
    deadline: Deadline
    started: float
    asked: float | None = None
    """Time at which the engine itself was asked. Before that, the attempt waits for our own quota."""


@dataclass(frozen=True, slots=True)
class _Report:
    engine: str
    results: EngineResults | None = None
    error: BaseException | None = None


class _Race:
    """One search. Everything happens in the thread that called `run`, except `_ask`."""

    def __init__(
        self,
        failover: Failover,
        engines: Sequence[SearchEngine],
        query: SearchQuery,
        deadline: Deadline,
        *,
        resting: _Resting,
    ) -> None:
        self._failover = failover
        self._engines = engines
        self._query = query
        self._deadline = deadline
        self._treat_resting = resting
        self._limit = deadline.remaining()
        has_built_in = any(not engine.reaches_web for engine in engines)
        self._reserved = min(BUILT_IN_SECONDS, BUILT_IN_SHARE * self._limit) if has_built_in else 0.0
        self._to_start = deque(engine for engine in engines if engine.reaches_web)
        self._running: dict[str, _Running] = {}
        self._resting: dict[str, Rest] = {}
        self._probes: set[str] = set()
        self._attempts: dict[str, Attempt] = {}
        self._reports: SimpleQueue[_Report | None] = SimpleQueue()
        self._last_start = 0.0
        self._bug: Exception | None = None

    def run(self) -> RaceResult:
        self._deadline.on_cancel(lambda: self._reports.put(None))
        winner = self._race()
        if self._deadline.cancelled:
            self._stop_running()
            raise Cancelled
        self._record_unfinished(winner)
        results = winner.results if winner and winner.results else EngineResults()
        return RaceResult(results, winner.engine if winner else "", tuple(self._attempts.values()), self._bug)

    def _race(self) -> _Report | None:
        winner = self._race_web_engines()
        if winner is None and not self._deadline.cancelled:
            self._record_unfinished(None)
            winner = self._ask_built_in_engines()
        return winner

    @property
    def _web_seconds(self) -> float:
        """The seconds that are left for the engines of the web."""
        return max(0.0, self._deadline.remaining() - self._reserved)

    def _ask_built_in_engines(self) -> _Report | None:
        """Ask the built-in engines in the time that was left for them."""
        self._to_start.clear()
        self._reserved = 0.0
        for engine in self._engines:
            if not engine.reaches_web and not self._deadline.cancelled:
                self._start(engine)
                while self._running and self._web_seconds >= MIN_SECONDS and not self._deadline.cancelled:
                    report = self._next_report()
                    # An engine of the web that was late is not running any more.
                    if report is not None and report.engine in self._running and self._record_report(report):
                        return report
        return None

    def _race_web_engines(self) -> _Report | None:
        self._start_next()
        if not self._running:
            self._start_last_resort()
        while self._running:
            report = self._next_report()
            if report is not None and self._record_report(report):
                return report
            if self._deadline.cancelled or self._web_seconds < MIN_SECONDS:
                return None
            self._start_next()
        return self._retry_only_engine()

    def _retry_only_engine(self) -> _Report | None:
        """Try the only web engine a second time after a passing fault, if there is time for it and no other search
        has just tried."""
        web = [engine for engine in self._engines if engine.reaches_web]
        failed = self._attempts.get(web[0].name) if len(web) == 1 else None
        if failed is None or failed.kind != EngineUnavailable.kind or self._web_seconds < RETRY_SECONDS:
            return None
        if failed.outcome is AttemptOutcome.SKIPPED or not self._begin_probe(web[0].name):
            return None
        self._start(web[0])
        report = self._next_report() if self._running else None
        return report if report is not None and self._record_report(report) else None

    def _next_report(self) -> _Report | None:
        """Wait for the next report; None if it is time to start the next engine, or the deadline is over."""
        seconds = self._web_seconds
        if self._to_start:
            seconds = min(seconds, max(0.0, self._last_start + self._failover.hedge_after - self._failover.clock()))
        try:
            return self._reports.get(timeout=seconds)
        except Empty:
            return None

    # ── Starting ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _start_next(self) -> None:
        while self._to_start:
            engine = self._to_start.popleft()
            rest = None if self._treat_resting == "ask" else self._failover.health.admit(engine.name)
            if rest is None or (self._may_retry(rest) and self._begin_probe(engine.name)):
                self._start(engine)
                return
            self._resting[engine.name] = rest
            self._attempts[engine.name] = rest.skipped_attempt(engine.name)

    def _may_retry(self, rest: Rest) -> bool:
        return self._treat_resting == "probe" and rest.may_be_retried

    def _start_last_resort(self) -> None:
        """Try one engine although all rest: the one whose rest ends first. An engine that has asked to be left alone
        (429, captcha, quota) is not tried: every request makes that worse. Nor is any tried while another search tries
        it, or shortly after."""
        willing = [(rest.seconds, name) for name, rest in self._resting.items() if rest.may_be_tried]
        if willing:
            _, least = min(willing)
            if self._begin_probe(least):
                self._start(next(engine for engine in self._engines if engine.name == least))

    def _begin_probe(self, name: str) -> bool:
        """Return whether this search may ask the resting engine."""
        allowed = self._failover.health.begin_probe(name)
        if allowed:
            self._probes.add(name)
        return allowed

    def _end_probe(self, name: str) -> None:
        if name in self._probes:
            self._probes.discard(name)
            self._failover.health.end_probe(name)

    def _start(self, engine: SearchEngine) -> None:
        running = _Running(self._deadline.child(), self._failover.clock())
        self._last_start = running.started
        # While another engine runs, its answer must not wait until a thread is free for this one.
        patience = 0.0 if self._running else self._web_seconds
        if self._failover.workers.start(lambda: self._ask(engine, running), timeout=patience):
            self._running[engine.name] = running
            self._attempts[engine.name] = Attempt(engine.name, AttemptOutcome.SKIPPED)
        elif self._running:
            self._to_start.appendleft(engine)
        else:
            self._attempts[engine.name] = Attempt(
                engine.name, AttemptOutcome.FAILED, reason="同时进行的搜索太多，没有轮到。", kind="busy"
            )

    def _ask(self, engine: SearchEngine, running: _Running) -> None:
        try:
            if self._failover.take_turn:
                self._failover.take_turn(engine.name, running.deadline)
            running.asked = self._failover.clock()
            found = engine.search(self._query, self._query.limit, deadline=running.deadline)
            self._reports.put(_Report(engine.name, _clean_results(found, engine.name, self._query.limit)))
        except BaseException as error:
            self._reports.put(_Report(engine.name, error=error))

    # ── Ending ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _record_report(self, report: _Report) -> bool:
        """Record the report and return whether it is the answer."""
        name, error = report.engine, report.error
        self._end_probe(name)
        running = self._running.pop(name)
        seconds = self._failover.clock() - running.started
        if error is None:
            self._failover.health.record_success(name)
            self._attempts[name] = Attempt(name, AttemptOutcome.OK if report.results else AttemptOutcome.EMPTY, seconds)
            return bool(report.results)
        if isinstance(error, RateLimited):
            reason = f"本站对它的请求已达到每分钟的上限，{error.retry_after} 秒后可用。"
            self._attempts[name] = Attempt(name, AttemptOutcome.SKIPPED, seconds, reason, error.kind)
        elif isinstance(error, EngineError):
            log.warning("engine %s: %s", name, error)
            counts = bool(running.deadline.remaining()) or self._had_fair_time(running)
            self._record_failure(name, error, seconds, counts=counts)
        elif isinstance(error, Exception):
            log.error("engine %s: a bug", name, exc_info=error)
            self._bug = error
            self._attempts[name] = Attempt(name, AttemptOutcome.FAILED, seconds, "程序内部出错。", "internal")
        else:  # the process is being ended
            raise error
        return False

    def _record_failure(self, name: str, error: EngineError, seconds: float, *, counts: bool) -> None:
        """Record a failed attempt. If it counts, the engine may rest."""
        self._attempts[name] = error.attempt(name, seconds)
        if counts:
            self._failover.health.record_failure(name, error)
            self._attempts[name] = self._failover.health.with_pause(self._attempts[name])

    def _record_unfinished(self, winner: _Report | None) -> None:
        """Record the engines that had not answered when the search ended."""
        for name, running in self._stop_running().items():
            seconds = self._failover.clock() - running.started
            if winner:
                reason = f"{winner.engine} 先给出了结果。"
                self._attempts[name] = Attempt(name, AttemptOutcome.SKIPPED, seconds, reason, "abandoned")
                if self._had_fair_time(running):
                    self._failover.health.record_overtaken(name)
            else:
                late = EngineTimeout(f"{seconds:.1f} 秒内没有答复。")
                self._record_failure(name, late, seconds, counts=self._had_fair_time(running))

    def _had_fair_time(self, running: _Running) -> bool:
        """Return whether the engine had about the time after which it is hedged. Only then does lateness count."""
        fair = 0.9 * min(self._failover.hedge_after, self._limit / 2)  # starting a thread takes a moment
        return running.asked is not None and self._failover.clock() - running.asked >= fair

    def _stop_running(self) -> dict[str, _Running]:
        stopped, self._running = self._running, {}
        for name, running in stopped.items():
            self._end_probe(name)
            running.deadline.cancel()
        return stopped


def _clean_results(found: Sequence[SearchResult], engine: str, limit: int) -> EngineResults:
    if isinstance(found, EngineResults):  # made by clean_results already
        return found
    raw = (RawResult(result.title, result.url, result.snippet, result.published, result.text) for result in found)
    return clean_results(raw, engine=engine, limit=limit)


# ── Messages when no engine answered ──────────────────────────────────────────────────────────────────────────────

_CAUSES: dict[str, tuple[str, str]] = {
    error.kind: (error.default_message, error.default_cure) for error in EngineError.__subclasses__()
} | {EngineUnavailable.kind: ("网络不通，或服务不可用。", "请检查网络和代理，或稍后重试。")}


_IN_SHORT = {
    "timeout": "超时",
    "unavailable": "连不上",
    "throttled": "要求放慢",
    "blocked": "拒绝访问",
    "misconfigured": "配置有误",
    "quota": "额度已用完",
    "parse": "返回的内容无法读取",
    "query_refused": "不接受这个搜索词",
    "rate_limited": "达到本站的上限",
    "busy": "没有轮到",
    "internal": "程序出错",
}


_STATUS_IN_SHORT = {401: "拒绝了密钥", 403: "拒绝访问"}


def describe_attempt(attempt: Attempt, label: str) -> str:
    """Return one attempt in a few words: SearXNG 拒绝访问（403）"""
    words = _STATUS_IN_SHORT.get(attempt.status) or _IN_SHORT.get(attempt.kind, "没有成功")
    gap = " " if label[-1:].isascii() else ""
    if attempt.was_paused:
        return f"{label}{gap}暂停中，没有再问（上次{words}{f' {attempt.status}' if attempt.status else ''}）"
    return f"{label}{gap}{words}" + (f"（{attempt.status}）" if attempt.status else "")


def web_failure(attempts: Iterable[Attempt], engines: Sequence[SearchEngine]) -> tuple[str, str]:
    """Return the sentence for a search in which no web engine answered, and the cure of the first cause. Both are empty
    if one answered, or if there is no web engine."""
    reaching = {engine.name: engine.label or engine.name for engine in engines if engine.reaches_web}
    asked = [attempt for attempt in attempts if attempt.engine in reaching]
    if not asked or any(attempt.outcome in (AttemptOutcome.OK, AttemptOutcome.EMPTY) for attempt in asked):
        return "", ""
    causes = "、".join(describe_attempt(attempt, reaching[attempt.engine]) for attempt in asked)
    inside = [engine.label or engine.name for engine in engines if not engine.reaches_web]
    only = f"；只查了{'、'.join(inside)}" if inside else ""
    return f"联网搜索没有成功：{causes}{only}。", next((attempt.cure for attempt in asked if attempt.cure), "")


def all_failed_error(attempts: tuple[Attempt, ...], *, timeout: float) -> AllEnginesFailed:
    """Return the error that names the most frequent cause; with only one engine, exactly its cause."""
    attempts = tuple(attempt for attempt in attempts if attempt.outcome is not AttemptOutcome.EMPTY)
    kinds = Counter(attempt.kind for attempt in attempts)
    cause = kinds.most_common(1)[0][0] if kinds else EngineTimeout.kind
    if attempts and len(attempts) > 1 and all(attempt.was_paused for attempt in attempts):
        first = next(attempt for attempt in attempts if attempt.kind == cause)
        message, cure = "搜索引擎都在暂停，这次没有搜索。", first.cure
    elif cause == EngineTimeout.kind and not any(attempt.was_paused for attempt in attempts):
        message, cure = f"搜索超时：{timeout:g} 秒内没有搜索引擎给出结果。", EngineTimeout.default_cure
    elif len(attempts) == 1:
        skipped = "搜索引擎暂停中，这次没有问它。上次的原因：" if attempts[0].was_paused else ""
        message, cure = f"{skipped}{attempts[0].reason}", attempts[0].cure
    else:
        first = next(attempt for attempt in attempts if attempt.kind == cause)
        happened, cure = _CAUSES.get(cause, (first.reason, first.cure))
        message = f"所有搜索引擎都没有成功：{happened}"
    return AllEnginesFailed(message, cure=cure, attempts=attempts, cause=cause)
