"""Revision after a check (按核验结果改写), in the fold 依据核验: shown as a difference, adopted by the reader, old
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

HELP = "模型保留有依据的内容，改正或删去不符、未见和无出处的；先看改动，再决定用不用。"


def draw_button(app: App, entry: Message, check: AnswerCheck) -> None:
    if _is_last(entry) and has_problems(check) and answer_tasks.is_possible(app, entry):
        revise = partial(_start_revision, app, entry, check)
        st.button("按核验结果改写", key=f"mend-{entry.id}", icon=":material/edit_note:", on_click=revise, help=HELP)


def _is_last(entry: Message) -> bool:
    chat = session.chat()
    return chat.run is None and bool(chat.messages) and chat.messages[-1].id == entry.id


def _start_revision(app: App, entry: Message, check: AnswerCheck) -> None:
    start, propose = partial(app.chat.start_revision, entry, check), partial(_propose, app)
    answer_tasks.start_task(app, entry, start, propose, status="模型正在改写…", failure="没有改写成：")


def _propose(app: App, entry: Message, revision: Revision) -> None:
    """Keep a proposal for the reader to decide on. Its tokens count whether it is adopted or not."""
    usage = revision.usage
    answer_tasks.save_answer(app, entry.with_added_usage(usage.input, usage.output, estimated=usage.estimated))
    session.chat().proposal = (entry.id, revision)


def draw(app: App, entry: Message) -> None:
    """Draw the proposal for an answer, after another dialog is closed, and the text before it was rewritten."""
    chat = session.chat()
    if (proposal := chat.proposal) is not None and proposal[0] == entry.id and not chat.changing_id:
        _draw_dialog(app, entry, proposal[1])
    if entry.before:
        with st.expander("改写前的回答", icon=":material/history:", key=f"before-{entry.id}"):
            draw_answer(entry.before, entry.sources, anchor=f"{entry.id}-before")
            if not chat.read_only:
                restore = partial(_restore, app, entry)
                st.button("恢复", key=f"restore-{entry.id}", icon=":material/undo:", on_click=restore)


def _discard_proposal() -> None:
    session.chat().proposal = None


@st.dialog("按核验结果改写", width="medium", icon=":material/edit_note:", on_dismiss=_discard_proposal)
def _draw_dialog(app: App, entry: Message, revision: Revision) -> None:
    if revision.check is not None and (counted := tally(revision.check)):
        st.caption(escape_label(f"改写后：{counted}"))
    draw_html(revision_diff_html(clean(entry.text), revision.text))
    with st.container(horizontal=True):
        adopted = st.button("采用", key=f"adopt-{entry.id}", type="primary", icon=":material/check:")
        declined = st.button("不用", key=f"decline-{entry.id}", icon=":material/close:")
    if adopted:
        revised = entry.with_revision(revision.text, revision.invented)
        answer_tasks.save_answer(app, revised.with_check(revision.check))
    if adopted or declined:
        _discard_proposal()
        st.rerun()


def _restore(app: App, entry: Message) -> None:
    old = entry.without_revision()
    check = app.checks.check_for(old, conversation_sync.read_pages_loader(app, old))
    answer_tasks.save_answer(app, old.with_check(check))
