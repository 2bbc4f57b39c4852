"""One collection: search, what can be done with it, the way in for files, and its files."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from core.app import App
from core.base.errors import AppError
from core.documents import Collection
from core.store import ChosenCollection
from core.ui import document_access
from core.ui.chat import actions
from core.ui.documents import collection_dialogs, document_search, document_upload, file_list
from core.ui.escape import escape_label

CHAT_PAGE = "pages/chat.py"
READ_ONLY = "这是分享给你的资料集：可以查找、阅读、下载和提问，不能改动。"
PUBLIC = "这是管理员提供的资料集，来自服务器上的文件夹：所有访客都可以查找、阅读、下载和提问，不能改动。"


def draw(app: App, collection: Collection, words: str) -> None:
    st.page_link("pages/documents.py", label="全部资料集", icon=":material/arrow_back:")
    st.header(escape_label(collection.name), anchor=False)
    _draw_actions(app, collection)
    if not collection.may_change:
        st.info(PUBLIC if collection.is_public else READ_ONLY, icon=":material/visibility:")
    # Also while it is empty: a field whose place in the page changes forgets which files it refused.
    with st.container():
        if collection.documents and document_search.draw(app, [collection], words):
            return
    if collection.may_change:
        document_upload.draw(app, collection)
    if collection.documents:
        file_list.draw(app, collection)
    elif not collection.may_change:
        st.caption("这里还没有文件。")


def _draw_actions(app: App, collection: Collection) -> None:
    with st.container(key="collection-actions", horizontal=True, gap="small"):
        if collection.documents and st.button("用它提问", key="ask-collection", icon=":material/forum:"):
            actions.begin_with_collection(ChosenCollection(collection.id, collection.name))
            st.switch_page(CHAT_PAGE)
        if collection.may_change:
            _draw_owner_actions(app, collection)
        elif not collection.is_public:
            st.button(
                "从我的资料库移出",
                key="leave-collection",
                icon=":material/playlist_remove:",
                type="tertiary",
                on_click=_leave,
                args=(app, collection),
            )


def _draw_owner_actions(app: App, collection: Collection) -> None:
    if st.button("改名", key="rename-button", icon=":material/edit:", type="tertiary"):
        collection_dialogs.draw_rename(app, collection)
    shared = "分享中" if collection.share else "分享"
    if st.button(shared, key="share-button", icon=":material/share:", type="tertiary"):
        collection_dialogs.draw_share(app, collection)
    if st.button("删除", key="delete-button", icon=":material/delete:", type="tertiary"):
        collection_dialogs.draw_delete(app, collection)


def _leave(app: App, collection: Collection) -> None:
    """Forget the shares that open the collection."""
    for share in document_access.known_shares():
        with suppress(AppError):
            if app.documents.find_shared(share).id == collection.id:
                document_access.forget_share(share)
    st.query_params.clear()
