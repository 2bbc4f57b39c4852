"""The figures of this process since it started, in the text format that Prometheus reads."""

from __future__ import annotations

from collections.abc import Callable

from core.metrics.records import AGENT, ANSWER, ANSWER_SECONDS, ATTEMPT, ENGINE_SECONDS, SEARCH, TOKENS, Record

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30, 60, 120, 300)


class Exposition:
    """Built where it is switched on: prometheus_client is imported nowhere else."""

    CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self, dropped: Callable[[], float]) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram
        from prometheus_client.core import CounterMetricFamily

        self._registry = CollectorRegistry()
        # Rejections are searches with outcome "refused"; cache hits are searches with a cache.
        self._searches = Counter(
            "wenyuan_searches",
            "Searches by how they ended, and the cache layer that answered",
            ("type", "engine", "outcome", "cache", "kind"),
            registry=self._registry,
        )
        self._attempts = Counter(
            "wenyuan_engine_attempts",
            "What the engines did for searches",
            ("engine", "outcome", "kind"),
            registry=self._registry,
        )
        self._engine_seconds = Histogram(
            "wenyuan_engine_seconds",
            "Seconds until an engine answered, with results or without",
            ("engine",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._answers = Counter(
            "wenyuan_answers",
            "Answers by how they ended",
            ("mode", "model", "ending", "kind"),
            registry=self._registry,
        )
        self._answer_seconds = Histogram(
            "wenyuan_answer_seconds",
            "Seconds until an answer was complete",
            ("mode",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._tokens = Counter(
            "wenyuan_tokens",
            "Tokens that models have read (input) and written (output)",
            ("model", "direction"),
            registry=self._registry,
        )
        self._iterations = Histogram(
            "wenyuan_agent_iterations",
            "How often the model was asked in one run of the agent",
            buckets=tuple(range(1, 11)),
            registry=self._registry,
        )

        class Dropped:
            def collect(self) -> list[CounterMetricFamily]:
                text = "Records that never reached the database"
                return [CounterMetricFamily("wenyuan_metrics_dropped", text, value=dropped())]

        self._registry.register(Dropped())

    def count(self, record: Record) -> None:
        for series, labels, bucket, amount in record.measures():
            if series == SEARCH:
                self._searches.labels(*labels).inc()
            elif series == ATTEMPT:
                self._attempts.labels(*labels[:3]).inc()
            elif series == ENGINE_SECONDS:
                self._engine_seconds.labels(*labels).observe(amount)
            elif series == ANSWER:
                self._answers.labels(*labels).inc()
            elif series == ANSWER_SECONDS:
                self._answer_seconds.labels(*labels).observe(amount)
            elif series == TOKENS:
                self._tokens.labels(*labels[:2]).inc(amount)
            elif series == AGENT:
                self._iterations.observe(bucket)

    def text(self) -> bytes:
        from prometheus_client import generate_latest

        return generate_latest(self._registry)
