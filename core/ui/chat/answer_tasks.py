"""Tasks of a model on a finished answer: started by a click, polled by the page, with failures shown in one sentence."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import streamlit as st
from markupsafe import Markup

from core.answer.message import Message
from core.app import App
from core.base.errors import AppError
from core.run import AnswerOptions, TextsByNumber, TooManyQuestions
from core.ui import conversation_sync, identity, session
from core.ui.chat import settings_panel
from core.ui.escape import draw_html, escape_label
from core.ui.settings import own_key

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5
TOO_MANY = "提问次数已达到每分钟的上限，请过一会儿再试。"
INTERNAL_ERROR = "程序出错，细节已写入日志。"

T = TypeVar("T")
Start = Callable[[TextsByNumber, AnswerOptions], Future[T]]


def is_possible(app: App, entry: Message) -> bool:
    """Return whether a task may start. One runs at a time, never with the embedded model, which only quotes, and never
    on another visitor's answer."""
    chat = session.chat()
    free = entry.id not in chat.tasks and not chat.read_only
    return free and app.settings.checks.judge != "off" and not app.chat.model_for(_options(app)).choice.is_embedded


def _options(app: App) -> AnswerOptions:
    """Return the options for a task: the visitor whose limits count, and the model that would answer now."""
    return AnswerOptions(
        visitor=identity.rate_limited_visitor(),
        choices=settings_panel.current_choices(app),
        own_model=own_key.session_model(),
    )


def start_task(
    app: App, entry: Message, start: Start[T], on_result: Callable[[Message, T], None], *, status: str, failure: str
) -> None:
    """Start a task on an answer. `status` is shown meanwhile, and `failure` before the reason if it fails."""
    chat = session.chat()
    chat.remarks.pop(entry.id, None)
    try:
        # What was read for the answer may be on its way to the database.
        app.outbox.flush(conversation_sync.FLUSH_SECONDS)
        future = start(conversation_sync.read_pages_loader(app, entry)(), _options(app))
    except TooManyQuestions:
        _set_remark(entry.id, TOO_MANY)
    except AppError as error:
        _set_remark(entry.id, f"{failure}{error}")
    else:
        chat.tasks[entry.id] = session.AnswerTask(future, status, failure, on_result)


def _set_remark(id: str, remark: str) -> None:
    session.chat().remarks[id] = remark
    session.chat().unfolded_id = id


def draw_remark(entry: Message) -> None:
    if words := session.chat().remarks.get(entry.id):
        st.warning(escape_label(words), icon=":material/error:")


def finish_tasks() -> None:
    """Take the results of tasks that are over. Call it before anything is drawn: a page that ran again for them would lose
    the click for which it runs now."""
    for id, task in list(session.chat().tasks.items()):
        if task.future.done():
            _finish(id, task)


def draw_progress(entry: Message) -> None:
    """Draw the running task of an answer. The page polls it by itself."""
    if (task := session.chat().tasks.get(entry.id)) is not None:
        task.was_drawn = False
        _poll(entry.id)


@st.fragment(run_every=POLL_SECONDS)
def _poll(id: str) -> None:
    task = session.chat().tasks.get(id)
    if task is not None and not (task.was_drawn and task.future.done()):
        task.was_drawn = True
        draw_html(Markup('<div class="wy-waiting" style="--since:0s">%s</div>') % task.status_text)
        return
    if task is not None:
        _finish(id, task)
    st.rerun()


def _finish(id: str, task: session.AnswerTask) -> None:
    chat = session.chat()
    del chat.tasks[id]
    entry = next((message for message in chat.messages if message.id == id), None)
    if entry is None:
        return
    try:
        result: Any = task.future.result(0)
    except AppError as error:
        _set_remark(id, f"{task.failure_prefix}{error}")
    except Exception:
        log.exception("something that a model did with an answer met a bug")
        _set_remark(id, f"{task.failure_prefix}{INTERNAL_ERROR}")
    else:
        task.on_result(entry, result)


def fold_key(entry: Message) -> str:
    """Return the key of the fold 依据核验 of an answer."""
    return f"claims-{entry.id}"


def save_answer(app: App, entry: Message, *, unfold: bool = True) -> None:
    """Replace an answer on the page and in the database. `unfold`: its fold 依据核验 is open afterwards."""
    session.chat().replace_message(entry)
    if unfold:
        session.chat().unfolded_id = entry.id
    conversation_sync.save_message(app, entry)
