"""Search for court cases (查案例) by keyword, 案由, court, year and type, and the page of one case with the articles it
cites."""

from __future__ import annotations

from functools import partial

import streamlit as st
from markupsafe import Markup

from core.base.errors import AppError
from core.base.text import one_line, shorten
from core.base.web_addresses import host_of
from core.legal import (
    IMPORT_CASES,
    NO_LONGER_FOLLOWED,
    RELATED_LAWS,
    CaseResponse,
    LegalServices,
    NoLegalIndex,
    case_keys,
    case_sections,
    legal_export,
    source_note,
)
from core.legal.entities import CaseFilter, CaseType, CourtCase
from core.ui import identity, legal_views, statute_findings
from core.ui.escape import draw_html, escape_label
from core.ui.frame import draw_warning
from core.ui.legal import legal_page
from core.ui.statute_findings import article_html

QUERY = "case_query"
TYPE = "case_type"
CAUSE, COURT, YEAR = "case_cause", "case_court", "case_year"
ALL = "全部"
_FIRST_WORDS = 160


def draw_search(legal: LegalServices) -> None:
    """Draw the search box, the filters and the results."""
    query = legal_page.draw_box(
        "查案例", key=QUERY, persist_state="session", placeholder="案号、指导性案例编号、案由或争议焦点"
    )
    chosen = st.segmented_control(
        "案件类型",
        (ALL, *CaseType),
        format_func=str,
        default=ALL,
        required=True,
        key=TYPE,
        persist_state="session",
        label_visibility="collapsed",
    )
    wanted = _draw_filters(legal, None if chosen == ALL else CaseType(str(chosen)))
    if not query and not wanted:
        _draw_start(legal)
        return
    try:
        with st.spinner("正在查找…"):
            response = legal.cases(identity.rate_limited_visitor()).search(
                shorten(query, legal_page.MAX_QUERY_LENGTH), limit=legal_page.MAX_RESULTS, case_filter=wanted
            )
    except AppError as error:
        draw_warning(str(error))
        return
    _draw_results(response)


def _draw_filters(legal: LegalServices, case_type: CaseType | None) -> CaseFilter:
    """Draw the filters that some case of the library matches, and return their values."""
    index = legal.library.index()
    facets = index.case_facets if index else {}
    if not any(facets.values()):
        return CaseFilter(case_type)
    with st.container(horizontal=True):
        cause = _draw_choice("案由", facets["cause"], CAUSE)
        court = _draw_choice("法院", facets["court"], COURT)
        year = _draw_choice("年份", facets["year"], YEAR)
    return CaseFilter(case_type, cause, court, int(year) if year.isdecimal() else None)


def _draw_choice(name: str, values: list[str], key: str) -> str:
    """Draw a select box. A typed value that is not in the list counts as a part of the name; empty means all."""
    chosen = st.selectbox(
        name,
        values,
        index=None,
        key=key,
        persist_state="session",
        placeholder=f"{name}：不限",
        label_visibility="collapsed",
        accept_new_options=key != YEAR,
        disabled=not values,
    )
    return str(chosen or "").strip()


def _draw_start(legal: LegalServices) -> None:
    index = legal.library.index()
    count = index.counts()["cases"] if index else 0
    if not count:
        _draw_no_cases(web=legal.searches_web)
        return
    web = "库中没有的会改用网络搜索。" if legal.searches_web else ""
    st.caption(f"库中有 {count:,} 个案例。{web}先写案由，再写争议焦点；或写案号、指导性案例的编号。")
    if example := legal.example_case_query:
        st.button(example, key="case-example", on_click=st.session_state.__setitem__, args=(QUERY, example))


def _draw_no_cases(*, web: bool) -> None:
    """Draw the empty state: what fills the library of cases, and what works meanwhile."""
    with st.container(border=True):
        st.markdown("**还没有导入案例。**")
        st.write(
            f"{IMPORT_CASES}；自己的裁判文书可以用 JSONL 或 CSV 导入。"
            + ("现在查案例会改用网络搜索。" if web else "现在也没有可用的网络搜索引擎，所以还查不到内容。")
        )
        args = (legal_views.IMPORT,)
        st.button("去导入", type="primary", icon=":material/download:", on_click=legal_views.open_view, args=args)


def _draw_results(response: CaseResponse) -> None:
    if response.note:
        st.info(escape_label(response.note), icon=":material/info:")
    if response.origin == "web" and response.web is not None:
        legal_page.draw_web_results(response.web, "本地案例库")
    elif not response.results and response.note:
        return
    elif not response.results:
        st.info("本地案例库中没有找到。可以换一个类型，或少写一个词。", icon=":material/search_off:")
        return
    else:
        st.caption(f"本地案例库 · 找到 {len(response.results)} 个 · {response.search_time * 1000:.0f} 毫秒")
        for case in response.results:
            _draw_result(case)
    if response.results:
        files = {
            "md": partial(legal_export.cases_markdown, response),
            "json": partial(legal_export.as_json, response.to_json()),
        }
        legal_page.draw_exports(f"查案例 {response.query}", files, key="cases")


def _draw_result(case: CourtCase) -> None:
    parts = legal_export.case_parts(case)
    words = shorten(one_line("：".join(parts[0]) if parts else case.text), _FIRST_WORDS)
    with st.container(gap="xxsmall"):
        legal_page.draw_link(case.name, {"case": case.number or case.name})
        facts = legal_export.case_facts(case)
        draw_html(
            Markup('<div class="wy-law wy-hit"><p>%s</p>%s</div>')
            % (words, legal_page.facts_html(facts) if facts else "")
        )


def draw_case(legal: LegalServices, number_or_name: str) -> None:
    legal_page.draw_back_link(legal_views.CASES)
    try:
        cases = legal.cases(None).find(number_or_name)
    except NoLegalIndex:
        cases = []
    if not cases:
        st.header(escape_label(number_or_name), anchor=False)
        st.info(
            f"本地案例库中没有这个案例（不等于不存在）。{IMPORT_CASES}，或按关键词再查一次。",
            icon=":material/search_off:",
        )
    for case in cases:
        _draw_whole(legal, case)


def _draw_whole(legal: LegalServices, case: CourtCase) -> None:
    st.header(escape_label(case.name), anchor=False)
    draw_html(legal_page.facts_html([*legal_export.case_facts(case), source_note(case.source)]))
    if case.url:
        original = Markup(
            '<div class="wy-law"><a href="%s" target="_blank" rel="noopener noreferrer nofollow">原文（%s）</a></div>'
        )
        draw_html(original % (case.url, host_of(case.url)))
    if note := NO_LONGER_FOLLOWED.get(next(iter(case_keys(case.number or "")), "")):
        st.warning(note, icon=":material/history:")
    parts = legal_export.case_parts(case)
    for title, text in parts:
        st.subheader(title, anchor=False)
        draw_html(Markup('<div class="wy-law">%s</div>') % article_html(text))
        if title == parts[0][0]:
            _draw_related_laws(legal, case)
    if cited := legal.checks.findings_in_judgment(case.text, case.date):
        st.subheader("引用的法条", anchor=False)
        statute_findings.draw(cited, key=f"cited-{case.id}")
    whole = st.expander(
        "全文", icon=":material/article:", expanded=not parts, key=f"whole-{case.id}", on_change="rerun"
    )
    if whole.open:
        with whole:
            draw_html(Markup('<div class="wy-law">%s</div>') % article_html(case.text))
    files = {"md": partial(legal_export.case_markdown, case), "jsonl": partial(legal_export.case_jsonl, case)}
    legal_page.draw_exports(case.number or case.name, files, key=f"case-{case.id}")


def _draw_related_laws(legal: LegalServices, case: CourtCase) -> None:
    """Draw the statutes that a guiding case names as its own (相关法条), with those that the library holds to open."""
    related = case_sections(case.text).get(RELATED_LAWS, "")
    if not related:
        return
    st.subheader(RELATED_LAWS, anchor=False)
    if findings := legal.checks.findings_in_judgment(related, case.date):
        statute_findings.draw(findings, key=f"related-{case.id}")
    else:
        draw_html(Markup('<div class="wy-law">%s</div>') % article_html(related))
