"""The recorder of searches, answers and requests. It works in the background: no caller waits for it or fails with it."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from core.base.settings import MetricsSettings
from core.metrics.prometheus import PrometheusExposition
from core.metrics.records import AnswerRecord, Record, RequestRecord, SearchRecord
from core.metrics.time_spans import DAY, HOUR
from core.store import StoreError, TokenUse

if TYPE_CHECKING:
    from core.run import Run
    from core.search.types import SearchEnd

log = logging.getLogger(__name__)

MAX_QUEUED = 10_000
"""Records that may wait for the database. Further ones are dropped and counted."""
BATCH = 500
GATHER_SECONDS = 1.0
"""Time in which records are gathered for one transaction, which costs more than its content."""
RETRY_SECONDS = 5.0
MAX_TRIES = 12
"""Tries of one batch. A database that is away for less than a minute loses nothing; later the batch is dropped."""
CLEANUP_SECONDS = 600.0
PAUSE_SECONDS = 0.05
"""Pause between two steps of the cleanup, in which others can write."""


LOOK_SECONDS = 60.0
"""Time from one look at the records that commands have left to the next."""


class RecordStore(Protocol):
    """What takes records: the database, or the file of a command."""

    def add(
        self,
        searches: Sequence[Mapping[str, Any]],
        attempts: Sequence[Mapping[str, Any]],
        answers: Sequence[Mapping[str, Any]],
        uses: Sequence[TokenUse] = (),
    ) -> None: ...

    def delete_old(self, before: float) -> bool: ...


class MetricsRecorder:
    """Records searches, answers and requests. Thread-safe; the methods that record never raise and never wait."""

    def __init__(
        self,
        store: RecordStore,
        settings: MetricsSettings | None = None,
        *,
        take_left_records: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.time,
        queue: int = MAX_QUEUED,
        gather: float = GATHER_SECONDS,
        retry: float = RETRY_SECONDS,
    ) -> None:
        self._store = store
        self._take_left_records = take_left_records
        self.settings = settings or MetricsSettings()
        self.exposition = PrometheusExposition(lambda: self.dropped) if self.settings.prometheus else None
        self.dropped = 0
        """Number of records that never reached the database, since the start."""
        self._clock = clock
        self._limit = queue
        self._gather = gather
        self._retry = retry
        self._queue: deque[Callable[[], Record]] = deque()
        self._records: deque[Record] = deque()
        self._batch: list[Record] = []
        self._tries = 0
        self._writing = threading.Lock()
        self._starting = threading.Lock()
        self._counting = threading.Lock()
        self._woken = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._cleaned_at = float("-inf")

    # ── In the thread that searched or answered ───────────────────────────────────────────────────────────────────

    def record_search(self, end: SearchEnd) -> None:
        at = self._clock()
        self._enqueue(lambda: SearchRecord.from_search_end(end, timestamp=at, with_query=self.settings.queries))

    def record_answer(self, run: Run) -> None:
        at = self._clock()
        self._enqueue(lambda: AnswerRecord.from_run(run, timestamp=at))

    def record_request(self, token_id: str, outcome: str) -> None:
        record = RequestRecord(self._clock(), token_id, outcome)
        self._enqueue(lambda: record)

    def _enqueue(self, make_record: Callable[[], Record]) -> None:
        """Queue a function that makes the record. A long answer is evaluated later, by the thread that writes it."""
        if not (self.settings.enabled or self.exposition):
            return
        if len(self._queue) >= self._limit:
            self._drop(1)
            return
        self._queue.append(make_record)
        if not self._woken.is_set():
            self._woken.set()
            self.start()

    def _drop(self, count: int) -> None:
        with self._counting:
            self.dropped += count

    # ── In the background ─────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Start the thread that writes records and deletes old ones, unless it runs."""
        with self._starting:
            if self._thread is not None or self._closing.is_set():
                return
            self._thread = threading.Thread(target=self._work, name="wenyuan-metrics", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # the system gives out no more threads
                log.warning("searches and answers are not recorded for want of a thread")
                self._thread = None

    def _work(self) -> None:
        while not self._closing.is_set():
            try:
                self._take_records()
                if not self._woken.wait(LOOK_SECONDS if self._delete_old_records() else PAUSE_SECONDS):
                    continue
                self._woken.clear()
                self._closing.wait(self._gather)
                while not self.flush() and not self._closing.is_set():
                    self._closing.wait(self._retry)
            except Exception:
                log.exception("recording figures met a bug and goes on")
                self._closing.wait(self._retry)

    def flush(self) -> bool:
        """Write all waiting records now, in this thread. Return whether the database has taken them."""
        with self._writing:
            self._make_records()
            while self._batch or self._records:
                while self._records and len(self._batch) < BATCH:
                    self._batch.append(self._records.popleft())
                if not self._write():
                    return False
        return True

    def _make_records(self) -> None:
        """Turn ended searches and answers into records, also while the database is away: records are much smaller."""
        while self._queue:
            try:
                record = self._queue.popleft()()
                if self.exposition:
                    self.exposition.count(record)
            except Exception:
                log.exception("a search or an answer could not be recorded")
                self._drop(1)
                continue
            if self.settings.enabled and len(self._records) < self._limit:
                self._records.append(record)
            elif self.settings.enabled:
                self._drop(1)

    def _write(self) -> bool:
        try:
            write_batch(self._store, self._batch)
        except StoreError as error:
            self._tries += 1
            if self._tries < MAX_TRIES:
                return False
            log.warning("%d records of searches and answers are dropped: %s", len(self._batch), error)
            self._drop(len(self._batch))
        except Exception:
            log.exception("%d records of searches and answers are dropped", len(self._batch))
            self._drop(len(self._batch))
        self._batch, self._tries = [], 0
        return True

    def _take_records(self) -> None:
        """Take the records that commands have left."""
        if self.settings.enabled:
            try:
                self._take_left_records()
            except StoreError as error:
                log.warning("the records of commands wait: %s", error)

    def _delete_old_records(self) -> bool:
        """Do one step of the cleanup if it is due. Return whether it is complete."""
        now = self._clock()
        if now - self._cleaned_at < CLEANUP_SECONDS:
            return True
        try:
            more = self._store.delete_old(now - self.settings.keep_days * DAY)
        except StoreError as error:
            log.warning("old records of searches and answers could not be deleted: %s", error)
            more = False
        if not more:
            self._cleaned_at = now
        return not more

    def close(self, seconds: float = 3.0) -> None:
        """Write the waiting records in one last try."""
        with self._starting:
            self._closing.set()
            self._woken.set()
        if self._thread is not None:
            self._thread.join(seconds)
        if self._thread is None or not self._thread.is_alive():
            self.flush()
        if lost := len(self._queue) + len(self._records) + len(self._batch):
            log.warning("%d records of searches and answers are lost", lost)


def write_batch(store: RecordStore, records: Collection[Record]) -> None:
    """Write one batch: the records themselves, and their part of the sums."""
    searches = [record for record in records if isinstance(record, SearchRecord)]
    attempts = [row for search in searches for row in search.attempt_rows()]
    answers = [record.row() for record in records if isinstance(record, AnswerRecord)]
    hours = Counter(
        (record.token_id, record.at // HOUR * HOUR, record.outcome)
        for record in records
        if isinstance(record, RequestRecord)
    )
    uses = [TokenUse(*use, times) for use, times in hours.items()]
    store.add([search.row() for search in searches], attempts, answers, uses)
