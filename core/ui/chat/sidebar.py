"""Sidebar: conversations, settings panel, login and the model in use."""

from __future__ import annotations

import logging

import streamlit as st
from streamlit.errors import StreamlitAuthError

from core.app import App
from core.base.settings import choose_model
from core.base.text import one_line, shorten
from core.ui import document_access, identity, session, visitor_preferences
from core.ui.chat import search_switch, settings_panel, sidebar_conversations, source_desk, steps
from core.ui.escape import escape_label
from core.ui.settings import own_key

log = logging.getLogger(__name__)

NAME_LENGTH = 40


def restore(app: App) -> None:
    """Restore the visitor's choices from earlier sessions, as far as they are still offered."""
    if session.RESTORED in st.session_state:
        return
    chosen = visitor_preferences.load()
    mode = str(chosen.get("mode")).lower()  # it was stored as "Chat" or "Agent" at first
    if mode in (session.CHAT, session.AGENT):
        st.session_state[session.MODE] = mode
    search_switch.restore(app, chosen.get("search"))
    settings_panel.restore(app, chosen)
    steps.restore(chosen)
    source_desk.restore(chosen)
    document_access.restore(chosen)
    st.session_state[session.RESTORED] = True


def draw(app: App, *, on_chat_page: bool) -> None:
    with st.sidebar:
        if on_chat_page:
            sidebar_conversations.draw(app)
            settings_panel.draw(app)
        _draw_login()
        own = own_key.session_model()
        model = own.choice if own else choose_model(settings_panel.current_choices(app).apply_to(app.settings))
        st.caption(f"模型：{escape_label(model.label)}")
        if on_chat_page and model.is_embedded:
            st.caption("还没有连接模型：现在只能摘录来源中的原句，不能写作。")


def _draw_login() -> None:
    """Draw login or logout, if Streamlit's own login is configured ([auth] in secrets.toml)."""
    if not identity.is_login_configured():
        return
    if st.user.is_logged_in:
        name = str(st.user.get("name") or st.user.get("email") or "用户")
        st.caption(f"已登录：{escape_label(shorten(one_line(name), NAME_LENGTH))}")
        st.button("退出登录", on_click=st.logout, width="stretch")
    elif st.button("登录", width="stretch", help="登录后，换一个浏览器也能打开自己的对话。"):
        try:
            st.login()
        except StreamlitAuthError as error:
            log.error("the login is not set up properly: %s", error)
            st.error("现在不能登录：登录的配置不完整，原因已写入日志。请告诉管理员；不登录也可以照常提问。")
