"""Transcript of a conversation: draws messages and running answers, and decides nothing."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import assert_never

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import RerunException

from core.answer import NO_SOURCES_NOTE
from core.answer.check_results import AnswerCheck
from core.answer.events import (
    CUT_OFF_KIND,
    Answer,
    Checked,
    Notice,
    PageRead,
    ReadingStarted,
    RunEvent,
    RunFailed,
    RunStopped,
    SearchFinished,
    SearchStarted,
    TextDelta,
    Thought,
    ToolFinished,
    ToolStarted,
    Usage,
)
from core.answer.message import Message
from core.app import App
from core.base.tuning import short_switch_interval
from core.legal.entities import LAWS
from core.run import Run
from core.ui import conversation_sync, session
from core.ui.chat import (
    actions,
    attachments,
    citation_check,
    export_menu,
    search_offer,
    settings_panel,
    sharing,
    source_panel,
    source_texts,
)
from core.ui.chat.answer import UPDATES_PER_SECOND, AnswerView, draw_answer, draw_references
from core.ui.chat.step_lines import has_search_failed
from core.ui.chat.steps import Steps, draw_steps
from core.ui.escape import draw_html, escape_label
from core.ui.settings import model_settings, own_key

log = logging.getLogger(__name__)

AVATARS = {"user": ":material/person:", "assistant": ":material/menu_book:"}

USAGE_LABELS = {"thinking": "思考", "tools": "工具", "answer": "回答"}
COPY_BUTTON = Markup('<button type="button" class="wy-copy" title="复制回答（Markdown）">复制</button>')
"""Copy button. A script of the page turns the drawn answer into Markdown when it is clicked."""
NO_LAW_LIBRARY = Markup(
    '<div class="wy-law wy-dim">法条核验：还没有导入法规库，回答引用的法条没有核对。可以在「'
    '<a href="/legal" target="_blank" rel="noopener">法规与案例</a>」页导入。</div>'
)
WAITING_FOR_MODEL = "正在等待模型…"
MODEL_SILENT = "模型停顿了"
REVIEWING = "模型正在复核引用…"
SILENT_SECONDS = 3
DRAWING_SHARE = 0.04
"""Share of time that a page spends drawing a growing answer. Pages that draw as often as they can leave no time to read
the models' output, and none for readers still waiting for a first word."""
MAX_PAUSE = 1.0
READ_ONLY_NOTE = "这个对话只能阅读。在下面提问时，会先复制为你自己的对话，再继续。"


def draw_history(app: App, chat: session.ChatState) -> None:
    """Draw the newest messages, with a button for older ones."""
    hidden = len(chat.messages) - chat.shown
    if hidden > 0 or chat.has_older:
        st.button(
            "显示更早的消息", icon=":material/history:", on_click=actions.show_older, args=(app,), type="tertiary"
        )
    can_change = chat.run is None and not chat.read_only
    last = chat.messages[-1] if chat.messages and can_change else None
    for entry in chat.messages[-chat.shown :]:
        draw_message(app, entry, is_last=entry is last)


def draw_message(app: App, entry: Message, *, is_last: bool) -> None:
    """Draw one message: a note, a question, or an answer with everything around it."""
    if entry.role == "note":
        st.info(entry.text, icon=":material/info:")
        return
    with st.chat_message(entry.role, avatar=AVATARS[entry.role]):
        if entry.role == "user":
            draw_html(Markup('<div class="wy-question">%s</div>') % entry.text + attachments.file_chips(entry.files))
            draw_unsaved_note(app, entry)
            if is_last and session.chat().pending is None:
                draw_unanswered(app)
            return
        draw_above_answer(app, entry, is_last=is_last)
        for remark in entry.notices:
            if remark.kind != CUT_OFF_KIND:
                draw_notice(st.container(), remark)
        draw_unsourced_note(st.container(), entry)
        check = citation_check.check_of(app, entry)
        draw_answer(entry.text, entry.sources, anchor=entry.id, check=check)
        draw_below_answer(app, entry, check, is_last=is_last)


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


def draw_unanswered(app: App) -> None:
    """Draw a note below a question whose answer never began because the server stopped."""
    st.info("这个问题还没有得到回答：回答开始之前程序中断了。", icon=":material/info:")
    _again_button(app, "answer-unanswered")


def _again_button(app: App, key: str) -> None:
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
            st.button(
                "重新搜索",
                key=f"search-again-{entry.id}",
                icon=":material/refresh:",
                on_click=actions.answer_again,
                args=(app,),
                kwargs={"fresh": True},
            )
            if "settings" in app.settings.public.pages:
                st.page_link("pages/settings.py", label="打开诊断", icon=":material/stethoscope:")


def draw_statute_check(app: App, entry: Message) -> None:
    """Draw the statute check (法条核验) if the answer cites statutes, and the age of the library it relies on."""
    check = app.check_statutes(entry.text, session.chat().question_of(entry))
    if check is not None and not check.has_index:
        draw_html(NO_LAW_LIBRARY)
    elif check is not None or any(source.engine == LAWS for source in entry.sources):
        from core.ui import statute_findings

        try:
            if check is not None:
                with st.container(horizontal=True, gap="small", vertical_alignment="top"):
                    draw_html(Markup('<div class="wy-check-title">法条核验</div>'), width="content")
                    statute_findings.draw(check.findings, key=f"statutes-{entry.id}")
            draw_html(Markup('<div class="wy-dim">%s</div>') % app.legal.library_summary)
        except Exception:
            log.exception("the checked statutes of an answer could not be drawn")


def draw_footer(app: App, entry: Message, *, is_last: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if is_last:
            _again_button(app, f"again-{entry.id}")
            _draw_edit_button(app, entry)
        source_texts.draw_button(app, entry, is_last=is_last)
        draw_html(COPY_BUTTON, width="content")
        if is_last:
            _draw_export(app, entry)
            sharing.draw_button(app, session.chat())
        st.caption(_cost_line(entry))


def _draw_export(app: App, entry: Message) -> None:
    with st.popover("导出", icon=":material/download:"):
        export_menu.draw(app, session.chat().title, conversation_sync.all_messages_loader(app), key=entry.id)


def draw_read_only_note(app: App, chat: session.ChatState) -> None:
    """Draw a note and a copy button below another visitor's conversation, instead of all that would change it."""
    if not chat.read_only:
        return
    st.info(READ_ONLY_NOTE, icon=":material/visibility:")
    with st.container(horizontal=True):
        st.button(
            "复制为我的对话",
            key="own-conversation",
            icon=":material/content_copy:",
            on_click=actions.copy_conversation,
            args=(app,),
        )
        with st.popover("导出", icon=":material/download:"):
            export_menu.draw(app, chat.title, conversation_sync.all_messages_loader(app), key="read-only")


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
    spent = f"{entry.seconds:.1f} 秒"
    if entry.model:
        spent = f"{spent} · {escape_label(entry.model)}"
    if entry.usage is None:
        return spent
    estimated = "（估算）" if entry.usage.estimated else ""
    parts = "、".join(
        f"{USAGE_LABELS[name]} {count:,}" for name, count in entry.usage.parts.items() if name in USAGE_LABELS
    )
    shares = f" · {parts}" if parts else ""
    shares += f" · 其中推理 {entry.usage.reasoning:,}" if entry.usage.reasoning else ""
    rounds = f" · {entry.usage.iterations} 轮" if entry.usage.iterations else ""
    rounds += f" · {entry.tool_calls} 次工具调用" if entry.tool_calls else ""
    return f"{entry.usage.total:,} tokens{estimated}{shares}{rounds} · {spent}"


def draw_notice(place: DeltaGenerator, remark: Notice) -> None:
    place.info(escape_label(remark.text), icon=":material/info:")


def draw_preparing(place: DeltaGenerator) -> None:
    with place.container(), st.chat_message("assistant", avatar=AVATARS["assistant"]):
        WaitingLine().begin("正在准备 Agent 模式…")


def follow_run(app: App, place: DeltaGenerator, stop: DeltaGenerator, chat: session.ChatState) -> None:
    """Follow the current run until it ends. A rerun meanwhile starts here again with the same run."""
    run = chat.run
    assert run is not None
    stop.button("停止回答", icon=":material/stop_circle:", key=f"stop-{run.id}", on_click=run.cancel, shortcut="Esc")
    with place.container(), st.chat_message("assistant", avatar=AVATARS["assistant"]):
        view = LiveView(app, run)
        try:
            for batch in run.follow():
                began = time.monotonic()
                session.check_interrupted()
                view.show_queue_position(run.questions_ahead)
                for event in batch:
                    view.add_event(event)
                view.draw()
                if any(isinstance(event, TextDelta | Thought) for event in batch) and not run.done:
                    time.sleep(_pause_after(time.monotonic() - began))
        except RerunException:
            run.expect_reader()
            raise
        chat.collect_finished_run()
        entry = chat.messages[-1]
        check = citation_check.check_of(app, entry)
        view.finish(entry, check)
        draw_below_answer(app, entry, check, is_last=True)
    stop.empty()
    _add_suggestions(app, chat)


def _pause_after(drawing_seconds: float) -> float:
    """Return the seconds to wait before the next drawing, longer if drawing is slow on a busy machine."""
    return min(max(1 / UPDATES_PER_SECOND, drawing_seconds / DRAWING_SHARE), MAX_PAUSE)


def _add_suggestions(app: App, chat: session.ChatState) -> None:
    question, answer = chat.last_question(), chat.messages[-1]
    if (
        question is not None and answer.is_whole and own_key.session_model() is None
    ):  # no extra calls on a reader's own key
        suggestions = app.chat.suggest_follow_ups(question.text, answer.text, settings_panel.current_choices(app))
        if suggestions:
            answer = replace(answer, suggestions=tuple(suggestions))
            chat.replace_message(answer)
            conversation_sync.save_message(app, answer)


def draw_follow_ups(app: App, place: DeltaGenerator, chat: session.ChatState) -> None:
    """Draw suggested questions. They are stored with the answer, and disappear when a question is sent."""
    last = chat.messages[-1] if chat.messages and chat.run is None else None
    if last is not None and last.suggestions:
        with place.container():
            st.caption("接下来可以问：")
            for number, question in enumerate(last.suggestions):
                st.button(escape_label(question), key=f"follow-up-{number}", on_click=actions.ask, args=(app, question))


class WaitingLine:
    """One line that says what is waited for. The style sheet counts the seconds."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._place = st.empty()
        self._last_heard: float | None = None
        self._shown = ""

    def begin(self, text: str, *, since: float = 0.0) -> None:
        self._last_heard = None
        self._show(text, since)

    def watch_silence(self) -> None:
        """Hide the line while the model thinks or writes, and watch for silence."""
        self._last_heard = self._clock()
        self._show("")

    def hide(self) -> None:
        """Hide the line, because another element shows what is going on."""
        self._last_heard = None
        self._show("")

    def draw(self) -> None:
        if self._last_heard is not None and self._clock() - self._last_heard >= SILENT_SECONDS:
            self._show(MODEL_SILENT, SILENT_SECONDS)

    def _show(self, text: str, since: float = 0.0) -> None:
        """Draw the text if it changed. Emptying an empty placeholder would be sent to the browser too."""
        if text == self._shown:
            return
        self._shown = text
        if text:
            draw_html(
                Markup('<div class="wy-waiting" style="--since:-%ss">%s</div>') % (round(since), text), self._place
            )
        else:
            self._place.empty()


class LiveView:
    """View of a running answer. Each event changes one thing on the page."""

    def __init__(self, app: App, run: Run) -> None:
        self._app = app
        self._above = st.container()
        self._growing = self._above.empty()
        place = self._growing.container(gap="xxsmall")
        self._sources = place.empty()
        self._mode = run.mode
        self._steps = Steps(place, key=run.id)
        self._notices = st.container()
        self._save_problem = st.empty()
        self._problem = ""
        self._waiting = WaitingLine()
        self._answer = AnswerView((), anchor=run.id)
        self._ahead: int | None = None
        self._tools = 0
        self._unread: set[int] = set()
        self._waiting.begin(WAITING_FOR_MODEL, since=run.elapsed)

    def show_queue_position(self, ahead: int | None) -> None:
        if ahead == self._ahead:
            return
        self._ahead = ahead
        if ahead is None:
            self._waiting.begin(WAITING_FOR_MODEL)
        else:
            before = f"前面还有 {ahead} 个问题" if ahead else "下一个就是这个问题"
            self._waiting.begin(f"正在排队，{before}…")

    def add_event(self, event: RunEvent) -> None:
        """Update the page for one event."""
        self._steps.add_event(event)
        match event:
            case SearchStarted():
                self._waiting.hide()
            case Thought():
                self._waiting.watch_silence()
            case ToolStarted():
                self._tools += 1
                self._waiting.hide()
                self._answer.restart()  # some models write text before they call a tool
            case ToolFinished():
                self._tools -= 1
                if not self._tools:
                    self._waiting.begin(WAITING_FOR_MODEL)
            case SearchFinished(sources=sources):
                now = {known.number: known for known in (*self._answer.sources, *sources)}
                self._answer.sources = tuple(now.values())
                self._show_sources()
                if not event.amends and self._mode == "chat":
                    self._waiting.begin(WAITING_FOR_MODEL)
            case ReadingStarted(sources=sources):
                self._unread |= {source.number for source in sources}
                self._waiting.hide()
            case PageRead(source=source):
                now = {known.number: known for known in self._answer.sources} | {source.number: source}
                self._answer.sources = tuple(now.values())
                self._show_sources()
                self._unread.discard(source.number)
                if not self._unread and not self._tools:
                    self._waiting.begin(WAITING_FOR_MODEL)
            case Notice():
                if event.kind != CUT_OFF_KIND:  # shown below the text instead
                    draw_notice(self._notices, event)
            case TextDelta(text=text):
                self._waiting.watch_silence()
                self._answer.add_text(text)
            case Answer():
                self._waiting.hide()
                if self._app.settings.checks.judge == "always":
                    self._waiting.begin(REVIEWING)
            case Checked() | Usage() | RunStopped() | RunFailed():
                pass
            case _:
                assert_never(event)

    def _show_sources(self) -> None:
        if self._answer.sources:
            source_panel.draw_growing(self._app, self._answer.sources, self._sources)

    def draw(self) -> None:
        self._answer.draw()
        self._steps.draw()
        self._waiting.draw()
        if (problem := self._app.outbox.problem) != self._problem:
            self._problem = problem
            self._save_problem.caption(escape_label(f"尚未保存：{problem}") if problem else "")

    def finish(self, entry: Message, check: AnswerCheck | None) -> None:
        self._waiting.hide()
        self._growing.empty()
        with self._above:
            draw_above_answer(self._app, entry, is_last=True)
        draw_unsourced_note(self._notices, entry)
        self._answer.finish(entry.text, entry.sources, check)


@cache
def start_agent_import() -> None:
    """Import the agent in the background, once, so that the first question of Agent mode appears at once."""
    threading.Thread(target=_import_agent, name="wenyuan-agent", daemon=True).start()


def _import_agent() -> None:
    with short_switch_interval():
        import core.agent.runner  # noqa: F401
