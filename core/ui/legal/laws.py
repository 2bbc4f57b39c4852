"""查法规: the search box and its results; a law with its contents and versions; an article with what it refers to."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st
from markupsafe import Markup, escape

from core.base.errors import AppError
from core.base.text import one_line, shorten
from core.legal import export
from core.legal.address import law_query
from core.legal.desk import LegalDesk
from core.legal.library.index import LawVersion, LegalIndex, StoredArticle
from core.legal.library.statutes import LegalArticle, RegulationResponse, amended_since, article_result
from core.legal.text.numerals import ArticleNumber, parse_article_number, to_chinese
from core.legal.text.paragraphs import excerpt, paragraphs
from core.legal.types import Status
from core.ui import keeping
from core.ui.escape import draw_html, label
from core.ui.frame import warning
from core.ui.legal import frame
from core.ui.legal.verdicts import article_html, short_name

QUERY = "legal_query"
EXAMPLES = ("劳动合同法第38条", "民法典", "公司拖欠工资可以辞职吗")
_FIRST_WORDS = 140
_BLOCK = 50
"""Articles that are drawn at once: the longest laws have over a thousand."""
_MANY_BLOCKS = 30
_HIT = Markup('<div class="wy-law wy-hit">%s</div>')
_PARAGRAPH = Markup("<p>%s</p>")


# ── Looking for a law ─────────────────────────────────────────────────────────────────────────────────────────────


def draw_search(desk: LegalDesk) -> None:
    query = st.text_input(
        "查法规",
        key=QUERY,
        persist_state="session",
        placeholder="法律名称、条号或日常用语",
        icon=":material/search:",
        label_visibility="collapsed",
    )
    if not query or not query.strip():
        _draw_start(desk)
        return
    try:
        with st.spinner("正在查找…"):
            response = desk.regulations_for(keeping.identity()).search(
                shorten(query, frame.LONGEST_QUERY), frame.RESULTS
            )
    except AppError as error:
        warning(str(error))
        return
    _draw_results(response)


def _draw_start(desk: LegalDesk) -> None:
    index = desk.library.index()
    if index is None:
        frame.nothing_imported(web=desk.searches_web)
        return
    held = index.counts()
    st.caption(f"库中有 {held['laws']:,} 部法规、{held['articles']:,} 条条文，可以这样查：")
    for number, example in enumerate(EXAMPLES):
        st.button(example, key=f"law-example-{number}", on_click=_ask, args=(example,))


def _ask(query: str) -> None:
    st.session_state[QUERY] = query


def _draw_results(response: RegulationResponse) -> None:
    if response.note:
        st.info(label(response.note), icon=":material/info:")
    if response.origin == "web" and response.web is not None:
        frame.from_web(response.web, "本地法规库")
    elif not response.results:
        st.info("本地法规库中没有找到。可以换一种说法，或只写法律的名称。", icon=":material/search_off:")
        return
    else:
        st.caption(f"本地法规库 · 找到 {len(response.results)} 条 · {response.search_time * 1000:.0f} 毫秒")
        for result in response.results:
            _draw_result(result, whole=len(response.results) == 1)
    if response.results:
        files = {"md": partial(export.articles_markdown, response), "json": partial(export.as_json, response.to_json())}
        frame.exports(f"查法规 {response.query}", files, key="laws")


def _draw_result(result: LegalArticle, *, whole: bool) -> None:
    text = result.excerpt or result.content
    words = article_html(result.content, result.excerpt) if whole else _PARAGRAPH % _first_words(text)
    with st.container(gap="xxsmall"):
        frame.link(result.citation(), _query(result))
        draw_html(_HIT % (words + frame.facts(export.facts_of_article(result))))


def _query(result: LegalArticle) -> dict[str, str]:
    """The version is named where the address alone would lead to another one."""
    other = result.status in {Status.AMENDED, Status.NOT_YET}
    return law_query(result.law_name, result.article_number, result.published if other else None)


def _first_words(text: str) -> str:
    return shorten(one_line(text), _FIRST_WORDS)


# ── A law and its articles ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Place:
    """What the address names, in one index: an import that ends meanwhile changes nothing of what is being drawn."""

    index: LegalIndex
    law: LawVersion
    current: LawVersion

    def query(self, article: ArticleNumber | None = None, law: LawVersion | None = None) -> dict[str, str]:
        law = law or self.law
        return law_query(law.name, str(article or "") or None, law.published if law != self.current else None)


def draw_law(desk: LegalDesk, name: str, article: str, version: str) -> None:
    frame.back_to_search(frame.LAWS)
    index = desk.library.index()
    current = index.resolve(name) if index else None
    if index is None or current is None:
        st.header(label(f"《{name}》"), anchor=False)
        st.info("本地法规库中没有这部法规。可以导入更多法规，或用它的名称再查一次。", icon=":material/search_off:")
        if index is None:
            frame.nothing_imported(web=desk.searches_web)
        return
    place = _Place(index, _version(index, current, version), current)
    stored = _stored(place, article)
    if stored is not None:
        _draw_article(place, article_result(index, stored), stored.number)
        return
    if article:
        highest = to_chinese(index.highest(place.law.id))
        warning(f"《{place.law.name}》的这个版本没有「{shorten(one_line(article), 30)}」，全文共{highest}条。")
    _draw_contents(place)


def _stored(place: _Place, article: str) -> StoredArticle | None:
    try:
        return place.index.article(place.law.id, parse_article_number(article))
    except ValueError:
        return None


def _version(index: LegalIndex, current: LawVersion, wanted: str) -> LawVersion:
    if not wanted:
        return current
    found = next((version for version in index.versions(current.key) if version.published == wanted), None)
    if found is None:
        warning("库中没有这个日期公布的版本，显示的是现行版本。")
    return found or current


def _draw_contents(place: _Place) -> None:
    law, index = place.law, place.index
    st.header(label(f"《{law.name}》"), anchor=False)
    status = index.status(law)
    count = [f"共 {law.article_count:,} 条"] if law.article_count else []
    draw_html(frame.facts([*export.facts_of_law(law, status), *count, law.source]))
    if later := amended_since(index, law):
        warning(later)
    _draw_versions(place, None)
    blocks = list(_blocks(index.articles(law.id)))
    shown = 0
    if len(blocks) > _MANY_BLOCKS:
        blocks, shown = _one_part(blocks, key=f"part-{law.id}"), 1
    above: tuple[str, ...] = ()
    for block in blocks:
        headings = block[0].path[shown:-1]
        if headings and headings != above:
            draw_html(Markup('<div class="wy-law-part">%s</div>') % " · ".join(headings))
        above = headings
        _draw_block(place, block)
    files = {
        "md": lambda: export.law_markdown(law, status, index.articles(law.id)),
        "jsonl": lambda: export.law_jsonl(law, status, index.articles(law.id)),
    }
    frame.exports(law.name, files, key=f"law-{law.id}")


def _blocks(articles: Sequence[StoredArticle]) -> Iterator[list[StoredArticle]]:
    """One for each line of the table of contents; long ones in pieces."""
    for _, group in itertools.groupby(articles, key=lambda article: article.path):
        section = list(group)
        for start in range(0, len(section), _BLOCK):
            yield section[start : start + _BLOCK]


def _one_part(blocks: list[list[StoredArticle]], *, key: str) -> list[list[StoredArticle]]:
    """Of a long code only the 编 that the reader chooses."""
    parts = [list(group) for _, group in itertools.groupby(blocks, key=lambda block: block[0].path[:1])]
    chosen = st.selectbox(
        "编或章",
        range(len(parts)),
        format_func=lambda number: _titled(parts[number][0][0].path[:1], parts[number][0][0], parts[number][-1][-1]),
        key=key,
    )
    return parts[chosen]


def _titled(path: tuple[str, ...], first: StoredArticle, last: StoredArticle) -> str:
    span = str(first.number) if first == last else f"{first.number}至{last.number}"
    return f"{path[-1]}（{span}）" if path else span


def _draw_block(place: _Place, block: list[StoredArticle]) -> None:
    first, last = block[0], block[-1]
    if not first.number.number:
        draw_html(Markup('<div class="wy-law">%s</div>') % article_html(first.text))
        return
    only = len(block) == place.law.article_count
    section = st.expander(
        label(_titled(first.path, first, last)), expanded=only, key=f"section-{first.id}", on_change="rerun"
    )
    if section.open:
        with section:
            for article in block:
                with st.container(gap="xxsmall"):
                    frame.link(str(article.number), place.query(article.number))
                    draw_html(_HIT % article_html(article.text))


def _draw_article(place: _Place, article: LegalArticle, number: ArticleNumber) -> None:
    law = place.law
    frame.link(f"《{law.name}》", place.query(), icon=":material/menu_book:")
    st.header(label(f"《{short_name(law.name)}》{article.article_number}"), anchor=False)
    draw_html(frame.facts([*export.facts_of_article(article), *article.path, article.source]))
    if article.later:
        warning(article.later)
    draw_html(Markup('<div class="wy-law wy-article">%s</div>') % article_html(article.content))
    _draw_neighbours(place, number)
    if article.references:
        st.subheader("提到的条文", anchor=False)
        for reference in article.references:
            _draw_reference(place, reference.law_name, reference.article_number, reference.content)
    _draw_versions(place, number)
    _draw_citation(article)
    files = {"md": partial(export.article_markdown, article), "json": partial(export.as_json, article.to_json())}
    frame.exports(article.citation(), files, key=f"article-{law.id}")


def _draw_neighbours(place: _Place, number: ArticleNumber) -> None:
    numbers = [article.number for article in place.index.articles(place.law.id) if article.number.number]
    at = numbers.index(number)
    with st.container(horizontal=True):
        if at:
            frame.link(str(numbers[at - 1]), place.query(numbers[at - 1]), icon=":material/chevron_left:")
        if at + 1 < len(numbers):
            frame.link(str(numbers[at + 1]), place.query(numbers[at + 1]), icon=":material/chevron_right:")


def _draw_reference(place: _Place, law: str, article: str, words: str | None) -> None:
    own = law == place.law.name
    name = article if own else f"《{short_name(law)}》{article}"
    with st.container(gap="xxsmall"):
        if words is None:
            draw_html(_HIT % (escape(name) + frame.facts(["库中没有这一条"])))
            return
        frame.link(name, place.query(parse_article_number(article)) if own else law_query(law, article))
        draw_html(_HIT % (_PARAGRAPH % words))


def _draw_versions(place: _Place, number: ArticleNumber | None) -> None:
    """Other versions of the law; for an article, whether it reads the same there."""
    if place.law != place.current:
        st.info("这不是现行版本，请核对事情发生时适用的是哪一版。", icon=":material/history:")
        frame.link("查看现行版本", place.query(number, place.current), icon=":material/update:")
    versions = place.index.versions(place.law.key)
    if len(versions) < 2:
        return
    here = place.index.article(place.law.id, number) if number else None
    with st.expander(f"历次版本（{len(versions)}）", icon=":material/history:"):
        for version in versions:
            with st.container(gap="xxsmall"):
                _draw_version(place, version, number, here)


def _draw_version(place: _Place, version: LawVersion, number: ArticleNumber | None, here: StoredArticle | None) -> None:
    published = f"{version.published} 公布" if version.published else "公布日期未知"
    effective = f"{version.effective} 施行" if version.effective else "施行日期未知"
    remarks, words = [str(place.index.status(version)), effective], Markup()
    if version == place.law:
        draw_html(_HIT % (Markup("<b>%s</b> · 正在看") % published))
    else:
        frame.link(published, place.query(number, version))
        if here:
            there = place.index.article(version.id, here.number)
            remarks.append(_compared(here, there))
            words = _PARAGRAPH % _first_words(there.text) if there else Markup()
    draw_html(_HIT % (words + frame.facts([*remarks, version.source])))


def _compared(here: StoredArticle, there: StoredArticle | None) -> str:
    if there is None:
        return f"没有{here.number}"
    same = re.sub(r"\W", "", here.text) == re.sub(r"\W", "", there.text)
    return f"{here.number}文字{'相同' if same else '不同'}"


def _draw_citation(article: LegalArticle) -> None:
    """The citation down to the 款 that is meant, alone and with its words."""
    with st.expander("复制引用", icon=":material/content_copy:"):
        count = len(paragraphs(article.content))
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
        st.code(export.citation_with_text(article), language=None, wrap_lines=True)
