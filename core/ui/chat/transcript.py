"""Transcript of a conversation: draws stored messages, and decides nothing."""

from __future__ import annotations

import logging
from functools import partial

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator

from core.answer import AGREEING_SOURCES, NO_SOURCES_NOTE, agreeing_sources, places_by_source
from core.answer.check_results import AnswerCheck
from core.answer.events import INVENTED_KIND, KINDS_BELOW_TEXT
from core.answer.message import Message
from core.app import App
from core.ui import advice, conversation_sync, session
from core.ui.chat import (
    actions,
    answer_actions,
    answer_tasks,
    citation_check,
    failed_answer,
    search_offer,
    source_panel,
)
from core.ui.chat.answer import draw_answer, draw_references
from core.ui.chat.attachments import file_chips
from core.ui.chat.steps import draw_steps
from core.ui.escape import draw_html, escape_label
from core.ui.settings import model_settings

log = logging.getLogger(__name__)

AVATARS = {"user": ":material/person:", "assistant": ":material/menu_book:"}

READ_ONLY_NOTE = "这个对话只能阅读。在下面提问时，会先复制为你自己的对话，再继续。"


def draw_history(app: App, chat: session.ChatState) -> None:
    """Draw the newest messages, with a button for older ones."""
    answer_tasks.finish_tasks()
    if len(chat.messages) > chat.shown or chat.has_older:
        st.button(
            "显示更早的消息",
            key="older-messages",
            icon=":material/history:",
            on_click=actions.show_older,
            args=(app,),
            type="tertiary",
        )
    can_change = chat.run is None and not chat.read_only
    for entry in chat.messages[-chat.shown :]:
        draw_message(app, entry, is_last=can_change and entry is chat.messages[-1])


def draw_message(app: App, entry: Message, *, is_last: bool) -> None:
    """Draw one message: a note, a question, or an answer with everything around it."""
    if entry.role == "note":
        st.info(entry.text, icon=":material/info:")
        return
    with st.chat_message(entry.role, avatar=AVATARS[entry.role]):
        if entry.role == "user":
            _draw_question(entry)
            draw_unsaved_note(app, entry)
            if is_last and session.chat().pending is None:
                # The server stopped before the answer began.
                st.info("这个问题还没有得到回答：回答开始之前程序中断了。", icon=":material/info:")
                answer_actions.draw_again_button(app, "answer-unanswered")
            return
        _draw_above_answer(app, entry, is_last=is_last)
        for remark in entry.notices:
            if remark.kind not in KINDS_BELOW_TEXT:
                advice.draw_notice(st.container(), remark)
        if entry.is_unsourced:
            st.caption(NO_SOURCES_NOTE)
        check = citation_check.check_of(app, entry)
        draw_answer(entry.text, entry.sources, anchor=entry.id, check=check)
        draw_below_answer(app, entry, check, is_last=is_last)


def _draw_question(entry: Message) -> None:
    """Draw a question. The last one says how many were asked, for the script that goes to it (core/ui/scripts/landing.js)."""
    chat = session.chat()
    asked = Markup(" data-asked=%d") % chat.asked if chat.asked and entry is chat.last_question() else ""
    draw_html(Markup('<div class="wy-question"%s>%s</div>') % (asked, entry.text) + file_chips(entry.files))


def _draw_above_answer(app: App, entry: Message, *, is_last: bool) -> None:
    """Draw the sources and steps above an answer."""
    if not entry.events:
        return
    with st.container(gap="xxsmall"):
        source_panel.draw(app, entry, is_last=is_last)
        draw_steps(entry.events, key=entry.id, seconds=entry.seconds)


def draw_unsaved_note(app: App, entry: Message) -> None:
    if words := conversation_sync.unsaved_note(app, entry):
        st.caption(escape_label(words))


def draw_below_answer(app: App, entry: Message, check: AnswerCheck | None, *, is_last: bool) -> None:
    """Draw everything below the text: its end, citations, cost and actions."""
    draw_unsaved_note(app, entry)
    draw_invented_sources(entry)
    failed_answer.draw(app, entry, is_last=is_last)
    if is_last:
        search_offer.draw_below_answer(app, entry)
        if not entry.cited and app.model.choice.is_embedded:  # the embedded model found nothing to quote
            model_settings.draw_offer(app)
    citation_check.draw(app, entry, check)
    places = places_by_source(check)
    if entry.cited:
        draw_references(entry.cited, anchor=entry.id, places=places)
    if agreeing := agreeing_sources(check, entry.sources, entry.cited):
        draw_references(agreeing, title=AGREEING_SOURCES, places=places)
    answer_actions.draw(app, entry, is_last=is_last)


def draw_invented_sources(entry: Message) -> None:
    """Draw the notice on citations of sources that do not exist. A copy of the answer takes it along."""
    for remark in entry.notices:
        if remark.kind == INVENTED_KIND:
            draw_html(Markup('<div class="wy-remark">%s</div>') % remark.text)


def draw_read_only_note(app: App, chat: session.ChatState) -> None:
    """Draw a note and a copy button below another visitor's conversation, instead of all that would change it."""
    if not chat.read_only:
        return
    st.info(READ_ONLY_NOTE, icon=":material/visibility:")
    with st.container(horizontal=True):
        copy = partial(actions.copy_conversation, app)
        st.button("复制为我的对话", key="own-conversation", icon=":material/content_copy:", on_click=copy)
        answer_actions.draw_export(app, "read-only")


def draw_follow_ups(app: App, place: DeltaGenerator, chat: session.ChatState) -> None:
    """Draw suggested questions. They are stored with the answer, and disappear when a question is sent."""
    last = chat.messages[-1] if chat.messages and chat.run is None else None
    if last is not None and last.suggestions:
        with place.container(key="suggestions", horizontal=True, wrap=False, gap="xsmall"):
            for number, question in enumerate(last.suggestions):
                st.button(escape_label(question), key=f"follow-up-{number}", on_click=actions.ask, args=(app, question))
