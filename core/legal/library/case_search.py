"""Court cases by keyword, filter or number (案号, 指导性案例): from the index, else from the web."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from core.base.chinese.script import to_simplified
from core.base.text import one_line
from core.legal.entities import CaseFilter, CaseType, CourtCase
from core.legal.errors import NoCases, NoLegalIndex
from core.legal.library.case_index import CaseSemanticScores
from core.legal.library.index import LegalIndex, LegalLibrary
from core.legal.library.statutes import AnsweredBy, Fallback
from core.legal.text.case_numbers import case_keys, find_case_numbers
from core.search.errors import QueryError
from core.search.types import SearchResponse, SearchResult

ANY_CASE = CaseFilter()


@dataclass(frozen=True, slots=True)
class CaseResponse:
    query: str
    results: tuple[CourtCase, ...]
    origin: AnsweredBy
    search_time: float = 0.0
    web: SearchResponse | None = None
    note: str = ""
    """Note for the reader, such as 没有符合条件的案例."""

    def to_json(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "results": [case.to_json() for case in self.results],
            "totalResults": len(self.results),
            "searchTime": round(self.search_time, 4),
            "origin": self.origin,
            "note": self.note,
        }


class CaseService:
    """Search for court cases in the library, with the web as a fallback."""

    def __init__(self, library: LegalLibrary, fallback: Fallback | None = None) -> None:
        self._library = library
        self._fallback = fallback

    def search(
        self,
        keyword: str,
        case_type: CaseType | str | None = None,
        limit: int = 10,
        case_filter: CaseFilter = ANY_CASE,
        *,
        may_relax_filter: bool = False,
    ) -> CaseResponse:
        """Return cases for a query. A 案号 or the number of a guiding case finds its case in any notation. A filter without a query returns the newest
        cases. `case_type` is a short way to filter by type. With `may_relax_filter`, if no case passes the filter, only
        the words and the type count."""
        started = time.perf_counter()
        query = one_line(keyword)
        case_filter = replace(case_filter, type=CaseType(case_type)) if case_type else case_filter
        if not (query or case_filter):
            raise QueryError
        index = self._library.index()
        if index is None and self._fallback is None:
            raise NoCases
        similar = self._library.similar_cases
        found = _find(index, query, case_filter, limit, similar) if index else []
        note, of_type = self._empty_note(index), CaseFilter(case_filter.type)
        if index and not found and query and may_relax_filter and case_filter != of_type:
            found = _find(index, query, of_type, limit, similar)
            note = f"库中没有符合条件（{case_filter}）的案例，以下不限这些条件。" if found else note
        if found or self._fallback is None or not query:
            response = CaseResponse(query, tuple(found), "index", note=note)
        else:
            web = self._fallback(_web_query(query, case_filter), limit)
            response = CaseResponse(query, tuple(map(_from_web, web.results)), "web", web=web, note=note)
        return replace(response, search_time=time.perf_counter() - started)

    def _empty_note(self, index: LegalIndex | None) -> str:
        """Return what fills a library without any case, and what is searched instead; empty for other libraries."""
        if index and index.has_cases:
            return ""
        web = "改用网络搜索。" if self._fallback else "没有可用的网络搜索引擎。"
        return f"{NoCases.default_message}{web}{NoCases.default_cure}"

    def find(self, number_or_name: str) -> list[CourtCase]:
        """Return whole cases by number, or by name for those without one. Raises NoLegalIndex."""
        index = self._library.index()
        if index is None:
            raise NoLegalIndex
        keys = case_keys(number_or_name)
        return (index.cases_by_number(keys[0]) if keys else []) or index.cases_by_name(number_or_name)


def _find(
    index: LegalIndex, query: str, case_filter: CaseFilter, limit: int, similar: CaseSemanticScores
) -> list[CourtCase]:
    """Return matching cases. A number names one case, so only the type of the filter still counts. A 案号 that is no case
    of the library finds the cases that name it."""
    if keys := case_keys(query):
        named = [case for key in keys for case in index.cases_by_number(key) or index.cases_mentioning(key)]
        return [case for case in named if case_filter.type is None or case.type is case_filter.type][:limit]
    return index.search_cases(to_simplified(query), limit, case_filter, similar)


def _web_query(query: str, case_filter: CaseFilter) -> str:
    """Return the query with the filter written as words, for the web."""
    year = f"{case_filter.year}年" if case_filter.year else ""
    kind = f"{case_filter.type}案件" if case_filter.type else ""
    return " ".join(filter(None, (query, case_filter.cause, case_filter.court, year, kind)))


def _from_web(result: SearchResult) -> CourtCase:
    """Return a web result as a case. A 案号 in its title or snippet gives the number and the type."""
    numbers = find_case_numbers(f"{result.title}\n{result.snippet}")
    return CourtCase(
        name=result.title,
        number=numbers[0].text if numbers else None,
        type=numbers[0].type if numbers else None,
        summary=result.snippet or None,
        url=result.url,
        source=result.source,
    )
