"""Contract review (合同审查) on the page: each clause with its sentence and its article."""

from __future__ import annotations

from collections import Counter

from markupsafe import Markup

from core.legal import ContractFinding, ContractReview, GoverningArticle, Severity, law_address
from core.ui.statute_findings import article_html

COLOURS = {Severity.VIOLATES: "red", Severity.CHECK: "orange"}


def counts(review: ContractReview) -> str:
    """Return how many clauses were found to be what: ：不符合 1 · 请核对 2. Empty without any."""
    counted = Counter(one.severity for one in review.findings)
    words = " · ".join(f"{severity} {counted[severity]}" for severity in Severity if counted[severity])
    return f"：{words}" if words else ""


def finding_html(finding: ContractFinding) -> Markup:
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
