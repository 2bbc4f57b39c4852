"""Engine health: an engine that failed is not asked for a while.

The error's class says for how long; every further failure in a row doubles it. After the rest, one search may try the
engine again (half open). Success ends the matter, failure begins a longer rest. With Redis the app servers share the
rests, so that an engine which has blocked one of them is not asked by the others. Errors that only a change of the
settings can mend stay within the process, because settings belong to a process.
"""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from core.base.redis_link import RedisLink
from core.search.errors import NEVER, EngineError, EngineQuotaExceeded, EngineThrottled, EngineTimeout
from core.search.types import Attempt, AttemptOutcome, Pause

log = logging.getLogger(__name__)

MAX_DOUBLED_REST = 600.0
"""Doubling stops here. An error class that asks for a longer rest gets it, but not twice."""
TRIAL_SECONDS = 10.0
"""Time for which a trial keeps other searches away if it does not report its end."""
MAX_OVERTAKEN = 3
"""Number of times in a row that an engine may be overtaken. Once says little; this often counts as a timeout."""
PROBE_PAUSE_SECONDS = 3.0
"""Time after a failed try of a resting engine in which no other search tries it."""
READ_SHARED_SECONDS = 1.0

# These errors say that something went wrong, not that the engine wants to be left alone.
_WORTH_A_TRY = frozenset({"timeout", "unavailable", "parse", "query_refused", "engine"})


@dataclass(frozen=True, slots=True)
class Rest:
    """The reason why an engine is not asked now, and the seconds that are left."""

    seconds: float
    kind: str
    reason: str
    cure: str = ""
    status: int = 0
    failed_at: float = 0.0
    """Seconds since 1970."""
    is_told: bool = False
    """True if the engine itself has named the time."""

    @property
    def pause(self) -> Pause:
        return Pause(self.failed_at, time.time() + self.seconds, is_firm=not self.may_be_retried)

    def skipped_attempt(self, engine: str) -> Attempt:
        """Return the part of an engine that was not asked for this reason."""
        outcome = AttemptOutcome.SKIPPED
        return Attempt(engine, outcome, 0.0, self.reason, self.kind, self.cure, self.status, self.pause)

    @property
    def may_be_retried(self) -> bool:
        """True if a person who asks for it may have the engine tried now. Where it has named the time itself, or is not
        paid, every request makes things worse."""
        return not self.is_told and self.kind != EngineQuotaExceeded.kind

    @property
    def may_be_tried(self) -> bool:
        """True if asking the engine, when no other is left, does no harm."""
        return self.kind in _WORTH_A_TRY


@dataclass(slots=True)
class _Record:
    failures: int = 0
    strikes: int = 0
    """Failures in a row, also those that a query may have caused."""
    slow: int = 0
    until: float = -math.inf
    trial: bool = False
    """True after the rest: `until` is the time by which the one admitted search has to report."""
    no_probe_until: float = -math.inf
    """A search tries the resting engine, or has just tried it: until then no other search does."""
    rest: Rest = Rest(0.0, "", "")
    """The last rest, with the seconds that it had at its beginning."""


class EngineHealth:
    def __init__(
        self, engines: Iterable[str], *, link: RedisLink | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._records = {name: _Record() for name in engines}
        self._shared_rests = _SharedRests(link) if link else None
        self._shared_read = -math.inf
        self._clock = clock
        self._lock = threading.Lock()

    def admit(self, engine: str) -> Rest | None:
        """Return None if the engine may be asked; the caller then reports the end. A rest is followed by one search."""
        self._read_shared_rests()
        with self._lock:
            record, now = self._records[engine], self._clock()
            if record.until > now:
                return self._rest(record)
            if record.failures:
                record.until, record.trial = now + TRIAL_SECONDS, True
            return None

    def begin_probe(self, engine: str) -> bool:
        """Return whether this search may try the resting engine. Of all visitors' searches one tries at a time."""
        with self._lock:
            record, now = self._records[engine], self._clock()
            if record.no_probe_until > now:
                return False
            record.no_probe_until = now + TRIAL_SECONDS
            return True

    def end_probe(self, engine: str) -> None:
        with self._lock:
            self._records[engine].no_probe_until = self._clock() + PROBE_PAUSE_SECONDS

    def record_success(self, engine: str) -> None:
        """Record a success, which ends every rest."""
        with self._lock:
            had_failed = self._records[engine].failures > 0
            self._records[engine] = _Record()
        if had_failed:
            log.info("engine %s is well again", engine)
            if self._shared_rests:
                self._shared_rests.wipe(engine)

    def record_failure(self, engine: str, error: EngineError) -> None:
        """Record a failure. The error's class says whether and how long the engine rests."""
        with self._lock:
            record, now = self._records[engine], self._clock()
            record.strikes += 1
            if error.strikes == NEVER or record.strikes < error.strikes:
                record.trial = False
                return
            # Searches that were under way when the rest began fail too; together they are one failure.
            if record.until > now and not record.trial and error.rest <= record.until - now:
                return
            record.failures += 1
            seconds = _rest_seconds(error, record.failures)
            record.until, record.trial, record.slow = now + seconds, False, 0
            facts = (error.kind, error.message, error.cure, error.status)
            rest = record.rest = Rest(seconds, *facts, failed_at=time.time(), is_told=_told_seconds(error) is not None)
            failures = record.failures
        log.info("engine %s rests for %.0f s (%s)", engine, seconds, error.kind)
        if self._shared_rests and not error.is_process_local:
            self._shared_rests.post(engine, rest, failures)

    def record_overtaken(self, engine: str) -> None:
        """Record that another engine, started later, answered first."""
        with self._lock:
            record = self._records[engine]
            record.slow += 1
            too_slow = record.slow >= MAX_OVERTAKEN or record.failures > 0
        if too_slow:
            self.record_failure(engine, EngineTimeout("连续几次没有及时答复。"))

    def rests(self) -> dict[str, Rest | None]:
        """Return every engine with its rest, or None, for the settings page."""
        self._read_shared_rests()
        with self._lock:
            now = self._clock()
            return {name: self._rest(record) if record.until > now else None for name, record in self._records.items()}

    def with_pause(self, attempt: Attempt) -> Attempt:
        """Return the failed attempt with the pause that follows it, if any."""
        with self._lock:
            record = self._records[attempt.engine]
            is_paused = record.until > self._clock() and not record.trial
            return replace(attempt, pause=self._rest(record).pause) if is_paused else attempt

    def _rest(self, record: _Record) -> Rest:
        return replace(record.rest, seconds=record.until - self._clock())

    def _read_shared_rests(self) -> None:
        """Read the rests that other app servers found out, at most once a second."""
        with self._lock:
            if self._shared_rests is None or self._clock() - self._shared_read < READ_SHARED_SECONDS:
                return
            self._shared_read = self._clock()
        for name, (rest, failures) in self._shared_rests.read(self._records).items():
            with self._lock:
                record, now = self._records[name], self._clock()
                if record.until < now:
                    self._records[name] = _Record(failures, until=now + rest.seconds, rest=rest)


def _rest_seconds(error: EngineError, failures: int) -> float:
    if _told_seconds(error) is not None:
        return error.rest
    return min(error.rest * 2.0 ** min(failures - 1, 30), max(error.rest, MAX_DOUBLED_REST))


def _told_seconds(error: EngineError) -> float | None:
    """Return the seconds after which the engine itself wants to be asked again; None if it has named none."""
    return error.retry_after if isinstance(error, EngineThrottled) else None


class _SharedRests:
    """Rests of engines in Redis, shared by app servers. Redis deletes an entry when the rest is over."""

    def __init__(self, link: RedisLink) -> None:
        self._link = link

    def post(self, engine: str, rest: Rest, failures: int) -> None:
        fields = {name: value for name, value in asdict(rest).items() if name != "seconds"}
        note = json.dumps({"failures": failures, **fields})
        milliseconds = max(1, round(rest.seconds * 1000))
        self._link.call(lambda redis: redis.set(_key(engine), note, px=milliseconds) and None, lambda: None)

    def wipe(self, engine: str) -> None:
        self._link.call(lambda redis: redis.delete(_key(engine)) and None, lambda: None)

    def read(self, engines: Iterable[str]) -> dict[str, tuple[Rest, int]]:
        return self._link.call(lambda redis: self._notes(redis, list(engines)), dict)

    def _notes(self, redis: Any, engines: list[str]) -> dict[str, tuple[Rest, int]]:
        rests: dict[str, tuple[Rest, int]] = {}
        for engine, note in zip(engines, redis.mget([_key(engine) for engine in engines]), strict=True):
            if note is None or (milliseconds := redis.pttl(_key(engine))) <= 0:
                continue
            try:
                fields = json.loads(note)
                kind, reason, cure = (str(fields[name]) for name in ("kind", "reason", "cure"))
                status, failed_at = int(fields.get("status", 0)), float(fields.get("failed_at") or time.time())
                is_told = fields.get("is_told") is True
                rest = Rest(milliseconds / 1000, kind, reason, cure, status, failed_at, is_told)
                rests[engine] = (rest, int(fields["failures"]))
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                log.warning("a note about engine %s in Redis could not be read and is ignored", engine)
        return rests


def _key(engine: str) -> str:
    return f"wenyuan:rest:1:{engine}"
