"""Button 让模型复核, in the fold 依据核对."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial

import streamlit as st

from core.answer.checked import AnswerCheck, Verdict
from core.answer.claims import claims
from core.answer.message import Message
from core.app import App
from core.run.checking import Texts, source_texts
from core.run.question import AnswerOptions
from core.ui.chat import tasks


def offer(app: App, entry: Message, check: AnswerCheck) -> None:
    if any(claim.verdict is Verdict.UNCHECKED for claim in claims(check)) and tasks.possible(app, entry):
        st.button(
            "让模型复核",
            key=f"review-{entry.id}",
            icon=":material/rate_review:",
            on_click=_begin,
            args=(app, entry, check),
            help="把「未核」的引用交给模型判断，多一次模型调用；只采纳它能在来源中引出原话的判断。",
        )


def _begin(app: App, entry: Message, check: AnswerCheck) -> None:
    def start(texts: Texts, options: AnswerOptions) -> Future[AnswerCheck]:
        return app.chat.review(check, source_texts(entry.found, texts), options)

    tasks.begin(app, entry, start, partial(_take, app), words="模型正在复核…", failed="没有复核成：")


def _take(app: App, entry: Message, check: AnswerCheck) -> None:
    asked = check.opinion
    if asked is not None:
        entry = entry.costing(asked.input, asked.output, estimated=asked.estimated)
    tasks.keep(app, entry.rechecked(check))
