"""Views of the page 法规与案例, and how to open one from any page."""

from __future__ import annotations

import streamlit as st

VIEW = "legal_view"
SAMPLE = "draft_sample"
"""Session key: true while the sample draft is shown where the reader has none."""
LAWS, CASES, DRAFT, CLAIMS, IMPORT = "查法规", "查案例", "核验文稿", "依据核验", "导入"
VIEWS = (LAWS, CASES, DRAFT, CLAIMS, IMPORT)


def choose_view() -> str:
    st.session_state.setdefault(VIEW, LAWS)
    view = st.segmented_control(
        "要做什么",
        VIEWS,
        required=True,
        key=VIEW,
        persist_state="session",
        label_visibility="collapsed",
        width="stretch",
        on_change=st.query_params.clear,
    )
    return str(view)


def open_view(view: str) -> None:
    """Show a part of the page in the next run. A callback."""
    st.session_state[VIEW] = view
    st.query_params.clear()
