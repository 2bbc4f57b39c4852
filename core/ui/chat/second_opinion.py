"""让模型复核, in the fold 依据核对: asked for by a click, waited for off the page's thread, kept with the answer."""

from __future__ import annotations

import logging
from concurrent.futures import Future

import streamlit as st
from markupsafe import Markup

from core.answer.checked import AnswerCheck, Verdict
from core.answer.claims import claims
from core.answer.message import Message
from core.app import App, shared_app
from core.base.errors import AppError
from core.run.admission import TooManyQuestions
from core.run.checking import source_texts
from core.run.judging import with_cost
from core.run.question import AnswerOptions
from core.ui import keeping, session
from core.ui.chat import panel
from core.ui.escape import draw_html, label
from core.ui.settings import own_key

log = logging.getLogger(__name__)

LOOK_EVERY = 0.5
TOO_MANY = "提问次数已达到每分钟的上限，请过一会儿再试。"
BUG = "没有复核成：程序出错，细节已写入日志。"


def options() -> AnswerOptions:
    """Whose limits count, and which model is asked: the one that would answer now."""
    return AnswerOptions(user=keeping.identity(), choices=panel.chosen(), own_model=own_key.model())


def offer(entry: Message, check: AnswerCheck) -> None:
    if remark := session.chat().remarks.get(entry.id):
        st.warning(label(remark), icon=":material/error:")
    if entry.id not in session.chat().reviews and _can_be_asked(check):
        st.button(
            "让模型复核",
            key=f"review-{entry.id}",
            icon=":material/rate_review:",
            on_click=_begin,
            args=(entry, check),
            help="把「未核」的引用交给模型判断，多一次模型调用；只采纳它能在来源中引出原话的判断。",
        )


def _can_be_asked(check: AnswerCheck) -> bool:
    app = shared_app()
    is_open = any(claim.verdict is Verdict.UNCHECKED for claim in claims(check))
    return is_open and app.settings.checks.judge != "off" and not app.chat.model_for(options()).choice.embedded


def _begin(entry: Message, check: AnswerCheck) -> None:
    app, chat = shared_app(), session.chat()
    chat.remarks.pop(entry.id, None)
    try:
        app.outbox.flush(keeping.COMMAND_SECONDS)  # what was read for the answer may be on its way to the database
        sources = source_texts(entry.found, keeping.read_pages(app, entry))
        chat.reviews[entry.id] = app.chat.review(check, sources, options())
    except TooManyQuestions:
        chat.remarks[entry.id] = TOO_MANY
    except AppError as error:
        chat.remarks[entry.id] = str(error)


def wait(entry: Message) -> None:
    """While it is under way the page looks again by itself."""
    if entry.id in session.chat().reviews:
        _look(entry.id)


@st.fragment(run_every=LOOK_EVERY)
def _look(id: str) -> None:
    review = session.chat().reviews.get(id)
    if review is not None and not review.done():
        draw_html(Markup('<div class="wy-waiting" style="--since:0s">模型正在复核…</div>'))
        return
    if review is not None:
        _take(shared_app(), id, review)
    st.rerun()


def _take(app: App, id: str, review: Future[AnswerCheck]) -> None:
    chat = session.chat()
    del chat.reviews[id]
    entry = next((message for message in chat.messages if message.id == id), None)
    if entry is None:
        return
    try:
        check = review.result(0)
    except AppError as error:
        chat.remarks[id] = f"没有复核成：{error}"
    except Exception:
        log.exception("a second opinion met a bug")
        chat.remarks[id] = BUG
    else:
        entry = entry.rechecked(check, cost=with_cost(entry.usage, check))
        chat.put(entry)
        chat.unfold = id
        keeping.keep(app, entry)
