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

from core.answer.checked import AnswerCheck
from core.answer.claims import NOTHING_LOOKED_UP
from core.answer.events import (
    CUT_OFF,
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
from core.legal.types import LAWS
from core.run.run import Run
from core.ui import conversation_sync, session
from core.ui.chat import actions, attachments, claims, export_menu, offers, panel, sharing, source_panel, source_texts
from core.ui.chat.answer import UPDATES_PER_SECOND, AnswerView, draw_answer, draw_references
from core.ui.chat.steps import Steps, draw_steps
from core.ui.chat.story import search_failed
from core.ui.escape import draw_html, label
from core.ui.settings import model, own_key

log = logging.getLogger(__name__)

AVATARS = {"user": ":material/person:", "assistant": ":material/menu_book:"}

PARTS = {"thinking": "思考", "tools": "工具", "answer": "回答"}
COPY = Markup('<button type="button" class="wy-copy" title="复制回答（Markdown）">复制</button>')
"""Copy button. A script of the page turns the drawn answer into Markdown when it is clicked."""
NOT_CHECKED = Markup(
    '<div class="wy-law wy-dim">法条核验：还没有导入法规库，回答引用的法条没有核对。可以在「'
    '<a href="/legal" target="_blank" rel="noopener">法规与案例</a>」页导入。</div>'
)
FOR_THE_MODEL = "正在等待模型…"
STOPPED = "模型停顿了"
REVIEWING = "模型正在复核引用…"
SILENT_SECONDS = 3
DRAWING_SHARE = 0.04
"""Share of time that a page spends drawing a growing answer. Pages that draw as often as they can leave no time to read
the models' output, and none for readers still waiting for a first word."""
LONGEST_REST = 1.0
READ_ONLY = "这个对话只能阅读。在下面提问时，会先复制为你自己的对话，再继续。"


def history(app: App, chat: session.ChatState) -> None:
    """Draw the newest messages, with a button for older ones."""
    hidden = len(chat.messages) - chat.shown
    if hidden > 0 or chat.has_older:
        st.button(
            "显示更早的消息", icon=":material/history:", on_click=actions.show_older, args=(app,), type="tertiary"
        )
    can_change = chat.run is None and not chat.read_only
    last = chat.messages[-1] if chat.messages and can_change else None
    for entry in chat.messages[-chat.shown :]:
        message(app, entry, is_last=entry is last)


def message(app: App, entry: Message, *, is_last: bool) -> None:
    """Draw one message: a note, a question, or an answer with everything around it."""
    if entry.role == "note":
        st.info(entry.text, icon=":material/info:")
        return
    with st.chat_message(entry.role, avatar=AVATARS[entry.role]):
        if entry.role == "user":
            draw_html(Markup('<div class="wy-question">%s</div>') % entry.text + attachments.chips(entry.files))
            unkept(app, entry)
            if is_last and session.chat().pending is None:
                unanswered(app)
            return
        above_answer(app, entry, is_last=is_last)
        for remark in entry.notices:
            if remark.kind != CUT_OFF:
                notice(st.container(), remark)
        nothing_looked_up(st.container(), entry)
        check = claims.check_of(app, entry)
        draw_answer(entry.text, entry.found, anchor=entry.id, check=check)
        after_answer(app, entry, check, is_last=is_last)


def above_answer(app: App, entry: Message, *, is_last: bool) -> None:
    """Draw the sources and steps above an answer."""
    with st.container(gap="xxsmall"):
        source_panel.draw(app, entry, is_last=is_last)
        draw_steps(entry.events, key=entry.id, seconds=entry.seconds)


def nothing_looked_up(place: DeltaGenerator, entry: Message) -> None:
    if entry.looked_nothing_up:
        place.caption(NOTHING_LOOKED_UP)


def unkept(app: App, entry: Message) -> None:
    if words := conversation_sync.unsaved_note(app, entry):
        st.caption(label(words))


def unanswered(app: App) -> None:
    """Draw a note below a question whose answer never began because the server stopped."""
    st.info("这个问题还没有得到回答：回答开始之前程序中断了。", icon=":material/info:")
    _again_button(app, "answer-unanswered")


def _again_button(app: App, key: str) -> None:
    st.button("重新回答", key=key, icon=":material/replay:", on_click=actions.answer_again, args=(app,))


def after_answer(app: App, entry: Message, check: AnswerCheck | None, *, is_last: bool) -> None:
    """Draw everything below the text: its end, citations, cost and actions."""
    unkept(app, entry)
    cut_off_here(app, entry, is_last=is_last)
    if is_last:
        failed_search(app, entry)
        offers.after(app, entry)
        if not entry.cited and app.model.choice.embedded:  # the embedded model found nothing to quote
            model.offer(app)
    claims.draw(app, entry, check)
    statutes(app, entry)
    if entry.cited:
        draw_references(entry.cited, anchor=entry.id)
    match entry.ending:
        case RunFailed(message=text):
            st.error(label(text), icon=":material/error:")
        case RunStopped() if entry.stopped:
            st.caption(entry.stopped)
    footer(app, entry, is_last=is_last)


def cut_off_here(app: App, entry: Message, *, is_last: bool) -> None:
    """Draw a note where a text ends too early, with a button to continue."""
    for remark in entry.notices:
        if remark.kind == CUT_OFF:
            st.warning(label(remark.text), icon=":material/content_cut:")
            if is_last:
                key, ask = f"go-on-{entry.id}", (app, actions.GO_ON)
                st.button("继续", key=key, icon=":material/more_horiz:", on_click=actions.ask, args=ask)


def failed_search(app: App, entry: Message) -> None:
    """Draw the actions for an answer whose search failed."""
    if any(search_failed(search.response) for search in entry.searches):
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


def statutes(app: App, entry: Message) -> None:
    """Draw the statute check (法条核验) if the answer cites statutes, and the age of the library it relies on."""
    check = app.check_statutes(entry.text, session.chat().question_of(entry))
    if check is not None and not check.indexed:
        draw_html(NOT_CHECKED)
    elif check is not None or any(source.engine == LAWS for source in entry.found):
        from core.ui.legal import verdicts

        try:
            if check is not None:
                with st.container(horizontal=True, gap="small", vertical_alignment="top"):
                    draw_html(Markup('<div class="wy-check-title">法条核验</div>'), width="content")
                    verdicts.draw(check.verdicts, key=f"statutes-{entry.id}")
            draw_html(Markup('<div class="wy-dim">%s</div>') % app.legal.holdings)
        except Exception:
            log.exception("the checked statutes of an answer could not be drawn")


def footer(app: App, entry: Message, *, is_last: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if is_last:
            _again_button(app, f"again-{entry.id}")
            _edit_question(app, entry)
        source_texts.offer(app, entry, is_last=is_last)
        draw_html(COPY, width="content")
        if is_last:
            _export(app, entry)
            sharing.offer(app, session.chat())
        st.caption(_cost(entry))


def _export(app: App, entry: Message) -> None:
    with st.popover("导出", icon=":material/download:"):
        export_menu.draw(app, session.chat().title, conversation_sync.all_messages_loader(app), key=entry.id)


def read_only(app: App, chat: session.ChatState) -> None:
    """Draw a note and a copy button below another visitor's conversation, instead of all that would change it."""
    if not chat.read_only:
        return
    st.info(READ_ONLY, icon=":material/visibility:")
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


def _edit_question(app: App, entry: Message) -> None:
    question = session.chat().last_question()
    if question is not None and st.button("修改问题", key=f"change-{entry.id}", icon=":material/edit:"):
        _edit(app, question.text, f"edit-{entry.id}")


@st.dialog("修改问题", width="medium", icon=":material/edit:")
def _edit(app: App, text: str, key: str) -> None:
    with st.form(f"form-{key}", border=False):
        st.text_area("问题", text, key=key, height=160, label_visibility="collapsed")
        sent = st.form_submit_button("重新发送", type="primary", on_click=actions.resend, args=(app, key))
    if sent and (refused := session.chat().unsent):
        st.warning(label(refused), icon=":material/edit_note:")
    elif sent:
        st.rerun()


def _cost(entry: Message) -> str:
    spent = f"{entry.seconds:.1f} 秒"
    if entry.model:
        spent = f"{spent} · {label(entry.model)}"
    if entry.usage is None:
        return spent
    estimated = "（估算）" if entry.usage.estimated else ""
    parts = "、".join(f"{PARTS[name]} {count:,}" for name, count in entry.usage.parts.items() if name in PARTS)
    shares = f" · {parts}" if parts else ""
    shares += f" · 其中推理 {entry.usage.reasoning:,}" if entry.usage.reasoning else ""
    rounds = f" · {entry.usage.iterations} 轮" if entry.usage.iterations else ""
    rounds += f" · {entry.tool_calls} 次工具调用" if entry.tool_calls else ""
    return f"{entry.usage.total:,} tokens{estimated}{shares}{rounds} · {spent}"


def notice(place: DeltaGenerator, remark: Notice) -> None:
    place.info(label(remark.text), icon=":material/info:")


def prepare(place: DeltaGenerator) -> None:
    with place.container(), st.chat_message("assistant", avatar=AVATARS["assistant"]):
        Waiting().begin("正在准备 Agent 模式…")


def live(app: App, place: DeltaGenerator, stop: DeltaGenerator, chat: session.ChatState) -> None:
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
                view.stand_in_line(run.ahead)
                for event in batch:
                    view.take(event)
                view.draw()
                if any(isinstance(event, TextDelta | Thought) for event in batch) and not run.done:
                    time.sleep(_rest(time.monotonic() - began))
        except RerunException:
            run.expect_reader()
            raise
        chat.settle()
        entry = chat.messages[-1]
        check = claims.check_of(app, entry)
        view.finish(entry, check)
        after_answer(app, entry, check, is_last=True)
    stop.empty()
    _suggest(app, chat)


def _rest(drawing: float) -> float:
    """Return the seconds to wait before the next drawing, longer if drawing is slow on a busy machine."""
    return min(max(1 / UPDATES_PER_SECOND, drawing / DRAWING_SHARE), LONGEST_REST)


def _suggest(app: App, chat: session.ChatState) -> None:
    question, answer = chat.last_question(), chat.messages[-1]
    if question is not None and answer.whole and own_key.model() is None:  # no extra calls on a reader's own key
        suggestions = app.chat.follow_ups(question.text, answer.text, panel.chosen(app))
        if suggestions:
            answer = replace(answer, suggestions=tuple(suggestions))
            chat.put(answer)
            conversation_sync.save_message(app, answer)


def follow_ups(app: App, place: DeltaGenerator, chat: session.ChatState) -> None:
    """Draw suggested questions. They are stored with the answer, and disappear when a question is sent."""
    last = chat.messages[-1] if chat.messages and chat.run is None else None
    if last is not None and last.suggestions:
        with place.container():
            st.caption("接下来可以问：")
            for number, question in enumerate(last.suggestions):
                st.button(label(question), key=f"follow-up-{number}", on_click=actions.ask, args=(app, question))


class Waiting:
    """One line that says what is waited for. The style sheet counts the seconds."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._place = st.empty()
        self._heard: float | None = None
        self._shown = ""

    def begin(self, what: str, *, since: float = 0.0) -> None:
        self._heard = None
        self._show(what, since)

    def listen(self) -> None:
        """Hide the line while the model thinks or writes, and watch for silence."""
        self._heard = self._clock()
        self._show("")

    def end(self) -> None:
        """Hide the line, because another element shows what is going on."""
        self._heard = None
        self._show("")

    def draw(self) -> None:
        if self._heard is not None and self._clock() - self._heard >= SILENT_SECONDS:
            self._show(STOPPED, SILENT_SECONDS)

    def _show(self, what: str, since: float = 0.0) -> None:
        """Draw the text if it changed. Emptying an empty placeholder would be sent to the browser too."""
        if what == self._shown:
            return
        self._shown = what
        if what:
            draw_html(
                Markup('<div class="wy-waiting" style="--since:-%ss">%s</div>') % (round(since), what), self._place
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
        self._trouble = st.empty()
        self._problem = ""
        self._waiting = Waiting()
        self._answer = AnswerView((), anchor=run.id)
        self._ahead: int | None = None
        self._tools = 0
        self._unread: set[int] = set()
        self._waiting.begin(FOR_THE_MODEL, since=run.elapsed)

    def stand_in_line(self, ahead: int | None) -> None:
        if ahead == self._ahead:
            return
        self._ahead = ahead
        if ahead is None:
            self._waiting.begin(FOR_THE_MODEL)
        else:
            before = f"前面还有 {ahead} 个问题" if ahead else "下一个就是这个问题"
            self._waiting.begin(f"正在排队，{before}…")

    def take(self, event: RunEvent) -> None:
        """Update the page for one event."""
        self._steps.take(event)
        match event:
            case SearchStarted():
                self._waiting.end()
            case Thought():
                self._waiting.listen()
            case ToolStarted():
                self._tools += 1
                self._waiting.end()
                self._answer.restart()  # some models write text before they call a tool
            case ToolFinished():
                self._tools -= 1
                if not self._tools:
                    self._waiting.begin(FOR_THE_MODEL)
            case SearchFinished(sources=sources):
                now = {known.number: known for known in (*self._answer.sources, *sources)}
                self._answer.sources = tuple(now.values())
                self._show_sources()
                if not event.amends and self._mode == "chat":
                    self._waiting.begin(FOR_THE_MODEL)
            case ReadingStarted(sources=sources):
                self._unread |= {source.number for source in sources}
                self._waiting.end()
            case PageRead(source=source):
                now = {known.number: known for known in self._answer.sources} | {source.number: source}
                self._answer.sources = tuple(now.values())
                self._show_sources()
                self._unread.discard(source.number)
                if not self._unread and not self._tools:
                    self._waiting.begin(FOR_THE_MODEL)
            case Notice():
                if event.kind != CUT_OFF:  # shown below the text instead
                    notice(self._notices, event)
            case TextDelta(text=text):
                self._waiting.listen()
                self._answer.feed(text)
            case Answer():
                self._waiting.end()
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
            self._trouble.caption(label(f"尚未保存：{problem}") if problem else "")

    def finish(self, entry: Message, check: AnswerCheck | None) -> None:
        self._waiting.end()
        self._growing.empty()
        with self._above:
            above_answer(self._app, entry, is_last=True)
        nothing_looked_up(self._notices, entry)
        self._answer.finish(entry.text, entry.found, check)


@cache
def import_agent() -> None:
    """Import the agent in the background, once, so that the first question of Agent mode appears at once."""
    threading.Thread(target=_import_agent, name="wenyuan-agent", daemon=True).start()


def _import_agent() -> None:
    with short_switch_interval():
        import core.agent.runner  # noqa: F401
