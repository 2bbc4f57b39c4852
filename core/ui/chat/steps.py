"""The agent's steps: 思考 → 搜索「…」 → 找到 N 条 → …, live while they happen and the same on every rerun.

LangChain's own handler stops drawing after about 960 tokens in one turn, shows only the first of several tool calls and
leaves a failed step without its reason, so this subclass replaces all of its drawing: one `st.status` per step, keyed by
the call's id, one `st.empty` per growing text, at most 20 updates a second.
"""

from __future__ import annotations

import html
import time
from collections.abc import Callable
from typing import Any

import streamlit as st
from langchain_community.callbacks.streamlit.streamlit_callback_handler import StreamlitCallbackHandler
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.mutable_status_container import StatusContainer

from core.answer.events import RunEvent, SearchFinished, Thought, ToolFinished, ToolStarted
from core.base.text import clean, one_line, shorten
from core.search.format import number_results
from core.search.types import SearchResponse
from core.ui.chat import ledger
from core.ui.chat.answer import UPDATES_PER_SECOND, draw_list
from core.ui.escape import label

FIRST_RESULTS = 3
TOOL_NAMES = {"web_search": "搜索", "regulation_search": "查法规", "case_search": "查案例"}


class AgentSteps(StreamlitCallbackHandler):
    """Draws into `place`. `take` accepts the events of a run, `on_…` are LangChain's names for the same."""

    def __init__(self, place: DeltaGenerator, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(place)
        self._place = place
        self._clock = clock
        self._thinking: _Thinking | None = None
        self._tools: dict[str, _ToolStep] = {}

    def take(self, event: RunEvent) -> None:
        match event:
            case Thought(text=text):
                self.on_llm_new_token(token=text)
            case ToolStarted():
                self.on_tool_start({"name": event.tool}, event.input, run_id=event.call_id)
            case SearchFinished(response=response):
                self._found(response)
            case ToolFinished(ok=True):
                self.on_tool_end(event.summary, run_id=event.call_id)
            case ToolFinished():
                self.on_tool_error(event.summary, run_id=event.call_id)

    def on_llm_start(self, *args: Any, **kwargs: Any) -> None:
        self.end_thinking()

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        if self._thinking is None:
            self._thinking = _Thinking(self._place, self._clock)
        self._thinking.add(str(token))

    def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
        self.end_thinking()

    def on_llm_error(self, *args: Any, **kwargs: Any) -> None:
        self.end_thinking()

    def on_tool_start(self, serialized: dict[str, Any], input_str: str, **kwargs: Any) -> None:
        self.end_thinking()
        self._tools[str(kwargs.get("run_id"))] = _ToolStep(self._place, str(serialized["name"]), input_str)

    def on_tool_end(self, output: Any, *args: Any, **kwargs: Any) -> None:
        if step := self._tools.pop(str(kwargs.get("run_id")), None):
            step.done(str(output))

    def on_tool_error(self, error: Any, **kwargs: Any) -> None:
        if step := self._tools.pop(str(kwargs.get("run_id")), None):
            step.failed(str(error))

    def on_agent_action(self, *args: Any, **kwargs: Any) -> None:
        pass

    def on_agent_finish(self, *args: Any, **kwargs: Any) -> None:
        self.finish()

    def _found(self, response: SearchResponse) -> None:
        """Several calls may run at once: the results belong to the one that asked for them."""
        for step in self._tools.values():
            if step.response is None and step.asks(response.query.text):
                step.response = response
                return

    def end_thinking(self) -> None:
        if self._thinking is not None:
            self._thinking.done()
            self._thinking = None

    def draw(self) -> None:
        if self._thinking is not None:
            self._thinking.draw()

    def finish(self) -> None:
        """No step stays open, however the run ended."""
        self.end_thinking()
        for step in self._tools.values():
            step.failed("没有完成")
        self._tools.clear()


class _Thinking:
    def __init__(self, place: DeltaGenerator, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._text = ""
        self._drawn = ""
        self._next_update = 0.0
        self._status = place.status("思考中…", state="running", expanded=True)
        self._body = self._status.empty()

    def add(self, token: str) -> None:
        self._text += token

    def draw(self) -> None:
        now = self._clock()
        if now >= self._next_update and self._text != self._drawn:
            self._body.html(_thought(self._text))
            self._drawn, self._next_update = self._text, now + 1 / UPDATES_PER_SECOND

    def done(self) -> None:
        self._body.html(_thought(self._text or "（没有写出思考内容）"))
        self._status.update(label=_thought_label(self._text), state="complete", expanded=False)


def _thought(text: str) -> str:
    return f'<div class="wy-thought">{html.escape(clean(text).strip())}</div>'


def _thought_label(text: str) -> str:
    return f"思考 · {label(shorten(one_line(text), 40))}" if text.strip() else "思考"


class _ToolStep:
    """Two steps of the story: what was asked, and what came back."""

    def __init__(self, place: DeltaGenerator, tool: str, asked: str) -> None:
        self.response: SearchResponse | None = None
        self._asked = one_line(asked)
        self._title = f"{TOOL_NAMES.get(tool, label(tool))}「{label(shorten(self._asked, 40))}」"
        self._place = place.container()
        self._status: StatusContainer = self._place.status(f"{self._title} · 进行中", state="running")
        self._status.html(f'<div class="wy-line"><b>查询</b> {html.escape(self._asked)}</div>')

    def asks(self, text: str) -> bool:
        return set(one_line(text).split()) <= set(self._asked.split())

    def done(self, summary: str) -> None:
        self._status.update(label=f"{self._title} · 完成", state="complete", expanded=False)
        if self.response is None:
            self._status.html(_thought(summary))
            return
        with self._status:
            st.html(ledger.entry(self.response))
        with self._place.status(f"搜索结果 · {label(ledger.summary(self.response))}", state="complete"):
            draw_results(self.response)

    def failed(self, reason: str) -> None:
        self._status.update(label=f"{self._title} · 失败", state="error", expanded=False)
        self._status.html(_thought(reason))


def draw_results(response: SearchResponse) -> None:
    """The first few results, and the rest one click away."""
    sources = number_results(response.results)
    if not sources:
        st.html('<div class="wy-line">没有找到结果。</div>')
        return
    draw_list(sources[:FIRST_RESULTS])
    if rest := sources[FIRST_RESULTS:]:
        with st.expander(f"其余 {len(rest)} 条"):
            draw_list(rest)
