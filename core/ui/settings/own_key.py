"""Own key of a reader, if the administrator allows it: kept in memory for one session only."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.app import App
from core.base.settings import OpenaiSettings, Settings
from core.llm import SERVICES, Model
from core.ui.escape import escape_label
from core.ui.frame import draw_warning
from core.ui.settings import connect

SERVICE = "own_service"
MODEL = "own_model"
HOSTED_SERVICES = tuple(entry for entry in SERVICES if not entry.is_self_hosted)
"""Services with a fixed address. A reader's own address could be one of this network."""


def session_model() -> Model | None:
    """Return the reader's own model, which answers in this session instead of the installation's."""
    own: Model | None = st.session_state.get(MODEL)
    return own


def draw_form(app: App, *, then: Callable[[], None] | None = None) -> None:
    """Draw the form for an own key, with a test and a button to use it. `then` is called after that."""
    st.caption("你的密钥只留在这次会话的内存里，不会保存，关闭页面后失效；费用由你自己的帐户支付。")
    if own := session_model():
        st.write(f"这次会话由 **{escape_label(own.label)}** 回答，用的是你自己的密钥。")
        st.button("不再使用", icon=":material/power_off:", on_click=st.session_state.pop, args=(MODEL,))
    chosen = connect.pick_service(HOSTED_SERVICES, key=SERVICE)
    key = connect.key_field(chosen)
    if len(key) < connect.MIN_KEY_LENGTH:
        return
    try:
        openai = OpenaiSettings.model_validate({"base_url": chosen.base_url, "api_key": key})
    except ValueError:
        draw_warning("密钥中有空格、换行或非英文字符。")
        return
    name = connect.pick_model(connect.ModelConnection(chosen, chosen.base_url, key))
    if not name:
        return
    settings = _with_model(app.settings, openai, name)
    with st.container(horizontal=True):
        test = st.button("测试", icon=":material/network_check:")
        use = st.button("使用并重新回答" if then else "在这次会话中使用", type="primary", icon=":material/power:")
    connect.draw_test(app, settings, is_requested=test)
    if use:
        st.session_state[MODEL] = Model(settings, limit=app.model_limit)
        words = f"从{'现在' if then else '下一个问题'}起由 {name} 回答，只在这次会话中。"
        connect.reset_form(words, then=then)


def _with_model(settings: Settings, openai: OpenaiSettings, name: str) -> Settings:
    llm = settings.llm.model_copy(update={"model": f"openai:{name}"})
    return settings.model_copy(update={"openai": openai, "llm": llm})
