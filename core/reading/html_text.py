"""The text of a web page: its article, without boilerplate and hidden text.

This runs only in a worker: a page decides how long its extraction takes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import chain
from typing import Any

import trafilatura
from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from core.base.chinese.calendar import iso_day
from core.base.chinese.sentences import split_sentences
from core.base.text import clean, one_line
from core.reading.boilerplate import remove_boilerplate, remove_menus
from core.reading.extraction_types import ExtractedText, NotReadable
from core.reading.hidden_elements import remove_hidden

MAX_TAGS = 150_000
"""Limit for tags before parsing. A page with more is no article."""
MAX_NODES = 6_000
"""Limit for trafilatura, which needs more than a second for twice as many. Larger pages give their visible text."""
MIN_ARTICLE_CHARACTERS = 200
"""Least length of an article. Shorter text is a teaser, a message or a menu."""
MAX_TEASER_CHARACTERS = 800
SHOWN_SHARE = 0.8
"""Share of the article in the linked data that the page must show. The rest of it is never read: nobody sees it."""


def read_html(text: str) -> ExtractedText:
    """Return the article of a page. Raise NotReadable for a login page, a challenge, or a page without text."""
    if text.count("<") > 2 * MAX_TAGS:
        raise NotReadable("complex")
    tree = _parse_html(text)
    about = _Metadata(tree)
    needs_script = _needs_script(tree)
    remove_hidden(tree)
    shown = _shown_part(about.article_body, tree)
    remove_menus(tree)
    article = _article(tree)
    if len(shown) > 2 * len(article):
        article = shown
    _refuse_placeholder_pages(article, tree, about, needs_script=needs_script)
    return ExtractedText("html", article, title=about.title, published=about.published or _day_in_words(tree))


def _shown_part(body: str, tree: HtmlElement) -> str:
    """Return the sentences that the page shows of the text that its linked data calls its article, if it shows most."""
    seen = _without_blanks(tree.text_content()) if body else ""
    sentences = split_sentences(body)
    shown = [one for one in sentences if _without_blanks(one) in seen]
    return "\n".join(shown) if sum(map(len, shown)) >= SHOWN_SHARE * sum(map(len, sentences)) else ""


def _without_blanks(text: str) -> str:
    return "".join(clean(text).split())


def _parse_html(text: str) -> HtmlElement:
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        return document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        raise NotReadable("empty") from None


# ── The article ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _article(tree: HtmlElement) -> str:
    if sum(1 for _ in tree.iter()) > MAX_NODES:
        return _visible_text(tree)
    remove_boilerplate(tree)
    _keep_captions(tree)
    found = _extract(tree, fast=True, comments=False)
    if len(found) < MIN_ARTICLE_CHARACTERS:  # a forum, a notice in a table, or nothing: the slower mode finds more
        found = max(found, _extract(tree, fast=False, comments=True), key=len)
    return found


def _keep_captions(tree: HtmlElement) -> None:
    """Turn figures into plain blocks: trafilatura drops them, but a caption is part of the article."""
    for element in list(tree.iter("figure", "figcaption")):
        element.tag = "div" if element.tag == "figure" else "p"


def _extract(tree: HtmlElement, *, fast: bool, comments: bool) -> str:
    text = trafilatura.extract(tree, fast=fast, include_comments=comments, include_tables=True, with_metadata=False)
    return clean(text or "").strip()


_AROUND = ("nav", "header", "footer", "aside", "form", "button", "head")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = {"p", "div", "li", "tr", "br", "section", "article", "blockquote", "pre", "dd", "dt", *_HEADINGS}


def _visible_text(tree: HtmlElement) -> str:
    """Return the visible text outside of menus, one line per block, in time linear in the page."""
    etree.strip_elements(tree, *_AROUND, with_tail=False)
    parts: list[str] = []
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        if element.tag in _BLOCKS:
            parts.append("\n")
        parts.append((element.text if event == "start" else element.tail) or "")
    lines = (one_line(line) for line in "".join(parts).split("\n"))
    return "\n".join(filter(None, lines))


# ── What stands in for an article ─────────────────────────────────────────────────────────────────────────────────────

_ASKS_TO_LOG_IN = re.compile(
    r"(?:请|須|需|需要|您还未|尚未|后|立即)(?:先)?(?:登录|登入|登陆|登錄)|(?:登录|登入|登錄|注册|订阅|訂閱|付费|付費|开通会员|扫码).{0,8}(?:后|後)?.{0,4}(?:查看|阅读|閱讀|继续|繼續|解锁|浏览|可见)"
    r"|\b(?:log|sign) in to (?:continue|read|view|see)|subscribe to (?:continue|read)|subscribers only|members only",
    re.IGNORECASE,
)
_CHALLENGE = re.compile(
    r"just a moment|attention required|access denied|are you (?:a )?(?:human|robot)|verify you are human|"
    r"安全验证|访问验证|人机验证|滑动验证|请完成验证|输入验证码|訪問驗證",
    re.IGNORECASE,
)
_WANTS_SCRIPT = re.compile(r"javascript|脚本|腳本", re.IGNORECASE)
_APP_ROOTS = frozenset({"root", "app", "__next", "__nuxt", "__layout", "main-app", "react-root", "q-app"})


def _needs_script(tree: HtmlElement) -> bool:
    """Return whether a page without words would have some in a browser."""
    if any(_WANTS_SCRIPT.search(element.text_content()) for element in tree.iter("noscript")):
        return True
    texts = (one_line(root.text_content()) for root in tree.iter("div", "main") if root.get("id") in _APP_ROOTS)
    scripts = sum(1 for _ in tree.iter("script"))
    return scripts >= 3 or (scripts > 0 and any(len(text) < MIN_ARTICLE_CHARACTERS for text in texts))


def _refuse_placeholder_pages(article: str, tree: HtmlElement, about: _Metadata, *, needs_script: bool) -> None:
    if len(article) >= MAX_TEASER_CHARACTERS:
        return
    if about.is_paid:
        raise NotReadable("login")
    if len(article) >= MIN_ARTICLE_CHARACTERS:
        return
    seen = one_line(tree.text_content())
    if _CHALLENGE.search(f"{about.title} {seen[:MAX_TEASER_CHARACTERS]}"):
        raise NotReadable("refused")
    if tree.xpath("//input[translate(@type, 'PASWORD', 'pasword')='password']") or _ASKS_TO_LOG_IN.search(seen):
        raise NotReadable("login")
    if needs_script and len(article) < MIN_ARTICLE_CHARACTERS / 2:
        raise NotReadable("script")
    if not article:
        raise NotReadable("empty")


# ── Title and day ─────────────────────────────────────────────────────────────────────────────────────────────────────

_DAY_NAMES = (
    *("article:published_time", "og:published_time", "og:release_date", "article:published", "pubdate", "publishdate"),
    *("publish_date", "publication_date", "publishtime", "firstpublishedtime", "citation_publication_date"),
    *("parsely-pub-date", "weibo:article:create_at", "apub:time", "bytedance:published_time", "dc.date.issued"),
    *("dcterms.issued", "dc.date", "date", "sailthru.date", "datepublished"),
)
_PUBLISHED = re.compile(
    r"(?:发布|发表|發布|發佈|發表|刊发|印发|发文|公布|成文|出版|更新|日期|时间|時間|published|posted|updated)[^\d\n]{0,16}"
    r"((?:19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2})",
    re.IGNORECASE,
)
_LONE_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2})日?\s*(?:\d{1,2}:\d\d|来源|來源|作者|$)")
_HEAD_OF_PAGE = 3_000


class _Metadata:
    """The metadata of a page: title, day, and whether it is paid."""

    def __init__(self, tree: HtmlElement) -> None:
        self._meta: dict[str, str] = {}
        for element in tree.iter("meta"):
            name = element.get("property") or element.get("name") or element.get("itemprop") or ""
            self._meta.setdefault(name.strip().lower(), element.get("content") or "")
        articles = list(_linked_data(tree))
        self.article_body = clean(max((_string(item, "articleBody") for item in articles), key=len, default="")).strip()
        self.is_paid = any(str(item.get("isAccessibleForFree")).lower() == "false" for item in articles)
        self.title = self._title(tree, articles)
        self.published = self._published(tree, articles)

    def _title(self, tree: HtmlElement, articles: list[dict[str, Any]]) -> str:
        candidates = chain(
            (self._meta.get("og:title", ""),),
            (_string(item, "headline") for item in articles),
            (element.text_content() for element in chain(tree.iter("title"), tree.iter("h1"))),
        )
        return next(filter(None, map(one_line, candidates)), "")

    def _published(self, tree: HtmlElement, articles: list[dict[str, Any]]) -> str | None:
        candidates = chain(
            (_string(item, "datePublished") for item in articles),
            (self._meta.get(name, "") for name in _DAY_NAMES),
            (element.get("datetime") or element.text_content() for element in tree.iter("time")),
        )
        return next(filter(None, map(_past_day, candidates)), None)


def _linked_data(tree: HtmlElement) -> Iterator[dict[str, Any]]:
    """Yield the articles in the page's JSON-LD, which may be wrapped in lists and graphs."""
    for script in tree.iter("script"):
        if "ld+json" not in script.get("type", "").lower():
            continue
        try:
            data = json.loads(clean(script.text or ""), strict=False)
        except (ValueError, RecursionError):
            continue
        for item in _graph_items(data):
            if isinstance(item, dict) and re.search(r"Article|Posting|Report|WebPage", str(item.get("@type"))):
                yield item


def _graph_items(data: Any) -> list[Any]:
    graph = data.get("@graph") if isinstance(data, dict) else data
    return [data, *graph] if isinstance(graph, list) else [data]


def _string(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""


def _day_in_words(tree: HtmlElement) -> str | None:
    """Return a day from the visible text: 发布时间：2024-05-06 below the title, or a day by itself."""
    for line in "\n".join(tree.itertext())[: 4 * _HEAD_OF_PAGE].split("\n"):
        found = _PUBLISHED.search(line) or _LONE_DAY.search(line.strip())
        if found and (day := _past_day(found[1])):
            return day
    return None


def _past_day(text: str) -> str | None:
    day = iso_day(text)
    return day if day and day <= (date.today() + timedelta(days=1)).isoformat() else None
