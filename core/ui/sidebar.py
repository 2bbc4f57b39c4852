"""The sidebar: what can be switched, each with its state in words."""

from __future__ import annotations

import streamlit as st

from core.app import shared_app
from core.ui import actions, state


def draw(*, on_chat_page: bool) -> None:
    app = shared_app()
    with st.sidebar:
        if on_chat_page:
            st.button("新对话", icon=":material/add:", width="stretch", on_click=actions.clear)
            _search_toggle(available=app.search.available)
        st.caption(f"模型：{app.model.label}")
        if on_chat_page and app.model.choice.embedded:
            st.caption("内置摘录模型只摘录来源中的原句，不会推理。设置 OPENAI_API_KEY 后即可使用真正的语言模型。")


def _search_toggle(*, available: bool) -> None:
    on = st.toggle(
        "联网搜索",
        key=state.SEARCH_TOGGLE,
        persist_state="session",
        disabled=not available,
        help="打开后，每个问题会先用你的原话搜索，再带着来源回答。",
    )
    if not available:
        st.caption("没有可用的搜索引擎，无法联网搜索。请在 SEARCH_PROVIDER_PRIORITY 中加入至少一个引擎。")
    else:
        st.caption("已启用：先搜索，再回答" if on else "已禁用：直接由模型回答")
