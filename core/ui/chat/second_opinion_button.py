"""Button 让模型复核, in the fold 依据核对."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial

import streamlit as st

from core.answer import list_verdicts
from core.answer.check_results import AnswerCheck, Verdict
from core.answer.message import Message
from core.app import App
from core.run import AnswerOptions, TextsByNumber, source_texts
from core.ui.chat import answer_tasks


def draw_button(app: App, entry: Message, check: AnswerCheck) -> None:
    if any(claim.verdict is Verdict.UNCHECKED for claim in list_verdicts(check)) and answer_tasks.is_possible(
        app, entry
    ):
        st.button(
            "让模型复核",
            key=f"review-{entry.id}",
            icon=":material/rate_review:",
            on_click=_start_review,
            args=(app, entry, check),
            help="把「未核」的引用交给模型判断，多一次模型调用；只采纳它能在来源中引出原话的判断。",
        )


def _start_review(app: App, entry: Message, check: AnswerCheck) -> None:
    def start(texts: TextsByNumber, options: AnswerOptions) -> Future[AnswerCheck]:
        return app.chat.start_second_opinion(check, source_texts(entry.sources, texts), options)

    answer_tasks.start_task(
        app, entry, start, partial(_apply_review, app), status_text="模型正在复核…", failure_prefix="没有复核成："
    )


def _apply_review(app: App, entry: Message, check: AnswerCheck) -> None:
    asked = check.opinion
    if asked is not None:
        entry = entry.with_added_usage(asked.input, asked.output, estimated=asked.estimated)
    answer_tasks.save_answer(app, entry.with_check(check))
