"""Statute check (法条核验): look up every statute that a text cites, and compare what the text says with the law."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum, auto
from typing import Any, NamedTuple

from core.base.chinese.numerals import to_chinese
from core.base.chinese.script import simplified
from core.legal.errors import NoLegalIndex
from core.legal.library.article_index import StoredArticle
from core.legal.library.index import LegalIndex, LegalLibrary
from core.legal.library.law_index import LawVersion
from core.legal.library.on_day import version_on
from core.legal.text.agreement import Agreement, LawWords, compare, contained, pairs
from core.legal.text.article_numbers import ArticleNumber
from core.legal.text.as_of import By, Period, Time, Times
from core.legal.text.names import law_key
from core.legal.text.paragraphs import excerpt
from core.legal.text.quotations import Quotation, quotations, quotes
from core.legal.text.restatement import Restatement, cited_together, restatements
from core.legal.text.statute_citations import Citation, find_citations
from core.legal.text.which_law import Edition, edition_of_name, is_abroad, is_no_law
from core.legal.types import Status

_FITS = 0.5
"""Smallest share of a restatement that its article holds. Below it, another article may be meant."""
_FITS_BETTER = 0.3
_FITS_CLEARLY = 0.8
"""Share from which another article's wording is recognised, whoever wrote the text."""
_STRANGE = 0.3
_LEAST_PAIRS = 10
"""Smallest number of letter pairs that can be compared. Fewer stand in many articles."""
_OTHERS_WORDS = re.compile(r"[“「『\"]")
"""Opening quotation mark. A restatement that quotes a contract or a party is not about the article alone."""
_LONGEST_RANGE = 20
_MOST_ASKED_BACK = 50
_MOST_TOGETHER = 20
"""Largest number of articles cited together. Nobody restates more of them in one sentence."""


class Mark(StrEnum):
    AGREES = "✓"
    EXISTS = "○"
    DIFFERS = "≠"
    MISSING = "✗"
    NOT_IN_FORCE = "⌛"
    UNKNOWN = "？"

    @property
    def meaning(self) -> str:
        return {
            Mark.AGREES: "与条文一致",
            Mark.EXISTS: "条文存在",
            Mark.DIFFERS: "与条文不一致",
            Mark.MISSING: "没有这一条",
            Mark.NOT_IN_FORCE: "不是现行有效的条文",
            Mark.UNKNOWN: "库中没有这部法规",
        }[self]


PROBLEMS = (Mark.DIFFERS, Mark.MISSING, Mark.NOT_IN_FORCE)
BAD_FIRST = (*PROBLEMS, Mark.UNKNOWN, Mark.EXISTS, Mark.AGREES)


class Author(Enum):
    """Author of a text. People mostly apply an article in their own words, models restate it."""

    MODEL = auto()
    PERSON = auto()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of checking one citation in a text."""

    mark: Mark
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
    misquoted: bool = False
    """True if the quotation differs, not the restatement."""
    unheld: str = ""
    """Reason why the library cannot hold this law, such as a foreign law or a draft."""

    @property
    def meaning(self) -> str:
        if self.unheld:
            return self.unheld
        if self.mark is not Mark.DIFFERS:
            return self.mark.meaning
        return "引文与条文不一致" if self.misquoted else "所述内容与条文不符"

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


def report(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return all findings and the count of each mark, as JSON."""
    return {
        "citations": [verdict.to_json() for verdict in verdicts],
        "total": len(verdicts),
        "counts": {mark.value: sum(verdict.mark is mark for verdict in verdicts) for mark in Mark},
    }


class Verifier:
    """Checks the statutes that a text cites against one library."""

    def __init__(self, library: LegalLibrary) -> None:
        self._library = library

    def verify(
        self, text: str, by: Author = Author.MODEL, as_of: Period | None = None, asked: Period | None = None
    ) -> list[Verdict]:
        """Return one finding per citation, in the order of the text. Raises NoLegalIndex. `as_of` checks against the
        law of that time. `asked_period` is the time of the question that the text answers; a time in the text itself
        comes first."""
        index = self._library.index()
        if index is None:
            raise NoLegalIndex
        simple = simplified(text)
        cited = cited_together(simple, _of_laws(index, find_citations(simple, index.is_known)))
        books, times = _Books(index), Times(simple, as_of, asked)
        return [
            _CitationCheck(books, _Passage(text, together.citations, quote, said, by), citation).verdict(
                times.of(citation)
            )
            for together, quote, said in zip(cited, quotations(simple, cited), restatements(simple, cited), strict=True)
            for citation in together.citations
        ]


def _of_laws(index: LegalIndex, citations: Iterable[Citation]) -> list[Citation]:
    """Drop citations that are not of a law in the library. These are contracts, plans and standards, unless the library
    holds them, and articles without a named law if the law named before has no such article."""
    laws = [one for one in citations if one.law and (not is_no_law(one.law) or index.is_known(one.law))]
    return [one for one in laws if not one.carried or _has_article(index, one)]


def _has_article(index: LegalIndex, citation: Citation) -> bool:
    law = index.resolve(citation.law or "")
    return law is not None and index.article(law.id, citation.article) is not None


class _Books:
    """The index, and the words of each law that was compared."""

    def __init__(self, index: LegalIndex) -> None:
        self.index = index
        self._laws: dict[int, tuple[list[StoredArticle], LawWords]] = {}
        self._asked_back: dict[str, str] = {}

    def likest(self, law_id: int, claim: str, but: Collection[int]) -> tuple[StoredArticle | None, float]:
        """Return the article of a law that holds most of a claim, and the share that it holds."""
        if law_id not in self._laws:
            articles = self.index.articles(law_id)
            self._laws[law_id] = articles, LawWords([article.text for article in articles])
        articles, words = self._laws[law_id]
        place, share = words.best(claim, but={n for n, article in enumerate(articles) if article.id in but})
        return (articles[place], share) if place >= 0 else (None, 0.0)

    def asked_back(self, name: str) -> str:
        """Return the index's suggestion for an unknown name. Only the first names get one: each is compared with all
        known names."""
        if name not in self._asked_back and len(self._asked_back) < _MOST_ASKED_BACK:
            self._asked_back[name] = self.index.asked_back(name)
        return self._asked_back.get(name, "")


class _Passage(NamedTuple):
    """Citations that stand together in a text, with the quotation or restatement that belongs to them."""

    text: str
    citations: Sequence[Citation]
    quotation: Quotation | None
    said: Restatement | None
    by: Author


class _Finding(NamedTuple):
    """Mark and note for one citation, before the law and article are added."""

    mark: Mark
    note: str = ""
    misquoted: bool = False
    unheld: str = ""


ABROAD = "外国或其他法域的法律，未核"
DRAFT = "草案，不是施行的法律，未核"
OTHER_EDITION = "库中没有所指的版本，未核"
_NOTHING_TO_COMPARE = _Finding(Mark.EXISTS)
_BEST = (Mark.AGREES, Mark.EXISTS, Mark.NOT_IN_FORCE, Mark.DIFFERS, Mark.MISSING, Mark.UNKNOWN)


class _CitationCheck:
    def __init__(self, books: _Books, passage: _Passage, citation: Citation) -> None:
        self._books = books
        self._index = books.index
        self._passage = passage
        self._citation = citation
        self._quote = passage.quotation.text if passage.quotation else None
        self._law = self._index.resolve(citation.law or "")
        self._edition = citation.edition or self._edition_in_name()

    def verdict(self, time: Time | None = None) -> Verdict:
        if self._edition and self._edition.is_draft:
            return self._say(_Finding(Mark.UNKNOWN, unheld=DRAFT), self._citation.law or "")
        if self._law is None:
            return self._unknown(self._citation.law or "")
        if self._edition:
            return self._of_edition(self._law, self._edition)
        return self._of_time(self._law, time) if time else self._of_today(self._law)

    def _of_today(self, law: LawVersion) -> Verdict:
        found = self._index.article(law.id, self._citation.article)
        if found is None:
            return self._missing(law)
        gap = self._gap(law, found)
        if gap:
            return self._complete_in_another(law) or self._say(_Finding(Mark.MISSING, gap), law, found)
        finding = self._compared(law, found)
        if finding.mark is Mark.DIFFERS:
            return self._of_another_version(law) or self._say(finding, law, found)
        status = self._index.status(law)
        if status is not Status.IN_FORCE:
            return self._say(_Finding(Mark.NOT_IN_FORCE, self._why(law, status)), law, found)
        return self._say(finding, law, found)

    def _of_time(self, law: LawVersion, time: Time) -> Verdict:
        """Check against the version in force at a time (行为时法). A time that only stands before the citation may be
        about something else, so it never makes the finding worse."""
        then = version_on(self._index, law.key, time.period)
        if not then.held and time.by is By.CHOICE:
            return self._say(_Finding(Mark.UNKNOWN, then.note, unheld=OTHER_EDITION), law)
        if not then.held:
            today = self._of_today(law)
            return replace(today, note=f"{today.note}{then.note}按现行文本核对。")
        ended_later = self._index.repeal(law.key) and not self._index.repeal(law.key, time.period.first)
        if then.law == law and not ended_later:
            return self._of_today(law)
        verdict = self._against(then.law, f"按 {time.period.spaced}施行的版本（{then.law.published} 公布）核对。")
        today = self._of_today(law)
        if time.by is not By.SENTENCE and today.mark is Mark.AGREES and verdict.mark in PROBLEMS:
            return replace(verdict, note=f"{verdict.note}所述是现行文本。")
        if time.by is not By.SENTENCE or verdict.mark is Mark.AGREES:
            return verdict
        if _BEST.index(verdict.mark) <= _BEST.index(today.mark):
            return verdict
        other = f"{time.period.spaced}施行的是 {then.law.published} 公布的版本，请核对适用哪一版。"
        return replace(today, note=today.note + other)

    def _unknown(self, name: str) -> Verdict:
        repeal = self._index.repeal(law_key(name))
        if repeal is None:
            meant = self._books.asked_back(name)
            return self._say(
                _Finding(Mark.UNKNOWN, meant, unheld=ABROAD if is_abroad(name) and not meant else ""), name
            )
        by = self._index.version(repeal.law_id)
        return self._say(_Finding(Mark.NOT_IN_FORCE, f"已由《{by.name}》{repeal.number}废止。"), name)

    def _missing(self, law: LawVersion) -> Verdict:
        if not law.article_count:
            return self._say(_Finding(Mark.UNKNOWN, "库中这份文件没有分条。"), law)
        for version, found in self._other_versions(law):
            note = f"只见于{_named(version)}，现行文本没有这一条。"
            return self._say(_Finding(Mark.NOT_IN_FORCE, note), version, found)
        return self._say(_Finding(Mark.MISSING, f"全文共{to_chinese(self._index.highest(law.id))}条。"), law)

    def _gap(self, law: LawVersion, found: StoredArticle) -> str:
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

    def _compared(self, law: LawVersion, found: StoredArticle) -> _Finding:
        if len(self._passage.citations) > _MOST_TOGETHER:
            return _NOTHING_TO_COMPARE
        if self._passage.quotation:
            return self._quoted(self._passage.quotation, found)
        return self._restated(self._passage.said, law, found) if self._passage.said else _NOTHING_TO_COMPARE

    def _quoted(self, quotation: Quotation, found: StoredArticle) -> _Finding:
        if not quotes(quotation.text, found.text):
            return _NOTHING_TO_COMPARE if quotation.term else _Finding(Mark.DIFFERS, misquoted=True)
        rest = compare(quotation.rest, found.text)
        if rest.agreement is Agreement.CONTRADICTS:
            return _Finding(Mark.DIFFERS, _instead(rest.said, rest.stands))
        return _Finding(Mark.AGREES)

    def _restated(self, said: Restatement, law: LawVersion, found: StoredArticle) -> _Finding:
        citation = self._citation
        compared = compare(said.text, found.text, citation.paragraph, citation.item)
        if compared.agreement is Agreement.AGREES:
            return _Finding(Mark.AGREES) if said.whole else _NOTHING_TO_COMPARE
        if (citation.paragraph or citation.item) and compare(said.text, found.text).agreement is Agreement.AGREES:
            return _Finding(Mark.EXISTS, "所述内容在该条的其他款项，请核对。")
        together = list(self._together(law))
        if compared.agreement is Agreement.CONTRADICTS and len(together) == 1:
            return _Finding(Mark.DIFFERS, _instead(compared.said, compared.stands))
        return self._resembling(said, law, together)

    def _resembling(self, said: Restatement, law: LawVersion, together: Sequence[StoredArticle]) -> _Finding:
        """Assess a restatement that neither agrees nor contradicts: it may belong to another article, or to none."""
        own = contained(said.text, "\n".join(article.text for article in together))
        if own >= _FITS or len(pairs(said.text)) < _LEAST_PAIRS:
            return _NOTHING_TO_COMPARE
        other, share = self._books.likest(law.id, said.text, {article.id for article in together})
        if other and other.number.number and share > own + _FITS_BETTER:
            if self._passage.by is Author.MODEL or share >= _FITS_CLEARLY:
                return _Finding(Mark.DIFFERS, f"更像{other.number}。")
            return _Finding(Mark.EXISTS, f"所述内容更像{other.number}，请核对。")
        firm = self._passage.by is Author.MODEL or (said.attributed and own < _STRANGE)
        if firm and not _OTHERS_WORDS.search(said.text):
            return _Finding(Mark.EXISTS, "该条中未见所述内容，请核对。")
        return _NOTHING_TO_COMPARE

    def _together(self, law: LawVersion) -> Iterator[StoredArticle]:
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

    def _of_edition(self, law: LawVersion, edition: Edition) -> Verdict:
        version = self._version(law, edition)
        if version is None:
            held = "、".join(one.published or "日期不详" for one in self._index.versions(law.key))
            return self._say(_Finding(Mark.UNKNOWN, f"库中只有{held}公布的版本。", unheld=OTHER_EDITION), law)
        note = f"按{_named(version)}核对" + ("。" if version == law else "，不是现行文本。")
        verdict = self._against(version, note)
        if (
            verdict.mark is Mark.DIFFERS and not edition.year
        ):  # 旧刑法 may mean a version that the library does not hold
            return replace(verdict, mark=Mark.UNKNOWN, note=note, unheld=OTHER_EDITION, misquoted=False)
        return verdict

    def _against(self, version: LawVersion, note: str) -> Verdict:
        """Check against a version that the text or the reader chose."""
        found = self._index.article(version.id, self._citation.article)
        if found is None:
            highest = to_chinese(self._index.highest(version.id))
            return self._say(_Finding(Mark.MISSING, f"{note}全文共{highest}条。"), version)
        if gap := self._gap(version, found):
            return self._say(_Finding(Mark.MISSING, note + gap), version, found)
        finding = self._compared(version, found)
        return self._say(finding._replace(note=note + finding.note), version, found)

    def _version(self, law: LawVersion, edition: Edition) -> LawVersion | None:
        """Return the version that an edition names. With a year: the version made in that year, else the one in force
        then. For 旧 and 原: the version before the current one."""
        versions = self._index.versions(law.key)
        if not edition.year:
            return next((one for one in versions if one.begins < law.begins), None)
        year = str(edition.year)
        made = [one for one in versions if year in ((one.published or "")[:4], (one.effective or "")[:4])]
        if made or edition.made:
            return made[0] if made else None
        return next((one for one in versions if one.begins and one.begins[:4] <= year), None)

    def _other_versions(self, law: LawVersion) -> Iterator[tuple[LawVersion, StoredArticle]]:
        for version in self._index.versions(law.key):
            found = self._index.article(version.id, self._citation.article) if version != law else None
            if found:
                yield version, found

    def _complete_in_another(self, law: LawVersion) -> Verdict | None:
        """Return a finding for an older version that has the cited 款 or 项, or None."""
        for version, found in self._other_versions(law):
            if not self._gap(version, found):
                note = f"只见于{_named(version)}，现行条文没有这一款项。"
                return self._say(_Finding(Mark.NOT_IN_FORCE, note), version, found)
        return None

    def _of_another_version(self, law: LawVersion) -> Verdict | None:
        """Return a finding for an older version that agrees with the text, or None."""
        for version, found in self._other_versions(law):
            if self._compared(version, found).mark is Mark.AGREES:
                what = "引文" if self._quote else "所述内容"
                note = f"{what}出自{_named(version)}，现行条文已不同。"
                return self._say(_Finding(Mark.NOT_IN_FORCE, note), version, found)
        return None

    def _why(self, law: LawVersion, status: Status) -> str:
        if status is Status.NOT_YET:
            return f"自{law.effective}起施行，目前尚未生效。"
        repeal = self._index.repeal(law.key)
        return f"已由《{self._index.version(repeal.law_id).name}》{repeal.number}废止。" if repeal else "该法规已废止。"

    def _say(self, finding: _Finding, law: LawVersion | str, found: StoredArticle | None = None) -> Verdict:
        known = None if isinstance(law, str) else law
        return Verdict(
            mark=finding.mark,
            start=self._citation.start,
            end=self._citation.end,
            cited=self._passage.text[self._citation.start : self._citation.end],
            law_name=law if isinstance(law, str) else law.name,
            article_number=str(self._citation.article),
            text=found.text if found else None,
            quote=self._quote,
            claim=self._passage.said.text if self._passage.said and not self._quote else None,
            note=finding.note,
            effective_date=known.effective if known else None,
            published=known.published if known else None,
            law_id=known.id if known else None,
            misquoted=finding.misquoted,
            unheld=finding.unheld,
        )


def _named(version: LawVersion) -> str:
    return f"{version.published}公布的版本" if version.published else "另一版本"


def _instead(said: str, stands: str) -> str:
    if not stands:
        return f"条文没有“{said}”。"
    return f"所述“{said}”，条文为“{stands}”。" if said else f"条文有“{stands}”。"
