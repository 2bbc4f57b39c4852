"""Answer of a run that is followed: drawn while it grows, then as the transcript draws stored messages."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import assert_never

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import RerunException

from core.answer import NO_SOURCES_NOTE, events
from core.answer.check_results import AnswerCheck
from core.answer.message import Message
from core.app import App
from core.base.tuning import short_switch_interval
from core.run import Run
from core.search.types import Source
from core.ui import advice, conversation_sync, session
from core.ui.chat import citation_check, settings_panel, source_panel, transcript
from core.ui.chat.answer import UPDATES_PER_SECOND, AnswerView
from core.ui.chat.approval_box import ApprovalBoxes
from core.ui.chat.steps import Steps, draw_steps
from core.ui.escape import draw_html, escape_label
from core.ui.settings import own_key

WAITING_FOR_MODEL = "正在等待模型…"
MODEL_SILENT = "模型停顿了"
SILENT_SECONDS = 3
DRAWING_SHARE = 0.04
"""Share of time that a page spends drawing a growing answer. Pages that draw as often as they can leave no time to read
the models' output, and none for readers still waiting for a first word."""
MAX_PAUSE = 1.0


def draw_preparing(place: DeltaGenerator) -> None:
    with place.container(), st.chat_message("assistant", avatar=transcript.AVATARS["assistant"]):
        WaitingLine().begin("正在准备 Agent 模式…")


def follow_run(app: App, place: DeltaGenerator, stop: DeltaGenerator, chat: session.ChatState) -> None:
    """Follow the current run until it ends. A rerun meanwhile starts here again with the same run."""
    run = chat.run
    assert run is not None
    stop.button("停止回答", icon=":material/stop_circle:", key=f"stop-{run.id}", on_click=run.cancel, shortcut="Esc")
    with place.container(), st.chat_message("assistant", avatar=transcript.AVATARS["assistant"]):
        view = LiveView(app, run)
        try:
            for batch in run.follow():
                began = time.monotonic()
                session.check_interrupted()
                view.show_queue_position(run.questions_ahead)
                for event in batch:
                    view.add_event(event)
                view.draw()
                if any(isinstance(event, events.TextDelta | events.Thought) for event in batch) and not run.done:
                    time.sleep(_pause_after(time.monotonic() - began))
        except RerunException:
            run.expect_reader()
            raise
        chat.collect_finished_run()
        entry = chat.messages[-1]
        check = citation_check.check_of(app, entry)
        view.finish(entry, check)
        transcript.draw_below_answer(app, entry, check, is_last=True)
    stop.empty()
    _add_suggestions(app, chat)


def _pause_after(drawing_seconds: float) -> float:
    """Return the seconds to wait before the next drawing, longer if drawing is slow on a busy machine."""
    return min(max(1 / UPDATES_PER_SECOND, drawing_seconds / DRAWING_SHARE), MAX_PAUSE)


def _add_suggestions(app: App, chat: session.ChatState) -> None:
    """Add suggested questions to the last answer. A reader's own key is not spent on them."""
    question, answer = chat.last_question(), chat.messages[-1]
    if question is None or not answer.is_whole or own_key.session_model() is not None:
        return
    if suggestions := app.chat.suggest_follow_ups(question.text, answer.text, settings_panel.current_choices(app)):
        answer = replace(answer, suggestions=tuple(suggestions))
        chat.replace_message(answer)
        conversation_sync.save_message(app, answer)


class WaitingLine:
    """One line that says what is waited for. The style sheet counts the seconds."""

    def __init__(self) -> None:
        self._place = st.empty()
        self._last_heard: float | None = None
        self._shown = ""

    def begin(self, text: str, *, since: float = 0.0) -> None:
        self._last_heard = None
        self._show(text, since)

    def watch_silence(self) -> None:
        """Hide the line while the model thinks or writes, and watch for silence."""
        self._last_heard = time.monotonic()
        self._show("")

    def hide(self) -> None:
        """Hide the line, because another element shows what is going on."""
        self.begin("")

    def draw(self) -> None:
        if self._last_heard is not None and time.monotonic() - self._last_heard >= SILENT_SECONDS:
            self._show(MODEL_SILENT, SILENT_SECONDS)

    def _show(self, text: str, since: float = 0.0) -> None:
        """Draw the text if it changed. Emptying an empty placeholder would be sent to the browser too."""
        if text == self._shown:
            return
        self._shown = text
        if text:
            html = Markup('<div class="wy-waiting" style="--since:-%ss">%s</div>') % (round(since), text)
            draw_html(html, self._place)
        else:
            self._place.empty()


class LiveView:
    """View of a running answer. Each event changes one thing on the page."""

    def __init__(self, app: App, run: Run) -> None:
        self._app = app
        above = st.container(gap="xxsmall")
        self._sources, self._rail = above.empty(), above.empty()
        self._mode = run.mode
        self._steps = Steps(above, key=run.id, rail=self._rail)
        self._approvals = ApprovalBoxes(run)
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

    def add_event(self, event: events.RunEvent) -> None:
        """Update the page for one event."""
        self._steps.add_event(event)
        match event:
            case events.SearchStarted():
                self._waiting.hide()
            case events.Thought():
                self._waiting.watch_silence()
            case events.ToolStarted():
                self._tools += 1
                self._waiting.hide()
                self._answer.restart()  # some models write text before they call a tool
            case events.ToolFinished():
                self._tools -= 1
                if not self._tools:
                    self._waiting.begin(WAITING_FOR_MODEL)
            case events.SearchFinished(sources=sources):
                self._add_sources(sources)
                if not event.amends and self._mode == "chat":
                    self._waiting.begin(WAITING_FOR_MODEL)
            case events.ReadingStarted(sources=sources):
                self._unread |= {source.number for source in sources}
                self._waiting.hide()
            case events.PageRead(source=source):
                self._add_sources([source])
                self._unread.discard(source.number)
                if not self._unread and not self._tools:
                    self._waiting.begin(WAITING_FOR_MODEL)
            case events.SourcesGiven(sources=sources) | events.SourcesFound(sources=sources):
                self._add_sources(sources)
            case events.ApprovalAsked():
                self._approvals.ask(event)
            case events.ApprovalAnswered():
                self._approvals.remove(event)
            case events.PartsStarted():
                self._waiting.hide()
            case events.PartRead():
                pass
            case events.Notice():
                if event.kind not in events.KINDS_BELOW_TEXT:
                    advice.draw_notice(self._notices, event)
            case events.TextDelta(text=text):
                self._waiting.watch_silence()
                self._answer.add_text(text)
            case events.Answer():
                self._waiting.hide()
            case events.Checked() | events.Usage() | events.RunStopped() | events.RunFailed():
                pass
            case _:
                assert_never(event)

    def _add_sources(self, new: Sequence[Source]) -> None:
        """Add sources and draw them all. A page that is found or read again keeps its place."""
        sources = {source.number: source for source in (*self._answer.sources, *new)}
        self._answer.sources = tuple(sources.values())
        if sources:
            source_panel.draw_growing(self._app, self._answer.sources, self._sources)

    def draw(self) -> None:
        self._answer.draw()
        self._steps.draw()
        self._waiting.draw()
        if (problem := self._app.outbox.problem) != self._problem:
            self._problem = problem
            self._save_problem.caption(escape_label(f"尚未保存：{problem}") if problem else "")

    def finish(self, entry: Message, check: AnswerCheck | None) -> None:
        """Draw the complete answer, each part in the place of the one that grew: what is read does not move."""
        self._waiting.hide()
        self._approvals.remove_all()
        self._steps.hide_last_line()
        source_panel.draw(self._app, entry, is_last=True, place=self._sources)
        draw_steps(entry.events, key=entry.id, seconds=entry.seconds, place=self._rail)
        if entry.is_unsourced:
            self._notices.caption(NO_SOURCES_NOTE)
        self._answer.finish(entry.text, entry.sources, check)


@cache
def start_agent_import() -> None:
    """Import the agent in the background, once, so that the first question of Agent mode appears at once."""
    threading.Thread(target=_import_agent, name="wenyuan-agent", daemon=True).start()


def _import_agent() -> None:
    with short_switch_interval():
        from core.agent import AgentRunner  # noqa: F401
