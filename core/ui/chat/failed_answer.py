"""Failed answer: what went wrong with an answer or its search, and the next steps, in place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.answer.events import BROKEN_OFF_KINDS, RunFailed, RunStopped
from core.answer.message import Message
from core.app import App
from core.llm.errors import ModelAuthError, ModelError, ModelQuotaExceeded, TooManyCalls
from core.ui import permission
from core.ui.chat import actions, settings_panel
from core.ui.chat.step_lines import has_search_failed
from core.ui.escape import escape_label
from core.ui.settings import connect, model_settings, own_key

_ANOTHER_MODEL_HELPS = {error.kind for error in ModelError.__subclasses__()} - {TooManyCalls.kind}
_ANOTHER_KEY_HELPS = {ModelAuthError.kind, ModelQuotaExceeded.kind}
OTHER_MODELS = "other_models"


def draw(app: App, entry: Message, *, is_last: bool) -> None:
    """Draw how the answer ended too early, if it did. Below the last answer stand the next steps too."""
    _draw_sentences(entry)
    if not is_last:
        return
    with st.container(key=f"next-{entry.id}", horizontal=True, vertical_alignment="center", gap="small"):
        _draw_continue_button(app, entry)
        _draw_model_choice(app, entry)
        if offers_again(entry):
            _draw_button("重新回答", f"answer-again-{entry.id}", "replay", partial(actions.answer_again, app))
        _draw_search_steps(app, entry)
    if _failure_kinds(entry) & _ANOTHER_KEY_HELPS:
        _draw_key_form(app, entry)


def offers_again(entry: Message) -> bool:
    """Return whether 重新回答 is among the next steps, so that it stands nowhere else."""
    return isinstance(entry.ending, RunFailed) or _is_broken_off(entry)


def _failure_kinds(entry: Message) -> set[str]:
    """Return the kinds of what went wrong. Of an agent that failed after its searches, a notice tells it."""
    failed = {entry.ending.kind} if isinstance(entry.ending, RunFailed) else set()
    return failed | {notice.kind for notice in entry.notices}


def _is_broken_off(entry: Message) -> bool:
    return any(notice.kind in BROKEN_OFF_KINDS for notice in entry.notices)


def _may_be_continued(entry: Message) -> bool:
    """Return whether there is a text whose end is missing."""
    ending = entry.ending
    stopped = isinstance(ending, RunStopped) and ending.reason in ("user", "time")
    return bool(entry.text.strip()) and (stopped or offers_again(entry))


def _draw_sentences(entry: Message) -> None:
    for notice in entry.notices:
        if notice.kind in BROKEN_OFF_KINDS:
            st.warning(escape_label(notice.text), icon=":material/content_cut:")
    if isinstance(entry.ending, RunFailed):
        st.error(escape_label(entry.ending.message), icon=":material/error:")
    elif entry.stop_note:
        st.caption(entry.stop_note)


def _draw_continue_button(app: App, entry: Message) -> None:
    if _may_be_continued(entry):
        _draw_button("继续", f"go-on-{entry.id}", "more_horiz", partial(actions.continue_answer, app, entry))


def _draw_button(label: str, key: str, icon: str, on_click: Callable[[], None]) -> None:
    st.button(label, key=key, icon=f":material/{icon}:", on_click=on_click)


def _draw_model_choice(app: App, entry: Message) -> None:
    """Draw the models that could answer instead: one as a button, several as a list."""
    others = settings_panel.other_models(app) if _failure_kinds(entry) & _ANOTHER_MODEL_HELPS else []
    key = f"{OTHER_MODELS}-{entry.id}"
    if len(others) == 1:
        _draw_button(f"换 {escape_label(others[0])} 再答", key, "swap_horiz", partial(_answer_with, app, others[0]))
    elif others:
        st.menu_button(
            "换一个模型再答",
            others,
            key=key,
            icon=":material/swap_horiz:",
            format_func=escape_label,
            on_click=lambda: _answer_with(app, st.session_state[key]),
        )


def _answer_with(app: App, model: str) -> None:
    """Answer again with another model, which is the chosen one from now on."""
    st.session_state.pop(own_key.MODEL, None)
    settings_panel.choose_model(app, model)
    actions.answer_again(app)


def _draw_search_steps(app: App, entry: Message) -> None:
    if any(has_search_failed(search.response) for search in entry.searches):
        search = partial(actions.answer_again, app, fresh=True)
        _draw_button("重新搜索", f"search-again-{entry.id}", "refresh", search)
        if "settings" in app.settings.public.pages:
            st.page_link("pages/settings.py", label="打开诊断", icon=":material/stethoscope:")


def _draw_key_form(app: App, entry: Message) -> None:
    """Draw the form for another key, for who may enter one here. Afterwards the question is answered again."""
    if permission.may_edit(app) or app.settings.panel.own_key:
        connect.show_saved_message()
        with st.container(border=True, key=f"key-form-{entry.id}"):
            st.markdown("**换一个密钥**")
            model_settings.draw_key_form(app, then=partial(actions.answer_again, app))
