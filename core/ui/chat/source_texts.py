"""Texts of an answer's sources as they were read. A source that was not read has a button to read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

import streamlit as st
from markupsafe import Markup

from core.answer import TextSpan, compared_spans, marked_html, reading_status, unread_note
from core.answer.message import Message
from core.app import App
from core.base.errors import AppError
from core.base.text import one_line, shorten
from core.search.types import Source
from core.store import StoredPage
from core.ui import clock, conversation_sync, session
from core.ui.chat import actions, citation_check
from core.ui.chat.answer import draw_source_list
from core.ui.escape import draw_html, escape_label

NOT_STORED = "没有保存这个来源的文字：还没有存好、已经损坏，或管理员没有开启保存。"


def draw_button(app: App, entry: Message, *, is_last: bool) -> None:
    sources = entry.sources
    if sources and st.button("来源原文", key=f"texts-{entry.id}", icon=":material/menu_book:", type="tertiary"):
        _draw_dialog(app, entry, sources, is_last=is_last)


@st.dialog("来源原文", width="medium", icon=":material/menu_book:")
def _draw_dialog(app: App, entry: Message, sources: Sequence[Source], *, is_last: bool) -> None:
    first = min(range(len(sources)), key=lambda place: sources[place].read == "snippet")
    source = st.selectbox("来源", sources, index=first, format_func=_name, key=f"text-of-{entry.id}")
    draw_source_list([source])
    if source.read == "snippet":
        _draw_unread(app, source, is_last=is_last)
    else:
        _draw_text(app, entry, source)


def _name(source: Source) -> str:
    parts = f"[{source.number}] {shorten(one_line(source.title), 40)}", reading_status(source)
    return " · ".join(filter(None, parts))


def _draw_text(app: App, entry: Message, source: Source) -> None:
    try:
        page = conversation_sync.read_pages_loader(app, entry)().get(source.number)
    except AppError as error:
        st.warning(escape_label(str(error)), icon=":material/error:")
        return
    if page is None:
        st.info(NOT_STORED, icon=":material/info:")
        return
    st.caption(f"{reading_note(page, source)}共 {len(page.text):,} 字，校验值 {page.hash[:12]}。")
    check = citation_check.check_of(app, entry)
    marked = compared_spans(check, source.number, page.text) if check else []
    anchor = f"text-{entry.id}-{source.number}"
    if marked:
        draw_html(_count_html(marked, anchor))
    draw_html(Markup('<div class="wy-page-text" tabindex="0">%s</div>') % marked_html(page.text, marked, anchor=anchor))


def _count_html(marked: Sequence[TextSpan], anchor: str) -> Markup:
    verdicts = sorted((place.citation_verdict for place in marked), key=lambda verdict: verdict.severity_key)
    counted = Counter(f"{verdict.mark} {verdict.label}".strip() for verdict in verdicts)
    kinds = " · ".join(f"{kind} {count}" for kind, count in counted.items())
    link = Markup('<a href="#%s">跳到第一处</a>') % anchor
    words = Markup('<div class="wy-dim wy-places">核验时比较过的 %s 处已标出（%s）。%s</div>')
    return words % (len(marked), kinds, link)


def reading_note(page: StoredPage, source: Source) -> str:
    """Return when a text was read, and that its source may have changed since."""
    moment = datetime.fromtimestamp(page.fetched, clock.reader_zone())
    what = {"page": "网页现在可能已经不同。", "library": "库里的文字现在可能已经不同。"}.get(source.read, "")
    return f"{moment:%Y-%m-%d %H:%M} 读到。{what}"


def _draw_unread(app: App, source: Source, *, is_last: bool) -> None:
    st.info(escape_label(unread_note(source)), icon=":material/info:")
    if not is_last or session.chat().run is not None or not app.reader.max_pages:
        return
    help = "打开这个网页，读完后重新回答。"
    if st.button("阅读", key=f"read-{source.number}", icon=":material/menu_book:", help=help):
        actions.answer_again(app, read=(source,))
        st.rerun()
