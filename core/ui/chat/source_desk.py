"""Reading desk: the sources of an answer beside it, with the passages that its sentences were compared with.

It is for wide windows. Only the browser knows how wide its window is, so a script (core/ui/scripts/desk.js) asks for the
sources of one answer by writing into a field that nobody sees; until then nothing of them is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st
from markupsafe import Markup

from core.answer import DeskText, desk_html, empty_desk_html, unread_note
from core.answer.check_results import AnswerCheck
from core.answer.message import Message
from core.app import App
from core.base.errors import AppError
from core.search.types import Source
from core.store import StoredPage
from core.ui import conversation_sync, session, visitor_preferences
from core.ui.chat import actions, citation_check, source_pages
from core.ui.chat.answer import app_url
from core.ui.chat.source_texts import NOT_STORED, reading_note
from core.ui.escape import draw_html

OPEN = "desk_open"
"""Key of the reader's choice, in the session and among the stored preferences."""
WANTED = "desk-wanted"
"""Key of the field: an answer's id, `/` and the number of a source to show whole, `/read` if its page is to be read."""
_DRAWN = "desk_drawn"
NO_SOURCES = "这个回答没有来源。"


def restore(stored_choices: Mapping[str, Any]) -> None:
    st.session_state[OPEN] = stored_choices.get(OPEN) is True


def draw(app: App, chat: session.ChatState) -> None:
    """Draw the button of the desk where there are sources, and the desk if it is open."""
    if not any(entry.sources for entry in chat.messages[-chat.shown :]):
        return
    is_open = bool(st.session_state.get(OPEN))
    st.bottom.button("收起来源" if is_open else "来源", key="desk-switch", on_click=_switch)
    if is_open:
        with st.bottom.container(key="desk"):
            _draw_wanted(app)


def _switch() -> None:
    st.session_state[OPEN] = not st.session_state.get(OPEN)
    visitor_preferences.save({OPEN: st.session_state[OPEN] or None})


@st.fragment
def _draw_wanted(app: App) -> None:
    """Draw what the browser asked for. Only this is sent when it asks for something else."""
    args, live = (app,), "50ms"
    wanted = st.text_input("来源", key=WANTED, on_change=_read_page, args=args, live=live, label_visibility="collapsed")
    if session.chat().pending is not None:
        st.rerun()
    if wanted:
        draw_html(_html_of(app, wanted))


def _parse(wanted: str) -> tuple[Message | None, int, bool]:
    """Return the answer, the number of the source, and whether its page is to be read. The field may hold anything."""
    id, number, action = [*wanted.split("/"), "", ""][:3]
    entry = next((one for one in session.chat().messages if one.id == id and one.role == "assistant"), None)
    return entry, int(number) if number.isdecimal() else 0, action == "read"


def _read_page(app: App) -> None:
    """Read the page of a source that was not read, and answer again, if the browser asked for it."""
    entry, number, is_asked = _parse(st.session_state[WANTED])
    source = next((one for one in entry.sources if one.number == number), None) if entry else None
    if is_asked and entry and source and _can_read(app, entry, source):
        actions.answer_again(app, read=(source,))


def _can_read(app: App, entry: Message, source: Source) -> bool:
    chat = session.chat()
    is_last = entry is chat.messages[-1] and chat.run is None and chat.pending is None and not chat.read_only
    return is_last and source.read == "snippet" and bool(app.reader.max_pages)


def _html_of(app: App, wanted: str) -> Markup:
    """Return the desk. It is made once: every rerun of the page asks for it again."""
    entry, number, _ = _parse(wanted)
    if entry is None or not entry.sources:
        return empty_desk_html(NO_SOURCES)
    check, is_last = citation_check.check_of(app, entry), entry is session.chat().messages[-1]
    made_from = wanted, entry, check, is_last
    drawn: tuple[object, Markup] = st.session_state.get(_DRAWN, (None, Markup()))
    if drawn[0] != made_from:
        html, is_complete = _make(app, entry, check, number)
        st.session_state[_DRAWN] = drawn = made_from if is_complete else None, html
    return drawn[1]


def _make(app: App, entry: Message, check: AnswerCheck | None, number: int) -> tuple[Markup, bool]:
    """Return the desk, and whether every text that was read is on it: one may be on its way to the database."""
    try:
        pages = conversation_sync.read_pages_loader(app, entry)()
    except AppError:
        pages = {}
    texts = {source.number: _text_of(app, entry, source, pages.get(source.number)) for source in entry.sources}
    html = desk_html(
        entry.id,
        session.chat().question_of(entry),
        entry.sources,
        texts,
        check,
        cited={source.number for source in entry.cited},
        official=app.settings.sources.official_hosts,
        app_url=app_url(),
        whole=number,
    )
    return html, all(source.number in pages for source in entry.sources if source.read != "snippet")


def _text_of(app: App, entry: Message, source: Source, page: StoredPage | None) -> DeskText:
    if page is not None:
        note = reading_note(page, source)
        return DeskText(page.text, note, sections=page.sections, has_file=source_pages.has_pages(app, page))
    note = unread_note(source) if source.read == "snippet" else NOT_STORED
    return DeskText(source.snippet, note, can_read=_can_read(app, entry, source))
