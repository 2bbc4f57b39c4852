"""The toggle 联网搜索: its first value, whoever switches it, and the offer to switch it on."""

from __future__ import annotations

import streamlit as st

from core.answer.message import Message
from core.app import App, shared_app
from core.ui import preferences, session

DECIDED = "search_decided"
"""The reader has switched it, or declined the offer, in this session or an earlier one."""

SEARCH_ON = "联网搜索已打开：之后的问题会先搜索，再带着来源回答。"
SEARCH_OFF = "联网搜索已关闭：之后的问题由模型直接回答。"
FIRST_OFFER = "联网搜索现在关闭，问题由模型直接回答，没有来源。"
OFFER_AFTER_ANSWER = "联网搜索现在关闭，打开以后回答会带来源。"


def restore(chosen: object) -> None:
    """`chosen` is what an earlier session left: true, false, or nothing that counts."""
    app = shared_app()
    st.session_state[DECIDED] = isinstance(chosen, bool)
    if app.search.available and (chosen if isinstance(chosen, bool) else _on_by_default(app)):
        st.session_state[session.SEARCH_TOGGLE] = True


def _on_by_default(app: App) -> bool:
    match app.settings.chat.search_default:
        case "on":
            return True
        case "auto":
            return app.search.web_ready
        case "off":
            return False


def switch(on: bool) -> None:
    st.session_state[session.SEARCH_TOGGLE] = on
    switched()


def switched() -> None:
    st.session_state[DECIDED] = True
    preferences.keep({"search": session.search_enabled()})


def offer_first() -> None:
    if _open_question():
        _offer(FIRST_OFFER, key="first")


def offer_after(answer: Message) -> None:
    """Below the first answer of a conversation only: whoever goes on without sources has seen it."""
    answers = [message for message in session.chat().messages if message.role == "assistant"]
    unsourced = answer.mode == "chat" and answer.whole and not answer.searches
    if unsourced and answers == [answer] and _open_question():
        _offer(OFFER_AFTER_ANSWER, key=answer.id)


def _open_question() -> bool:
    undecided = not st.session_state.get(DECIDED) and not session.search_enabled()
    return undecided and session.mode() == session.CHAT and shared_app().search.available


def _offer(words: str, *, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(words, width="content")
        st.button("打开联网搜索", key=f"search-on-{key}", icon=":material/travel_explore:", on_click=_accept)
        st.button("保持关闭", key=f"search-off-{key}", type="tertiary", on_click=switch, args=(False,))


def _accept() -> None:
    switch(True)
    st.toast(SEARCH_ON, icon=":material/travel_explore:")
