"""Page of a whole law, with its contents beside it, search within it, and its versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter

import streamlit as st
from markupsafe import Markup

from core.base.chinese.numerals import to_chinese
from core.base.chinese.script import to_simplified
from core.base.text import one_line, shorten
from core.legal import (
    ArticleNumber,
    LawVersion,
    LegalIndex,
    LegalServices,
    StoredArticle,
    later_amendment_note,
    law_key,
    legal_export,
    missing_amendments,
    parse_article_number,
    source_note,
)
from core.ui import legal_views
from core.ui.escape import draw_html, escape_label
from core.ui.frame import draw_warning
from core.ui.legal import article, article_actions, highlights, law_filters, legal_page
from core.ui.legal.law_view import LawView, draw_day_field, draw_version_note, find_law_view, repealed_by_html

_LISTED = 12
"""Number of matching articles that are named above the text."""
_DEEPEST = 3


def draw_law(legal: LegalServices, name: str, number: str, version: str, as_of: str) -> None:
    """Draw a law or one of its articles, as the address names it."""
    legal_page.draw_back_link(legal_views.LAWS, law_filters.last_address())
    index = legal.library.index()
    current = index.resolve(name) if index else None
    if index is None or current is None:
        _draw_missing(legal, index, name)
        return
    view = find_law_view(index, current, version, as_of)
    stored = _find_article(view, number)
    if stored is not None:
        article.draw(view, stored)
        return
    if number:
        highest = to_chinese(index.highest(view.law.id))
        draw_warning(f"《{view.law.name}》的这个版本没有「{shorten(one_line(number), 30)}」，全文共{highest}条。")
    _draw_whole(view)


def _draw_missing(legal: LegalServices, index: LegalIndex | None, name: str) -> None:
    st.header(escape_label(f"《{name}》"), anchor=False)
    st.info(escape_label(f"库中没有《{name}》。可以导入更多法规，或用它的名称再查一次。"), icon=":material/search_off:")
    if index is None:
        return
    for line in repealed_by_html(index, law_key(name)):
        draw_html(Markup('<div class="wy-law">%s</div>') % line)


def _find_article(view: LawView, number: str) -> StoredArticle | None:
    try:
        return view.index.article(view.law.id, parse_article_number(number))
    except ValueError:
        return None


def _draw_whole(view: LawView) -> None:
    law, index = view.law, view.index
    status, articles = index.status(law), index.articles(law.id)
    with st.container(key="law"):  # the style sheet gives this key more width
        st.header(escape_label(f"《{law.name}》"), anchor=False)
        count = [f"共 {law.article_count:,} 条"] if law.article_count else []
        facts = [*legal_export.law_facts(law, status), *count, source_note(law.source)]
        draw_html(legal_page.status_and_facts_html(status, facts))
        draw_version_note(view, None)
        if later := later_amendment_note(index, law):
            draw_warning(later)
        with st.container(horizontal=True):
            words = _draw_find_box()
            draw_day_field(view)
        _draw_versions(view)
        draw_html(_law_html(view, articles, words))
        files = {
            "md": lambda: legal_export.law_markdown(law, status, index.articles(law.id)),
            "jsonl": lambda: legal_export.law_jsonl(law, status, index.articles(law.id)),
        }
        legal_page.draw_exports(law.name, files, key=f"law-{law.id}")


FIND = "law_find"


def _draw_find_box() -> list[str]:
    """Draw the box that searches in this law. Its words are part of the address."""
    label, value = "在本法中查找", st.query_params.get("find", "")
    words = legal_page.draw_address_box(label, value, key=FIND, placeholder=label, on_change=_on_find)
    return to_simplified(words).split()


def _on_find() -> None:
    words = (st.session_state[FIND] or "").strip()
    st.session_state[f"{FIND}-seen"] = words
    st.query_params["find"] = words
    if not words:
        del st.query_params["find"]


def _draw_versions(view: LawView) -> None:
    versions = view.index.versions(view.law.key)
    missing = missing_amendments(versions)
    if len(versions) < 2 and not missing:
        return
    days = [*((one.begins, one) for one in versions), *((day, None) for day in missing)]
    days.sort(key=itemgetter(0), reverse=True)
    with st.expander(f"历次版本（库中有 {len(versions)} 个）", icon=":material/history:"):
        draw_html(Markup('<ol class="wy-times">%s</ol>') % Markup().join(_version_item(view, *one) for one in days))


def _version_item(view: LawView, day: str, version: LawVersion | None) -> Markup:
    if version is None:
        return Markup('<li class="missing">%s 通过 <span class="wy-dim">（库中没有这个版本）</span></li>') % day
    return Markup("<li>%s</li>") % article.version_html(view, version)


# ── The text ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _law_html(view: LawView, articles: Sequence[StoredArticle], words: Sequence[str]) -> Markup:
    """Return the whole law as one piece of HTML. A thousand separate elements would take seconds to draw."""
    contents = _contents_html(articles)
    row = article_actions.law_row_html(view.law, view.index.status(view.law), view.query())
    text = Markup('<div class="wy-law wy-text">%s%s%s</div>') % (
        row,
        _found_html(articles, words) if words else "",
        Markup().join(_article_items(view, articles, words)),
    )
    if not contents:
        return Markup('<div class="wy-book">%s</div>') % text
    return Markup(
        '<div class="wy-book with-contents"><details class="wy-contents narrow"><summary>目录</summary>%s</details>'
        '<nav class="wy-contents wide" aria-label="目录">%s</nav>%s</div>'
    ) % (contents, contents, text)


def _anchor(number: ArticleNumber) -> str:
    return f"a-{number.number}-{number.suffix}" if number.suffix else f"a-{number.number}"


def _heading_anchor(first: StoredArticle, depth: int) -> str:
    return f"h{depth}-{_anchor(first.number)}"


def _headings(articles: Sequence[StoredArticle]) -> Iterator[tuple[StoredArticle, list[tuple[int, str]]]]:
    """Yield each article with the headings that begin at it and their depths."""
    path: tuple[str, ...] = ()
    for one in articles:
        new = [(depth, title) for depth, title in enumerate(one.path) if one.path[: depth + 1] != path[: depth + 1]]
        path = one.path
        yield one, new


def _contents_html(articles: Sequence[StoredArticle]) -> Markup:
    lines = [
        Markup('<li class="deep-%s"><a href="#%s">%s</a></li>')
        % (min(depth, _DEEPEST), _heading_anchor(one, depth), title)
        for one, headings in _headings(articles)
        for depth, title in headings
    ]
    return Markup("<ul>%s</ul>") % Markup().join(lines) if lines else Markup()


def _article_items(view: LawView, articles: Sequence[StoredArticle], words: Sequence[str]) -> Iterator[Markup]:
    for one, headings in _headings(articles):
        for depth, title in headings:
            yield Markup('<h3 id="%s" class="deep-%s">%s</h3>') % (
                _heading_anchor(one, depth),
                min(depth, _DEEPEST),
                highlights.highlight(title, words),
            )
        lines = [highlights.highlight(line, words) for line in one.text.splitlines() if line.strip()]
        if one.number.number:
            lines[:1] = [Markup("%s　") % view.link(str(one.number), one.number) + Markup().join(lines[:1])]
        paragraphs = Markup().join(Markup("<p>%s</p>") % line for line in lines)
        if one.number.number:
            paragraphs = article_actions.more_button(str(one.number)) + paragraphs
        yield Markup('<section id="%s">%s</section>') % (_anchor(one.number), paragraphs)


def _found_html(articles: Sequence[StoredArticle], words: Sequence[str]) -> Markup:
    looked_for = " ".join(words)
    hits = [one for one in articles if any(word in one.text for word in words)]
    if not hits:
        return Markup('<div class="wy-found">本法中没有「%s」。</div>') % looked_for
    places = sum(highlights.count_matches(one.text, words) for one in hits)
    links = [Markup('<a href="#%s">%s</a> ') % (_anchor(one.number), one.number) for one in hits]
    shown = Markup().join(links[:_LISTED])
    if rest := links[_LISTED:]:
        shown += Markup("<details><summary>其余 %s 条</summary>%s</details>") % (len(rest), Markup().join(rest))
    return Markup('<div class="wy-found">「%s」%s 处，在 %s 条中：%s</div>') % (
        looked_for,
        f"{places:,}",
        f"{len(hits):,}",
        shown,
    )
