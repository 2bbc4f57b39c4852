"""Input area: the switches 联网 and Agent, the model, the stop button and the chat box."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.app import App
from core.documents import Collection
from core.reading import UPLOAD_KINDS
from core.search import NO_WEB_ENGINE
from core.ui import session
from core.ui.chat import actions, attachments, collection_choice, scanned_files, search_switch, settings_panel
from core.ui.escape import escape_label
from core.ui.settings import own_key
from core.ui.uploads import ChatInputResult, chat_field

PLACEHOLDER = "问一个问题"
"""Placeholder of the chat box. Where there is a keyboard, core/ui/page.js adds its keys."""
FROM_LINK_NOTE = "输入框里的问题来自打开的链接，还没有发送。看过之后，按 Enter 或点箭头提问。"
STATE_LABELS = {True: "已启用", False: "已禁用"}
AGENT_TOGGLE = "agent_toggle"


def draw(app: App) -> tuple[ChatInputResult, DeltaGenerator]:
    """Draw the input area. Returns the input, and the place for the stop button."""
    collections = collection_choice.list_offered(app)
    with st.bottom.container(key="composer", gap="xsmall"):
        _draw_notes(app, collections)
        with st.container(key="switches", horizontal=True, vertical_alignment="center", gap="xsmall"):
            _draw_search_switch(available=app.search.has_engines)
            _draw_agent_switch(app)
            if own_key.session_model() is None:
                settings_panel.draw_model_menu(app)
            collection_choice.draw(app, collections)
            _draw_search_remark(app)
            stop = st.empty()
        # Inside a container: a page whose box Streamlit itself puts at the bottom runs after the end of a growing answer.
        typed = chat_field(
            PLACEHOLDER,
            key=session.CHAT_INPUT,
            on_submit=actions.submit,
            args=(app,),
            files=app.reader.max_files,
            megabytes=app.reader.max_megabytes,
            file_type=UPLOAD_KINDS,
        )
    return typed, stop


def _draw_notes(app: App, collections: Sequence[Collection] | None) -> None:
    chat = session.chat()
    if chat.from_link:
        st.caption(FROM_LINK_NOTE)
    if chat.refusal:
        st.warning(escape_label(chat.refusal), icon=":material/edit_note:")
    collection_choice.draw_missing(app, collections)
    attachments.draw_waiting()
    scanned_files.draw()


def _draw_search_switch(*, available: bool) -> None:
    if session.mode() == session.AGENT:
        # Another widget than the one of Chat mode, which keeps its value while it is not drawn.
        st.toggle("联网 自动", value=available, disabled=True, key="search_toggle_of_agent")
        return
    st.toggle(
        f"联网 {STATE_LABELS[session.is_search_enabled()]}",
        key=session.SEARCH_TOGGLE,
        persist_state="session",
        disabled=not available,
        on_change=search_switch.on_switch,
    )


def _draw_agent_switch(app: App) -> None:
    on = session.mode() == session.AGENT
    st.session_state[AGENT_TOGGLE] = on  # a command, a link or an opened conversation may have chosen the mode
    st.toggle(f"Agent {STATE_LABELS[on]}", key=AGENT_TOGGLE, on_change=_switch_agent, args=(app,))


def _switch_agent(app: App) -> None:
    actions.switch_mode(app, session.AGENT if st.session_state[AGENT_TOGGLE] else session.CHAT)


def _draw_search_remark(app: App) -> None:
    """Draw the reason why the switch 联网 cannot be used, or reaches no web."""
    if session.mode() == session.AGENT:
        st.caption(actions.AGENT_DECIDES)
    elif not app.search.has_engines:
        st.caption(escape_label(f"{actions.NO_ENGINE}{app.chain.no_engine_error.cure}"))
    elif not app.search.reaches_web:
        st.caption(NO_WEB_ENGINE)
