"""The page 资料库. Its address names a collection, a file or a share, and the words that were searched for."""

from __future__ import annotations

import streamlit as st

from core.app import App
from core.base.errors import AppError
from core.documents import CollectionNotFound
from core.ui import document_access
from core.ui.documents import (
    addresses,
    collection_list,
    collection_view,
    document_search,
    document_upload,
    document_view,
)
from core.ui.frame import draw_warning, set_page_title

WITHDRAWN = "这个分享链接已经失效：资料集删除了，或者分享撤回了。"


def draw(app: App) -> None:
    asked = st.query_params.to_dict()
    words = asked.get(addresses.WORDS, "")[: document_search.MAX_WORDS]
    try:
        if share := asked.get(addresses.SHARE, ""):
            _open_shared(app, share, words)
        elif id := asked.get(addresses.FILE, ""):
            document_view.draw(app, id, asked)
        elif id := asked.get(addresses.COLLECTION, ""):
            _draw_collection(app, id, words)
        else:
            document_upload.forget_report()
            collection_list.draw(app, words)
    except AppError as error:
        _draw_problem(str(error))


def _open_shared(app: App, share: str, words: str) -> None:
    """Draw the collection that a share opens, and remember the share: the collection can be asked about from now on."""
    try:
        found = app.documents.find_shared(share)
    except CollectionNotFound:
        _draw_problem(WITHDRAWN)
        return
    document_access.remember_share(share)
    _draw_collection(app, found.id, words)


def _draw_collection(app: App, id: str, words: str) -> None:
    collection = app.documents.open_collection(id, document_access.access())
    set_page_title(collection.name, "资料库")
    collection_view.draw(app, collection, words)


def _draw_problem(sentence: str) -> None:
    st.header("资料库", anchor=False)
    draw_warning(sentence)
    if st.query_params.to_dict():
        st.page_link("pages/documents.py", label="全部资料集", icon=":material/arrow_back:")
