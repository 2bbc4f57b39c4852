"""The imported court cases: by 案号, by name, and by words or meaning among those that pass a filter."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from core.legal.entities import CaseFilter, CaseType, CourtCase
from core.legal.library import ranking
from core.legal.library.index_files import CASE_FIELDS, CASE_TEXT, TEXT, IndexFiles, TextIndex, placeholders
from core.legal.text.lay_words import search_terms

_MARGIN = 20
_MEANT = 160
"""Characters: its name, 案由, 裁判要旨 and the beginning of the facts say what a case is about, and a model takes its time for each."""
_FACTS_BEGIN = re.compile(r"审理查明|基本案情|诉称|指控|提出诉讼请求")
"""In a judgment, after the court, the number and who the parties are."""
_LOOKED_THROUGH = 2_000
_LEAST_COVERAGE = 1 / 3
"""Where no case has more of the words, all are about something else."""
_LEAST_LIKENESS = 0.6
"""Unless it means nearly the same: no general question is as like to any case as that."""
_MOST_FACETS = 500

CaseSemanticScores = Callable[[str, int, Collection[int] | None], Mapping[int, float]]
"""The cases, among those that may be found, that mean most nearly what a question means: their ids, and how nearly, at most 1."""


class CaseIndex(IndexFiles):
    """The cases of one index."""

    def __init__(self, folder: Path, today: Callable[[], date] = date.today) -> None:
        super().__init__(folder, today)
        apart = (
            folder / CASE_TEXT
        ).is_dir()  # in indexes of earlier versions of this program cases stand among articles
        self._case_text = TextIndex(folder / (CASE_TEXT if apart else TEXT), CASE_FIELDS)

    def cases_by_number(self, number: str) -> list[CourtCase]:
        return self._cases("number_key = ?", number)

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
        adds those that mean the same in other words."""
        condition, values = self._wanted(wanted or CaseFilter())
        if not text.strip():
            return self._cases(f"{condition} ORDER BY date DESC LIMIT ?", *values, limit)
        allowed = None
        if wanted:
            rows = self._rows(f"SELECT id FROM court_case WHERE {condition}", *values)  # noqa: S608 (conditions from below)
            allowed = {row[0] for row in rows}
        weighted = search_terms(text)
        pool = limit + _MARGIN
        scores, likeness = self._case_scores(weighted, pool, allowed), semantic_scores(text, pool, allowed)
        asked = [term for term, weight in weighted.items() if weight == 1.0]
        alike = {id for id, likely in likeness.items() if likely >= _LEAST_LIKENESS}
        best = alike | set(sorted(scores, key=lambda id: -scores[id])[:pool])
        found = self._cases(f"id IN ({placeholders(best)})", *best)
        covered = {case.id: ranking.coverage(_words(case), asked) for case in found}
        if not alike and max(covered.values(), default=0.0) < _LEAST_COVERAGE:
            return []
        fused = ranking.fuse_scores(scores, likeness)
        return sorted(found, key=lambda case: -fused[case.id] * ranking.fit(covered[case.id]))[:limit]

    def case_meanings(self) -> Iterator[tuple[int, str]]:
        """Each case, with the words that an embedding model is shown of it."""
        known = "cause, gist" if self._has_causes else "NULL, NULL"
        last = -1
        while rows := self._rows(
            f"SELECT id, name, {known}, substr(coalesce(summary, text, ''), 1, ?) FROM court_case WHERE id > ? ORDER BY id LIMIT 1000",  # noqa: S608 (names from above)
            _LOOKED_THROUGH,
            last,
        ):
            for last, *said, facts in rows:
                begin = _FACTS_BEGIN.search(facts)
                yield last, " ".join(filter(None, (*said, facts[begin.end() :] if begin else facts)))[:_MEANT]

    def _case_scores(self, weighted: dict[str, float], limit: int, allowed: set[int] | None) -> dict[int, float]:
        """A filter may leave few of the best: then more are looked through."""
        depth = limit if allowed is None else limit * max(1, len(self._case_text) // max(len(allowed), 1))
        while True:
            scores = self._case_text.scores(weighted, depth)
            fitting = {id: score for id, score in scores.items() if allowed is None or id in allowed}
            if len(fitting) >= min(limit, len(allowed or fitting)) or len(scores) < depth:
                return fitting
            depth *= 20

    def _wanted(self, wanted: CaseFilter) -> tuple[str, list[str]]:
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

    @cached_property
    def case_facets(self) -> dict[str, list[str]]:
        """What can be chosen: 案由 and courts, the most frequent first, and years, the newest first."""
        columns = {"cause": "cause" if self._has_causes else "NULL", "court": "court", "year": "substr(date, 1, 4)"}
        found = {}
        for name, column in columns.items():
            order = "1 DESC" if name == "year" else "count(*) DESC"
            rows = self._rows(
                f"SELECT {column} FROM court_case WHERE {column} IS NOT NULL GROUP BY 1 ORDER BY {order} LIMIT ?",  # noqa: S608 (names from above)
                _MOST_FACETS,
            )
            found[name] = [row[0] for row in rows]
        return found

    def _cases(self, condition: str, *values: Any) -> list[CourtCase]:
        added = "cause, gist" if self._has_causes else "NULL, NULL"
        rows = self._rows(
            f"SELECT name, number, court, date, type, {added}, summary, verdict, url, source, text, id"  # noqa: S608 (the conditions stand in this file)
            f" FROM court_case WHERE {condition}",
            *values,
        )
        return [_case(*row) for row in rows]


def _case(*row: Any) -> CourtCase:
    name, number, court, day, kind, *rest = row
    return CourtCase(name, number, court, day, CaseType(kind) if kind else None, *rest)


def _words(case: CourtCase) -> str:
    return "\n".join(filter(None, (case.name, case.cause, case.gist, case.text)))
