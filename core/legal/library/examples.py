"""Examples for readers who do not know what to ask: each was tried, and finds something in the library at hand."""

from __future__ import annotations

from core.legal.article_numbers import parse_article_number
from core.legal.entities import LawKind
from core.legal.library.case_search import CaseService
from core.legal.library.index import LegalIndex, LegalLibrary
from core.legal.library.law_index import LawVersion
from core.legal.library.statutes import RegulationService

WELL_KNOWN = ("中华人民共和国劳动合同法", "第三十八条")
_STATUTES = (
    ("劳动合同法第38条", "劳动合同法"),
    ("民法典", "民法典"),
    ("公司拖欠工资可以辞职吗", "劳动合同法"),
    ("离婚冷静期是多久", "民法典"),
)
"""Queries, each with the law that its results must have."""
_SHOWN = 3
_CASES = ("民间借贷 利息", "买卖合同 违约金", "劳动争议 加班费", "交通事故 赔偿", "离婚 财产分割")


def example_article(index: LegalIndex) -> tuple[str, str]:
    """Return the name and the number of an article to begin with: a well-known one, else one of the longest statute."""
    name, number = WELL_KNOWN
    law = index.resolve(name)
    if law and index.article(law.id, parse_article_number(number)):
        return WELL_KNOWN
    longest = _longest_law(index)
    return (longest.name, _first_number(index, longest)) if longest else WELL_KNOWN


def example_queries(library: LegalLibrary, index: LegalIndex) -> list[str]:
    """Return queries for laws, by article, by name and in everyday words as far as the library answers them."""
    found = [query for query, law in _STATUTES if _finds(library, index, query, law)][:_SHOWN]
    longest = _longest_law(index)
    if found or longest is None:
        return found
    return [f"{longest.key}{_first_number(index, longest)}", longest.key]


def example_case_query(library: LegalLibrary, index: LegalIndex) -> str:
    """Return a query for cases that finds some, or an empty string."""
    local = CaseService(library)
    queries = (*_CASES, *index.case_facets["cause"][:1])
    return next((query for query in queries if local.search(query, limit=1).results), "")


def _finds(library: LegalLibrary, index: LegalIndex, query: str, law: str) -> bool:
    wanted = index.resolve(law)
    results = RegulationService(library).search(query, limit=_SHOWN).results if wanted else ()
    return any(wanted and one.law_name == wanted.name for one in results)


def _longest_law(index: LegalIndex) -> LawVersion | None:
    laws = [law for law in index.laws() if law.article_count]
    return max(laws, key=lambda law: (law.kind is LawKind.STATUTE, law.article_count), default=None)


def _first_number(index: LegalIndex, law: LawVersion) -> str:
    return next((str(one.number) for one in index.articles(law.id) if one.number.number), "")
