"""Articles of the library as sources of an answer: numbered, cited, stored and checked like web results."""

from __future__ import annotations

from collections.abc import Iterator

from core.base.text import one_line, shorten
from core.base.web_addresses import host_of
from core.legal.entities import LAWS, LawStatus
from core.legal.library.statutes import LegalArticle
from core.legal.page_addresses import law_address
from core.search import SNIPPET_LENGTH
from core.search.types import SearchResult


def article_source(public_url: str, article: LegalArticle, rank: int) -> SearchResult:
    """Return an article as a search result. Its address names a version only if the page would show another one."""
    other = article.status in {LawStatus.AMENDED, LawStatus.NOT_YET_IN_FORCE}
    version = article.published if other else None
    url = public_url + law_address(article.law_name, article.article_number, version)
    remark = f"（{article.published or '日期不详'} 公布，{article.status}）" if other else ""
    if article.remark:
        remark = f" · {article.remark.rstrip('。')}"
    return SearchResult(
        title=f"《{article.law_name}》{article.article_number or ''}{remark}",
        url=url,
        snippet=shorten(one_line(article.content), SNIPPET_LENGTH),
        source=host_of(url),
        published=article.published,
        engine=LAWS,
        rank=rank,
        read="library",
        text=_article_text(article) if article.article_number else "",
    )


def _article_text(article: LegalArticle) -> str:
    """Return all that the library says of an article. It is compared in full; the model reads as much as fits."""
    heading = f"《{article.law_name}》{article.article_number}{force_note(article)}"
    return "\n".join([heading, article.content, *reference_notes(article)])


def force_note(article: LegalArticle) -> str:
    """Return the day of force, the status and remarks of an article, in brackets."""
    since = [f"{article.effective_date} 起施行"] if article.effective_date else []
    return f"（{'，'.join([*since, str(article.status)])}）{article.later_amendment}{article.remark}"


def reference_notes(article: LegalArticle) -> Iterator[str]:
    for reference in article.references:
        yield f"【提到的《{reference.law_name}》{reference.article_number}：{reference.description}】"
