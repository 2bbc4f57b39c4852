"""One file: what is known of it, what can be done with it, and its text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import PurePosixPath

import streamlit as st
from markupsafe import Markup

from core.app import App
from core.base.errors import AppError
from core.documents import Access, Collection, Document
from core.ui import document_access
from core.ui.documents import addresses, text_preview
from core.ui.documents.collection_dialogs import DELETE_NOTE
from core.ui.documents.collection_facts import UNFINISHED, facts_html, facts_of_document, marks_html
from core.ui.escape import draw_html, escape_label
from core.ui.frame import draw_warning, set_page_title

OUTDATED_NOTE = "这是旧版：同一个资料集里有这个文件的新版。"
POLL_SECONDS = 1.0


def draw(app: App, id: str, asked: Mapping[str, str]) -> None:
    access = document_access.access()
    document = app.documents.open_document(id, access)
    collection = app.documents.open_collection(document.collection_id, access)
    set_page_title(document.name, collection.name)
    with st.container(key="document"):  # the style sheet gives this key more width
        _draw_head(app, document, collection, access, words=asked.get(addresses.WORDS, ""))
        text_preview.draw(app, document, access, asked)
    if document.state in UNFINISHED:
        st.fragment(_watch, run_every=POLL_SECONDS)(app, document, access)


def _watch(app: App, document: Document, access: Access) -> None:
    """Draw the page again as soon as more of the file was read."""
    try:
        now = app.documents.open_document(document.id, access)
    except AppError:
        now = None
    if now is None or (now.state, now.pages_done) != (document.state, document.pages_done):
        st.rerun()


def _draw_head(app: App, document: Document, collection: Collection, access: Access, *, words: str) -> None:
    query = addresses.collection_query(collection.id, words=words)
    back = f"{collection.name}：「{words}」的结果" if words else collection.name
    st.page_link("pages/documents.py", label=escape_label(back), icon=":material/arrow_back:", query_params=query)
    st.subheader(escape_label(document.name), anchor=False)
    draw_html(Markup('<div class="wy-files-list">%s%s</div>') % (marks_html(document), facts_html(document)))
    if document.is_outdated:
        st.caption(OUTDATED_NOTE)
    if document.reason:
        draw_warning(document.reason)
    with st.container(key="document-actions", horizontal=True, gap="small"):
        st.download_button(
            "下载原文件",
            data=partial(app.documents.read_bytes, document.id, access),
            file_name=PurePosixPath(document.name).name,
            mime="application/octet-stream",
            key=f"download-{document.id}",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
        )
        if collection.may_change:
            st.button(
                "重新读取",
                key=f"reindex-{document.id}",
                icon=":material/refresh:",
                type="tertiary",
                disabled=document.state in UNFINISHED,
                on_click=_reindex,
                args=(app, document),
            )
            if st.button("删除", key=f"delete-{document.id}", icon=":material/delete:", type="tertiary"):
                _draw_delete(app, document)


def _reindex(app: App, document: Document) -> None:
    try:
        app.documents.reindex_document(document.id, document_access.access())
    except AppError as error:
        st.toast(escape_label(str(error)), icon=":material/error:")


@st.dialog("删除文件", icon=":material/delete:")
def _draw_delete(app: App, document: Document) -> None:
    st.write(escape_label(f"将要删除「{document.name}」：{'，'.join(facts_of_document(document))}。"))
    st.caption(DELETE_NOTE)
    if not st.button("永久删除", key="delete-document", type="primary", icon=":material/delete_forever:"):
        return
    try:
        app.documents.delete_document(document.id, document_access.access())
    except AppError as error:
        st.warning(escape_label(str(error)), icon=":material/error:")
    else:
        st.query_params.from_dict(addresses.collection_query(document.collection_id))
        st.rerun()
