"""Revision after a check (按核对结果改写), in the fold 依据核对: shown as a difference, adopted by the reader, old
answer kept."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.answer import revision_diff_html, tally
from core.answer.check_results import AnswerCheck
from core.answer.message import Message
from core.app import App
from core.base.text import clean
from core.run import Revision, has_problems
from core.ui import conversation_sync, session
from core.ui.chat import answer_tasks
from core.ui.chat.answer import draw_answer
from core.ui.escape import draw_html, escape_label


def draw_button(app: App, entry: Message, check: AnswerCheck) -> None:
    if _is_last(entry) and has_problems(check) and answer_tasks.is_possible(app, entry):
        st.button(
            "按核对结果改写",
            key=f"mend-{entry.id}",
            icon=":material/edit_note:",
            on_click=_start_revision,
            args=(app, entry, check),
            help="模型保留有依据的内容，改正或删去不符、未见和无出处的；先看改动，再决定用不用。",
        )


def _is_last(entry: Message) -> bool:
    chat = session.chat()
    return chat.run is None and bool(chat.messages) and chat.messages[-1].id == entry.id


def _start_revision(app: App, entry: Message, check: AnswerCheck) -> None:
    start = partial(app.chat.start_revision, entry, check)
    answer_tasks.start_task(
        app, entry, start, partial(_propose, app), status_text="模型正在改写…", failure_prefix="没有改写成："
    )


def _propose(app: App, entry: Message, mended: Revision) -> None:
    """Keep a proposal for the reader to decide on. Its tokens count whether it is adopted or not."""
    usage = mended.usage
    answer_tasks.save_answer(app, entry.with_added_usage(usage.input, usage.output, estimated=usage.estimated))
    session.chat().proposal = (entry.id, mended)


def draw(app: App, entry: Message) -> None:
    """Draw the proposal for an answer, and the text before it was rewritten."""
    proposal = session.chat().proposal
    if proposal is not None and proposal[0] == entry.id:
        _draw_dialog(app, entry, proposal[1])
    if entry.before:
        with st.expander("改写前的回答", icon=":material/history:", key=f"before-{entry.id}"):
            draw_answer(entry.before, entry.sources, anchor=f"{entry.id}-before")
            if not session.chat().read_only:
                st.button(
                    "恢复", key=f"restore-{entry.id}", icon=":material/undo:", on_click=_restore, args=(app, entry)
                )


def _discard_proposal() -> None:
    session.chat().proposal = None


@st.dialog("按核对结果改写", width="medium", icon=":material/edit_note:", on_dismiss=_discard_proposal)
def _draw_dialog(app: App, entry: Message, mended: Revision) -> None:
    if mended.check is not None and (counted := tally(mended.check)):
        st.caption(escape_label(f"改写后：{counted}"))
    draw_html(revision_diff_html(clean(entry.text), mended.text))
    with st.container(horizontal=True):
        adopted = st.button("采用", key=f"adopt-{entry.id}", type="primary", icon=":material/check:")
        declined = st.button("不用", key=f"decline-{entry.id}", icon=":material/close:")
    if adopted:
        answer_tasks.save_answer(
            app, entry.with_text(mended.text, before=entry.before or entry.text).with_check(mended.check)
        )
    if adopted or declined:
        _discard_proposal()
        st.rerun()


def _restore(app: App, entry: Message) -> None:
    old = entry.with_text(entry.before, before="")
    answer_tasks.save_answer(
        app, old.with_check(app.checks.check_for(old, conversation_sync.read_pages_loader(app, old)))
    )
