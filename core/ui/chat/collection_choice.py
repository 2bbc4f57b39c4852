"""Choice of the collections of documents (资料) that a conversation uses, at the input."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.app import App
from core.base.errors import AppError
from core.base.text import one_line, shorten
from core.documents import Collection
from core.store import ChosenCollection
from core.ui import conversation_sync, document_access, session
from core.ui.escape import escape_label

MENU = "collection_choice"
NAME_LENGTH = 12
DOCUMENTS_PAGE = "pages/documents.py"


def list_offered(app: App) -> Sequence[Collection] | None:
    """Return the collections to choose from; None while they cannot be read."""
    try:
        return app.documents.list_collections(document_access.access()) if document_access.is_offered(app) else ()
    except AppError:
        return None


def draw(app: App, collections: Sequence[Collection] | None) -> None:
    """Draw the menu 资料 with a box for each collection. Without any it leads to where one is made."""
    if not document_access.is_offered(app):
        return
    if collections is None:
        st.caption("资料库暂时读不出来。")
    elif not collections and not session.chat().collections:
        with st.container(key="documents-none", width="content"):
            st.page_link(DOCUMENTS_PAGE, label="资料", icon=":material/folder_open:")
    else:
        chosen = _chosen_of(collections)
        with (
            st.container(key="documents-chosen" if chosen else "documents-unchosen", width="content"),
            st.popover(_label(chosen), key=MENU, icon=":material/folder_open:"),
        ):
            for collection in collections:
                _draw_box(app, collection, is_chosen=collection in chosen)
            st.page_link(DOCUMENTS_PAGE, label="资料库", icon=":material/arrow_forward:")


def draw_missing(app: App, collections: Sequence[Collection] | None) -> None:
    """Draw a sentence about chosen collections that are no longer there for this reader."""
    if collections is None or not document_access.is_offered(app):
        return
    known = {collection.id for collection in collections}
    if missing := [one for one in session.chat().collections if one.id not in known]:
        names = "、".join(f"「{shorten(one_line(one.name), NAME_LENGTH)}」" for one in missing)
        with st.container(key="missing-collections", horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.caption(escape_label(f"这个对话选用的资料集{names}已经删除，或者不再分享给你，提问时不会用到。"))
            kept = tuple(one for one in session.chat().collections if one.id in known)
            choose = conversation_sync.choose_collections
            st.button("知道了", key="forget-missing", type="tertiary", on_click=choose, args=(app, kept))


def usable_ids(app: App) -> tuple[str, ...]:
    """Return the chosen collections that are there for this reader."""
    if not session.chat().collections:
        return ()
    collections = list_offered(app)
    if collections is None:
        return tuple(one.id for one in session.chat().collections)  # the answer says what became of them
    return tuple(collection.id for collection in _chosen_of(collections))


def _chosen_of(collections: Sequence[Collection]) -> list[Collection]:
    """Return the chosen ones in the order in which they were chosen, under their names of today."""
    known = {collection.id: collection for collection in collections}
    return [known[one.id] for one in session.chat().collections if one.id in known]


def _label(chosen: Sequence[Collection]) -> str:
    if not chosen:
        return "资料"
    first = shorten(one_line(chosen[0].name), NAME_LENGTH)
    return escape_label(f"资料：{first}" + (f" 等 {len(chosen)} 个" if len(chosen) > 1 else ""))


def _draw_box(app: App, collection: Collection, *, is_chosen: bool) -> None:
    key = f"collection-{collection.id}"
    st.session_state[key] = is_chosen  # an opened conversation may have chosen it
    about = f" :gray[{collection.origin_label}]" if collection.origin_label else ""
    label = f"{escape_label(shorten(collection.name, 40))}{about}"
    st.checkbox(label, key=key, on_change=_on_change, args=(app, collection, key))


def _on_change(app: App, collection: Collection, key: str) -> None:
    others = tuple(one for one in session.chat().collections if one.id != collection.id)
    added = (ChosenCollection(collection.id, collection.name),) if st.session_state[key] else ()
    conversation_sync.choose_collections(app, others + added)
