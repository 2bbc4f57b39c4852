"""Export of articles, laws, cases and checked citations as Markdown, JSON and CSV.

A whole law or case is a record of the documented JSONL (`core.legal.layouts.jsonl`), so an export can be imported
again. Texts come from whoever wrote the corpus: none becomes a link in Markdown or a formula in CSV.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from core.base.inert_markdown import escape_line, link_target, make_inert
from core.base.spreadsheet import to_csv
from core.legal.contracts.review import ContractFinding, ContractReview
from core.legal.entities import CourtCase, LawStatus
from core.legal.library.article_index import StoredArticle
from core.legal.library.case_search import CaseResponse
from core.legal.library.catalogue import source_name
from core.legal.library.law_index import LawVersion
from core.legal.library.statutes import LegalArticle, RegulationResponse
from core.legal.text.case_numbers import find_guiding_numbers
from core.legal.text.case_sections import case_keywords
from core.legal.verify import StatuteFinding, findings_report, summary


class CheckedDraft(NamedTuple):
    """A draft by its name, the findings about its citations, and the review of the contract that it is, if it is one."""

    name: str
    findings: Sequence[StatuteFinding]
    review: ContractReview | None = None


def citation_with_text(article: LegalArticle) -> str:
    """Return an article as a quotation: 《…》第三十八条第一款规定：“…”."""
    return f"{article.citation()}规定：“{article.excerpt or article.content}”"


def article_facts(article: LegalArticle) -> list[str]:
    """Return the known facts of an article: 效力级别, status, issuer and dates."""
    return _facts(article.published, article.effective_date, article.kind, article.status, article.issuer)


def law_facts(law: LawVersion, status: LawStatus) -> list[str]:
    return _facts(law.published, law.effective, law.kind, status, law.issuer)


def _facts(published: str | None, effective: str | None, *facts: str | None) -> list[str]:
    days = (f"{published} 公布" if published else None, f"{effective} 施行" if effective else None)
    return [str(fact) for fact in (*facts, *days) if fact]


def case_facts(case: CourtCase) -> list[str]:
    """Return the known facts of a case: number, court, date, type, cause and keywords."""
    keywords = case_keywords(case.text)
    named = f"关键词 {'、'.join(keywords)}" if keywords else None
    return [str(fact) for fact in (case.number, case.court, case.date, case.type, case.cause, named) if fact]


def case_parts(case: CourtCase) -> list[tuple[str, str]]:
    """Return titled parts of a case, in the order readers want them: the rule drawn from it, its result, the facts."""
    gist = "裁判要点" if find_guiding_numbers(case.number or "") else "裁判要旨"  # the words of the courts
    parts = ((gist, case.gist), ("裁判结果", case.verdict), ("案情", case.summary))
    return [(title, text) for title, text in parts if text]


# ── Markdown ──────────────────────────────────────────────────────────────────────────────────────────────────────


def article_markdown(article: LegalArticle) -> str:
    return _page(f"# {escape_line(article.citation())}", *_article_body(article))


def _article_body(article: LegalArticle) -> Iterable[str]:
    if not article.url:
        yield f"*{escape_line(' · '.join([*article_facts(article), source_name(article.source)]))}*"
    yield _paragraphs(article.content)
    if article.references:
        targets = (f"《{one.law_name}》{one.article_number}：{one.description}" for one in article.references)
        yield "\n".join(f"- {escape_line(target)}" for target in targets)
    if article.url:
        yield f"<{link_target(article.url)}>"


def law_markdown(law: LawVersion, status: LawStatus, articles: Sequence[StoredArticle]) -> str:
    """Return a whole law as Markdown, with its headings."""
    parts = [
        f"# {escape_line(law.name)}",
        f"*{escape_line(' · '.join([*law_facts(law, status), source_name(law.source)]))}*",
    ]
    path: tuple[str, ...] = ()
    for article in articles:
        for depth, title in enumerate(article.path):
            if article.path[: depth + 1] != path[: depth + 1]:
                parts.append(f"{'#' * min(depth + 2, 6)} {escape_line(title)}")
        path = article.path
        number = f"**{article.number}**　" if article.number.number else ""
        parts.append(number + _paragraphs(article.text))
    return _page(*parts)


def articles_markdown(response: RegulationResponse) -> str:
    parts = [f"# 查法规：{escape_line(response.query)}"]
    for article in response.results:
        parts += [f"## {escape_line(article.law_name if article.url else article.citation())}", *_article_body(article)]
    return _page(*parts)


def case_markdown(case: CourtCase) -> str:
    return _page(f"# {escape_line(case.name)}", *_case_body(case), "## 全文", _paragraphs(case.text))


def _case_body(case: CourtCase) -> Iterable[str]:
    yield f"*{escape_line(' · '.join([*case_facts(case), source_name(case.source)]))}*"
    for title, text in case_parts(case):
        yield f"**{title}**　{_paragraphs(text)}"
    if case.url:
        yield f"<{link_target(case.url)}>"


def cases_markdown(response: CaseResponse) -> str:
    parts = [f"# 查案例：{escape_line(response.query)}"]
    for case in response.results:
        parts += [f"## {escape_line(case.name)}", *_case_body(case)]
    return _page(*parts)


def findings_markdown(drafts: Iterable[CheckedDraft]) -> str:
    """Return the findings as Markdown: for each draft the clauses of the contract first, then the citations."""
    return _page(*(part for draft in drafts for part in _draft_parts(draft)))


def _draft_parts(draft: CheckedDraft) -> Iterable[str]:
    yield f"# {escape_line(draft.name)}"
    if draft.review:
        yield "## 合同审查"
        yield "\n".join(f"- {escape_line(note)}" for note in draft.review.notes)
        for clause in draft.review.findings:
            yield f"### {clause.severity}：{escape_line(clause.title)}"
            yield f"> {escape_line(clause.sentence)}"
            yield escape_line(clause.note)
            for article in clause.articles:
                yield f"**{escape_line(article.citation)}**　{_paragraphs(article.text)}"
    yield f"## 引用的法条：{len(draft.findings)} 处"
    if draft.findings:
        yield summary(draft.findings)
    for finding in draft.findings:
        verdict = escape_line(f"{finding.mark} {finding.cited}：{finding.meaning}。{finding.note}")
        yield f"- {verdict}"


def _page(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"


def _paragraphs(text: str) -> str:
    return make_inert("\n\n".join(line for line in text.splitlines() if line.strip()))


# ── JSON ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def as_json(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def law_jsonl(law: LawVersion, status: LawStatus, articles: Iterable[StoredArticle]) -> str:
    """Return a law as one line of the importable JSONL."""
    texts = [{"number": str(one.number) or None, "path": list(one.path), "text": one.text} for one in articles]
    return _record(
        {
            "type": "law",
            "name": law.name,
            "kind": law.kind,
            "issuer": law.issuer,
            "published": law.published,
            "effective": law.effective,
            "status": status,
            "source": law.source,
            "articles": texts,
        }
    )


def case_jsonl(case: CourtCase) -> str:
    return _record({"type": "case", **case.to_json(), "text": case.text})


def _record(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False) + "\n"


def findings_json(drafts: Sequence[CheckedDraft]) -> str:
    """Return the findings as JSON. One draft is a plain report; several are listed under `drafts`, each with its name."""
    reports = [draft_report(draft) for draft in drafts]
    return as_json(reports[0] if len(reports) == 1 else {"drafts": reports})


def draft_report(draft: CheckedDraft) -> dict[str, Any]:
    """Return the findings of one draft as JSON. A contract has its review under `contract`."""
    report = {"file": draft.name, **findings_report(draft.findings)}
    return {**report, "contract": draft.review.to_json()} if draft.review else report


# ── CSV ───────────────────────────────────────────────────────────────────────────────────────────────────────────

_COLUMNS: dict[str, Callable[[StatuteFinding], str | None]] = {
    "标记": lambda finding: finding.mark.value,
    "分类": lambda finding: finding.group.value,
    "结论": lambda finding: finding.meaning,
    "引用": lambda finding: finding.cited,
    "法规": lambda finding: finding.law_name,
    "条": lambda finding: finding.article_number,
    "说明": lambda finding: finding.note,
    "引文": lambda finding: finding.quote,
    "所述": lambda finding: finding.claim,
    "条文": lambda finding: finding.text,
    "施行日期": lambda finding: finding.effective_date,
}


_CLAUSE_COLUMNS: dict[str, Callable[[ContractFinding], str | None]] = {
    "标记": lambda clause: clause.severity.value,
    "结论": lambda clause: clause.title,
    "引用": lambda clause: clause.sentence,
    "法规": lambda clause: clause.articles[0].law_name,
    "条": lambda clause: clause.articles[0].article_number,
    "说明": lambda clause: clause.note,
    "条文": lambda clause: clause.articles[0].text,
    "施行日期": lambda clause: clause.articles[0].effective_date,
}
"""Clauses of a contract stand in the same table; 引用 is the sentence of the draft."""


def findings_csv(drafts: Iterable[CheckedDraft]) -> str:
    return to_csv(["文稿", *_COLUMNS], (row for draft in drafts for row in _rows(draft)))


def _rows(draft: CheckedDraft) -> Iterable[list[str | None]]:
    for clause in draft.review.findings if draft.review else ():
        yield [draft.name, *(_CLAUSE_COLUMNS[name](clause) if name in _CLAUSE_COLUMNS else None for name in _COLUMNS)]
    for finding in draft.findings:
        yield [draft.name, *(value(finding) for value in _COLUMNS.values())]
