"""The imported court cases: by 案号, by name, and by words or meaning among those that pass a filter."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from core.base.fusion import fuse_scores
from core.base.text import terms
from core.legal.entities import CaseFilter, CaseType, CourtCase
from core.legal.library import ranking
from core.legal.library.case_relevance import Relevance, case_terms
from core.legal.library.index_files import CASE_FIELDS, CASE_TEXT, TEXT, IndexFiles, TextIndex, placeholders
from core.legal.text.case_numbers import case_keys

_MARGIN = 20
_EMBEDDED_LENGTH = 160
"""Characters of a case for the embedding model: its name, 案由, 裁判要旨 and the beginning of the facts."""
_FACTS_BEGIN = re.compile(r"审理查明|基本案情|诉称|指控|提出诉讼请求")
"""Words before the facts in a judgment. Above them are the court, the number and the parties."""
_SCANNED_LENGTH = 2_000
"""Characters in which the beginning of the facts is looked for."""
_LEAST_LIKENESS = 0.6
"""Similarity from which a case is shown whatever its words. No general question is so similar to any case."""

CaseSemanticScores = Callable[[str, int, Collection[int] | None], Mapping[int, float]]
"""Function from a question, a limit and the allowed ids to the ids of the closest cases, each with a score up to 1."""


class CaseIndex(IndexFiles):
    """The cases of one index."""

    def __init__(self, folder: Path, today: Callable[[], date] = date.today) -> None:
        super().__init__(folder, today)
        # Indexes of earlier versions of this program have cases among the articles.
        name = CASE_TEXT if (folder / CASE_TEXT).is_dir() else TEXT
        self._case_text = TextIndex(folder / name, CASE_FIELDS)

    @cached_property
    def has_cases(self) -> bool:
        return bool(self._rows("SELECT 1 FROM court_case LIMIT 1"))

    def cases_by_number(self, key: str) -> list[CourtCase]:
        """Return the cases with this number, in the spelling of `case_keys`."""
        # Indexes of earlier versions of this program have guiding cases without a key.
        return self._cases("number_key = ?", key) or self._cases("number_key IS NULL AND number = ?", key)

    def cases_mentioning(self, key: str) -> list[CourtCase]:
        """Return cases whose text names another case by its 案号, as a guiding case names its judgments."""
        best = self._case_text.scores(dict.fromkeys(terms(key), 1.0), _MARGIN)
        cases = self._cases(f"id IN ({placeholders(best)})", *best)
        return sorted((case for case in cases if key in case_keys(_words(case))), key=lambda case: -best[case.id])

    def cases_by_name(self, name: str) -> list[CourtCase]:
        return self._cases("name = ?", name)

    def search_cases(
        self,
        text: str,
        limit: int,
        wanted: CaseFilter | None = None,
        semantic_scores: CaseSemanticScores = lambda *_: {},
    ) -> list[CourtCase]:
        """Return the cases that fit the words and the filter, best first; without words the newest. `semantic_scores`
        adds cases with the same meaning."""
        condition, values = self._condition(wanted or CaseFilter())
        if not text.strip():
            return self._cases(f"{condition} ORDER BY date DESC LIMIT ?", *values, limit)
        allowed = None
        if wanted:
            rows = self._rows(f"SELECT id FROM court_case WHERE {condition}", *values)  # noqa: S608 (conditions from below)
            allowed = {row[0] for row in rows}
        weighted, pool = case_terms(text), limit + _MARGIN
        scores, likeness = self._case_scores(weighted, pool, allowed), semantic_scores(text, pool, allowed)
        alike = {id for id, score in likeness.items() if score >= _LEAST_LIKENESS}
        best = alike | set(sorted(scores, key=lambda id: -scores[id])[:pool])
        relevance = Relevance(weighted, self._case_frequency, len(self._case_text))
        shares = {case: relevance.share(_words(case)) for case in self._cases(f"id IN ({placeholders(best)})", *best)}
        if not alike and max(shares.values(), default=0.0) < relevance.floor:
            return []
        fused = fuse_scores(scores, likeness)
        return sorted(shares, key=lambda case: -fused[case.id] * ranking.fit(shares[case]))[:limit]

    def _case_frequency(self, term: str) -> int:
        return self._case_text.frequency(term, *CASE_FIELDS)

    def case_meanings(self) -> Iterator[tuple[int, str]]:
        """Yield the id of each case, with its text for the embedding model."""
        columns = f"id, name, {self._cause_columns}, substr(coalesce(summary, text, ''), 1, {_SCANNED_LENGTH})"
        last = -1
        while rows := self._rows(f"SELECT {columns} FROM court_case WHERE id > ? ORDER BY id LIMIT 1000", last):  # noqa: S608 (names from above)
            for last, *titles, facts in rows:
                begin = _FACTS_BEGIN.search(facts)
                words = (*titles, facts[begin.end() :] if begin else facts)
                yield last, " ".join(filter(None, words))[:_EMBEDDED_LENGTH]

    def _case_scores(self, weighted: dict[str, float], limit: int, allowed: set[int] | None) -> dict[int, float]:
        """Return the best allowed cases. A filter may leave few of the best: then more are examined."""
        depth = limit if allowed is None else limit * max(1, len(self._case_text) // max(len(allowed), 1))
        while True:
            scores = self._case_text.scores(weighted, depth)
            fitting = {id: score for id, score in scores.items() if allowed is None or id in allowed}
            if len(fitting) >= min(limit, len(allowed or fitting)) or len(scores) < depth:
                return fitting
            depth *= 20

    def _condition(self, wanted: CaseFilter) -> tuple[str, list[str]]:
        conditions = {
            "type = ?": wanted.type and wanted.type.value,
            "instr(court, ?)": wanted.court,
            "substr(date, 1, 4) = ?": wanted.year and str(wanted.year),
            "instr(coalesce(cause, name), ?)" if self._has_causes else "instr(name, ?)": wanted.cause,
        }
        given = {condition: value for condition, value in conditions.items() if value}
        return " AND ".join(given) or "true", list(given.values())

    @cached_property
    def _has_causes(self) -> bool:
        return "cause" in self._columns("court_case")

    @property
    def _cause_columns(self) -> str:
        return "cause, gist" if self._has_causes else "NULL, NULL"

    @cached_property
    def case_facets(self) -> dict[str, list[str]]:
        """Values to filter by: 案由 and courts, the most frequent first, and years, the newest first."""
        columns = {"cause": "cause" if self._has_causes else "NULL", "court": "court", "year": "substr(date, 1, 4)"}
        facets = {}
        for name, column in columns.items():
            order = "1 DESC" if name == "year" else "count(*) DESC"
            query = f"SELECT {column} FROM court_case WHERE {column} IS NOT NULL GROUP BY 1 ORDER BY {order} LIMIT 500"  # noqa: S608 (names from above)
            facets[name] = [row[0] for row in self._rows(query)]
        return facets

    def _cases(self, condition: str, *values: Any) -> list[CourtCase]:
        columns = f"name, number, court, date, type, {self._cause_columns}, summary, verdict, url, source, text, id"
        rows = self._rows(f"SELECT {columns} FROM court_case WHERE {condition}", *values)  # noqa: S608 (the conditions stand in this file)
        return [
            CourtCase(name, number, court, day, CaseType(kind) if kind else None, *rest)
            for name, number, court, day, kind, *rest in rows
        ]


def _words(case: CourtCase) -> str:
    return "\n".join(filter(None, (case.name, case.cause, case.gist, case.summary, case.verdict, case.text)))
