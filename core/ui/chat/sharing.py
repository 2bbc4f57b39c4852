"""Sharing of a conversation: a link that opens it for reading and can be withdrawn."""

from __future__ import annotations

import streamlit as st

from core.app import App
from core.base.errors import AppError
from core.ui import conversation_list, conversation_sync, identity, session, share_links
from core.ui.chat.answer import app_url
from core.ui.escape import escape_label

SHARE_NOTE = (
    "没有这个链接，别人打不开这个对话。拿到链接的人可以阅读、导出和复制它，包括以后新增的内容，不能改动它。"
    "附件也在内：他们可以读附件的全文，看 PDF 附件的原页；资料库里的文件，他们只能读回答用到的那些的文字。"
    "撤回以后，链接就打不开了；已经复制走的不会消失。"
)


def draw_button(app: App, chat: session.ChatState) -> None:
    """Draw the share button below the last answer."""
    if chat.conversation_id and st.button("分享", key="share-conversation", icon=":material/share:", type="tertiary"):
        draw_share_dialog(app, chat.conversation_id)


@st.dialog("分享", icon=":material/share:")
def draw_share_dialog(app: App, id: str) -> None:
    try:
        share_links.draw_link(conversation_address(conversation_sync.SHARED, conversation_list.share(app, id)))
        st.caption(SHARE_NOTE)
        if st.button("撤回", key="withdraw-share", icon=":material/link_off:"):
            conversation_list.withdraw_share(app, id)
            st.rerun()
    except AppError as error:
        st.warning(escape_label(str(error)), icon=":material/error:")


@st.dialog("复制链接", icon=":material/link:")
def draw_link_dialog(id: str) -> None:
    share_links.draw_link(conversation_address(conversation_sync.ADDRESS, id))
    st.caption(f"{_who_may_open()}要给别人看，请用「分享」：分享的链接可以撤回。")


def _who_may_open() -> str:
    if identity.owner():
        return "这个网址只有你登录之后才能打开。"
    if identity.visitor():
        return "这个网址只有你在这个浏览器里才能打开。"
    return "这个浏览器没有保存 Cookie，刷新之后，这个网址就打不开了。"


def conversation_address(parameter: str, value: str) -> str:
    """Return the address of a conversation as this browser reaches the page."""
    return share_links.page_address(parameter, value, otherwise=app_url())
