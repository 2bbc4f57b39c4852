"""The resources: laws of the library as `law://劳动合同法` and `law://劳动合同法/第三十八条`, the manual as `manual://…`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import mcp_types

from core.base.text import clean, one_line, shorten
from core.legal import LegalIndex, NoLegalIndex, StoredArticle, legal_export, parse_article_number
from core.search import find_article, manual_articles
from core.serve.access import Caller, Scope
from core.serve.errors import NotFound
from core.serve.law_library import wait_for_library

if TYPE_CHECKING:
    from core.legal import ArticleNumber, LawVersion
    from core.serve.mcp.calls import Call

LAW, MANUAL = "law", "manual"
MARKDOWN = "text/markdown"
MAX_TEXT = 24_000
"""Characters of articles that are given at once. A longer law is given as a table of contents, and in parts."""


def list_manual() -> list[mcp_types.Resource]:
    """Return the pages of the manual."""
    return [
        mcp_types.Resource(
            uri=f"{MANUAL}://{quote(page.slug)}",
            name=page.slug,
            title=page.title,
            description=f"问源的手册：{page.section}" if page.section else "问源的手册",
            mime_type=MARKDOWN,
        )
        for page in manual_articles()
    ]


def list_law_templates(caller: Caller) -> list[mcp_types.ResourceTemplate]:
    """Return how laws are addressed, if the caller may read them."""
    if Scope.LAW not in caller.scopes:
        return []
    return [
        mcp_types.ResourceTemplate(
            uri_template=f"{LAW}://{{law}}",
            name="law",
            title="法律全文",
            description="法规库里的一部法律：短的给全文，长的给目录和各部分的地址。如 law://劳动合同法",
            mime_type=MARKDOWN,
        ),
        mcp_types.ResourceTemplate(
            uri_template=f"{LAW}://{{law}}/{{article}}",
            name="article",
            title="法条",
            description="一条或几条的原文。如 law://劳动合同法/第三十八条，law://民法典/463-508",
            mime_type=MARKDOWN,
        ),
    ]


def read_resource(call: Call, uri: str) -> str:
    """Return the text behind an address. Raise AppError."""
    scheme, _, rest = uri.partition("://")
    names = [clean(unquote(part)) for part in rest.rstrip("/").split("/")]
    if scheme == MANUAL and len(names) == 1 and (page := find_article(names[0])):
        return f"# {page.title}\n\n{page.body}\n"
    if scheme == LAW and len(names) <= 2 and names[0]:
        call.caller.require(Scope.LAW)
        wait_for_library(call.app, call.deadline, call.report)
        return _law_text(call, *names)
    known = "law://法律名称、law://法律名称/条号，或 resources/list 列出的手册页"
    raise NotFound(f"没有「{shorten(one_line(unquote(uri)), 100)}」这个资源。", cure=f"地址写成 {known}。")


def _law_text(call: Call, name: str, articles: str = "") -> str:
    index = call.app.legal.library.index()
    if index is None:
        raise NoLegalIndex
    law = index.resolve(name)
    if law is None:
        problem = f"法规库里没有《{shorten(one_line(name), 60)}》。{index.suggest_name(name)}"
        raise NotFound(problem, cure="可以用 search_statutes 查它的名称。")
    held = index.articles(law.id)
    text = _some_articles(index, law, held, articles) if articles else _whole_law(index, law, held)
    return f"{text}\n{call.app.legal.library_summary}\n"


def _whole_law(index: LegalIndex, law: LawVersion, articles: Sequence[StoredArticle]) -> str:
    if _length(articles) <= MAX_TEXT:
        return legal_export.law_markdown(law, index.status(law), articles)
    heading = legal_export.law_markdown(law, index.status(law), ())
    parts = [(path, list(group)) for path, group in groupby(articles, key=lambda one: one.path)]
    contents = (f"- {' '.join(path) or '正文'}：{_range(group)} <{_address(law, group)}>" for path, group in parts)
    return f"{heading}\n全文 {_length(articles):,} 字，太长，分部分读：\n\n" + "\n".join(contents) + "\n"


def _some_articles(index: LegalIndex, law: LawVersion, articles: Sequence[StoredArticle], wanted: str) -> str:
    first, last = _parse_range(wanted)
    within = [one for one in articles if first <= one.number <= last]
    if not within:
        raise NotFound(
            f"《{law.name}》没有{shorten(one_line(wanted), 40)}。", cure=f"这部法律共 {index.highest(law.id)} 条。"
        )
    shown, length = within[:1], len(within[0].text)
    for article in within[1:]:
        length += len(article.text)
        if length > MAX_TEXT:
            break
        shown.append(article)
    left = within[len(shown) :]
    more = f"\n太长，只到{shown[-1].number}。接着读 <{_address(law, left)}>\n" if left else ""
    return legal_export.law_markdown(law, index.status(law), shown) + more


def _parse_range(wanted: str) -> tuple[ArticleNumber, ArticleNumber]:
    """Return the first and the last article of 第三十八条, 38 or 463-508. Raise NotFound."""
    first, _, last = wanted.replace("—", "-").replace("至", "-").partition("-")
    try:
        return parse_article_number(first), parse_article_number(last or first)
    except ValueError:
        raise NotFound(
            f"「{shorten(one_line(wanted), 40)}」不是条号。", cure="条号写成 第三十八条、38 或 38-50。"
        ) from None


def _length(articles: Sequence[StoredArticle]) -> int:
    return sum(len(one.text) for one in articles)


def _ends(articles: Sequence[StoredArticle]) -> Sequence[ArticleNumber]:
    """Return the first and the last number; one where they are the same."""
    return list(dict.fromkeys((articles[0].number, articles[-1].number)))


def _range(articles: Sequence[StoredArticle]) -> str:
    return "至".join(map(str, _ends(articles)))


def _address(law: LawVersion, articles: Sequence[StoredArticle]) -> str:
    numbers = (f"{one.number}之{one.suffix}" if one.suffix else str(one.number) for one in _ends(articles))
    return f"{LAW}://{law.name.removeprefix('中华人民共和国')}/{'-'.join(numbers)}"
