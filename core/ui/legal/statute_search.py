"""Search for laws (查法规): the search box, the directory of imported laws, and the results."""

from __future__ import annotations

from functools import partial

import streamlit as st
from markupsafe import Markup

from core.base.errors import AppError
from core.base.text import shorten
from core.legal import (
    FIELD,
    KIND,
    Catalogue,
    CatalogueEntry,
    LegalArticle,
    LegalServices,
    RegulationResponse,
    case_keys,
    law_query,
    legal_export,
)
from core.legal.entities import LawStatus
from core.ui import identity
from core.ui.escape import draw_html, escape_label
from core.ui.frame import draw_warning
from core.ui.legal import article_actions, highlights, law_filters, legal_page
from core.ui.statute_findings import article_html, short_name

_PASSAGE = 180
_HIT = Markup('<div class="wy-law wy-hit">%s</div>')
_PARAGRAPH = Markup("<p>%s</p>")


def draw_search(legal: LegalServices) -> None:
    catalogue = legal.catalogue()
    wanted = law_filters.draw(catalogue)
    if wanted.query:
        _search_and_draw(legal, catalogue, wanted)
    elif catalogue and wanted.lists_laws:
        _draw_list(catalogue.entries(wanted.facet_choice), wanted)
    elif catalogue:
        _draw_directory(legal, catalogue, wanted)


# ── The directory ─────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_directory(legal: LegalServices, catalogue: Catalogue, filters: law_filters.LawFilters) -> None:
    index = legal.library.index()
    counts = index.counts() if index else {}
    st.caption(f"库中有 {counts['laws']:,} 部法规、{counts['articles']:,} 条条文，可以这样查：")
    with st.container(horizontal=True):
        for number, example in enumerate(legal.example_queries):
            args = (law_filters.QUERY, example)
            st.button(example, key=f"law-example-{number}", on_click=st.session_state.__setitem__, args=args)
    kinds = catalogue.counts(KIND, filters.facet_choice)
    draw_html(
        Markup('<h3 class="wy-directory-title">目录</h3><ul class="wy-directory">%s</ul>')
        % Markup().join(_kind_html(catalogue, kind, count, filters) for kind, count in kinds.items())
    )


def _kind_html(catalogue: Catalogue, kind: str, count: int, filters: law_filters.LawFilters) -> Markup:
    fields = catalogue.counts(FIELD, {**filters.facet_choice, KIND: kind})
    here = {**filters.address, KIND: kind}
    below = Markup().join(_counted_link(field, {**here, FIELD: field}, number) for field, number in fields.items())
    return Markup("<li><b>%s</b>%s</li>") % (_counted_link(kind, here, count), below)


def _counted_link(name: str, choice: dict[str, str], count: int) -> Markup:
    link = legal_page.link_html(name, choice)
    return Markup('<span>%s <span class="wy-dim">%s</span></span> ') % (link, f"{count:,}")


def _draw_list(entries: list[CatalogueEntry], filters: law_filters.LawFilters) -> None:
    st.caption(f"{len(entries):,} 部法规，新公布的在前")
    day = filters.as_of.iso if filters.as_of else None
    draw_html(Markup('<ul class="wy-laws">%s</ul>') % Markup().join(_entry_html(entry, day) for entry in entries))


def _entry_html(entry: CatalogueEntry, as_of: str | None) -> Markup:
    law, status = entry.law, entry.facets["state"]
    facts = [
        *([f"{law.published} 公布"] if law.published else []),
        *([f"{law.article_count:,} 条"] if law.article_count else []),
    ]
    link = legal_page.link_html(short_name(law.name), law_query(law.name, as_of=as_of))
    return Markup("<li>%s%s</li>") % (link, legal_page.status_and_facts_html(LawStatus(status), facts))


# ── Results ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _search_and_draw(legal: LegalServices, catalogue: Catalogue | None, filters: law_filters.LawFilters) -> None:
    _draw_named_cases(legal, filters.query)
    narrow = (lambda law: catalogue.matches(law, filters.facet_choice)) if catalogue and filters.facet_choice else None
    try:
        with st.spinner("正在查找…"):
            response = legal.regulations(identity.rate_limited_visitor()).search(
                shorten(filters.query, legal_page.MAX_QUERY_LENGTH),
                legal_page.MAX_RESULTS,
                as_of=filters.as_of,
                law_filter=narrow,
            )
    except AppError as error:
        draw_warning(str(error))
        return
    _draw_results(legal, response)


def _draw_named_cases(legal: LegalServices, query: str) -> None:
    """Draw links to the cases that a query for laws names by number."""
    index, keys = legal.library.index(), case_keys(query)
    held = [case for key in keys for case in index.cases_by_number(key)] if index else []
    for case in held:
        legal_page.draw_link(f"{case.number} {case.name}", {"case": case.number or case.name}, icon=":material/gavel:")
    if keys and not held:
        st.caption("要找的像是案例，请在「查案例」里查找。")


def _draw_results(legal: LegalServices, response: RegulationResponse) -> None:
    if response.note:
        st.info(escape_label(response.note), icon=":material/info:")
    if response.origin == "web" and response.web is not None:
        legal_page.draw_web_results(response.web, "本地法规库")
    elif not response.results:
        st.info(
            "本地法规库中没有找到。可以换一种说法，去掉筛选，在「全部」里查，或只写法律的名称。",
            icon=":material/search_off:",
        )
        return
    else:
        time = f"按 {response.as_of.spaced}的法律 · " if response.as_of else ""
        st.caption(f"{time}本地法规库 · 找到 {len(response.results)} 条 · {response.search_time * 1000:.0f} 毫秒")
        index = legal.library.index()
        marker = highlights.Marker(response.query, index.frequency if index else lambda _pair: 1)
        for result in response.results:
            _draw_result(result, marker, whole=len(response.results) == 1)
    if response.results:
        files = {
            "md": partial(legal_export.articles_markdown, response),
            "json": partial(legal_export.as_json, response.to_json()),
        }
        legal_page.draw_exports(f"查法规 {response.query}", files, key="laws")


def _draw_result(result: LegalArticle, marker: highlights.Marker, *, whole: bool) -> None:
    if whole and (result.excerpt or not marker.words):
        words = article_html(result.content, result.excerpt)
    else:
        text = result.excerpt or result.content
        lines = marker.matching_lines(text, _PASSAGE) if not whole else text.splitlines()
        words = Markup().join(_PARAGRAPH % marker.mark(line) for line in lines if line.strip())
    if result.remark:
        words += Markup('<p class="wy-then">%s</p>') % result.remark
    with st.container(gap="xxsmall"):
        legal_page.draw_link(result.citation(), _result_query(result))
        row = article_actions.row_html(result, law_filters.last_address()) if result.article_number else Markup()
        facts = legal_page.status_and_facts_html(result.status, legal_export.article_facts(result))
        draw_html(_HIT % (facts + words + row))


def _result_query(result: LegalArticle) -> dict[str, str]:
    """Return the query parameters of a result. The version is named only if the address alone would lead to another
    one."""
    other = result.status in {LawStatus.AMENDED, LawStatus.NOT_YET_IN_FORCE}
    return law_query(result.law_name, result.article_number, result.published if other else None)
