"""The conversations in the sidebar: searched, opened, and a menu for each of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from itertools import groupby

import streamlit as st

from core.app import App
from core.base.errors import AppError
from core.store import Conversation
from core.ui import clock, conversation_list, conversation_sync, session
from core.ui.chat import actions, export_menu, sharing
from core.ui.escape import escape_label

SEARCH = "history_search"
SHOWN = "history_shown"
CHOSEN = "history_chosen"
INITIAL_COUNT, MORE_COUNT = 15, 30
RENAME, SHARE, LINK, EXPORT, DELETE = "改名", "分享", "复制链接", "导出", "删除"


def draw(app: App) -> None:
    """Draw the list of conversations."""
    st.button("新对话", key="new-conversation", icon=":material/add:", width="stretch", on_click=actions.clear)
    words, shown = st.session_state.get(SEARCH) or "", st.session_state.get(SHOWN, INITIAL_COUNT)
    found = conversation_list.list_conversations(app, words, shown + 1)
    if found or words:
        _search_box()
    _offer_undo(app)
    with st.container(key="history", gap=None):
        for name, entries in groupby(found[:shown], key=partial(_age_group, clock.now())):
            st.caption(name)
            for entry in entries:
                _draw_entry(app, entry)
        if len(found) > shown:
            st.button("更多", key="more-conversations", type="tertiary", width="stretch", on_click=_show_more)
    if words and not found:
        st.caption("没有找到含有这些字的对话。")
    _open_dialog(app)


def _age_group(now: datetime, entry: Conversation) -> str:
    days = (now.date() - datetime.fromtimestamp(entry.updated, now.tzinfo).date()).days
    if days < 2:
        return "昨天" if days == 1 else "今天"
    return "近 7 天" if days < 7 else "更早"


def _search_box() -> None:
    st.text_input(
        "搜索对话",
        key=SEARCH,
        type="search",
        placeholder="搜索对话",
        icon=":material/search:",
        label_visibility="collapsed",
        live=True,  # a number of milliseconds would be a text, which pandas reads: 70 MB
    )


def _show_more() -> None:
    st.session_state[SHOWN] = st.session_state.get(SHOWN, INITIAL_COUNT) + MORE_COUNT


def _draw_entry(app: App, entry: Conversation) -> None:
    key = "history-open" if entry.id == session.chat().conversation_id else f"entry-{entry.id}"
    with st.container(key=key, horizontal=True, wrap=False, gap=None, vertical_alignment="center"):
        st.button(
            escape_label(entry.title),
            key=f"open-{entry.id}",
            type="tertiary",
            width="stretch",
            icon=":material/link:" if entry.share else None,
            icon_position="right",
            on_click=conversation_sync.open_conversation,
            args=(entry.id,),
        )
        st.menu_button(
            f"「{escape_label(entry.title)}」的操作",
            (RENAME, SHARE, LINK, EXPORT, DELETE),
            key=f"menu-{entry.id}",
            type="tertiary",
            icon=":material/more_horiz:",
            on_click=_on_menu_choice,
            args=(app, entry),
        )


def _on_menu_choice(app: App, entry: Conversation) -> None:
    chosen = st.session_state[f"menu-{entry.id}"]
    if chosen == DELETE:
        _show_errors(lambda: conversation_list.delete(app, entry))
    else:
        st.session_state[CHOSEN] = (chosen, entry)


def _show_errors(action: Callable[[], None]) -> None:
    try:
        action()
    except AppError as error:
        st.toast(escape_label(str(error)), icon=":material/error:")


def _offer_undo(app: App) -> None:
    if (deleted := conversation_list.last_deleted()) is None:
        return
    undo = partial(_show_errors, partial(conversation_list.undo_delete, app))
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", key="history-undo"):
        st.caption(f"已删除「{escape_label(deleted.conversation.title)}」")
        st.button("撤销", key="undo-deletion", icon=":material/undo:", type="tertiary", on_click=undo)


def _open_dialog(app: App) -> None:
    """Open the dialog chosen in the last run, once. It then stays open by itself."""
    chosen, entry = st.session_state.pop(CHOSEN, ("", None))
    if chosen == RENAME:
        _rename(app, entry)
    elif chosen == SHARE:
        sharing.draw_share_dialog(app, entry.id)
    elif chosen == LINK:
        sharing.draw_link_dialog(entry.id)
    elif chosen == EXPORT:
        _export(app, entry)


@st.dialog("改名", icon=":material/edit:")
def _rename(app: App, entry: Conversation) -> None:
    with st.form("rename-conversation", border=False):
        title = st.text_input("标题", entry.title, key=f"title-{entry.id}", max_chars=40)
        if not st.form_submit_button("改名", type="primary"):
            return
    try:
        conversation_list.rename(app, entry.id, title)
    except AppError as error:
        st.warning(escape_label(str(error)), icon=":material/error:")
    else:
        st.rerun()


@st.dialog("导出", icon=":material/download:")
def _export(app: App, entry: Conversation) -> None:
    load_pages = conversation_sync.pages_by_answer_loader(app, entry.id)
    export_menu.draw(app, entry.title, conversation_list.messages_loader(app, entry.id), load_pages, key=entry.id)
