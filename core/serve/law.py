"""Laws and cases for other programs: look them up, and check what a text cites of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.base.errors import InputError
from core.base.text import clean
from core.legal import (
    Author,
    CaseFinding,
    ContractReview,
    Draft,
    Period,
    StatuteFinding,
    legal_export,
    parse_article_number,
    parse_period,
)
from core.legal.entities import CaseFilter
from core.serve.access import Caller, Scope
from core.serve.coverage import law_coverage

if TYPE_CHECKING:
    from core.app import App

MAX_DRAFT_LENGTH = 400_000


def period(text: str) -> Period | None:
    """Return the time that a caller names; None for an empty text. Raise InputError."""
    found = parse_period(text) if text else None
    if text and found is None:
        raise InputError(f"「{text[:40]}」不是日期。", cure="日期写成 2019-05-01、2019-05 或 2019。")
    return found


def search_statutes(app: App, caller: Caller, query: str, as_of: str = "", limit: int = 10) -> dict[str, Any]:
    """Return articles by the name and number of a law or by words, from the library, else from the web."""
    caller.require(Scope.LAW)
    response = app.legal.regulations(caller.visitor).search(query, limit, as_of=period(as_of))
    return {**response.to_json(), "coverage": law_coverage(app)}


def get_article(app: App, caller: Caller, law: str, article: str, as_of: str = "") -> dict[str, Any]:
    """Return one article, as it reads now or at a time, or a note on why there is none. Never asks the web."""
    caller.require(Scope.LAW)
    try:
        number = str(parse_article_number(article))
    except ValueError:
        raise InputError(f"「{article[:40]}」不是条号。", cure="条号写成 第三十八条 或 38。") from None
    found = app.legal.look_up(f"《{law.strip(' 《》')}》{number}", as_of=period(as_of))
    fitting = next((one for one in found.results if one.article_number == number), None)
    article_json = fitting.to_json() if fitting else None
    return {"article": article_json, "asOf": as_of or None, "note": found.note, "coverage": law_coverage(app)}


def search_cases(
    app: App, caller: Caller, query: str, wanted: CaseFilter | None = None, limit: int = 10
) -> dict[str, Any]:
    """Return court cases by words or number, from the library, else from the web."""
    caller.require(Scope.LAW)
    response = app.legal.cases(caller.visitor).search(query, limit=limit, case_filter=wanted or CaseFilter())
    return {**response.to_json(), "coverage": law_coverage(app)}


def verify_statutes(
    app: App, caller: Caller, text: str, as_of: str = "", report: Callable[[str], None] = lambda stage: None
) -> dict[str, Any]:
    """Return a verdict on every statute and case that a text cites, and the review of a contract. `report` is called with
    each stage of the work."""
    caller.require(Scope.LAW)
    if len(text) > MAX_DRAFT_LENGTH:
        problem = f"文字有 {len(text):,} 字，超过 {MAX_DRAFT_LENGTH:,} 字的上限，没有核验。"
        raise InputError(problem, cure="请分成几次核验。")
    document = verify_draft(app, Draft.from_text(clean(text)), period(as_of), report).to_json()
    return {**document, "coverage": law_coverage(app)}


@dataclass(frozen=True, slots=True)
class VerifiedDraft:
    """The verdicts on a draft: the statutes and cases that it cites, and the review of a contract."""

    name: str
    findings: Sequence[StatuteFinding]
    cases: Sequence[CaseFinding]
    review: ContractReview | None

    def to_json(self) -> dict[str, Any]:
        report = legal_export.draft_report(legal_export.CheckedDraft(self.name, self.findings, self.review))
        return {**report, "cases": [one.to_json() for one in self.cases]}


def verify_draft(
    app: App, draft: Draft, as_of: Period | None, report: Callable[[str], None] = lambda stage: None
) -> VerifiedDraft:
    """Return the verdicts on a draft. Raise NoLegalIndex."""
    report("正在核验法条")
    findings = app.legal.verifier.verify(draft.text, Author.PERSON, as_of)
    report(f"法条核验了 {len(findings)} 处，正在核验案号、审查合同条款")
    cases, review = app.legal.checks.check_cases(draft.text), app.legal.contracts.review(draft.text, as_of)
    return VerifiedDraft(draft.name, findings, cases, review)
