"""Settings panel in the sidebar: two folded groups, each with its number of changes and a reset button.

Widgets keep the picked values. The database keeps them for the visitor's next session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

import streamlit as st

from core.app import App
from core.base.settings import PanelControl
from core.run import NO_CHOICES, Choices, Control, ControlGroup, control_groups, read_choices, restore_picked
from core.ui import visitor_preferences
from core.ui.escape import escape_label
from core.ui.settings import own_key

MODEL_MENU = "model_menu"
MODEL_CONTROL = "model"
"""Name of the control that stands at the input instead of in the sidebar."""

_ICONS = {"搜索设置": ":material/travel_explore:", "模型与 Agent": ":material/tune:"}


def current_choices(app: App) -> Choices:
    """Return the choices for the next question of this session."""
    picked = _picked_values()
    return read_choices(control_groups(app.settings, picked), picked) if picked else NO_CHOICES


def restore(app: App, stored_choices: Mapping[str, Any]) -> None:
    """Set the widgets to stored preferences. Call it before they are drawn."""
    for name, words in restore_picked(control_groups(app.settings, _picked_values()), stored_choices).items():
        st.session_state[_key(name)] = words


def draw(app: App) -> None:
    picked = _picked_values()
    for group in control_groups(app.settings, picked):
        here = ControlGroup(group.title, tuple(control for control in group.controls if control.name != MODEL_CONTROL))
        if here.controls:
            _draw_group(here, changes=sum(control.is_changed(picked.get(control.name)) for control in here.controls))


def draw_model_menu(app: App) -> None:
    """Draw the model menu at the input, if there is more than one model."""
    if model := _model_control(app):
        st.menu_button(
            escape_label(st.session_state.get(_key(model.name), model.default)),
            list(model.options),
            key=MODEL_MENU,
            format_func=escape_label,
            type="tertiary",
            on_click=_pick_model,
            args=(model,),
        )


def _model_control(app: App) -> Control | None:
    """Return the choice of a model; None if there is only one."""
    shown = control_groups(app.settings, _picked_values())
    return next((control for group in shown for control in group.controls if control.name == MODEL_CONTROL), None)


def other_models(app: App) -> list[str]:
    """Return the models that could answer instead of the one that would."""
    control = _model_control(app)
    names = list(control.options) if control else [app.model.label]
    chosen = st.session_state.get(_key(MODEL_CONTROL), names[0] if control is None else control.default)
    current = "" if own_key.session_model() else chosen
    return [] if control is None and app.model.choice.is_embedded else [name for name in names if name != current]


def choose_model(app: App, name: str) -> None:
    """Choose the model that answers from now on, as the menu at the input does."""
    if control := _model_control(app):
        _choose_model(control, name)


def _pick_model(control: Control) -> None:
    _choose_model(control, st.session_state[MODEL_MENU])


def _choose_model(control: Control, name: str) -> None:
    st.session_state[_key(control.name)] = name
    _save_choice(control)


def _key(name: str) -> str:
    return f"panel_{name}"


def _picked_values() -> dict[str, str]:
    values = {name: st.session_state.get(_key(name)) for name in get_args(PanelControl)}
    return {name: value for name, value in values.items() if value is not None}


def _draw_group(group: ControlGroup, *, changes: int) -> None:
    title = f"{group.title} · 已修改 {changes} 项" if changes else group.title
    # Its controls would cost every rerun more than the rest of the sidebar, and most readers never open it.
    fold = st.expander(title, icon=_ICONS[group.title], key=_key(group.title), on_change="rerun")
    if not fold.open:
        return
    with fold:
        for control in group.controls:
            _draw_control(control, group)
        st.button(
            "恢复默认",
            key=f"reset-{group.title}",
            icon=":material/restart_alt:",
            disabled=not changes,
            on_click=_reset,
            args=(group,),
            width="stretch",
        )


def _draw_control(control: Control, group: ControlGroup) -> None:
    if control.blocked_reason:
        st.caption(f"{control.title}：{control.blocked_reason}")
        return
    key = _key(control.name)
    st.session_state.setdefault(key, control.default)
    widget: Callable[..., Any] = st.selectbox
    if control.is_scale:
        widget = st.select_slider
    widget(
        f"{control.title} :gray[默认 {escape_label(control.default)}]",
        list(control.options),
        key=key,
        help=control.help,
        persist_state="session",
        on_change=_on_change,
        args=(control, group),
    )


def _keep_open(group: ControlGroup) -> None:
    """Keep a group open. With another number in its title Streamlit takes it for a new expander."""
    st.session_state[_key(group.title)] = True


def _on_change(control: Control, group: ControlGroup) -> None:
    _keep_open(group)
    _save_choice(control)


def _save_choice(control: Control) -> None:
    visitor_preferences.save({control.name: control.value_to_remember(st.session_state[_key(control.name)])})


def _reset(group: ControlGroup) -> None:
    _keep_open(group)
    for control in group.controls:
        st.session_state[_key(control.name)] = control.default
    visitor_preferences.save({control.name: None for control in group.controls})
