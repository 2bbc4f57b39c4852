"""Second opinion of a model on an answer: by itself, or by the button 让模型复核 in the fold 依据核验."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial

import streamlit as st

from core.answer import list_verdicts
from core.answer.check_results import AnswerCheck, Verdict
from core.answer.check_texts import source_texts
from core.answer.events import Checked
from core.answer.message import Message
from core.app import App
from core.run import AnswerOptions, TextsByNumber
from core.ui import session
from core.ui.chat import answer_tasks

REVIEWING = "模型正在复核引用…"
HELP = "把引用交给模型判断，多一次模型调用。它引出的原话在来源里，并且与回答没有出入，才改变标记；否则只显示它的意见。"


def draw_button(app: App, entry: Message, check: AnswerCheck) -> None:
    undecided = any(claim.verdict is Verdict.UNCHECKED and not claim.by_model for claim in list_verdicts(check))
    if undecided and answer_tasks.is_possible(app, entry):
        review = partial(_start_review, app, entry, check)
        st.button("让模型复核", key=f"review-{entry.id}", icon=":material/rate_review:", on_click=review, help=HELP)


def _start_review(app: App, entry: Message, check: AnswerCheck) -> None:
    def start(texts: TextsByNumber, options: AnswerOptions) -> Future[AnswerCheck]:
        return app.chat.start_second_opinion(check, source_texts(entry.sources, texts), options)

    apply = partial(_apply_review, app)
    answer_tasks.start_task(app, entry, start, apply, status=REVIEWING, failure="没有复核成：")


def _apply_review(app: App, entry: Message, check: AnswerCheck) -> None:
    answer_tasks.save_answer(app, entry.with_check(check))


def follow_automatic_review(app: App, entry: Message) -> None:
    """Follow the review that began after this answer, if any. What it brings is shown as soon as it is there."""
    review = session.chat().reviews.pop(entry.id, None)
    if review is None or (review.done() and review.result() is None):
        return
    apply = partial(_apply_automatic_review, app)
    session.chat().tasks[entry.id] = session.AnswerTask(review, REVIEWING, "", apply)


def _apply_automatic_review(app: App, entry: Message, later: Checked | None) -> None:
    if later is not None:
        answer_tasks.save_answer(
            app, entry.with_check(later.check), unfold=bool(st.session_state.get(answer_tasks.fold_key(entry)))
        )
