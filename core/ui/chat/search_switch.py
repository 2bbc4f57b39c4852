"""The switch 联网: its first value, and changes to it."""

from __future__ import annotations

import streamlit as st

from core.app import App
from core.ui import session, visitor_preferences

DECIDED = "search_decided"
"""Session key that is true if the reader has used the switch or declined the offer, now or in an earlier session."""

SEARCH_ON = "联网搜索已打开：之后的问题会先搜索，再带着来源回答。"
SEARCH_OFF = "联网搜索已关闭：之后的问题由模型直接回答。"


def restore(app: App, stored_choice: object) -> None:
    """Set the switch from the stored choice. A value that is not a boolean counts as no choice."""
    st.session_state[DECIDED] = isinstance(stored_choice, bool)
    if app.search.has_engines and (stored_choice if isinstance(stored_choice, bool) else _is_on_by_default(app)):
        st.session_state[session.SEARCH_TOGGLE] = True


def _is_on_by_default(app: App) -> bool:
    default = app.settings.chat.search_default
    return default == "on" or (needs_ready_web(app) and app.search.is_web_ready)


def needs_ready_web(app: App) -> bool:
    """Return whether the search is on by default only while an engine can be asked."""
    return app.settings.chat.search_default == "auto"


def set_search(on: bool) -> None:
    st.session_state[session.SEARCH_TOGGLE] = on
    on_switch()


def on_switch() -> None:
    st.session_state[DECIDED] = True
    visitor_preferences.save({"search": session.is_search_enabled()})


def is_undecided() -> bool:
    return not st.session_state.get(DECIDED)
