"""Transcript of a conversation: draws stored messages, and decides nothing."""

from __future__ import annotations

import logging
from functools import partial

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator

from core.answer import AGREEING_SOURCES, NO_SOURCES_NOTE, agreeing_sources
from core.answer.check_results import AnswerCheck
from core.answer.check_texts import source_words
from core.answer.events import CUT_OFF_KIND, Notice, RunFailed, RunStopped
from core.answer.message import Message
from core.app import App
from core.base.text import clean
from core.legal.entities import LAWS
from core.ui import conversation_sync, session
from core.ui.chat import actions, citation_check, export_menu, search_offer, sharing, source_panel, source_texts
from core.ui.chat.answer import draw_answer, draw_references
from core.ui.chat.attachments import file_chips
from core.ui.chat.step_lines import has_search_failed
from core.ui.chat.steps import draw_steps
from core.ui.escape import draw_html, escape_label
from core.ui.settings import model_settings

log = logging.getLogger(__name__)

AVATARS = {"user": ":material/person:", "assistant": ":material/menu_book:"}

USAGE_LABELS = {"thinking": "思考", "tools": "工具", "answer": "回答"}
COPY_BUTTON = Markup('<button type="button" class="wy-copy" title="复制回答（Markdown）">复制</button>')
"""Copy button. A script of the page turns the drawn answer into Markdown when it is clicked."""
NO_LAW_LIBRARY = Markup(
    '<div class="wy-law wy-dim">法条核验：法规库是空的，回答引用的法条没有核验。可以在「'
    '<a href="/legal" target="_blank" rel="noopener">法规与案例</a>」页下载国家法律，只需一次点击。</div>'
)
READ_ONLY_NOTE = "这个对话只能阅读。在下面提问时，会先复制为你自己的对话，再继续。"


def draw_history(app: App, chat: session.ChatState) -> None:
    """Draw the newest messages, with a button for older ones."""
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
                _draw_again_button(app, "answer-unanswered")
            return
        draw_above_answer(app, entry, is_last=is_last)
        for remark in entry.notices:
            if remark.kind != CUT_OFF_KIND:
                draw_notice(st.container(), remark)
        draw_unsourced_note(st.container(), entry)
        check = citation_check.check_of(app, entry)
        draw_answer(entry.text, entry.sources, anchor=entry.id, check=check)
        draw_below_answer(app, entry, check, is_last=is_last)


def _draw_question(entry: Message) -> None:
    """Draw a question. The last one says how many were asked, for the script that goes to it (core/ui/scripts/landing.js)."""
    chat = session.chat()
    asked = Markup(" data-asked=%d") % chat.asked if chat.asked and entry is chat.last_question() else ""
    draw_html(Markup('<div class="wy-question"%s>%s</div>') % (asked, entry.text) + file_chips(entry.files))


def draw_above_answer(app: App, entry: Message, *, is_last: bool) -> None:
    """Draw the sources and steps above an answer."""
    with st.container(gap="xxsmall"):
        source_panel.draw(app, entry, is_last=is_last)
        draw_steps(entry.events, key=entry.id, seconds=entry.seconds)


def draw_unsourced_note(place: DeltaGenerator, entry: Message) -> None:
    if entry.is_unsourced:
        place.caption(NO_SOURCES_NOTE)


def draw_unsaved_note(app: App, entry: Message) -> None:
    if words := conversation_sync.unsaved_note(app, entry):
        st.caption(escape_label(words))


def _draw_again_button(app: App, key: str) -> None:
    st.button("重新回答", key=key, icon=":material/replay:", on_click=actions.answer_again, args=(app,))


def draw_below_answer(app: App, entry: Message, check: AnswerCheck | None, *, is_last: bool) -> None:
    """Draw everything below the text: its end, citations, cost and actions."""
    draw_unsaved_note(app, entry)
    draw_cut_off(app, entry, is_last=is_last)
    if is_last:
        draw_failed_search(app, entry)
        search_offer.draw_below_answer(app, entry)
        if not entry.cited and app.model.choice.is_embedded:  # the embedded model found nothing to quote
            model_settings.draw_offer(app)
    citation_check.draw(app, entry, check)
    draw_statute_check(app, entry)
    if entry.cited:
        draw_references(entry.cited, anchor=entry.id)
    if agreeing := agreeing_sources(check, entry.sources, entry.cited):
        draw_references(agreeing, title=AGREEING_SOURCES)
    match entry.ending:
        case RunFailed(message=text):
            st.error(escape_label(text), icon=":material/error:")
        case RunStopped() if entry.stop_note:
            st.caption(entry.stop_note)
    draw_footer(app, entry, is_last=is_last)


def draw_cut_off(app: App, entry: Message, *, is_last: bool) -> None:
    """Draw a note where a text ends too early, with a button to continue."""
    for remark in entry.notices:
        if remark.kind == CUT_OFF_KIND:
            st.warning(escape_label(remark.text), icon=":material/content_cut:")
            if is_last:
                key, ask = f"go-on-{entry.id}", (app, actions.CONTINUE_PROMPT)
                st.button("继续", key=key, icon=":material/more_horiz:", on_click=actions.ask, args=ask)


def draw_failed_search(app: App, entry: Message) -> None:
    """Draw the actions for an answer whose search failed."""
    if any(has_search_failed(search.response) for search in entry.searches):
        with st.container(horizontal=True, vertical_alignment="center"):
            search = partial(actions.answer_again, app, fresh=True)
            st.button("重新搜索", key=f"search-again-{entry.id}", icon=":material/refresh:", on_click=search)
            if "settings" in app.settings.public.pages:
                st.page_link("pages/settings.py", label="打开诊断", icon=":material/stethoscope:")


def draw_statute_check(app: App, entry: Message) -> None:
    """Draw the statute and case checks (法条核验, 案号核验) of what the answer cites, and the age of the library."""
    words = partial(source_words, entry.sources, conversation_sync.read_pages_loader(app, entry))
    check = app.check_statutes(entry.text, session.chat().question_of(entry), words)
    uses_laws = any(source.engine == LAWS for source in entry.sources)
    if check is None and not uses_laws:
        return
    from core.ui import case_findings, statute_findings

    try:
        if check is not None and not check.has_index:
            draw_html(NO_LAW_LIBRARY)
        if check is not None and check.findings:
            with _check_row("法条核验"):
                statute_findings.draw(check.findings, key=f"statutes-{entry.id}")
        if check is not None and check.cases:
            with _check_row("案号核验"):
                case_findings.draw(check.cases, key=f"cases-{entry.id}")
        if uses_laws or (check is not None and check.findings):
            draw_html(Markup('<div class="wy-dim">%s</div>') % app.legal.library_summary)
    except Exception:
        log.exception("the checked statutes of an answer could not be drawn")


def _check_row(title: str) -> DeltaGenerator:
    row = st.container(horizontal=True, gap="small", vertical_alignment="top")
    with row:
        draw_html(Markup('<div class="wy-check-title">%s</div>') % title, width="content")
    return row


def draw_footer(app: App, entry: Message, *, is_last: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if is_last:
            _draw_again_button(app, f"again-{entry.id}")
            _draw_edit_button(app, entry)
        source_texts.draw_button(app, entry, is_last=is_last)
        draw_html(COPY_BUTTON, width="content")
        if is_last:
            _draw_export(app, entry.id)
            sharing.draw_button(app, session.chat())
        st.caption(_cost_line(entry))


def _draw_export(app: App, key: str) -> None:
    with st.popover("导出", icon=":material/download:"):
        load, load_pages = conversation_sync.all_messages_loader(app), conversation_sync.pages_by_answer_loader(app)
        export_menu.draw(app, session.chat().title, load, load_pages, key=key)


def draw_read_only_note(app: App, chat: session.ChatState) -> None:
    """Draw a note and a copy button below another visitor's conversation, instead of all that would change it."""
    if not chat.read_only:
        return
    st.info(READ_ONLY_NOTE, icon=":material/visibility:")
    with st.container(horizontal=True):
        copy = partial(actions.copy_conversation, app)
        st.button("复制为我的对话", key="own-conversation", icon=":material/content_copy:", on_click=copy)
        _draw_export(app, "read-only")


def _draw_edit_button(app: App, entry: Message) -> None:
    question = session.chat().last_question()
    if question is not None and st.button("修改问题", key=f"change-{entry.id}", icon=":material/edit:"):
        _draw_edit_dialog(app, question.text, f"edit-{entry.id}")


@st.dialog("修改问题", width="medium", icon=":material/edit:")
def _draw_edit_dialog(app: App, text: str, key: str) -> None:
    with st.form(f"form-{key}", border=False):
        st.text_area("问题", text, key=key, height=160, label_visibility="collapsed")
        sent = st.form_submit_button("重新发送", type="primary", on_click=actions.resend, args=(app, key))
    if sent and (refused := session.chat().refusal):
        st.warning(escape_label(refused), icon=":material/edit_note:")
    elif sent:
        st.rerun()


def _cost_line(entry: Message) -> str:
    parts = [f"{entry.seconds:.1f} 秒", escape_label(entry.model)]
    if (usage := entry.usage) is not None:
        parts = [
            f"{usage.total:,} tokens{'（估算）' if usage.estimated else ''}",
            "、".join(f"{USAGE_LABELS[name]} {count:,}" for name, count in usage.parts.items() if name in USAGE_LABELS),
            f"其中推理 {usage.reasoning:,}" if usage.reasoning else "",
            f"{usage.iterations} 轮" if usage.iterations else "",
            f"{entry.tool_calls} 次工具调用" if entry.tool_calls else "",
            *parts,
        ]
    if entry.check is not None and entry.check.opinion is not None:
        parts.append(f"复核另用 {entry.check.opinion.cost}")
    return " · ".join(filter(None, parts))


def draw_notice(place: DeltaGenerator, remark: Notice) -> None:
    """Draw a notice. Lines behind the first are to be pasted into a file, so they keep their breaks."""
    sentence, _, lines = remark.text.partition("\n")
    place.info(escape_label(sentence), icon=":material/info:")
    if lines.strip():
        place.code(clean(lines), language="yaml")


def draw_follow_ups(app: App, place: DeltaGenerator, chat: session.ChatState) -> None:
    """Draw suggested questions. They are stored with the answer, and disappear when a question is sent."""
    last = chat.messages[-1] if chat.messages and chat.run is None else None
    if last is not None and last.suggestions:
        with place.container():
            st.caption("接下来可以问：")
            for number, question in enumerate(last.suggestions):
                st.button(escape_label(question), key=f"follow-up-{number}", on_click=actions.ask, args=(app, question))
