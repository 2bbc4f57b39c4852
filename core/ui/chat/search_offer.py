"""Offer to turn on 联网搜索: on the first screen, and below an answer without sources."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.answer.message import Message
from core.app import App
from core.ui import session
from core.ui.advice import pause_words
from core.ui.chat import actions, search_switch
from core.ui.escape import escape_label

FIRST_OFFER = "现在不联网，回答没有来源。"
PAUSED_OFFER = "现在不联网，因为能联网的引擎都在暂停。"
OFFER_AFTER_ANSWER = "现在不联网，打开联网搜索以后，回答会带来源。"


def draw_on_first_screen(app: App) -> None:
    if _is_possible(app) and search_switch.is_undecided() and not session.chat().collections:
        _draw(_paused_offer(app) or FIRST_OFFER, "打开联网搜索", accept=_accept, key="first")


def draw_below_answer(app: App, answer: Message) -> None:
    """Draw the offer below the first answer of a conversation without sources. The embedded model cannot answer without
    sources, so its answers always get the offer."""
    unsourced = answer.mode == "chat" and answer.is_whole and not (answer.searches or answer.sources)
    answers = [message for message in session.chat().messages if message.role == "assistant"]
    wanted = app.model.choice.is_embedded or (answers == [answer] and search_switch.is_undecided())
    if unsourced and wanted and _is_possible(app):
        _draw(OFFER_AFTER_ANSWER, "打开联网搜索并再问", accept=partial(_accept_and_ask, app), key=answer.id)


def _paused_offer(app: App) -> str:
    """Return why the search is off although it is on by default, and until when. Empty if that is not the reason."""
    paused = app.search.web_pause if search_switch.needs_ready_web(app) else None
    return f"{PAUSED_OFFER}{paused.reason}{pause_words(paused.pause)}。" if paused else ""


def _is_possible(app: App) -> bool:
    return not session.is_search_enabled() and session.mode() == session.CHAT and app.search.has_engines


def _draw(text: str, button: str, *, accept: Callable[[], None], key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(escape_label(text), width="content")
        st.button(button, key=f"search-on-{key}", icon=":material/travel_explore:", on_click=accept)
        if search_switch.is_undecided():
            keep_off = partial(search_switch.set_search, False)
            st.button("先不用", key=f"search-off-{key}", type="tertiary", on_click=keep_off)


def _accept() -> None:
    search_switch.set_search(True)
    st.toast(search_switch.SEARCH_ON, icon=":material/travel_explore:")


def _accept_and_ask(app: App) -> None:
    _accept()
    actions.answer_again(app)
