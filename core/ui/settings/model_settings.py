"""Model settings (设置 → 模型) and their dialog on the chat page: for everybody here, or with an own key for one
session."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.app import App
from core.llm import LOCAL_SERVICES
from core.ui import permission
from core.ui.settings import connect, own_key


def draw(app: App) -> None:
    """Draw the part 模型 of the page."""
    connect.show_saved_message()
    connect.draw_current_model(app)
    if permission.may_edit(app):
        connect.draw_disconnect(app)
        connect.draw_form(app)
    elif app.settings.panel.own_key:
        own_key.draw_form(app)
    else:
        connect.draw_refusal(app)


def draw_offer(app: App) -> None:
    """Draw an offer to connect a model below an answer without sources."""
    connect.show_saved_message()
    if own_key.session_model():
        return
    st.caption(connect.EMBEDDED_NOTE)
    label = connect_label(app)
    if label and st.button(label, icon=":material/power:", type="primary"):
        draw_dialog(app)


def connect_label(app: App) -> str:
    """Return the label of the button that opens the form. Empty if the reader may not or need not connect a model."""
    may_edit = permission.may_edit(app)
    if own_key.session_model() or not app.model.choice.is_embedded or not (may_edit or app.settings.panel.own_key):
        return ""
    here = LOCAL_SERVICES.find() if may_edit else ()
    return f"连接本机的 {here[0].service.label}" if here else "连接模型"


@st.dialog("连接模型", width="medium")
def draw_dialog(app: App) -> None:
    if permission.may_edit(app):  # checked in every run, because a dialog may stay open for long
        connect.draw_form(app)
    elif app.settings.panel.own_key:
        own_key.draw_form(app)


def draw_key_form(app: App, *, then: Callable[[], None]) -> None:
    """Draw the form for another key in the place of one that was refused. `then` is called after it was saved."""
    may_edit, locked = permission.may_edit(app), app.loaded_settings.locking_variables("openai")
    if may_edit and not locked:
        connect.draw_form(app, then=then)
    elif app.settings.panel.own_key:
        own_key.draw_form(app, then=then)
    elif may_edit:
        connect.draw_locked(locked)
