"""What the owner of a collection does with it: rename, share, delete for good."""

from __future__ import annotations

import streamlit as st

from core.app import App
from core.base.errors import AppError
from core.documents import Collection
from core.ui import document_access, share_links
from core.ui.documents import addresses
from core.ui.documents.collection_facts import facts_of
from core.ui.documents.collection_list import MAX_NAME
from core.ui.escape import escape_label

SHARE_NOTE = (
    "没有这个链接，别人打不开这个资料集。拿到链接的人可以查找、阅读、下载其中的文件，也可以在自己的对话里用它提问，"
    "包括以后放进来的文件，不能改动它。撤回以后，链接就打不开了；已经下载的和写进别人对话的不会消失。"
)
DELETE_NOTE = (
    "原文件、读出的文字和索引都会删除，对话里保存的全文也会删除，不能恢复。以前的回答还在，只保留它们引用的话。"
)


@st.dialog("改名", icon=":material/edit:")
def draw_rename(app: App, collection: Collection) -> None:
    with st.form("rename-collection", border=False):
        name = st.text_input("资料集的名字", collection.name, key=f"name-{collection.id}", max_chars=MAX_NAME)
        if not st.form_submit_button("改名", type="primary"):
            return
    try:
        app.documents.rename_collection(collection.id, name.strip(), document_access.access())
    except AppError as error:
        _draw_error(error)
    else:
        st.rerun()


@st.dialog("分享", icon=":material/share:")
def draw_share(app: App, collection: Collection) -> None:
    access = document_access.access()
    try:
        key = app.documents.share_collection(collection.id, access)
        otherwise = f"{app.settings.public.url.rstrip('/')}/documents"
        share_links.draw_link(share_links.page_address(addresses.SHARE, key, otherwise=otherwise))
        st.caption(SHARE_NOTE)
        if st.button("撤回", key="withdraw-collection", icon=":material/link_off:"):
            app.documents.unshare_collection(collection.id, access)
            st.rerun()
    except AppError as error:
        _draw_error(error)


@st.dialog("删除资料集", icon=":material/delete:")
def draw_delete(app: App, collection: Collection) -> None:
    shared = "分享的链接也会失效。" if collection.share else ""
    st.write(escape_label(f"将要删除资料集「{collection.name}」：{'，'.join(facts_of(collection))}。{shared}"))
    st.caption(DELETE_NOTE)
    if not st.button("永久删除", key="delete-collection", type="primary", icon=":material/delete_forever:"):
        return
    try:
        app.documents.delete_collection(collection.id, document_access.access())
    except AppError as error:
        _draw_error(error)
    else:
        st.query_params.clear()
        st.rerun()


def _draw_error(error: AppError) -> None:
    st.warning(escape_label(str(error)), icon=":material/error:")
