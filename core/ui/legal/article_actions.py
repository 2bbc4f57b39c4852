"""What a reader does with an article: 复制条文, 复制引用, 就此提问, 加入核验. The page's script copies (`article_actions.js`)."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from core.legal import LawVersion, LegalArticle, short_link
from core.legal.entities import LawStatus
from core.ui.statute_findings import short_name

ADD = "add"
"""Name in the address of an article that is to be added to the list of the draft check."""
_NUMBER = "NUMBER"
"""Stands for an article's number in the row of a whole law, until the script knows it."""
_ROW = Markup(
    '<div class="wy-acts %s" role="group" aria-label="%s" data-cite="%s" data-version="%s" data-text="%s">'
    '<button type="button" data-act="text" title="复制条文"><span>复制条文</span></button>'
    '<button type="button" data-act="cite" title="复制引用"><span>复制引用</span></button>'
    '<a class="wy-go" data-act="ask" href="%s" title="就此提问"><span>就此提问</span></a>'
    '<a data-act="add" href="%s" title="加入核验：核验文稿时，看文稿有没有引用这一条、引得对不对"><span>加入核验</span></a></div>'
)


def row_html(article: LegalArticle, query: Mapping[str, str], *, with_words: bool = False) -> Markup:
    """Return the row of an article. `query` is the address of the page that it stands on."""
    facts = (article.published, article.effective_date, article.status)
    part = article.citation().rpartition("》")[2]
    return _row(article.law_name, article.article_number or "", part, facts, article.content, query, with_words)


def law_row_html(law: LawVersion, status: LawStatus, query: Mapping[str, str]) -> Markup:
    """Return the hidden row of a whole law. The script copies it to the article whose ⋯ was clicked."""
    row = _row(law.name, _NUMBER, _NUMBER, (law.published, law.effective, status), "", query, True)
    return Markup('<div class="wy-acts-of-law" hidden>%s</div>') % row


def more_button(number: str) -> Markup:
    """Return the ⋯ of an article in a whole law."""
    return Markup('<button class="wy-more" aria-expanded="false" aria-label="%s：复制、提问、核验">⋯</button>') % number


def _row(
    law: str,
    number: str,
    part: str,
    facts: tuple[str | None, str | None, LawStatus | None],
    text: str,
    query: Mapping[str, str],
    with_words: bool,
) -> Markup:
    name, edition = f"《{law}》{number}", _edition(*facts)
    question = f"《{short_name(law)}》{edition}{number}是什么意思，适用时要注意什么？"
    ask = short_link({"q": question}).replace("legal?", "./?", 1)
    add = short_link({**query, ADD: name})
    words = "worded" if with_words else ""
    return _ROW % (words, name, f"《{law}》{edition}{part}", _version(*facts), text, ask, add)


def _version(published: str | None, effective: str | None, status: LawStatus | None) -> str:
    """Return which version an article is of: （2012-12-28 公布，2013-07-01 施行，有效）."""
    days = (f"{published} 公布" if published else "", f"{effective} 施行" if effective else "")
    known = "，".join(filter(None, (*days, str(status or ""))))
    return f"（{known}）" if known else ""


def _edition(published: str | None, _effective: str | None, status: LawStatus | None) -> str:
    """Return the edition for a citation. The current text needs none."""
    is_other = status in {LawStatus.AMENDED, LawStatus.NOT_YET_IN_FORCE}
    return f"（{published or '日期不详'}公布的版本）" if is_other else ""
