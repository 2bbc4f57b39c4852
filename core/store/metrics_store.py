"""Records of searches, of what engines did for them, of answers and of requests, and their counts, grouped by the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, Table, case, cast, delete, func, insert, literal, select, text

from core.store.counts import AnswerCount, AttemptCount, Counts, SearchCount, SecondsCount, TokenAnswers, TokenUse
from core.store.database import Database
from core.store.tables import answer_records, attempt_records, search_records, token_uses

# Both databases understand it. A token that was withdrawn meanwhile leaves nothing behind.
_ADD_USE = text(
    "INSERT INTO token_uses (token_id, at, outcome, times) "
    "SELECT CAST(:token_id AS TEXT), CAST(:at AS DOUBLE PRECISION), CAST(:outcome AS TEXT), CAST(:times AS BIGINT) "
    "WHERE CAST(:token_id AS TEXT) = '' OR EXISTS (SELECT 1 FROM tokens WHERE id = :token_id) "
    "ON CONFLICT (token_id, at, outcome) DO UPDATE SET times = token_uses.times + excluded.times"
)
DELETE_LIMIT = 500
"""Rows that are deleted in one transaction: nobody waits long for the database meanwhile."""


class MetricsStore:
    """Records and sums of searches, answers and requests. Every method raises StoreError if the database cannot be used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        searches: Sequence[Mapping[str, Any]],
        attempts: Sequence[Mapping[str, Any]],
        answers: Sequence[Mapping[str, Any]],
        uses: Sequence[TokenUse] = (),
    ) -> None:
        """Insert the records in one transaction."""
        with self._database.write() as connection:
            for use in uses:
                connection.execute(_ADD_USE, use._asdict())
            for table, rows in ((search_records, searches), (attempt_records, attempts), (answer_records, answers)):
                if rows:
                    connection.execute(insert(table), rows)

    def counts(self, edges: Sequence[int]) -> Counts:
        """Count what happened between the first edge and the last; attempts all together, the rest from edge to edge."""
        seconds = _grouped(answer_records, edges, "part mode rounded").where(answer_records.c.ending == "ok")
        keys = "part mode model ending kind estimated iterations"
        with self._database.read() as connection:
            searches = connection.execute(_grouped(search_records, edges, "part type engine outcome cache kind"))
            attempts = connection.execute(_grouped(attempt_records, edges, "engine outcome kind place rounded"))
            answers = connection.execute(_grouped(answer_records, edges, keys, summed="input output tool_calls"))
            return Counts(
                [SearchCount(*row) for row in searches],
                [AttemptCount(*row) for row in attempts],
                [AnswerCount(*row) for row in answers],
                [SecondsCount(*row) for row in connection.execute(seconds)],
            )

    def token_uses(self, start: float, end: float) -> list[TokenUse]:
        """Count the requests of each token in a span."""
        c = token_uses.c
        counted = select(c.token_id, literal(start), c.outcome, cast(func.sum(c.times), BigInteger))
        with self._database.read() as connection:
            rows = connection.execute(counted.where(c.at >= start, c.at < end).group_by(c.token_id, c.outcome))
            return [TokenUse(*row) for row in rows]

    def token_answers(self, start: float, end: float) -> list[TokenAnswers]:
        """Count the answers for each token in a span."""
        c = answer_records.c
        sums = (cast(func.sum(column), BigInteger) for column in (c.input, c.output))
        counted = select(c.token_id, func.count(), *sums).where(c.at >= start, c.at < end, c.token_id != "")
        with self._database.read() as connection:
            return [TokenAnswers(*row) for row in connection.execute(counted.group_by(c.token_id))]

    def oldest_record_time(self) -> float | None:
        """Return the time of the oldest record that still exists."""
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

    def delete_old(self, before: float) -> bool:
        """Delete the oldest records in one small step. Return whether another one is needed."""
        tables = (search_records, attempt_records, answer_records, token_uses)
        return any(self._forget(records, before) for records in tables)

    def _forget(self, records: Table, before: float) -> bool:
        oldest = select(records.c.at).where(records.c.at < before).order_by(records.c.at).limit(DELETE_LIMIT)
        upto = select(func.max(oldest.subquery().c.at)).scalar_subquery()
        with self._database.write() as connection:
            return connection.execute(delete(records).where(records.c.at <= upto)).rowcount >= DELETE_LIMIT


def _grouped(records: Table, edges: Sequence[int], keys: str, summed: str = "") -> Select[Any]:
    c = records.c
    names = keys.split()
    made: dict[str, ColumnElement[Any]] = {"part": _part(c.at, edges), "rounded": _rounded(c.seconds)}
    sums = [cast(func.sum(c[name]), BigInteger) for name in summed.split()]
    columns = [made[name].label(name) if name in made else c[name] for name in names]
    return select(*columns, func.count(), *sums).where(c.at >= edges[0], c.at < edges[-1]).group_by(*names)


def _part(at: ColumnElement[float], edges: Sequence[int]) -> ColumnElement[int]:
    """Return the last edge before that time. Days are of different lengths where clocks are changed."""
    runs: list[tuple[int, int]] = []
    for start, end in pairwise(edges):
        if not runs or runs[-1][1] != end - start:
            runs.append((start, end - start))
    starts = [(at >= start, start + func.floor((at - start) / length) * length) for start, length in reversed(runs)]
    return cast(case(*starts), BigInteger)


def _rounded(seconds: ColumnElement[float]) -> ColumnElement[float]:
    """Round to two digits: no more than 5 % away, and so few different values that they can be grouped."""
    scales = ((0.1, 1000), (1, 100), (10, 10))
    exact = [(seconds < limit, func.round(seconds * scale) / scale) for limit, scale in scales]
    return case(*exact, else_=func.round(seconds))
