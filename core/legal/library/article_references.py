"""Articles that an article refers to, each in the version of its law that the reference was written for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.base.text import one_line, shorten
from core.legal.article_numbers import ArticleNumber
from core.legal.library.article_history import are_alike
from core.legal.library.article_index import StoredArticle
from core.legal.library.index import LegalIndex
from core.legal.library.law_index import LawVersion
from core.legal.library.version_on_day import version_on
from core.legal.text.law_qualifiers import Edition
from core.legal.text.periods import Period
from core.legal.text.statute_citations import Citation, find_citations

REFERENCE_LENGTH = 60
_MAX_REFERENCES = 20
_LONGEST_RANGE = 10
NOT_HELD = "库中没有"
RENUMBERED = "条号可能已变"


@dataclass(frozen=True, slots=True)
class ArticleReference:
    """Another article that an article refers to, with its first words."""

    law_name: str
    article_number: str
    content: str | None
    """First words of the article in the version that was meant, or None if the library does not hold that."""
    start: int
    end: int
    version: str | None = None
    """Publication day of that version, if it is not the current one."""
    note: str = ""
    """Reason why there is no content: NOT_HELD or RENUMBERED."""

    @property
    def description(self) -> str:
        """The first words, or the reason why there are none."""
        older = f"（{self.version} 公布的版本）" if self.version else ""
        return f"{older}{self.content}" if self.content else self.note

    def to_json(self) -> dict[str, Any]:
        return {
            "lawName": self.law_name,
            "articleNumber": self.article_number,
            "content": self.content,
            "start": self.start,
            "end": self.end,
            "version": self.version,
            "note": self.note,
        }


def article_references(index: LegalIndex, citing: StoredArticle) -> Iterator[ArticleReference]:
    """Yield the articles that an article refers to, each once."""
    if "条" not in citing.text:  # most articles refer to no other
        return
    seen: set[tuple[str, ArticleNumber]] = {(index.version(citing.law_id).name, citing.number)}
    for citation in find_citations(citing.text, index.is_known, in_statute=True):
        for reference, number in _references(index, citing, citation):
            identity = reference.law_name, number
            if identity not in seen and len(seen) <= _MAX_REFERENCES:
                seen.add(identity)
                yield reference


def _references(
    index: LegalIndex, citing: StoredArticle, citation: Citation
) -> Iterator[tuple[ArticleReference, ArticleNumber]]:
    own, place = index.version(citing.law_id), (citation.start, citation.end)
    current = own if citation.is_own_law else index.resolve(citation.law or "")
    name = current.name if current else citation.law or ""
    if citation.steps_back:
        steps = range(citation.steps_back, 0, -1)
        for found in filter(None, (index.preceding_article(own.id, citing.number, step) for step in steps)):
            yield ArticleReference(name, str(found.number), _first_words(found), *place), found.number
        return
    for number in cited_numbers(citation):
        article = _meant_article(index, own, current, citation.edition, number) if current else None
        if isinstance(article, StoredArticle):
            meant = index.version(article.law_id)
            version = meant.published if current and meant.id not in (current.id, own.id) else None
            yield ArticleReference(name, str(number), _first_words(article), *place, version), number
        else:
            yield ArticleReference(name, str(number), None, *place, note=article or NOT_HELD), number


def _meant_article(
    index: LegalIndex, citing: LawVersion, cited: LawVersion, edition: Edition | None, number: ArticleNumber
) -> StoredArticle | str | None:
    """Return the article of the named version (2001年修正的商标法), else that of the time. 修改前的 names no version."""
    if edition is None:
        return article_when_cited(index, citing, cited, number)
    year = str(edition.year or "unknown")
    version = next((one for one in index.versions(cited.key) if (one.published or "").startswith(year)), None)
    return index.article(version.id, number) if version else None


def _first_words(article: StoredArticle) -> str:
    return shorten(one_line(article.text), REFERENCE_LENGTH)


def cited_numbers(citation: Citation) -> list[ArticleNumber]:
    first = citation.article.number
    last = min(citation.last.number, first + _LONGEST_RANGE - 1) if citation.last else first
    return [citation.article, *map(ArticleNumber, range(first + 1, last + 1))]


def article_when_cited(
    index: LegalIndex, citing: LawVersion, cited: LawVersion, number: ArticleNumber
) -> StoredArticle | str | None:
    """Return the article that one law means by the number of another: in the version of the time when it was made. RENUMBERED
    if the library lacks that version or cannot tell which it was, None if that version has no such article."""
    if citing.key == cited.key:
        return index.article(citing.id, number)
    found = [index.article(version.id, number) for version in _versions_when_cited(index, citing, cited)]
    if not found:
        return RENUMBERED
    first, *others = found
    is_sure = all(first and other and are_alike(first.text, other.text) for other in others)
    return first if is_sure else RENUMBERED


def _versions_when_cited(index: LegalIndex, citing: LawVersion, cited: LawVersion) -> Sequence[LawVersion]:
    """Return the version in force when the citing law came into force, and any other that it may mean: one published
    before but not yet in force, where its own day of force is unknown. Empty if the library lacks what was in force."""
    if not citing.begins:
        return [cited] if _was_never_amended(index, cited) else []
    made, begins = citing.published or citing.begins, citing.begins
    then = version_on(index, cited.key, Period(begins, begins))
    if then.is_exact and (then.law.published or "") > made:  # Nobody cites what is not yet published.
        then = version_on(index, cited.key, Period(made, made))
    announced = [one for one in index.versions(cited.key) if one.begins > begins and (one.published or begins) < made]
    if not then.is_exact:
        return []
    return [then.law, *(() if citing.effective else announced)]


def _was_never_amended(index: LegalIndex, law: LawVersion) -> bool:
    return len(index.versions(law.key)) == 1 and len(law.history) == 1
