"""Metrics of this process since it started, in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from core import __version__
from core.metrics.records import OK, Record, RequestRecord, SearchRecord
from core.search.types import AttemptOutcome

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30, 60, 120, 300)


class PrometheusExposition:
    """Prometheus counters. It is built only if it is switched on: prometheus_client is imported nowhere else."""

    CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self, count_dropped: Callable[[], float]) -> None:
        """Register the counters. `count_dropped` returns the number of records that were lost."""
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
        from prometheus_client.core import CounterMetricFamily

        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        histogram = partial(Histogram, registry=self._registry, buckets=_SECONDS)
        # Rejections are searches with outcome "refused"; cache hits are searches with a cache.
        text = "Searches by how they ended, and the cache layer that answered"
        self._searches = counter("wenyuan_searches", text, ("type", "engine", "outcome", "cache", "kind"))
        text = "What the engines did for searches"
        self._attempts = counter("wenyuan_engine_attempts", text, ("engine", "outcome", "kind"))
        text = "Seconds until an engine answered, with results or without"
        self._engine_seconds = histogram("wenyuan_engine_seconds", text, ("engine",))
        text = "Answers by how they ended"
        self._answers = counter("wenyuan_answers", text, ("mode", "model", "ending", "kind"))
        text = "Seconds until an answer was complete"
        self._answer_seconds = histogram("wenyuan_answer_seconds", text, ("mode",))
        text = "Tokens that models have read (input) and written (output)"
        self._tokens = counter("wenyuan_tokens", text, ("model", "direction"))
        text = "How often the model was asked in one run of the agent"
        self._iterations = histogram("wenyuan_agent_iterations", text, buckets=tuple(range(1, 11)))

        text = "Requests of other programs by how they ended"
        self._requests = counter("wenyuan_api_requests", text, ("outcome",))

        text = "The version of the program, as a label"
        Gauge("wenyuan_build_info", text, ("version",), registry=self._registry).labels(__version__).set(1)
        text = "Pages that are open in browsers now"
        self._open_pages = Gauge("wenyuan_open_pages", text, registry=self._registry)
        text = "Questions that wait for their turn now"
        self._waiting = Gauge("wenyuan_waiting_questions", text, registry=self._registry)
        ProcessCollector(registry=self._registry)  # memory, processor time, file descriptors

        class DroppedCollector:
            def collect(self) -> list[CounterMetricFamily]:
                text = "Records that never reached the database"
                return [CounterMetricFamily("wenyuan_metrics_dropped", text, value=count_dropped())]

        self._registry.register(DroppedCollector())

    def count(self, record: Record) -> None:
        """Add one record to the counters."""
        if isinstance(record, SearchRecord):
            self._searches.labels(record.type, record.engine, record.outcome, record.cache, record.kind).inc()
            for attempt in record.attempts:
                self._attempts.labels(attempt.engine, attempt.outcome, attempt.kind).inc()
                if attempt.outcome in (AttemptOutcome.OK, AttemptOutcome.EMPTY):
                    self._engine_seconds.labels(attempt.engine).observe(attempt.seconds)
            return
        if isinstance(record, RequestRecord):
            self._requests.labels(record.outcome).inc()
            return
        self._answers.labels(record.mode, record.model, record.ending, record.kind).inc()
        if record.ending == OK:
            self._answer_seconds.labels(record.mode).observe(record.seconds)
        for direction, tokens in (("input", record.input), ("output", record.output)):
            if tokens:
                self._tokens.labels(record.model, direction).inc(tokens)
        if record.iterations:
            self._iterations.observe(record.iterations)

    def text(self, *, open_pages: int = 0, waiting_questions: int = 0) -> bytes:
        from prometheus_client import generate_latest

        self._open_pages.set(open_pages)
        self._waiting.set(waiting_questions)
        return generate_latest(self._registry)
