"""Laws with their articles, and court cases: plain frozen values, already cleaned."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from core.legal.article_numbers import ArticleNumber
from core.search.types import DOCUMENTS

LAWS, CASES = "laws", "cases"
LIBRARY_LABELS = {LAWS: "本地法规库", CASES: "本地案例库", DOCUMENTS: "资料"}
"""Names of the local libraries as sources of results, and what readers call them."""
MAX_ARTICLES = 10
"""Number of articles that an answer gets beside the results of the web."""


class LawKind(StrEnum):
    CONSTITUTION = "宪法"
    STATUTE = "法律"
    INTERPRETATION = "司法解释"
    REGULATION = "行政法规"
    RULE = "部门规章"
    LOCAL = "地方性法规"
    OTHER = "其他"

    @property
    def weight(self) -> float:
        """Rank bonus between equally good matches: 1 for statutes, 0 for regulations."""
        return _WEIGHTS.get(self, 0.0)


_WEIGHTS = {LawKind.CONSTITUTION: 1.0, LawKind.STATUTE: 1.0, LawKind.INTERPRETATION: 0.5}


class LawStatus(StrEnum):
    """Validity, in the words of the national database (flk.npc.gov.cn)."""

    IN_FORCE = "有效"
    NOT_YET_IN_FORCE = "尚未生效"
    AMENDED = "已修改"
    REPEALED = "已废止"


@dataclass(frozen=True, slots=True)
class Article:
    number: ArticleNumber
    text: str
    path: tuple[str, ...] = ()
    """Headings above the article: 第二编 物权, 第一章 一般规定."""


@dataclass(frozen=True, slots=True)
class Law:
    """One version of one law, as one source has it. Dates are ISO strings, None if unknown."""

    name: str
    kind: LawKind
    articles: tuple[Article, ...]
    source: str
    issuer: str | None = None
    published: str | None = None
    """Day on which this version was adopted or announced, not when it came into force."""
    effective: str | None = None
    repealed: bool = False
    history: tuple[str, ...] = ()
    """Days on which the law was first made and then amended, up to this version."""


class CaseType(StrEnum):
    CIVIL = "民事"
    CRIMINAL = "刑事"
    ADMINISTRATIVE = "行政"
    OTHER = "其他"


@dataclass(frozen=True, slots=True)
class CaseFilter:
    """Conditions for a case. A case whose field is unknown does not match."""

    type: CaseType | None = None
    cause: str = ""
    """Part of the 案由, or of the name if the case has no 案由."""
    court: str = ""
    """Part of the court's name: 北京 finds 北京市高级人民法院."""
    year: int | None = None
    """Year of the decision."""

    def __bool__(self) -> bool:
        return bool(self.type or self.cause or self.court or self.year)

    def __str__(self) -> str:
        parts = (
            f"案由含「{self.cause}」" if self.cause else "",
            f"法院含「{self.court}」" if self.court else "",
            f"{self.year} 年" if self.year else "",
            f"{self.type}案件" if self.type else "",
        )
        return "、".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class CourtCase:
    """A court case. Fields are None where the source does not say; nothing is guessed."""

    name: str
    number: str | None = None
    court: str | None = None
    date: str | None = None
    type: CaseType | None = None
    cause: str | None = None
    """Cause of action (案由)."""
    gist: str | None = None
    """裁判要旨: the rule that the court drew from the case."""
    summary: str | None = None
    verdict: str | None = None
    url: str | None = None
    source: str = ""
    text: str = field(default="", repr=False)
    """Full text of the document."""
    id: int = 0
    """Id in the index; 0 before the case is stored."""

    def to_json(self) -> dict[str, Any]:
        """Return the case with the keys of the documented JSON, without its full text."""
        return {
            "caseNumber": self.number,
            "caseName": self.name,
            "court": self.court,
            "date": self.date,
            "caseType": self.type.value if self.type else None,
            "cause": self.cause,
            "gist": self.gist,
            "summary": self.summary,
            "verdict": self.verdict,
            "url": self.url,
            "source": self.source,
            "id": self.id or None,
        }
