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

HELP = "把「未核」的引用交给模型判断，多一次模型调用。它引出的原话与回答逐词相符，才改变标记；否则只显示它的意见。"


def draw_button(app: App, entry: Message, check: AnswerCheck) -> None:
    undecided = any(claim.verdict is Verdict.UNCHECKED and not claim.by_model for claim in list_verdicts(check))
    if undecided and answer_tasks.is_possible(app, entry):
        review = partial(_start_review, app, entry, check)
        st.button("让模型复核", key=f"review-{entry.id}", icon=":material/rate_review:", on_click=review, help=HELP)


def _start_review(app: App, entry: Message, check: AnswerCheck) -> None:
    def start(texts: TextsByNumber, options: AnswerOptions) -> Future[AnswerCheck]:
        return app.chat.start_second_opinion(check, source_texts(entry.sources, texts), options)

    apply = partial(_apply_review, app)
    answer_tasks.start_task(app, entry, start, apply, status="模型正在复核…", failure="没有复核成：")


def _apply_review(app: App, entry: Message, check: AnswerCheck) -> None:
    if (opinion := check.opinion) is not None:
        entry = entry.with_added_usage(opinion.input, opinion.output, estimated=opinion.estimated)
    answer_tasks.save_answer(app, entry.with_check(check))
