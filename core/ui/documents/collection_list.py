"""The reader's collections: what is in each of them, a new one, and a search in all."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from core.app import App
from core.base.errors import AppError
from core.documents import Collection
from core.ui import document_access
from core.ui.documents import addresses, document_search
from core.ui.documents.collection_facts import facts_of
from core.ui.escape import draw_html
from core.ui.frame import draw_warning

NAME, PROBLEM = "new_collection", "collection_problem"
MAX_NAME = 60
PURPOSE = "放进这里的文件会被读成文字，逐页建立索引：不用模型就能查找；提问时在输入框上方选「资料」，回答会写明出自哪个文件、哪一页。"
STEPS = (
    ("create_new_folder", "新建一个资料集", "例如「合同」或「规章制度」，一个资料集放一类文件。"),
    ("upload_file", "把文件拖进来", "PDF、Word、PPT、Excel、邮件、电子书、网页、图片和文字，也可以是整个文件夹。"),
    ("forum", "查找，或者提问", "在这里查找原文；或者回到对话，选上资料集再提问。"),
)
"""What an empty page explains: icon, name and meaning."""


def draw(app: App, words: str) -> None:
    st.header("资料库", anchor=False)
    st.write(PURPOSE)
    document_access.draw_cookie_note()
    collections = app.documents.list_collections(document_access.access())
    if not collections:
        _draw_steps()
        _draw_new(app, is_open=True)
        return
    if document_search.draw(app, collections, words):
        return
    _draw_list(collections)
    if days := app.settings.documents.days:
        st.caption(f"{days:,} 天没有增删文件的资料集会彻底删除，正在分享的除外。")
    _draw_new(app, is_open=False)


def _draw_steps() -> None:
    for column, (icon, name, meaning) in zip(st.columns(3), STEPS, strict=True):
        with column, st.container(border=True, height="stretch"):
            st.markdown(f":material/{icon}: **{name}**")
            st.caption(meaning)


def _draw_list(collections: Sequence[Collection]) -> None:
    draw_html(Markup('<ul class="wy-files-list">%s</ul>') % Markup().join(map(_row, collections)))


def _row(collection: Collection) -> Markup:
    link = addresses.link(addresses.collection_query(collection.id))
    shared = "分享中" if collection.share else collection.origin_label
    name = Markup('<a class="wy-go" href="%s">%s</a>') % (link, collection.name)
    mark = Markup(' <span class="wy-tag gray">%s</span>') % shared if shared else Markup()
    return Markup('<li>%s%s<span class="wy-dim">%s</span></li>') % (name, mark, " · ".join(facts_of(collection)))


def _draw_new(app: App, *, is_open: bool) -> None:
    place = st.container(border=True) if is_open else st.expander("新建资料集", icon=":material/create_new_folder:")
    with place, st.form("new-collection", border=False, clear_on_submit=False):
        st.text_input("资料集的名字", key=NAME, max_chars=MAX_NAME, placeholder="例如：合同")
        st.form_submit_button("新建资料集", type="primary", icon=":material/add:", on_click=_create, args=(app,))
        if problem := st.session_state.pop(PROBLEM, ""):
            draw_warning(problem)


def _create(app: App) -> None:
    name = st.session_state[NAME].strip()
    try:
        made = app.documents.create_collection(name, document_access.access())
    except AppError as error:
        st.session_state[PROBLEM] = str(error)
    else:
        st.session_state[NAME] = ""
        st.query_params.from_dict(addresses.collection_query(made.id))
