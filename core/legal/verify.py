"""Statute check (法条核验): look up every statute that a text cites, and compare what the text says with the law."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum, auto
from typing import Any, NamedTuple, Protocol

from core.base.chinese.numerals import to_chinese
from core.base.chinese.script import to_simplified
from core.legal.article_numbers import ArticleNumber
from core.legal.entities import LawStatus
from core.legal.errors import NoLegalIndex
from core.legal.library.article_history import has_same_words
from core.legal.library.article_index import StoredArticle
from core.legal.library.article_references import RENUMBERED, ArticleReference, article_references
from core.legal.library.index import LegalIndex, LegalLibrary
from core.legal.library.law_index import LawVersion
from core.legal.library.version_on_day import version_on
from core.legal.text.article_comparison import compare_with_article, has_all_details
from core.legal.text.law_names import law_key
from core.legal.text.law_qualifiers import Edition, edition_of_name, is_abroad, is_not_a_law
from core.legal.text.paragraphs import excerpt
from core.legal.text.periods import CitationPeriod, CitationPeriods, Period, PeriodSource
from core.legal.text.quotations import Quotation, find_quotations, is_quoted_from
from core.legal.text.restatement import Restatement, find_restatements, group_citations
from core.legal.text.rule_comparison import ArticleWords, RuleComparison, RuleMatch, contained_share, word_pairs
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
_SENTENCE_END = re.compile(r"[。！？!?\n]")
_MOST_KEPT = 0.8
"""Share of articles with the same number and words from which a version only has small changes."""
_LONGEST_RANGE = 20
_MOST_ASKED_BACK = 50
_MOST_TOGETHER = 20
"""Largest number of articles cited together. Nobody restates more of them in one sentence."""


ALIKE, NOT_COMPARED = "条文有近似内容", "未能比对"
"""The two meanings of ○: the article has all values, duties and parties of the restatement, or it could not be compared."""


class StatuteMark(StrEnum):
    AGREES = "✓"
    EXISTS = "○"
    DIFFERS = "≠"
    MISSING = "✗"
    NOT_IN_FORCE = "⌛"
    UNKNOWN = "？"

    @property
    def meaning(self) -> str:
        """Meaning of the mark. A finding says which of several meanings it has."""
        return {
            StatuteMark.AGREES: "引述与条文一致",
            StatuteMark.EXISTS: "条文存在",
            StatuteMark.DIFFERS: "与条文不一致",
            StatuteMark.MISSING: "没有这一条",
            StatuteMark.NOT_IN_FORCE: "已废止、已修改或尚未生效",
            StatuteMark.UNKNOWN: "库中没有这部法规",
        }[self]


PROBLEMS = (StatuteMark.DIFFERS, StatuteMark.MISSING, StatuteMark.NOT_IN_FORCE)
WORST_FIRST = (*PROBLEMS, StatuteMark.UNKNOWN, StatuteMark.EXISTS, StatuteMark.AGREES)


class FindingGroup(StrEnum):
    """What findings are counted as, wherever they are counted. That an article exists is no agreement."""

    PROBLEM = "有问题"
    TO_COMPARE = "请核对"
    EXISTS = "只查到条文存在"
    UNKNOWN = "未核"
    AGREES = "一致"


def group_of(mark: StatuteMark, *, has_note: bool) -> FindingGroup:
    """Return the group of a mark. ○ with something to say is to be compared by the reader."""
    if mark in PROBLEMS:
        return FindingGroup.PROBLEM
    if mark is StatuteMark.EXISTS:
        return FindingGroup.TO_COMPARE if has_note else FindingGroup.EXISTS
    return FindingGroup.AGREES if mark is StatuteMark.AGREES else FindingGroup.UNKNOWN


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
    is_alike: bool = False
    """True for an article that has what the restatement says, in other words. Only ○ has this."""
    unchecked_reason: str = ""
    """Reason why the library cannot hold this law, such as a foreign law or a draft."""
    status: LawStatus | None = None
    """Why the article is not in force. Only ⌛ has this."""

    @property
    def meaning(self) -> str:
        if self.unchecked_reason:
            return self.unchecked_reason
        if self.status:
            return self.status.value
        if self.mark is StatuteMark.EXISTS:
            return ALIKE if self.is_alike else NOT_COMPARED
        if self.mark is not StatuteMark.DIFFERS:
            return self.mark.meaning
        return "引文与条文不一致" if self.is_misquoted else "所述内容与条文不符"

    @property
    def severity(self) -> int:
        """Key for sorting: the smaller, the more urgently a reader should look at it."""
        return WORST_FIRST.index(self.mark)

    @property
    def group(self) -> FindingGroup:
        return group_of(self.mark, has_note=self.is_alike or bool(self.note))

    def to_json(self) -> dict[str, Any]:
        """Return the finding with the keys of the documented JSON."""
        return {
            "mark": self.mark.value,
            "meaning": self.meaning,
            "group": self.group.value,
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
            "isAlike": self.is_alike,
        }


class _Grouped(Protocol):
    @property
    def group(self) -> FindingGroup: ...


def count_groups(findings: Iterable[_Grouped]) -> dict[FindingGroup, int]:
    """Return how many findings each group has, what is wrong first. Groups without any are left out."""
    counts = Counter(finding.group for finding in findings)
    return {group: counts[group] for group in FindingGroup if counts[group]}


def summary(findings: Iterable[_Grouped]) -> str:
    """Return the counts in words: 有问题 3 · 只查到条文存在 1 · 一致 5."""
    return " · ".join(f"{group} {count}" for group, count in count_groups(findings).items())


def findings_report(findings: Sequence[StatuteFinding]) -> dict[str, Any]:
    """Return all findings and the count of each group and mark, as JSON."""
    return {
        "citations": [finding.to_json() for finding in findings],
        "total": len(findings),
        "summary": summary(findings),
        "groups": {group.value: count for group, count in count_groups(findings).items()},
        "counts": {mark.value: sum(finding.mark is mark for finding in findings) for mark in StatuteMark},
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
        groups = group_citations(simple, _citations_of_laws(index, find_citations(simple, index.is_known)))
        texts, periods = _LawTexts(index), CitationPeriods(simple, as_of, asked_period)
        claims = zip(groups, find_quotations(simple, groups), find_restatements(simple, groups), strict=True)
        passages = [_Passage(text, group.citations, quote, claim, author) for group, quote, claim in claims]
        cited = [(passage, citation) for passage in passages for citation in passage.citations]
        retold = _retold_references(index, simple, [citation for _, citation in cited])
        return [
            _CitationCheck(texts, passage, citation).finding(periods.period_for(citation), reference)
            for (passage, citation), reference in zip(cited, retold, strict=True)
        ]


def _citations_of_laws(index: LegalIndex, citations: Iterable[Citation]) -> list[Citation]:
    """Drop citations that are not of a law in the library. These are contracts, plans and standards, unless the library
    holds them, and articles without a named law if the law named before has no such article."""
    laws = [one for one in citations if one.law and (not is_not_a_law(one.law) or index.is_known(one.law))]
    return [one for one in laws if not one.is_carried_over or _has_article(index, one)]


def _has_article(index: LegalIndex, citation: Citation) -> bool:
    law = index.resolve(citation.law or "")
    return law is not None and index.article(law.id, citation.article) is not None


def _retold_references(
    index: LegalIndex, text: str, citations: Sequence[Citation]
) -> Iterator[ArticleReference | None]:
    """Yield for each citation the reference that it only repeats: 《证券法》第一百零三条 itself says 《公司法》第一百四十六条."""
    told_by: Citation | None = None
    for citation in citations:
        if told_by is None or _SENTENCE_END.search(text, told_by.end, citation.start):
            told_by = citation
        yield _find_reference(index, told_by, citation) if told_by is not citation and not citation.edition else None


def _find_reference(index: LegalIndex, told_by: Citation, citation: Citation) -> ArticleReference | None:
    law, other = index.resolve(told_by.law or ""), index.resolve(citation.law or "")
    article = index.article(law.id, told_by.article) if law and other and law.key != other.key else None
    wanted = (other.name if other else "", str(citation.article))
    references = article_references(index, article) if article else ()
    return next((one for one in references if (one.law_name, one.article_number) == wanted), None)


class _LawTexts:
    """The index, and the words of each law that was compared."""

    def __init__(self, index: LegalIndex) -> None:
        self.index = index
        self._laws: dict[int, tuple[list[StoredArticle], ArticleWords]] = {}
        self._suggestions: dict[str, str] = {}

    def closest_article(self, law_id: int, claim: str, skip: Collection[int]) -> tuple[StoredArticle | None, float]:
        """Return the article of a law that holds most of a claim, and its share. `skip` are ids of articles."""
        if law_id not in self._laws:
            articles = self.index.articles(law_id)
            self._laws[law_id] = articles, ArticleWords([article.text for article in articles])
        articles, words = self._laws[law_id]
        skipped = {place for place, article in enumerate(articles) if article.id in skip}
        place, share = words.best_article(claim, excluded=skipped)
        return (articles[place], share) if place >= 0 else (None, 0.0)

    def name_suggestion(self, name: str) -> str:
        """Return the index's suggestion for an unknown name. Only the first names get one, because it takes long."""
        if name not in self._suggestions and len(self._suggestions) < _MOST_ASKED_BACK:
            self._suggestions[name] = self.index.suggest_name(name)
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
    is_alike: bool = False
    status: LawStatus | None = None


ABROAD = "外国或其他法域的法律，未核"
DRAFT = "草案，不是施行的法律，未核"
OTHER_EDITION = "库中没有所指的版本，未核"
_NOT_COMPARED = _Assessment(StatuteMark.EXISTS)
_BEST_FIRST = "✓○⌛≠✗？"
"""Marks in the order in which they count where two versions of a law may be meant."""


class _CitationCheck:
    def __init__(self, texts: _LawTexts, passage: _Passage, citation: Citation) -> None:
        self._texts = texts
        self._index = texts.index
        self._passage = passage
        self._citation = citation
        self._name = citation.law or ""
        self._quote = passage.quotation.text if passage.quotation else None
        self._law = self._index.resolve(self._name)
        self._edition = citation.edition or self._edition_in_name()

    def finding(self, time: CitationPeriod | None, reference: ArticleReference | None) -> StatuteFinding:
        """Check the citation against the law of a time, if one is known. A reference says which version it repeats."""
        if self._edition and self._edition.is_draft:
            return self._to_finding(_Assessment(StatuteMark.UNKNOWN, unchecked_reason=DRAFT))
        if self._law is None:
            return self._unknown_law()
        if self._edition:
            return self._check_edition(self._law, self._edition)
        if reference and not (time and time.source is PeriodSource.CHOICE):
            return self._check_reference(self._law, reference)
        return self._check_at_time(self._law, time) if time else self._check_current(self._law)

    def _check_current(self, law: LawVersion) -> StatuteFinding:
        article = self._index.article(law.id, self._citation.article)
        if article is None:
            return self._missing_article(law)
        if gap := self._missing_part(law, article):
            older = self._check_others(law, "只见于{}，现行条文没有这一款项。", self._has_part)
            return older or self._to_finding(_Assessment(StatuteMark.MISSING, gap), law, article)
        result = self._compare(law, article)
        if result.mark is StatuteMark.DIFFERS:
            what = "引文" if self._quote else "所述内容"
            older = self._check_others(law, f"{what}出自{{}}，现行条文已不同。", self._agrees)
            return older or self._to_finding(result, law, article)
        status = self._index.status(law)
        if status is LawStatus.NOT_YET_IN_FORCE:
            result = _not_in_force(status, f"自{law.effective}起施行。")
        elif status is not LawStatus.IN_FORCE:
            result = _not_in_force(status, self._repeal_note(law.key))
        return self._to_finding(result, law, article)

    def _check_at_time(self, law: LawVersion, time: CitationPeriod) -> StatuteFinding:
        """Check against the version in force at a time (行为时法). A time that only stands before the citation may be
        about something else, so it never makes the finding worse."""
        then = version_on(self._index, law.key, time.period)
        if not then.is_exact and time.source is PeriodSource.CHOICE:
            return self._to_finding(_Assessment(StatuteMark.UNKNOWN, then.note, unchecked_reason=OTHER_EDITION), law)
        today = self._check_current(law)
        if not then.is_exact:
            return replace(today, note=f"{today.note}{then.note}按现行文本核验。")
        ended_later = self._index.repeal(law.key) and not self._index.repeal(law.key, time.period.first)
        if then.law == law and not ended_later:
            return today
        past = self._check_version(then.law, f"按 {time.period.spaced}施行的版本（{then.law.published} 公布）核验。")
        if time.source is not PeriodSource.SENTENCE:
            is_current_text = today.mark is StatuteMark.AGREES and past.mark in PROBLEMS
            return replace(past, note=f"{past.note}所述是现行文本。") if is_current_text else past
        if _BEST_FIRST.index(past.mark) <= _BEST_FIRST.index(today.mark):
            return past
        other = f"{time.period.spaced}施行的是 {then.law.published} 公布的版本，请核对适用哪一版。"
        return replace(today, note=today.note + other)

    def _check_reference(self, law: LawVersion, reference: ArticleReference) -> StatuteFinding:
        if reference.note == RENUMBERED:
            note = "提到它的条文制定之后，这部法规改过，库中没有当时的版本。"
            return self._to_finding(_Assessment(StatuteMark.UNKNOWN, note, unchecked_reason=RENUMBERED), law)
        meant = next((one for one in self._index.versions(law.key) if one.published == reference.version), None)
        if reference.version is None or meant is None:
            return self._check_current(law)
        return self._check_version(meant, f"提到它的条文说的是{_version_name(meant)}。")

    def _unknown_law(self) -> StatuteFinding:
        if repealed := self._repeal_note(law_key(self._name)):
            return self._to_finding(_not_in_force(LawStatus.REPEALED, repealed))
        meant = self._texts.name_suggestion(self._name)
        reason = ABROAD if is_abroad(self._name) and not meant else ""
        return self._to_finding(_Assessment(StatuteMark.UNKNOWN, meant, unchecked_reason=reason))

    def _repeal_note(self, key: str) -> str:
        repeal = self._index.repeal(key)
        return f"由《{self._index.version(repeal.law_id).name}》{repeal.number}废止。" if repeal else ""

    def _missing_article(self, law: LawVersion) -> StatuteFinding:
        if not law.article_count:
            return self._to_finding(_Assessment(StatuteMark.UNKNOWN, "库中这份文件没有分条。"), law)
        older = self._check_others(law, "只见于{}，现行文本没有这一条。", lambda *_: True)
        return older or self._to_finding(_Assessment(StatuteMark.MISSING, self._article_total(law)), law)

    def _article_total(self, law: LawVersion) -> str:
        return f"全文共{to_chinese(self._index.highest(law.id))}条。"

    def _missing_part(self, law: LawVersion, found: StoredArticle) -> str:
        """Return a note about the part of a citation that the article lacks: the end of a range, a 款 or an 项."""
        citation = self._citation
        if citation.last and not self._index.article(law.id, citation.last):
            return f"没有{citation.last}，{self._article_total(law)}"
        if citation.last or excerpt(found.text, citation.paragraph, citation.item):
            return ""
        if citation.paragraph and excerpt(found.text, citation.paragraph, None) is None:
            return f"该条没有第{to_chinese(citation.paragraph)}款。"
        return f"该处没有第（{to_chinese(citation.item)}）项。" if citation.item else ""

    def _has_part(self, law: LawVersion, article: StoredArticle) -> bool:
        return not self._missing_part(law, article)

    # ── Comparison with the article ───────────────────────────────────────────────────────────────────────────────

    def _compare(self, law: LawVersion, found: StoredArticle) -> _Assessment:
        _, citations, quotation, restatement, _ = self._passage
        if len(citations) > _MOST_TOGETHER:
            return _NOT_COMPARED
        if quotation:
            return self._compare_quotation(quotation, found)
        return self._compare_restatement(restatement, law, found) if restatement else _NOT_COMPARED

    def _agrees(self, law: LawVersion, article: StoredArticle) -> bool:
        return self._compare(law, article).mark is StatuteMark.AGREES

    def _compare_quotation(self, quotation: Quotation, found: StoredArticle) -> _Assessment:
        if not is_quoted_from(quotation.text, found.text):
            return _NOT_COMPARED if quotation.is_term else _Assessment(StatuteMark.DIFFERS, is_misquoted=True)
        rest = compare_with_article(quotation.following_words, found.text)
        if rest.match in (RuleMatch.CONTRADICTS, RuleMatch.EXCHANGES):
            return _Assessment(StatuteMark.DIFFERS, _difference_note(rest))
        return _Assessment(StatuteMark.AGREES)

    def _compare_restatement(self, restatement: Restatement, law: LawVersion, found: StoredArticle) -> _Assessment:
        citation = self._citation
        compared = compare_with_article(restatement.text, found.text, citation.paragraph, citation.item)
        if compared.match is RuleMatch.AGREES:
            return _Assessment(StatuteMark.AGREES) if restatement.is_complete else _NOT_COMPARED
        names_part = citation.paragraph or citation.item
        if names_part and compare_with_article(restatement.text, found.text).match is RuleMatch.AGREES:
            return _Assessment(StatuteMark.EXISTS, "所述内容在该条的其他款项，请核对。", is_alike=True)
        cited = list(self._cited_articles(law))
        if compared.match is not RuleMatch.UNSURE and len(cited) == 1:
            return self._assess_difference(compared, restatement)
        return self._compare_loosely(restatement, law, cited)

    def _assess_difference(self, compared: RuleComparison, restatement: Restatement) -> _Assessment:
        """Assess a difference. What came before may say a condition that is missing, and a case may have one of its
        own."""
        if compared.match is RuleMatch.REPLACES:
            return _Assessment(StatuteMark.EXISTS, _difference_note(compared))
        is_condition = compared.match in (RuleMatch.DROPS_CONDITION, RuleMatch.ADDS_CONDITION)
        stands_alone = restatement.stands_alone and self._passage.author is Author.MODEL
        if is_condition and not (stands_alone and restatement.is_complete):
            return _Assessment(StatuteMark.EXISTS, f"{_difference_note(compared)}请核对。", is_alike=True)
        return _Assessment(StatuteMark.DIFFERS, _difference_note(compared))

    def _compare_loosely(self, restatement: Restatement, law: LawVersion, cited: list[StoredArticle]) -> _Assessment:
        """Assess a restatement that neither agrees nor contradicts: it may belong to another article, or to none."""
        texts = "\n".join(article.text for article in cited)
        own = contained_share(restatement.text, texts)
        if own >= _FITS or len(word_pairs(restatement.text)) < _LEAST_PAIRS:
            return _NOT_COMPARED._replace(is_alike=has_all_details(restatement.text, texts))
        other, share = self._texts.closest_article(law.id, restatement.text, {article.id for article in cited})
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
            first, last = citation.article, citation.last or citation.article
            for number in range(first.number, min(last.number, first.number + _LONGEST_RANGE) + 1):
                wanted = first if number == first.number else ArticleNumber(number)
                if article := self._index.article(law.id, wanted):
                    yield article

    # ── Versions ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _edition_in_name(self) -> Edition | None:
        """Return the edition inside 《》, as in 公司法（2018年修正）. 宪法修正案（2018年） is a document of its own."""
        return None if self._law and self._law.key == law_key(self._name) else edition_of_name(self._name)

    def _check_edition(self, law: LawVersion, edition: Edition) -> StatuteFinding:
        version = self._version(law, edition)
        if version is None:
            days = "、".join(one.published or "日期不详" for one in self._index.versions(law.key))
            note = f"库中只有{days}公布的版本。"
            return self._to_finding(_Assessment(StatuteMark.UNKNOWN, note, unchecked_reason=OTHER_EDITION), law)
        note = f"按{_version_name(version)}核验" + ("。" if version == law else "，不是现行文本。")
        finding = self._check_version(version, note)
        if finding.mark is not StatuteMark.DIFFERS or edition.year:
            return finding
        # 旧公司法 may mean a version that the library does not hold.
        unknown = _Assessment(StatuteMark.UNKNOWN, note, unchecked_reason=OTHER_EDITION)
        return self._to_finding(unknown, version)

    def _check_version(self, version: LawVersion, note: str) -> StatuteFinding:
        """Check against a version that the text or the reader chose."""
        article = self._index.article(version.id, self._citation.article)
        gap = self._missing_part(version, article) if article else self._article_total(version)
        if article is None or gap:
            return self._to_finding(_Assessment(StatuteMark.MISSING, note + gap), version, article)
        result = self._compare(version, article)
        return self._to_finding(result._replace(note=note + result.note), version, article)

    def _version(self, law: LawVersion, edition: Edition) -> LawVersion | None:
        """Return the version that an edition names. With a year: the version made in that year, else the one in force
        then. For 旧 and 原: the last one before the law was rewritten. 旧刑法 is not that of 2020, which has a few other
        articles."""
        versions = self._index.versions(law.key)
        if not edition.year:
            return next((one for one in versions if one.begins < law.begins and self._is_rewritten(one, law)), None)
        year = str(edition.year)
        made = [one for one in versions if year in ((one.published or "")[:4], (one.effective or "")[:4])]
        if made or edition.is_year_made:
            return made[0] if made else None
        return next((one for one in versions if one.begins and one.begins[:4] <= year), None)

    def _is_rewritten(self, former: LawVersion, law: LawVersion) -> bool:
        """Return whether most articles of a law are others than under the same number before."""
        texts = {article.number: article.text for article in self._index.articles(former.id)}
        articles = self._index.articles(law.id)
        kept = sum(has_same_words(article.text, texts.get(article.number, "")) for article in articles)
        return kept < _MOST_KEPT * len(articles)

    def _check_others(
        self, law: LawVersion, note: str, fits: Callable[[LawVersion, StoredArticle], bool]
    ) -> StatuteFinding | None:
        """Return a finding for another version of the law whose article fits, or None. `note` has {} for its name."""
        for version in self._index.versions(law.key):
            article = self._index.article(version.id, self._citation.article) if version != law else None
            if article and fits(version, article):
                ended = (
                    LawStatus.REPEALED if self._index.status(law) is LawStatus.REPEALED else self._index.status(version)
                )
                result = _not_in_force(ended, note.format(_version_name(version)))
                return self._to_finding(result, version, article)
        return None

    def _to_finding(
        self, result: _Assessment, law: LawVersion | None = None, article: StoredArticle | None = None
    ) -> StatuteFinding:
        restatement = self._passage.restatement
        return StatuteFinding(
            mark=result.mark,
            start=self._citation.start,
            end=self._citation.end,
            cited=self._passage.text[self._citation.start : self._citation.end],
            law_name=law.name if law else self._name,
            article_number=str(self._citation.article),
            text=article.text if article else None,
            quote=self._quote,
            claim=restatement.text if restatement and not self._quote else None,
            note=result.note,
            effective_date=law.effective if law else None,
            published=law.published if law else None,
            law_id=law.id if law else None,
            is_misquoted=result.is_misquoted,
            is_alike=result.is_alike,
            unchecked_reason=result.unchecked_reason,
            status=result.status,
        )


def _not_in_force(status: LawStatus, note: str) -> _Assessment:
    return _Assessment(StatuteMark.NOT_IN_FORCE, note, status=status)


def _version_name(version: LawVersion) -> str:
    return f"{version.published}公布的版本" if version.published else "另一版本"


def _difference_note(compared: RuleComparison) -> str:
    claimed, actual = compared.claimed, compared.actual
    match compared.match:
        case RuleMatch.DROPS_CONDITION:
            return f"条文另有条件「{actual}」。"
        case RuleMatch.ADDS_CONDITION:
            return f"条文没有条件「{claimed}」。"
        case RuleMatch.REPLACES:
            return f"文中写「{claimed}」，条文此处是「{actual}」，请核对。"
        case RuleMatch.EXCHANGES:
            return f"文中「{claimed}」与「{actual}」的位置与条文相反。"
    if not actual:
        return f"条文没有「{claimed}」。"
    return f"文中写「{claimed}」，条文是「{actual}」。" if claimed else f"条文有「{actual}」。"
