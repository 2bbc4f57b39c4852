"""Statute check (法条核验): look up every statute that a text cites, and compare what the text says with the law."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum, auto
from typing import Any, NamedTuple

from core.base.chinese.numerals import to_chinese
from core.base.chinese.script import to_simplified
from core.legal.article_numbers import ArticleNumber
from core.legal.entities import LawStatus
from core.legal.errors import NoLegalIndex
from core.legal.library.article_index import StoredArticle
from core.legal.library.index import LegalIndex, LegalLibrary
from core.legal.library.law_index import LawVersion
from core.legal.library.version_on_day import version_on
from core.legal.text.law_names import law_key
from core.legal.text.law_qualifiers import Edition, edition_of_name, is_abroad, is_not_a_law
from core.legal.text.paragraphs import excerpt
from core.legal.text.periods import CitationPeriod, CitationPeriods, Period, PeriodSource
from core.legal.text.quotations import Quotation, find_quotations, is_quoted_from
from core.legal.text.restatement import Restatement, find_restatements, group_citations
from core.legal.text.rule_comparison import (
    ArticleWords,
    RuleMatch,
    compare_with_article,
    contained_share,
    word_pairs,
)
from core.legal.text.statute_citations import Citation, find_citations

_FITS = 0.5
"""Smallest share of a restatement that its article holds. Below it, another article may be meant."""
_FITS_BETTER = 0.3
_FITS_CLEARLY = 0.8
"""Share from which another article's wording is recognised, whoever wrote the text."""
_STRANGE = 0.3
_LEAST_PAIRS = 10
"""Smallest number of letter pairs that can be compared. Fewer stand in many articles."""
_QUOTATION_MARK = re.compile(r"[“「『\"]")
"""Opening quotation mark. A restatement that quotes a contract or a party is not about the article alone."""
_LONGEST_RANGE = 20
_MOST_ASKED_BACK = 50
_MOST_TOGETHER = 20
"""Largest number of articles cited together. Nobody restates more of them in one sentence."""


class StatuteMark(StrEnum):
    AGREES = "✓"
    EXISTS = "○"
    DIFFERS = "≠"
    MISSING = "✗"
    NOT_IN_FORCE = "⌛"
    UNKNOWN = "？"

    @property
    def meaning(self) -> str:
        return {
            StatuteMark.AGREES: "与条文一致",
            StatuteMark.EXISTS: "条文存在",
            StatuteMark.DIFFERS: "与条文不一致",
            StatuteMark.MISSING: "没有这一条",
            StatuteMark.NOT_IN_FORCE: "不是现行有效的条文",
            StatuteMark.UNKNOWN: "库中没有这部法规",
        }[self]


PROBLEMS = (StatuteMark.DIFFERS, StatuteMark.MISSING, StatuteMark.NOT_IN_FORCE)
WORST_FIRST = (*PROBLEMS, StatuteMark.UNKNOWN, StatuteMark.EXISTS, StatuteMark.AGREES)


class Author(Enum):
    """Author of a text. People mostly apply an article in their own words, models restate it."""

    MODEL = auto()
    PERSON = auto()


@dataclass(frozen=True, slots=True)
class StatuteFinding:
    """Result of checking one citation in a text."""

    mark: StatuteMark
    start: int
    end: int
    cited: str
    """The citation as written in the text."""
    law_name: str
    article_number: str
    text: str | None = None
    """The article, if the index holds it."""
    quote: str | None = None
    """The words in quotation marks that were compared."""
    claim: str | None = None
    """The restatement of the article in the text, if there is one."""
    note: str = ""
    effective_date: str | None = None
    published: str | None = None
    """Publication day of the version that was compared."""
    law_id: int | None = None
    is_misquoted: bool = False
    """True if the quotation differs, not the restatement."""
    unchecked_reason: str = ""
    """Reason why the library cannot hold this law, such as a foreign law or a draft."""

    @property
    def meaning(self) -> str:
        if self.unchecked_reason:
            return self.unchecked_reason
        if self.mark is not StatuteMark.DIFFERS:
            return self.mark.meaning
        return "引文与条文不一致" if self.is_misquoted else "所述内容与条文不符"

    def to_json(self) -> dict[str, Any]:
        """Return the finding with the keys of the documented JSON."""
        return {
            "mark": self.mark.value,
            "meaning": self.meaning,
            "start": self.start,
            "end": self.end,
            "cited": self.cited,
            "lawName": self.law_name,
            "articleNumber": self.article_number,
            "text": self.text,
            "quote": self.quote,
            "claim": self.claim,
            "note": self.note,
            "effectiveDate": self.effective_date,
            "publishDate": self.published,
        }


def findings_report(findings: Sequence[StatuteFinding]) -> dict[str, Any]:
    """Return all findings and the count of each mark, as JSON."""
    return {
        "citations": [verdict.to_json() for verdict in findings],
        "total": len(findings),
        "counts": {mark.value: sum(verdict.mark is mark for verdict in findings) for mark in StatuteMark},
    }


class Verifier:
    """Checks the statutes that a text cites against one library."""

    def __init__(self, library: LegalLibrary) -> None:
        self._library = library

    def verify(
        self, text: str, author: Author = Author.MODEL, as_of: Period | None = None, asked_period: Period | None = None
    ) -> list[StatuteFinding]:
        """Return one finding per citation, in the order of the text. Raises NoLegalIndex. `as_of` checks against the
        law of that time. `asked_period` is the time of the question that the text answers; a time in the text itself
        comes first."""
        index = self._library.index()
        if index is None:
            raise NoLegalIndex
        simple = to_simplified(text)
        cited = group_citations(simple, _citations_of_laws(index, find_citations(simple, index.is_known)))
        books, times = _LawTexts(index), CitationPeriods(simple, as_of, asked_period)
        return [
            _CitationCheck(books, _Passage(text, together.citations, quote, said, author), citation).finding(
                times.period_for(citation)
            )
            for together, quote, said in zip(
                cited, find_quotations(simple, cited), find_restatements(simple, cited), strict=True
            )
            for citation in together.citations
        ]


def _citations_of_laws(index: LegalIndex, citations: Iterable[Citation]) -> list[Citation]:
    """Drop citations that are not of a law in the library. These are contracts, plans and standards, unless the library
    holds them, and articles without a named law if the law named before has no such article."""
    laws = [one for one in citations if one.law and (not is_not_a_law(one.law) or index.is_known(one.law))]
    return [one for one in laws if not one.is_carried_over or _has_article(index, one)]


def _has_article(index: LegalIndex, citation: Citation) -> bool:
    law = index.resolve(citation.law or "")
    return law is not None and index.article(law.id, citation.article) is not None


class _LawTexts:
    """The index, and the words of each law that was compared."""

    def __init__(self, index: LegalIndex) -> None:
        self.index = index
        self._laws: dict[int, tuple[list[StoredArticle], ArticleWords]] = {}
        self._suggestions: dict[str, str] = {}

    def closest_article(
        self, law_id: int, claim: str, excluded_ids: Collection[int]
    ) -> tuple[StoredArticle | None, float]:
        """Return the article of a law that holds most of a claim, and the share that it holds."""
        if law_id not in self._laws:
            articles = self.index.articles(law_id)
            self._laws[law_id] = articles, ArticleWords([article.text for article in articles])
        articles, words = self._laws[law_id]
        place, share = words.best_article(
            claim, excluded={n for n, article in enumerate(articles) if article.id in excluded_ids}
        )
        return (articles[place], share) if place >= 0 else (None, 0.0)

    def name_suggestion(self, name: str) -> str:
        """Return the index's suggestion for an unknown name. Only the first names get one: each is compared with all
        known names."""
        if name not in self._suggestions and len(self._suggestions) < _MOST_ASKED_BACK:
            self._suggestions[name] = self.index.asked_back(name)
        return self._suggestions.get(name, "")


class _Passage(NamedTuple):
    """Citations that stand together in a text, with the quotation or restatement that belongs to them."""

    text: str
    citations: Sequence[Citation]
    quotation: Quotation | None
    restatement: Restatement | None
    author: Author


class _Assessment(NamedTuple):
    """Mark and note for one citation, before the law and article are added."""

    mark: StatuteMark
    note: str = ""
    is_misquoted: bool = False
    unchecked_reason: str = ""


ABROAD = "外国或其他法域的法律，未核"
DRAFT = "草案，不是施行的法律，未核"
OTHER_EDITION = "库中没有所指的版本，未核"
_NOT_COMPARED = _Assessment(StatuteMark.EXISTS)
_BEST = (
    StatuteMark.AGREES,
    StatuteMark.EXISTS,
    StatuteMark.NOT_IN_FORCE,
    StatuteMark.DIFFERS,
    StatuteMark.MISSING,
    StatuteMark.UNKNOWN,
)


class _CitationCheck:
    def __init__(self, books: _LawTexts, passage: _Passage, citation: Citation) -> None:
        self._books = books
        self._index = books.index
        self._passage = passage
        self._citation = citation
        self._quote = passage.quotation.text if passage.quotation else None
        self._law = self._index.resolve(citation.law or "")
        self._edition = citation.edition or self._edition_in_name()

    def finding(self, time: CitationPeriod | None = None) -> StatuteFinding:
        if self._edition and self._edition.is_draft:
            return self._to_finding(_Assessment(StatuteMark.UNKNOWN, unchecked_reason=DRAFT), self._citation.law or "")
        if self._law is None:
            return self._unknown_law(self._citation.law or "")
        if self._edition:
            return self._check_edition(self._law, self._edition)
        return self._check_at_time(self._law, time) if time else self._check_current(self._law)

    def _check_current(self, law: LawVersion) -> StatuteFinding:
        found = self._index.article(law.id, self._citation.article)
        if found is None:
            return self._missing_article(law)
        gap = self._missing_part(law, found)
        if gap:
            return self._version_with_part(law) or self._to_finding(_Assessment(StatuteMark.MISSING, gap), law, found)
        finding = self._compare(law, found)
        if finding.mark is StatuteMark.DIFFERS:
            return self._version_that_agrees(law) or self._to_finding(finding, law, found)
        status = self._index.status(law)
        if status is not LawStatus.IN_FORCE:
            return self._to_finding(
                _Assessment(StatuteMark.NOT_IN_FORCE, self._reason_not_in_force(law, status)), law, found
            )
        return self._to_finding(finding, law, found)

    def _check_at_time(self, law: LawVersion, time: CitationPeriod) -> StatuteFinding:
        """Check against the version in force at a time (行为时法). A time that only stands before the citation may be
        about something else, so it never makes the finding worse."""
        then = version_on(self._index, law.key, time.period)
        if not then.is_exact and time.source is PeriodSource.CHOICE:
            return self._to_finding(_Assessment(StatuteMark.UNKNOWN, then.note, unchecked_reason=OTHER_EDITION), law)
        if not then.is_exact:
            today = self._check_current(law)
            return replace(today, note=f"{today.note}{then.note}按现行文本核对。")
        ended_later = self._index.repeal(law.key) and not self._index.repeal(law.key, time.period.first)
        if then.law == law and not ended_later:
            return self._check_current(law)
        verdict = self._check_version(then.law, f"按 {time.period.spaced}施行的版本（{then.law.published} 公布）核对。")
        today = self._check_current(law)
        if time.source is not PeriodSource.SENTENCE and today.mark is StatuteMark.AGREES and verdict.mark in PROBLEMS:
            return replace(verdict, note=f"{verdict.note}所述是现行文本。")
        if time.source is not PeriodSource.SENTENCE or verdict.mark is StatuteMark.AGREES:
            return verdict
        if _BEST.index(verdict.mark) <= _BEST.index(today.mark):
            return verdict
        other = f"{time.period.spaced}施行的是 {then.law.published} 公布的版本，请核对适用哪一版。"
        return replace(today, note=today.note + other)

    def _unknown_law(self, name: str) -> StatuteFinding:
        repeal = self._index.repeal(law_key(name))
        if repeal is None:
            meant = self._books.name_suggestion(name)
            return self._to_finding(
                _Assessment(
                    StatuteMark.UNKNOWN, meant, unchecked_reason=ABROAD if is_abroad(name) and not meant else ""
                ),
                name,
            )
        by = self._index.version(repeal.law_id)
        return self._to_finding(_Assessment(StatuteMark.NOT_IN_FORCE, f"已由《{by.name}》{repeal.number}废止。"), name)

    def _missing_article(self, law: LawVersion) -> StatuteFinding:
        if not law.article_count:
            return self._to_finding(_Assessment(StatuteMark.UNKNOWN, "库中这份文件没有分条。"), law)
        for version, found in self._other_versions(law):
            note = f"只见于{_version_name(version)}，现行文本没有这一条。"
            return self._to_finding(_Assessment(StatuteMark.NOT_IN_FORCE, note), version, found)
        return self._to_finding(
            _Assessment(StatuteMark.MISSING, f"全文共{to_chinese(self._index.highest(law.id))}条。"), law
        )

    def _missing_part(self, law: LawVersion, found: StoredArticle) -> str:
        """Return a note about the part of a citation that the article lacks: the end of a range, a 款 or an 项."""
        citation = self._citation
        if citation.last and not self._index.article(law.id, citation.last):
            return f"没有{citation.last}，全文共{to_chinese(self._index.highest(law.id))}条。"
        if citation.last or excerpt(found.text, citation.paragraph, citation.item):
            return ""
        if citation.paragraph and excerpt(found.text, citation.paragraph, None) is None:
            return f"该条没有第{to_chinese(citation.paragraph)}款。"
        return f"该处没有第（{to_chinese(citation.item)}）项。" if citation.item else ""

    # ── Comparison with the article ───────────────────────────────────────────────────────────────────────────────

    def _compare(self, law: LawVersion, found: StoredArticle) -> _Assessment:
        if len(self._passage.citations) > _MOST_TOGETHER:
            return _NOT_COMPARED
        if self._passage.quotation:
            return self._compare_quotation(self._passage.quotation, found)
        return (
            self._compare_restatement(self._passage.restatement, law, found)
            if self._passage.restatement
            else _NOT_COMPARED
        )

    def _compare_quotation(self, quotation: Quotation, found: StoredArticle) -> _Assessment:
        if not is_quoted_from(quotation.text, found.text):
            return _NOT_COMPARED if quotation.is_term else _Assessment(StatuteMark.DIFFERS, is_misquoted=True)
        rest = compare_with_article(quotation.following_words, found.text)
        if rest.match is RuleMatch.CONTRADICTS:
            return _Assessment(StatuteMark.DIFFERS, _contradiction_note(rest.claimed, rest.actual))
        return _Assessment(StatuteMark.AGREES)

    def _compare_restatement(self, restatement: Restatement, law: LawVersion, found: StoredArticle) -> _Assessment:
        citation = self._citation
        compared = compare_with_article(restatement.text, found.text, citation.paragraph, citation.item)
        if compared.match is RuleMatch.AGREES:
            return _Assessment(StatuteMark.AGREES) if restatement.is_complete else _NOT_COMPARED
        if (citation.paragraph or citation.item) and compare_with_article(
            restatement.text, found.text
        ).match is RuleMatch.AGREES:
            return _Assessment(StatuteMark.EXISTS, "所述内容在该条的其他款项，请核对。")
        together = list(self._cited_articles(law))
        if compared.match is RuleMatch.CONTRADICTS and len(together) == 1:
            return _Assessment(StatuteMark.DIFFERS, _contradiction_note(compared.claimed, compared.actual))
        return self._compare_loosely(restatement, law, together)

    def _compare_loosely(
        self, restatement: Restatement, law: LawVersion, together: Sequence[StoredArticle]
    ) -> _Assessment:
        """Assess a restatement that neither agrees nor contradicts: it may belong to another article, or to none."""
        own = contained_share(restatement.text, "\n".join(article.text for article in together))
        if own >= _FITS or len(word_pairs(restatement.text)) < _LEAST_PAIRS:
            return _NOT_COMPARED
        other, share = self._books.closest_article(law.id, restatement.text, {article.id for article in together})
        if other and other.number.number and share > own + _FITS_BETTER:
            if self._passage.author is Author.MODEL or share >= _FITS_CLEARLY:
                return _Assessment(StatuteMark.DIFFERS, f"更像{other.number}。")
            return _Assessment(StatuteMark.EXISTS, f"所述内容更像{other.number}，请核对。")
        firm = self._passage.author is Author.MODEL or (restatement.is_attributed and own < _STRANGE)
        if firm and not _QUOTATION_MARK.search(restatement.text):
            return _Assessment(StatuteMark.EXISTS, "该条中未见所述内容，请核对。")
        return _NOT_COMPARED

    def _cited_articles(self, law: LawVersion) -> Iterator[StoredArticle]:
        """Yield the articles that share one restatement: 第三条、第四条, 第二条至第五条."""
        for citation in self._passage.citations:
            last = citation.last or citation.article
            for number in range(
                citation.article.number, min(last.number, citation.article.number + _LONGEST_RANGE) + 1
            ):
                wanted = citation.article if number == citation.article.number else ArticleNumber(number)
                if article := self._index.article(law.id, wanted):
                    yield article

    # ── Versions ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _edition_in_name(self) -> Edition | None:
        """Return the edition inside 《》, as in 公司法（2018年修正）. 宪法修正案（2018年） is a document of its own."""
        name = self._citation.law or ""
        return None if self._law and self._law.key == law_key(name) else edition_of_name(name)

    def _check_edition(self, law: LawVersion, edition: Edition) -> StatuteFinding:
        version = self._version(law, edition)
        if version is None:
            held = "、".join(one.published or "日期不详" for one in self._index.versions(law.key))
            return self._to_finding(
                _Assessment(StatuteMark.UNKNOWN, f"库中只有{held}公布的版本。", unchecked_reason=OTHER_EDITION), law
            )
        note = f"按{_version_name(version)}核对" + ("。" if version == law else "，不是现行文本。")
        verdict = self._check_version(version, note)
        if (
            verdict.mark is StatuteMark.DIFFERS and not edition.year
        ):  # 旧刑法 may mean a version that the library does not hold
            return replace(
                verdict, mark=StatuteMark.UNKNOWN, note=note, unchecked_reason=OTHER_EDITION, is_misquoted=False
            )
        return verdict

    def _check_version(self, version: LawVersion, note: str) -> StatuteFinding:
        """Check against a version that the text or the reader chose."""
        found = self._index.article(version.id, self._citation.article)
        if found is None:
            highest = to_chinese(self._index.highest(version.id))
            return self._to_finding(_Assessment(StatuteMark.MISSING, f"{note}全文共{highest}条。"), version)
        if gap := self._missing_part(version, found):
            return self._to_finding(_Assessment(StatuteMark.MISSING, note + gap), version, found)
        finding = self._compare(version, found)
        return self._to_finding(finding._replace(note=note + finding.note), version, found)

    def _version(self, law: LawVersion, edition: Edition) -> LawVersion | None:
        """Return the version that an edition names. With a year: the version made in that year, else the one in force
        then. For 旧 and 原: the version before the current one."""
        versions = self._index.versions(law.key)
        if not edition.year:
            return next((one for one in versions if one.begins < law.begins), None)
        year = str(edition.year)
        made = [one for one in versions if year in ((one.published or "")[:4], (one.effective or "")[:4])]
        if made or edition.is_year_made:
            return made[0] if made else None
        return next((one for one in versions if one.begins and one.begins[:4] <= year), None)

    def _other_versions(self, law: LawVersion) -> Iterator[tuple[LawVersion, StoredArticle]]:
        for version in self._index.versions(law.key):
            found = self._index.article(version.id, self._citation.article) if version != law else None
            if found:
                yield version, found

    def _version_with_part(self, law: LawVersion) -> StatuteFinding | None:
        """Return a finding for an older version that has the cited 款 or 项, or None."""
        for version, found in self._other_versions(law):
            if not self._missing_part(version, found):
                note = f"只见于{_version_name(version)}，现行条文没有这一款项。"
                return self._to_finding(_Assessment(StatuteMark.NOT_IN_FORCE, note), version, found)
        return None

    def _version_that_agrees(self, law: LawVersion) -> StatuteFinding | None:
        """Return a finding for an older version that agrees with the text, or None."""
        for version, found in self._other_versions(law):
            if self._compare(version, found).mark is StatuteMark.AGREES:
                what = "引文" if self._quote else "所述内容"
                note = f"{what}出自{_version_name(version)}，现行条文已不同。"
                return self._to_finding(_Assessment(StatuteMark.NOT_IN_FORCE, note), version, found)
        return None

    def _reason_not_in_force(self, law: LawVersion, status: LawStatus) -> str:
        if status is LawStatus.NOT_YET_IN_FORCE:
            return f"自{law.effective}起施行，目前尚未生效。"
        repeal = self._index.repeal(law.key)
        return f"已由《{self._index.version(repeal.law_id).name}》{repeal.number}废止。" if repeal else "该法规已废止。"

    def _to_finding(
        self, finding: _Assessment, law: LawVersion | str, found: StoredArticle | None = None
    ) -> StatuteFinding:
        known = None if isinstance(law, str) else law
        return StatuteFinding(
            mark=finding.mark,
            start=self._citation.start,
            end=self._citation.end,
            cited=self._passage.text[self._citation.start : self._citation.end],
            law_name=law if isinstance(law, str) else law.name,
            article_number=str(self._citation.article),
            text=found.text if found else None,
            quote=self._quote,
            claim=self._passage.restatement.text if self._passage.restatement and not self._quote else None,
            note=finding.note,
            effective_date=known.effective if known else None,
            published=known.published if known else None,
            law_id=known.id if known else None,
            is_misquoted=finding.is_misquoted,
            unchecked_reason=finding.unchecked_reason,
        )


def _version_name(version: LawVersion) -> str:
    return f"{version.published}公布的版本" if version.published else "另一版本"


def _contradiction_note(claimed: str, actual: str) -> str:
    if not actual:
        return f"条文没有“{claimed}”。"
    return f"所述“{claimed}”，条文为“{actual}”。" if claimed else f"条文有“{actual}”。"
