"""Form for the key or the address that an engine needs (设置 → 引擎)."""

from __future__ import annotations

import streamlit as st
from pydantic import SecretStr

from core.app import App
from core.base.settings import format_value, variable_name
from core.search import engine_class, engine_label
from core.ui.escape import escape_label
from core.ui.settings import connect


def draw(app: App, name: str) -> None:
    """Draw the form of an engine, if it needs a key or an address. Only for visitors who may edit."""
    engine = engine_class(name)
    if engine is None or engine.section is None:
        return
    section = engine.section
    for key in section.editable():
        value = getattr(app.settings.section(section), key)
        is_key = key == "api_key"
        with st.popover("密钥" if is_key else "地址", key=f"engine-{name}-popover"):
            if locked := app.loaded_settings.locking_variables(section.name):
                connect.draw_locked(locked)
            else:
                purpose = section.model_fields[key].description or ""
                _draw_field(app, name, variable_name(section.name, key), value, purpose=purpose, is_key=is_key)


def _draw_field(app: App, name: str, setting: str, value: object, *, purpose: str, is_key: bool) -> None:
    saved = app.loaded_settings.origins[setting] == "page"
    # In a form, because leaving the text box would otherwise rerun the page and close the popover.
    with st.form(f"engine-{name}", border=False):
        typed = st.text_input(
            purpose,
            "" if is_key or not value or "@" in format_value(value) else format_value(value),
            type="password" if is_key else "default",
            key=f"engine-{name}-{st.session_state.get(connect.ROUND, 0)}",
            placeholder="已有密钥，填写新的来替换" if isinstance(value, SecretStr) else "粘贴到这里",
            max_chars=2000,
        ).strip()
        with st.container(horizontal=True):
            keep = st.form_submit_button("保存", type="primary")
            clear = saved and st.form_submit_button("清除")
    if clear:
        connect.save(app, {setting: ""}, f"{engine_label(name)}：已清除。")
    if keep and typed:
        changes = {setting: typed}
        if connect.checked_settings(app, changes):
            connect.save(app, changes, f"{engine_label(name)}：已保存，现在可以测试。")
    if saved:
        st.caption(f"在页面上保存，优先于 settings.yaml 里的 {escape_label(setting)}。")
