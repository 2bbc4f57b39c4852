"""设置 → 模型, and the offer on the first screen: for everybody here, or with a key of one's own for one session."""

from __future__ import annotations

import streamlit as st

from core.app import App, shared_app
from core.llm.services import LOCAL_SERVICES
from core.ui import permission
from core.ui.settings import connect, own_key


def draw(app: App) -> None:
    """The part 模型 of the page."""
    connect.told()
    connect.in_use(app)
    if permission.may_edit(app.settings):
        connect.disconnect(app)
        connect.form(app)
    elif app.settings.panel.own_key:
        own_key.form(app)
    else:
        connect.refused(app)


def offer(app: App) -> None:
    """On the first screen and below an answer without sources, while no model is connected."""
    connect.told()
    if own_key.model():
        return
    st.caption(connect.EMBEDDED)
    may_edit = permission.may_edit(app.settings)
    here = LOCAL_SERVICES.found() if may_edit else ()
    words = f"连接本机的 {here[0].service.label}" if here else "连接自己的模型"
    if (may_edit or app.settings.panel.own_key) and st.button(words, icon=":material/power:", type="primary"):
        _dialog()


@st.dialog("连接模型", width="medium")
def _dialog() -> None:
    app = shared_app()
    if permission.may_edit(app.settings):  # asked again at every run: a dialog may stay open for long
        connect.form(app)
    elif app.settings.panel.own_key:
        own_key.form(app)
