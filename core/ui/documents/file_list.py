"""The files of a collection with their states. While some of them are being read, the list looks for news by itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st
from markupsafe import Markup

from core.app import App
from core.base.errors import AppError
from core.documents import Collection, Document, DocumentState
from core.ui import document_access
from core.ui.documents import addresses
from core.ui.documents.collection_facts import UNFINISHED, facts_html, facts_of, marks_html
from core.ui.escape import draw_html, escape_label
from core.ui.frame import draw_warning

POLL_SECONDS = 1.0
ROWS = 100
SHOWN, ONLY = "documents_shown", "documents_only"
_UNREADABLE = "无法读取"
_GROUPS = {"还没有读完": UNFINISHED, _UNREADABLE: {DocumentState.UNREADABLE}}
ALL = "全部"


def draw(app: App, collection: Collection) -> None:
    """Draw the list, anew every second while files are unfinished."""
    every = POLL_SECONDS if collection.unfinished else None
    st.fragment(_draw, run_every=every)(app, collection.id, is_watched=bool(collection.unfinished))


def _draw(app: App, id: str, *, is_watched: bool) -> None:
    access = document_access.access()
    try:
        collection, documents = app.documents.open_collection(id, access), app.documents.list_documents(id, access)
    except AppError as error:
        draw_warning(str(error))
        return
    if is_watched and not collection.unfinished:
        st.rerun()
    st.caption(" · ".join(facts_of(collection)))
    if is_watched:
        done = collection.documents - collection.unfinished
        st.progress(done / max(collection.documents, 1), text=f"已经读完 {done:,} / {collection.documents:,} 个文件")
    shown = _choose(documents)
    if collection.may_change and st.session_state.get(ONLY) == _UNREADABLE:
        again = partial(_read_again, app, [one.id for one in shown])
        st.button("全部重新读取", key="read-all-again", icon=":material/refresh:", on_click=again)
    shown_key = f"{SHOWN}-{id}"
    count = st.session_state.get(shown_key, ROWS)
    if shown:
        rows = Markup().join(map(_row, shown[:count]))
        draw_html(Markup('<ul class="wy-files-list">%s</ul>') % rows)
    if len(shown) > count:
        st.button(
            f"还有 {len(shown) - count:,} 个文件",
            key="more-documents",
            type="tertiary",
            on_click=_show_more,
            args=(shown_key,),
        )


def _choose(documents: Sequence[Document]) -> Sequence[Document]:
    """Draw the groups to choose from, if files are in several of them, and return the files of the chosen one."""
    groups = {name: [one for one in documents if one.state in states] for name, states in _GROUPS.items()}
    offered = [name for name, members in groups.items() if 0 < len(members) < len(documents)]
    if not offered:
        return documents
    if st.session_state.get(ONLY) not in offered:
        st.session_state[ONLY] = ALL
    chosen = st.pills("只看", [ALL, *offered], key=ONLY, required=True, label_visibility="collapsed")
    return groups.get(str(chosen), documents)


def _show_more(key: str) -> None:
    st.session_state[key] = st.session_state.get(key, ROWS) + ROWS


def _read_again(app: App, ids: Sequence[str]) -> None:
    st.session_state[ONLY] = ALL
    try:
        for id in ids:
            app.documents.reindex_document(id, document_access.access())
    except AppError as error:
        st.toast(escape_label(str(error)), icon=":material/error:")


def _row(document: Document) -> Markup:
    link = addresses.link(addresses.file_query(document.id))
    name = Markup('<a class="wy-go" href="%s">%s</a>') % (link, document.name)
    reason = Markup("<p>%s</p>") % document.reason if document.reason else Markup()
    return Markup("<li>%s%s%s%s</li>") % (name, marks_html(document), facts_html(document), reason)
