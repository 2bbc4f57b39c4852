"""Model settings (设置 → 模型) and their dialog on the chat page: for everybody here, or with an own key for one
session."""

from __future__ import annotations

import streamlit as st

from core.app import App
from core.llm.services import LOCAL_SERVICES
from core.ui import permission
from core.ui.settings import connect, own_key


def draw(app: App) -> None:
    """Draw the part 模型 of the page."""
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
    """Draw an offer to connect a model below an answer without sources."""
    connect.told()
    if own_key.model():
        return
    st.caption(connect.EMBEDDED)
    words = way_to_connect(app)
    if words and st.button(words, icon=":material/power:", type="primary"):
        dialog(app)


def way_to_connect(app: App) -> str:
    """Return the label of the button that opens the form. Empty if the reader may not or need not connect a model."""
    may_edit = permission.may_edit(app.settings)
    if own_key.model() or not app.model.choice.embedded or not (may_edit or app.settings.panel.own_key):
        return ""
    here = LOCAL_SERVICES.found() if may_edit else ()
    return f"连接本机的 {here[0].service.label}" if here else "连接模型"


@st.dialog("连接模型", width="medium")
def dialog(app: App) -> None:
    if permission.may_edit(app.settings):  # checked in every run, because a dialog may stay open for long
        connect.form(app)
    elif app.settings.panel.own_key:
        own_key.form(app)
