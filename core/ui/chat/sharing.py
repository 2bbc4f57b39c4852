"""A conversation for others: a link that opens it for reading and can be withdrawn, and what its readers see."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from core.app import App, shared_app
from core.base.errors import AppError
from core.store import Conversation
from core.ui import browser, keeping, session
from core.ui.chat import render
from core.ui.chat.answer import app_url
from core.ui.escape import label

READ_ONLY = "这个对话只能阅读。在下面提问时，会先复制为你自己的对话，再继续。"


@st.dialog("分享", icon=":material/share:")
def share(app: App, entry: Conversation) -> None:
    try:
        link = address(keeping.SHARED, keeping.share(app, entry.id))
    except AppError as error:
        st.warning(label(str(error)), icon=":material/error:")
        return
    _show(link)
    st.caption("拿到链接的人可以阅读、导出和复制这个对话，包括以后新增的内容，不能改动它。撤回以后，链接就打不开了。")
    if st.button("撤回", key="withdraw-share", icon=":material/link_off:"):
        _withdraw(app, entry)


def _withdraw(app: App, entry: Conversation) -> None:
    try:
        keeping.withdraw(app, entry.id)
    except AppError as error:
        st.warning(label(str(error)), icon=":material/error:")
        return
    st.rerun()


@st.dialog("复制链接", icon=":material/link:")
def copy_link(app: App, entry: Conversation) -> None:
    _show(address(keeping.ADDRESS, entry.id))
    st.caption("这是你自己打开这个对话的网址。要给别人看，请用「分享」：分享的链接可以撤回。")


def _show(link: str) -> None:
    st.code(link, language=None, wrap_lines=True)
    browser.copy(link)


def address(parameter: str, value: str) -> str:
    """As this browser reaches the page."""
    here = urlsplit(st.context.url or app_url())
    return here._replace(path=here.path or "/", query=f"{parameter}={value}", fragment="").geturl()


def draw_read_only(chat: session.ChatState) -> None:
    """Below what somebody else has said, in place of all that would change it."""
    if not chat.read_only:
        return
    st.info(READ_ONLY, icon=":material/visibility:")
    with st.container(horizontal=True):
        st.button("复制为我的对话", key="own-conversation", icon=":material/content_copy:", on_click=_own)
        with st.popover("导出", icon=":material/download:"):
            render.downloads(chat.title, keeping.everything(shared_app()), key="read-only")


def _own() -> None:
    try:
        keeping.own(shared_app())
    except AppError as error:
        st.toast(label(str(error)), icon=":material/error:")
    else:
        st.toast("已复制为你自己的对话，可以继续提问。", icon=":material/check:")
