"""Page of one article: its text, its references and its history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise

import streamlit as st
from markupsafe import Markup, escape

from core.base.chinese.numerals import to_chinese
from core.legal import (
    AmendingItem,
    ArticleNumber,
    ArticleReference,
    ArticleVersion,
    LawVersion,
    LegalArticle,
    StoredArticle,
    amending_items,
    article_history,
    article_result,
    diff_texts,
    excerpt,
    has_same_words,
    law_query,
    legal_export,
    parse_article_number,
    source_name,
    source_note,
    split_paragraphs,
)
from core.ui.escape import draw_html, escape_label
from core.ui.frame import draw_warning
from core.ui.legal import article_actions, legal_page
from core.ui.legal.law_view import LawView, draw_day_field, draw_version_note
from core.ui.statute_findings import article_html, diff_html, short_name

_HIT = Markup('<div class="wy-law wy-hit">%s</div>')


def draw(view: LawView, stored: StoredArticle) -> None:
    """Draw the article with its neighbours, references, history, citation and exports."""
    law, article = view.law, article_result(view.index, stored)
    legal_page.draw_link(f"《{law.name}》", view.query(), icon=":material/menu_book:")
    st.header(escape_label(f"《{short_name(law.name)}》{article.article_number}"), anchor=False)
    facts = [*legal_export.article_facts(article), *article.path, source_note(article.source)]
    draw_html(legal_page.status_and_facts_html(article.status, facts))
    draw_version_note(view, stored.number)
    if article.later_amendment:
        draw_warning(article.later_amendment)
    draw_html(Markup('<div class="wy-law wy-article">%s</div>') % article_html(article.content))
    draw_html(article_actions.row_html(article, view.query(stored.number), with_words=True))
    _draw_neighbours(view, stored.number)
    draw_day_field(view)
    if article.references:
        st.subheader("提到的条文", anchor=False)
        for reference in article.references:
            _draw_reference(view, reference)
    _draw_history(view, stored)
    _draw_citation(article)
    files = {
        "md": partial(legal_export.article_markdown, article),
        "json": partial(legal_export.as_json, article.to_json()),
    }
    legal_page.draw_exports(article.citation(), files, key=f"article-{law.id}")


def _draw_neighbours(view: LawView, number: ArticleNumber) -> None:
    numbers = [article.number for article in view.index.articles(view.law.id) if article.number.number]
    at = numbers.index(number)
    with st.container(horizontal=True):
        if at:
            legal_page.draw_link(str(numbers[at - 1]), view.query(numbers[at - 1]), icon=":material/chevron_left:")
        if at + 1 < len(numbers):
            legal_page.draw_link(str(numbers[at + 1]), view.query(numbers[at + 1]), icon=":material/chevron_right:")


def _draw_reference(view: LawView, reference: ArticleReference) -> None:
    """Draw a reference with a link to the version that was meant. Without such a version there is no link."""
    own = reference.law_name == view.law.name
    number = reference.article_number
    name = number if own else f"《{short_name(reference.law_name)}》{number}"
    with st.container(gap="xxsmall"):
        if reference.content is None:
            draw_html(_HIT % (escape(name) + legal_page.facts_html([reference.description])))
            return
        other = law_query(reference.law_name, number, reference.version)
        legal_page.draw_link(name, view.query(parse_article_number(number)) if own else other)
        draw_html(_HIT % (Markup("<p>%s</p>") % reference.description))


# ── History ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_history(view: LawView, stored: StoredArticle) -> None:
    stages, amended = article_history(view.index, stored), amending_items(view.index, stored)
    if len(stages) > 1:
        st.subheader("沿革", anchor=False)
        if sum(stage.law is not None for stage in stages) > 1:
            st.caption("与库中前一个版本相比：删除线是删去的字，下划线是新加的字。")
        draw_html(Markup('<ol class="wy-times">%s</ol>') % Markup().join(_history_items(view, stages)))
    if amended:
        st.subheader("修正案中的这一条", anchor=False)
        draw_html(Markup('<div class="wy-law">%s</div>') % Markup().join(map(_amendment_html, amended)))


def _history_items(view: LawView, stages: Sequence[ArticleVersion]) -> Iterator[Markup]:
    stored = [stage for stage in stages if stage.law]
    older = {newer.law.id: stage for newer, stage in pairwise(stored) if newer.law}
    for is_missing, group in groupby(stages, key=lambda stage: stage.law is None):
        if is_missing:
            missing = [Markup('<span class="wy-day">%s</span>') % stage.day for stage in group]
            days = Markup("、").join(missing)
            yield Markup('<li class="missing">%s 通过 <span class="wy-dim">（库中没有%s版本）</span></li>') % (
                days,
                "这个" if len(missing) == 1 else "这些",
            )
            continue
        for stage in group:
            assert stage.law is not None
            change = _change_html(stage, older.get(stage.law.id))
            yield Markup("<li>%s%s</li>") % (version_html(view, stage.law, stage.article), change)


def version_html(view: LawView, version: LawVersion, article: StoredArticle | None = None) -> Markup:
    """Return one line about a version: its dates, its status and a link to it."""
    name = f"{version.published} 公布" if version.published else "日期不详的版本"
    number = article.number if article else None
    words = f"{name} · {number}" if number else name
    title = Markup("<b>%s</b>（正在看）") % words if version == view.law else view.link(words, number, version)
    facts = [str(view.index.status(version)), *([f"{version.effective} 施行"] if version.effective else [])]
    return title + legal_page.facts_html([*facts, source_name(version.source)])


def _change_html(stage: ArticleVersion, before: ArticleVersion | None) -> Markup:
    if stage.article is None:
        return Markup('<p class="wy-dim">没有文字相近的条文。</p>')
    if before is None:
        return Markup()
    if before.article is None:
        return Markup('<p class="wy-dim">前一版没有文字相近的条文。</p>')
    moved = "" if before.article.number == stage.article.number else f"前一版文字最接近的是{before.article.number}。"
    if has_same_words(before.article.text, stage.article.text):
        return Markup('<p class="wy-dim">%s文字相同。</p>') % moved
    remark = Markup('<p class="wy-dim">%s</p>') % moved if moved else Markup()
    return remark + diff_html(diff_texts(before.article.text, stage.article.text))


def _amendment_html(amended: AmendingItem) -> Markup:
    law = amended.law
    link = legal_page.link_html(f"《{short_name(law.name)}》", law_query(law.name))
    facts = f"{law.published} 公布" if law.published else ""
    return Markup('<div>%s <span class="wy-dim">%s</span>%s</div>') % (link, facts, article_html(amended.text))


def _draw_citation(article: LegalArticle) -> None:
    """Draw the citation down to a chosen 款, alone and with its words."""
    with st.expander("引用到款，或连同条文", icon=":material/format_quote:"):
        count = len(split_paragraphs(article.content))
        wanted = 0
        if count > 1:
            wanted = st.selectbox(
                "引用到",
                range(count + 1),
                format_func=lambda number: f"第{to_chinese(number)}款" if number else "整条",
                key=f"paragraph-{article.law_id}-{article.article_number}",
            )
        if wanted:
            article = replace(article, paragraph=wanted, excerpt=excerpt(article.content, wanted, None))
        st.code(article.citation(), language=None, wrap_lines=True)
        st.code(legal_export.citation_with_text(article), language=None, wrap_lines=True)
