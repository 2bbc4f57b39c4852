"""Contract review (合同审查): runs the rules for a contract's kind, and reports only what an article in the library confirms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from core.legal.article_numbers import ArticleNumber
from core.legal.contracts.contract_text import MAX_LENGTH, Contract, ContractKind, contract_kind, looks_like_contract
from core.legal.contracts.general_rules import GENERAL_RULES
from core.legal.contracts.labour_rules import LABOUR_RULES
from core.legal.contracts.lease_rules import LEASE_RULES
from core.legal.contracts.loan_rules import LOAN_RULES
from core.legal.contracts.rule import Accusation, Basis, ContractRule, Severity
from core.legal.contracts.sale_rules import SALE_RULES
from core.legal.errors import NoLegalIndex
from core.legal.library.index import LegalIndex, LegalLibrary
from core.legal.library.version_on_day import version_on
from core.legal.text.periods import Period

RULES: tuple[ContractRule, ...] = (*LABOUR_RULES, *LEASE_RULES, *LOAN_RULES, *SALE_RULES, *GENERAL_RULES)
ONLY_COMMON_CLAUSES = "只检查这些常见条款，没有提示不等于合法；不能代替律师。"
UNKNOWN_KIND = "没有识别出合同类型，没有做合同审查。"
MAX_FINDINGS_PER_RULE = 20


@dataclass(frozen=True, slots=True)
class GoverningArticle:
    """An article that the library holds in the version for the contract, with the words that a rule relies on."""

    law_name: str
    article_number: str
    text: str
    anchor: str
    effective_date: str | None
    published: str | None
    law_id: int

    @property
    def citation(self) -> str:
        return f"《{self.law_name}》{self.article_number}"

    def to_json(self) -> dict[str, Any]:
        return {
            "lawName": self.law_name,
            "articleNumber": self.article_number,
            "text": self.text,
            "anchor": self.anchor,
            "effectiveDate": self.effective_date,
            "publishDate": self.published,
        }


@dataclass(frozen=True, slots=True)
class ContractFinding:
    """A clause of a draft and the article that it does not agree with, or that should be read beside it."""

    rule: str
    title: str
    severity: Severity
    start: int
    end: int
    sentence: str
    note: str
    articles: tuple[GoverningArticle, ...]
    """The first is the one that decides. There is always one."""

    def to_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "title": self.title,
            "severity": self.severity.value,
            "start": self.start,
            "end": self.end,
            "sentence": self.sentence,
            "note": self.note,
            "articles": [article.to_json() for article in self.articles],
        }


@dataclass(frozen=True, slots=True)
class SkippedRules:
    """Rules that could not be applied, for one reason."""

    reason: str
    titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContractReview:
    """Result of the review of one draft that looks like a contract."""

    kind: ContractKind | None
    """None if the draft looks like a contract, but of no kind that has rules."""
    signed: date | None
    """The day of signing that the draft names; without one, today's law was used."""
    law_day: date
    findings: tuple[ContractFinding, ...] = ()
    skipped: tuple[SkippedRules, ...] = ()
    is_cut: bool = False

    @property
    def basis_note(self) -> str:
        """Sentence on which day's law was used."""
        if self.kind is None:
            return UNKNOWN_KIND
        if self.signed == self.law_day:
            return f"识别为{self.kind}，按签订日 {self.law_day} 施行的法律检查。"
        if self.signed:
            return f"识别为{self.kind}，按 {self.law_day} 施行的法律检查。"
        return f"识别为{self.kind}，按 {self.law_day} 施行的法律检查，文稿没有写签订日期。"

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the reader beside the findings: the law's day, what was not checked, and the limits."""
        notes = [self.basis_note]
        if self.is_cut:
            notes.append(f"合同太长，只审查了前 {MAX_LENGTH:,} 字。")
        notes += [f"没有完整检查{'、'.join(one.titles)}：{one.reason}" for one in self.skipped]
        return (*notes, ONLY_COMMON_CLAUSES) if self.kind else tuple(notes)

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind.value if self.kind else None,
            "signed": self.signed.isoformat() if self.signed else None,
            "lawDay": self.law_day.isoformat(),
            "findings": [finding.to_json() for finding in self.findings],
            "notes": list(self.notes),
        }


class ContractReviewer:
    """Reviews contracts against one library."""

    def __init__(self, library: LegalLibrary) -> None:
        self._library = library

    def review(self, draft: str, as_of: Period | None = None) -> ContractReview | None:
        """Return the review of a contract; None for a text that is none. Raises NoLegalIndex. `as_of` replaces the day of
        signing that the draft names."""
        index = self._library.index()
        if index is None:
            raise NoLegalIndex
        kind = contract_kind(draft)
        today = date.today()
        if kind is None:
            return ContractReview(None, None, today) if looks_like_contract(draft) else None
        contract = Contract(draft, kind)
        day = date.fromisoformat(as_of.last) if as_of else contract.signed or today
        laws = _Laws(index, day, today)
        rules = [rule for rule in RULES if kind in rule.kinds]
        findings = _without_repetition(
            finding for rule in rules for finding in _findings(rule, contract, laws, draft, day)
        )
        return ContractReview(
            kind, contract.signed, day, tuple(findings), tuple(_skipped(rules, laws)), is_cut=len(draft) > MAX_LENGTH
        )


class _Laws:
    """The library's articles on the day of a contract. Each article is looked up once."""

    def __init__(self, index: LegalIndex, day: date, today: date) -> None:
        self._index = index
        self._day = day
        self._today = today
        self._known: dict[Basis, GoverningArticle | str] = {}

    def article(self, basis: Basis) -> GoverningArticle | None:
        found = self._look_up(basis)
        return found if isinstance(found, GoverningArticle) else None

    def reason(self, basis: Basis) -> str:
        """Return why an article cannot be relied on; empty if it can."""
        found = self._look_up(basis)
        return found if isinstance(found, str) else ""

    def _look_up(self, basis: Basis) -> GoverningArticle | str:
        if basis not in self._known:
            found = self._confirmed(basis)
            if isinstance(found, str) and basis.earlier:
                earlier = self._confirmed(basis.earlier)
                found = found if isinstance(earlier, str) else earlier
            self._known[basis] = found
        return self._known[basis]

    def _confirmed(self, basis: Basis) -> GoverningArticle | str:
        law = self._index.resolve(basis.law)
        if law is None:
            return f"库中没有《{basis.law}》。"
        day = (self._today if basis.is_procedural else self._day).isoformat()
        version = version_on(self._index, law.key, Period(day, day))
        if not version.is_exact:
            return f"《{law.name}》：{version.note}"
        repeal = self._index.repeal(law.key)
        if repeal and repeal.since <= day:
            return f"《{law.name}》在 {day} 已废止。"
        article = self._index.article(version.law.id, ArticleNumber(basis.article))
        number = str(ArticleNumber(basis.article))
        if article is None or _without_blanks(basis.anchor) not in _without_blanks(article.text):
            return f"《{law.name}》{number}在库中的文字与规则所依据的不同。"
        return GoverningArticle(
            version.law.name,
            number,
            article.text,
            basis.anchor,
            version.law.effective,
            version.law.published,
            version.law.id,
        )


def _without_blanks(text: str) -> str:
    return "".join(text.split())


def _findings(rule: ContractRule, contract: Contract, laws: _Laws, draft: str, day: date) -> list[ContractFinding]:
    found = (_finding(rule, accusation, laws, draft) for accusation in rule.find(contract, day))
    return [finding for finding in found if finding][:MAX_FINDINGS_PER_RULE]


def _finding(rule: ContractRule, accusation: Accusation, laws: _Laws, draft: str) -> ContractFinding | None:
    """Return the finding, if the library confirms the article that decides; else what is said without it."""
    if laws.article(accusation.bases[0]) is None:
        return _finding(rule, accusation.otherwise, laws, draft) if accusation.otherwise else None
    articles = [article for basis in accusation.bases if (article := laws.article(basis))]
    sentence = accusation.sentence
    return ContractFinding(
        rule.id,
        rule.title,
        accusation.severity,
        sentence.start,
        sentence.end,
        draft[sentence.start : sentence.end],
        accusation.note,
        tuple(articles),
    )


def _without_repetition(findings: Iterable[ContractFinding]) -> list[ContractFinding]:
    """Return the findings in the order of the draft, worst first at each place, one for each rule and sentence."""
    different = {(one.start, one.rule): one for one in findings}
    return sorted(different.values(), key=lambda one: (one.start, one.severity is not Severity.VIOLATES))


def _skipped(rules: Sequence[ContractRule], laws: _Laws) -> list[SkippedRules]:
    titles: dict[str, list[str]] = {}
    for rule in rules:
        for basis in rule.bases:
            if reason := laws.reason(basis):
                titles.setdefault(reason, []).append(rule.title)
    return [SkippedRules(reason, tuple(dict.fromkeys(names))) for reason, names in titles.items()]
