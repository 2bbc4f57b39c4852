"""Texts of an answer's sources as they were read, at the passage that a reader asked for. A source that was not read has a
button to read it.

The numbers and cards of an answer are HTML, which cannot call Python. A script (core/ui/scripts/passages.js) writes the
passage that was clicked into a field that nobody sees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import streamlit as st
from markupsafe import Markup

from core.answer import (
    TextSpan,
    TextWindow,
    compared_spans,
    nearest_span,
    reading_status,
    unread_note,
    window_html,
)
from core.answer.message import Message
from core.app import App
from core.base.errors import AppError
from core.base.text import one_line, shorten
from core.reading import place_at
from core.search.types import Source
from core.store import StoredPage
from core.ui import clock, conversation_sync, session
from core.ui.chat import actions, citation_check, source_pages
from core.ui.chat.answer import draw_source_list
from core.ui.escape import draw_html, escape_label

NOT_STORED = "没有保存这个来源的文字：还没有存好、已经损坏，或管理员没有开启保存。"
NO_PAGES = "原页看不到：这份 PDF 的原件没有保存，或者它在别人的资料库里。"
WANTED = "passage-wanted"
"""Key of the field: an answer's id, the number of a source, a position in its text, `text` or `page`, and a number that is new
for each click, with `/` between them."""
_CLICKED = "passage_clicked"
_SHOWN = "text_shown"


@dataclass(frozen=True, slots=True)
class _ShownText:
    """What the dialog shows, from its opening on."""

    source: Source
    position: int | None = None
    """Position of the passage in the text; None for the first passage."""
    window: TextWindow | None = None
    """The part of the text; None for the one around the passage."""
    is_picture: bool = False
    """True if the page is shown as a picture."""


def draw_button(app: App, entry: Message, *, is_last: bool) -> None:
    sources = entry.sources
    if sources and st.button("来源原文", key=f"texts-{entry.id}", icon=":material/menu_book:", type="tertiary"):
        first = min(range(len(sources)), key=lambda place: sources[place].read == "snippet")
        _open(app, entry, _ShownText(sources[first]), is_last=is_last)


def draw_wanted(app: App, chat: session.ChatState) -> None:
    """Draw the field where there are sources, and the dialog if a passage was clicked."""
    if any(entry.sources for entry in chat.messages[-chat.shown :]):
        with st.bottom:
            _draw_field(app)


@st.fragment
def _draw_field(app: App) -> None:
    st.text_input("段落", key=WANTED, on_change=_note_click, live="50ms", label_visibility="collapsed")
    if wanted := st.session_state.pop(_CLICKED, ""):
        entry, shown = _parse(wanted)
        if entry and shown:
            _open(app, entry, shown, is_last=_is_last(entry))


def _note_click() -> None:
    st.session_state[_CLICKED] = st.session_state[WANTED]


def _parse(wanted: str) -> tuple[Message | None, _ShownText | None]:
    """Return the answer and what is to be shown of it. The field may hold anything."""
    id, number, position, form = [*wanted.split("/"), "", "", ""][:4]
    entry = next((one for one in session.chat().messages if one.id == id and one.role == "assistant"), None)
    source = next((one for one in entry.sources if str(one.number) == number), None) if entry else None
    at = int(position) if position.isdecimal() else None
    return entry, _ShownText(source, at, is_picture=form == "page") if source else None


def _is_last(entry: Message) -> bool:
    chat = session.chat()
    return chat.run is None and not chat.read_only and entry is chat.messages[-1]


def _open(app: App, entry: Message, shown: _ShownText, *, is_last: bool) -> None:
    st.session_state[_SHOWN] = shown
    st.session_state[_list_key(entry)] = shown.source
    source_pages.forget()
    _draw_dialog(app, entry, is_last=is_last)


def _list_key(entry: Message) -> str:
    return f"text-of-{entry.id}"


def _shown_text() -> _ShownText:
    shown: _ShownText = st.session_state[_SHOWN]
    return shown


def _change(**changes: object) -> None:
    st.session_state[_SHOWN] = replace(_shown_text(), **changes)  # type: ignore[arg-type]


@st.dialog("来源原文", width="medium", icon=":material/menu_book:")
def _draw_dialog(app: App, entry: Message, *, is_last: bool) -> None:
    source = st.selectbox("来源", entry.sources, format_func=_name, key=_list_key(entry))
    if source != _shown_text().source:
        st.session_state[_SHOWN] = _ShownText(source)
        source_pages.forget()
    if source.read != "file":
        draw_source_list([source])
    if source.read == "snippet":
        _draw_unread(app, source, is_last=is_last)
    else:
        _draw_read(app, entry, source)


def _name(source: Source) -> str:
    parts = f"[{source.number}] {shorten(one_line(source.title), 40)}", reading_status(source)
    return " · ".join(filter(None, parts))


def _draw_read(app: App, entry: Message, source: Source) -> None:
    try:
        page = conversation_sync.read_pages_loader(app, entry)().get(source.number)
    except AppError as error:
        st.warning(escape_label(str(error)), icon=":material/error:")
        return
    if page is None:
        st.info(NOT_STORED, icon=":material/info:")
        return
    check = citation_check.check_of(app, entry)
    spans = compared_spans(check, source.number, page.text) if check else []
    wanted = spans[nearest_span(spans, _shown_text().position or 0)] if spans else None
    has_pages = source_pages.has_pages(app, page)
    if _shown_text().is_picture and has_pages:
        _draw_picture(app, page, spans, wanted)
    else:
        _draw_text(page, spans, wanted, has_pages=has_pages)
    if spans:
        draw_html(_count_html(spans))
    if source.read == "file" and not has_pages and page.title.lower().endswith(".pdf"):
        st.caption(NO_PAGES)
    st.caption(f"{reading_note(page, source)}共 {len(page.text):,} 字，校验值 {page.hash[:12]}。")


# ── The text ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_text(page: StoredPage, spans: Sequence[TextSpan], wanted: TextSpan | None, *, has_pages: bool) -> None:
    text = page.text
    position = wanted.start if wanted else _shown_text().position or 0
    window = _shown_text().window or TextWindow.from_position(text, position)
    with st.container(key="passage-ways", horizontal=True, vertical_alignment="center", gap="xsmall"):
        if wanted:
            _draw_ways(page, spans, wanted)
        if has_pages:
            _draw_page_button(page, wanted, window)
    if window.start:
        _draw_way(f"前面还有 {window.start:,} 字", "earlier", window=TextWindow.from_end(text, window.start))
    html = window_html(text, window, spans, page.sections, wanted=wanted)
    box = Markup('<div class="wy-page-text" tabindex="0" role="region" aria-label="来源 %s 的原文">%s</div>')
    draw_html(box % (page.number, html))
    if left := len(text) - window.end:
        _draw_way(f"后面还有 {left:,} 字", "later", window=TextWindow.from_start(text, window.end))


def _draw_ways(page: StoredPage, spans: Sequence[TextSpan], wanted: TextSpan) -> None:
    """Draw where the wanted passage stands, and the buttons that lead to the ones before and after it."""
    place = spans.index(wanted)
    if place:
        _draw_way("上一处", "before", position=spans[place - 1].start, window=None)
    if label := _place_label(page, wanted, place, len(spans)):
        st.markdown(label, width="content")
    if place + 1 < len(spans):
        _draw_way("下一处", "after", position=spans[place + 1].start, window=None)


def _draw_page_button(page: StoredPage, wanted: TextSpan | None, window: TextWindow) -> None:
    is_seen = wanted is not None and window.start <= wanted.start < window.end
    number = source_pages.page_of(page, wanted) if wanted and is_seen else source_pages.page_at(page, window.start)
    icon, go = ":material/picture_as_pdf:", _show_picture
    st.button("看这一页", key="passage-page", icon=icon, type="tertiary", on_click=go, args=(number,))


def _place_label(page: StoredPage, wanted: TextSpan, place: int, count: int) -> str:
    where = place_at(page.text, page.sections, (wanted.start + wanted.end) // 2)
    number = f"第 {place + 1} 处，共 {count} 处" if count > 1 else ""
    return escape_label(" · ".join(filter(None, (number, where.label if where else ""))))


def _draw_way(label: str, key: str, **changes: object) -> None:
    st.button(label, key=f"passage-{key}", type="tertiary", on_click=_change, kwargs=changes)


def _count_html(spans: Sequence[TextSpan]) -> Markup:
    verdicts = sorted((place.citation_verdict for place in spans), key=lambda verdict: verdict.severity_key)
    counted = Counter(f"{verdict.mark} {verdict.label}".strip() for verdict in verdicts)
    kinds = " · ".join(f"{kind} {count}" for kind, count in counted.items())
    return Markup('<div class="wy-dim wy-places">核验时比较过的 %s 处已标出（%s）。</div>') % (len(spans), kinds)


def reading_note(page: StoredPage, source: Source) -> str:
    """Return when a text was read, and that its source may have changed since."""
    moment = datetime.fromtimestamp(page.fetched, clock.reader_zone())
    what = {"page": "网页现在可能已经不同。", "library": "库里的文字现在可能已经不同。"}.get(source.read, "")
    return f"{moment:%Y-%m-%d %H:%M} 读到。{what}"


# ── The page as a picture ─────────────────────────────────────────────────────────────────────────────────────────────


def _show_picture(number: int) -> None:
    source_pages.show_page(number)
    _change(is_picture=True)


def _draw_picture(app: App, page: StoredPage, spans: Sequence[TextSpan], nearest: TextSpan | None) -> None:
    position = _shown_text().position
    is_exact = nearest is not None and (position is None or nearest.start <= position < nearest.end)
    wanted = nearest if is_exact else None
    first = source_pages.page_of(page, wanted) if wanted else source_pages.page_at(page, position or 0)
    source_pages.draw(app, page, spans, wanted, first=first)
    st.button("看文字", key="passage-text", icon=":material/notes:", type="tertiary", on_click=_show_text, args=(page,))


def _show_text(page: StoredPage) -> None:
    """Show the text of the page whose picture was shown."""
    _change(is_picture=False, window=TextWindow.from_position(page.text, source_pages.start_of_page_shown(page)))


# ── A source that was not read ────────────────────────────────────────────────────────────────────────────────────────


def _draw_unread(app: App, source: Source, *, is_last: bool) -> None:
    st.info(escape_label(unread_note(source)), icon=":material/info:")
    if not is_last or session.chat().run is not None or not app.reader.max_pages:
        return
    help = "打开这个网页，读完后重新回答。"
    if st.button("阅读", key=f"read-{source.number}", icon=":material/menu_book:", help=help):
        actions.answer_again(app, read=(source,))
        st.rerun()
