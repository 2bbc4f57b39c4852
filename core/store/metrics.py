"""Figures about the running installation: a row per search and per answer, and their sums per span of time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Table, delete, func, insert, select, text

from core.store.database import Database
from core.store.tables import answer_records, metric_sums, search_records

STEP = 500
"""So many rows are deleted in one transaction: nobody waits long for the database meanwhile."""

# Both databases understand it, and it stays right when several app servers add to the same sum.
_ADD = text(
    "INSERT INTO metric_sums (grain, start, series, labels, bucket, count, amount)"
    " VALUES (:grain, :start, :series, :labels, :bucket, :count, :amount)"
    " ON CONFLICT (grain, start, series, labels, bucket) DO UPDATE"
    " SET count = metric_sums.count + excluded.count, amount = metric_sums.amount + excluded.amount"
)


class SumKey(NamedTuple):
    grain: str
    start: int
    series: str
    labels: str
    bucket: int


class Sum(NamedTuple):
    series: str
    labels: str
    bucket: int
    times: int
    amount: float


class MetricsStore:
    """Every method raises StoreError when the database cannot be used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        searches: Sequence[Mapping[str, Any]],
        answers: Sequence[Mapping[str, Any]],
        sums: Mapping[SumKey, tuple[int, float]],
    ) -> None:
        # In one order, whoever writes: two servers that lock the same rows crosswise would wait for each other.
        rows = [{**key._asdict(), "count": count, "amount": amount} for key, (count, amount) in sorted(sums.items())]
        with self._database.write() as connection:
            for statement, parameters in ((insert(search_records), searches), (insert(answer_records), answers)):
                if parameters:
                    connection.execute(statement, parameters)
            if rows:
                connection.execute(_ADD, rows)

    def sums(self, grain: str, since: float, until: float = math.inf) -> list[Sum]:
        """Everything counted in that time, over the whole of it."""
        c = metric_sums.c
        query = (
            select(c.series, c.labels, c.bucket, func.sum(c.count), func.sum(c.amount))
            .where(c.grain == grain, c.start >= since, *([c.start < until] if until < math.inf else []))
            .group_by(c.series, c.labels, c.bucket)
        )
        with self._database.read() as connection:
            found = connection.execute(query).all()
        return [
            Sum(series, labels, bucket, int(count), float(amount)) for series, labels, bucket, count, amount in found
        ]

    def timeline(self, grain: str, since: float, series: Iterable[str]) -> list[tuple[int, Sum]]:
        """Minute by minute, hour by hour or day by day: when each began, and what was counted in it."""
        c = metric_sums.c
        query = select(c.start, c.series, c.labels, c.bucket, c.count, c.amount).where(
            c.grain == grain, c.start >= since, c.series.in_(list(series))
        )
        with self._database.read() as connection:
            found = connection.execute(query).all()
        return [(int(start), Sum(*counted)) for start, *counted in found]

    def oldest(self) -> float | None:
        """When the first record was made that is still there."""
        first = [select(func.min(records.c.at)).scalar_subquery() for records in (search_records, answer_records)]
        with self._database.read() as connection:
            return min((at for at in connection.execute(select(*first)).one() if at is not None), default=None)

    def latest_searches(self, since: float, limit: int) -> list[dict[str, Any]]:
        return self._latest(search_records, since, limit)

    def latest_answers(self, since: float, limit: int) -> list[dict[str, Any]]:
        return self._latest(answer_records, since, limit)

    def _latest(self, records: Table, since: float, limit: int) -> list[dict[str, Any]]:
        query = select(records).where(records.c.at >= since).order_by(records.c.at.desc()).limit(limit)
        with self._database.read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def forget(self, records_before: float, sums_before: Mapping[str, float]) -> bool:
        """One small step; whether another one is needed."""
        more = False
        for records in (search_records, answer_records):
            oldest = select(records.c.at).where(records.c.at < records_before).order_by(records.c.at).limit(STEP)
            upto = select(func.max(oldest.subquery().c.at)).scalar_subquery()
            more |= self._delete(delete(records).where(records.c.at <= upto))
        for grain, before in sums_before.items():
            of_grain = metric_sums.c.grain == grain
            starts = select(metric_sums.c.start).where(of_grain, metric_sums.c.start < before)
            upto = select(
                func.max(starts.order_by(metric_sums.c.start).limit(STEP).subquery().c.start)
            ).scalar_subquery()
            more |= self._delete(delete(metric_sums).where(of_grain, metric_sums.c.start <= upto))
        return more

    def _delete(self, statement: Any) -> bool:
        with self._database.write() as connection:
            return connection.execute(statement).rowcount >= STEP
