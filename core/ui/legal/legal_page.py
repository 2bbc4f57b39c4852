"""Common parts of the page 法规与案例. Its texts are untrusted: labels go through `escape_label`, the rest is Markup."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st
from markupsafe import Markup

from core.answer.step_words import search_summary
from core.base.text import one_line, shorten
from core.legal import LegalServices, short_link
from core.legal.entities import LawStatus
from core.search.types import SearchResponse
from core.ui.chat import draw_results, search_ledger
from core.ui.escape import draw_html, escape_label

PAGE = "pages/legal.py"
MAX_RESULTS = 20
MAX_QUERY_LENGTH = 300

_MIMES = {"md": "text/markdown", "json": "application/json", "jsonl": "application/jsonl", "csv": "text/csv"}
_NAMES = {"md": "Markdown", "json": "JSON", "jsonl": "JSON（可再导入）", "csv": "CSV（表格）"}


def draw_link(text: str, query: Mapping[str, str], *, icon: str | None = None) -> None:
    """Draw a link to another state of this page, with its own address and without a new session."""
    st.page_link(PAGE, label=escape_label(text), query_params=dict(query), icon=icon)


def draw_back_link(name: str, query: Mapping[str, str] | None = None) -> None:
    st.page_link(PAGE, label=name, icon=":material/arrow_back:", query_params=dict(query or {}))


def link_html(text: str, query: Mapping[str, str]) -> Markup:
    return Markup('<a class="wy-go" href="%s">%s</a>') % (short_link(query), text)


def draw_box(label: str, *, key: str, icon: str = ":material/search:", **options: Any) -> str:
    """Draw a text box without a visible label, and return its text without spaces around it."""
    return (st.text_input(label, key=key, icon=icon, label_visibility="collapsed", **options) or "").strip()


def draw_address_box(label: str, value: str, *, key: str, **options: Any) -> str:
    """Draw a text box for a part of the address. It is filled again whenever another value than the last is there."""
    if st.session_state.get(f"{key}-seen") != value or key not in st.session_state:
        st.session_state[key] = st.session_state[f"{key}-seen"] = value
    return draw_box(label, key=key, **options)


def facts_html(parts: Sequence[str]) -> Markup:
    return Markup('<div class="wy-dim">%s</div>') % " · ".join(parts)


def status_html(status: LawStatus | None) -> Markup:
    """Return a law's status where it is not the usual one, so that nobody takes the text for the law of today."""
    if status in {None, LawStatus.IN_FORCE}:
        return Markup()
    colour = "red" if status is LawStatus.REPEALED else "orange"
    return Markup('<div><span class="wy-tag %s">%s</span></div>') % (colour, status)


def status_and_facts_html(status: LawStatus | None, facts: Sequence[str]) -> Markup:
    """Return the facts about a law, with its status before them where it is not the usual one."""
    tag = status_html(status)
    return tag + facts_html([fact for fact in facts if not tag or fact != status])


def draw_exports(name: str, files: Mapping[str, Callable[[], str]], *, key: str) -> None:
    """Draw a menu with one file per ending. A file is made when it is downloaded; the session may be gone by then."""
    title = shorten(one_line(name), 60).replace("/", "_")
    with st.popover("导出", icon=":material/download:", key=f"export-{key}"):
        for ending, make in files.items():
            st.download_button(
                _NAMES[ending],
                data=make,
                file_name=f"{title}.{ending}",
                mime=_MIMES[ending],
                key=f"export-{key}-{ending}",
                on_click="ignore",
                width="stretch",
            )


def draw_web_results(response: SearchResponse, library_name: str) -> None:
    """Draw results of the web search that replaces the library."""
    st.caption(f"{library_name}没有找到，以下是网上的结果：{escape_label(search_summary(response))}")
    draw_results(response.results)
    with st.expander("搜索记录", icon=":material/receipt_long:"):
        draw_html(search_ledger.entry_html(response))


def draw_library_summary(legal: LegalServices) -> None:
    """Draw the size and age of the library, as the last line of every part of the page."""
    if summary := legal.library_summary:
        st.caption(summary)
