"""Export of articles, laws, cases and checked citations as Markdown, JSON and CSV.

A whole law or case is a record of the documented JSONL (`core.legal.layouts.jsonl`), so an export can be imported
again. Texts come from whoever wrote the corpus: none becomes a link in Markdown or a formula in CSV.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from core.base.inert_markdown import disarm, link_address, plain_line
from core.base.spreadsheet import as_csv
from core.legal.library.article_index import StoredArticle
from core.legal.library.cases import CaseResponse
from core.legal.library.catalogue import source_name
from core.legal.library.law_index import LawVersion
from core.legal.library.statutes import LegalArticle, RegulationResponse
from core.legal.types import CourtCase, Status
from core.legal.verify import Verdict, report

Checked = tuple[str, Sequence[Verdict]]
"""Name of a draft, and the findings in it."""


def citation_with_text(article: LegalArticle) -> str:
    """Return an article as a quotation: 《…》第三十八条第一款规定：“…”."""
    return f"{article.citation()}规定：“{article.excerpt or article.content}”"


def facts_of_article(article: LegalArticle) -> list[str]:
    """Return the known facts of an article: 效力级别, status, issuer and dates."""
    return _facts(article.kind, article.status, article.published, article.effective_date, article.issuer)


def facts_of_law(law: LawVersion, status: Status) -> list[str]:
    return _facts(law.kind, status, law.published, law.effective, law.issuer)


def _facts(
    kind: str | None, status: str | None, published: str | None, effective: str | None, issuer: str | None
) -> list[str]:
    days = (f"{published} 公布" if published else None, f"{effective} 施行" if effective else None)
    return [str(fact) for fact in (kind, status, issuer, *days) if fact]


def facts_of_case(case: CourtCase) -> list[str]:
    """Return the known facts of a case: number, court, date, type and cause."""
    return [str(fact) for fact in (case.number, case.court, case.date, case.type, case.cause) if fact]


def parts_of_case(case: CourtCase) -> list[tuple[str, str]]:
    """Return titled parts of a case, in the order readers want them: the rule drawn from it, its result, the facts."""
    parts = (("裁判要旨", case.gist), ("裁判结果", case.verdict), ("案情", case.summary))
    return [(title, text) for title, text in parts if text]


# ── Markdown ──────────────────────────────────────────────────────────────────────────────────────────────────────


def article_markdown(article: LegalArticle) -> str:
    return _page(f"# {plain_line(article.citation())}", *_article_body(article))


def _article_body(article: LegalArticle) -> Iterable[str]:
    if not article.url:
        yield f"*{plain_line(' · '.join([*facts_of_article(article), source_name(article.source)]))}*"
    yield _paragraphs(article.content)
    if article.references:
        targets = (
            f"《{found.law_name}》{found.article_number}：{found.content or '库中没有'}" for found in article.references
        )
        yield "\n".join(f"- {plain_line(target)}" for target in targets)
    if article.url:
        yield f"<{link_address(article.url)}>"


def law_markdown(law: LawVersion, status: Status, articles: Sequence[StoredArticle]) -> str:
    """Return a whole law as Markdown, with its headings."""
    parts = [
        f"# {plain_line(law.name)}",
        f"*{plain_line(' · '.join([*facts_of_law(law, status), source_name(law.source)]))}*",
    ]
    path: tuple[str, ...] = ()
    for article in articles:
        for depth, title in enumerate(article.path):
            if article.path[: depth + 1] != path[: depth + 1]:
                parts.append(f"{'#' * min(depth + 2, 6)} {plain_line(title)}")
        path = article.path
        number = f"**{article.number}**　" if article.number.number else ""
        parts.append(number + _paragraphs(article.text))
    return _page(*parts)


def articles_markdown(response: RegulationResponse) -> str:
    parts = [f"# 查法规：{plain_line(response.query)}"]
    for article in response.results:
        parts += [f"## {plain_line(article.law_name if article.url else article.citation())}", *_article_body(article)]
    return _page(*parts)


def case_markdown(case: CourtCase) -> str:
    return _page(f"# {plain_line(case.name)}", *_case_body(case), "## 全文", _paragraphs(case.text))


def _case_body(case: CourtCase) -> Iterable[str]:
    yield f"*{plain_line(' · '.join([*facts_of_case(case), source_name(case.source)]))}*"
    for title, text in parts_of_case(case):
        yield f"**{title}**　{_paragraphs(text)}"
    if case.url:
        yield f"<{link_address(case.url)}>"


def cases_markdown(response: CaseResponse) -> str:
    parts = [f"# 查案例：{plain_line(response.query)}"]
    for case in response.results:
        parts += [f"## {plain_line(case.name)}", *_case_body(case)]
    return _page(*parts)


def _page(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"


def _paragraphs(text: str) -> str:
    return disarm("\n\n".join(line for line in text.splitlines() if line.strip()))


# ── JSON ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def as_json(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def law_jsonl(law: LawVersion, status: Status, articles: Iterable[StoredArticle]) -> str:
    """Return a law as one line of the importable JSONL."""
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
            "articles": [
                {"number": str(article.number) or None, "path": list(article.path), "text": article.text}
                for article in articles
            ],
        }
    )


def case_jsonl(case: CourtCase) -> str:
    return _record({"type": "case", **case.to_json(), "text": case.text})


def _record(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False) + "\n"


def verdicts_json(drafts: Sequence[Checked]) -> str:
    """Return the findings as JSON. One draft is a plain report; several are listed under `drafts`, each with its name."""
    reports = [{"file": name, **report(verdicts)} for name, verdicts in drafts]
    return as_json(reports[0] if len(reports) == 1 else {"drafts": reports})


# ── CSV ───────────────────────────────────────────────────────────────────────────────────────────────────────────

_COLUMNS: dict[str, Callable[[Verdict], str | None]] = {
    "标记": lambda verdict: verdict.mark.value,
    "结论": lambda verdict: verdict.meaning,
    "引用": lambda verdict: verdict.cited,
    "法规": lambda verdict: verdict.law_name,
    "条": lambda verdict: verdict.article_number,
    "说明": lambda verdict: verdict.note,
    "引文": lambda verdict: verdict.quote,
    "所述": lambda verdict: verdict.claim,
    "条文": lambda verdict: verdict.text,
    "施行日期": lambda verdict: verdict.effective_date,
}


def verdicts_csv(drafts: Iterable[Checked]) -> str:
    rows = ([name, *(value(one) for value in _COLUMNS.values())] for name, verdicts in drafts for one in verdicts)
    return as_csv(["文稿", *_COLUMNS], rows)
