"""Contract review (合同审查) on the page: each clause with its sentence and its article, and what was not checked."""

from __future__ import annotations

from collections import Counter

import streamlit as st
from markupsafe import Markup

from core.base.text import one_line, shorten
from core.legal import ContractFinding, ContractReview, GoverningArticle, Severity, law_address
from core.ui.escape import draw_html, escape_label
from core.ui.statute_findings import article_html

_COLOURS = {Severity.VIOLATES: "red", Severity.CHECK: "orange"}
_LISTED = 100
_LABEL_LENGTH = 60


def draw(review: ContractReview, name: str, *, key: str) -> None:
    """Draw the review of one draft, the worst clauses first. `name` stands before the heading."""
    if review.kind is None:
        st.caption(escape_label(f"{name}{review.basis_note}"))
        return
    st.subheader(escape_label(f"{name}合同审查，提示 {len(review.findings)} 处"), anchor=False)
    counts = Counter(one.severity for one in review.findings)
    if counts:
        st.markdown(" ".join(_badge(severity, counts[severity]) for severity in Severity if counts[severity]))
    worst_first = sorted(review.findings, key=lambda one: one.severity is not Severity.VIOLATES)
    for number, finding in enumerate(worst_first[:_LISTED]):
        label = f"{finding.title} · {shorten(one_line(finding.sentence), _LABEL_LENGTH)}"
        with st.expander(f"{_badge(finding.severity)} {escape_label(label)}", key=f"{key}-clause-{number}"):
            draw_html(_finding_html(finding))
    if len(worst_first) > _LISTED:
        st.caption(f"只列出前 {_LISTED} 处，其余请下载。")
    for note in review.notes:
        st.caption(escape_label(note))


def _badge(severity: Severity, count: int | None = None) -> str:
    return f":{_COLOURS[severity]}-badge[{severity}{f' {count}' if count is not None else ''}]"


def _finding_html(finding: ContractFinding) -> Markup:
    parts = Markup('<div class="wy-verdict"><b>%s。</b>%s</div>') % (finding.severity, finding.note)
    parts += Markup('<div class="wy-law-title">文稿</div>') + article_html(finding.sentence)
    parts += Markup().join(_article_html(article) for article in finding.articles)
    return Markup('<div class="wy-law">%s</div>') % parts


def _article_html(article: GoverningArticle) -> Markup:
    force = f"{article.effective_date} 起施行" if article.effective_date else f"{article.published} 公布"
    address = law_address(article.law_name, article.article_number, article.published)
    return (
        Markup('<div class="wy-law-title">%s <span class="wy-dim">%s</span></div>') % (article.citation, force)
        + article_html(article.text)
        + Markup('<div><a href="%s" target="_blank" rel="noopener">在「法规与案例」页打开</a></div>') % address
    )
