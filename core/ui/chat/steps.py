"""The steps of a run: 思考 → 搜索「…」 → 找到 N 条 → …, in both modes, live while they happen and the same on every rerun.

One `st.status` per step, whose seconds the style sheet counts while it runs; one `st.empty` per growing text, at most 20
updates a second. A source shows the number that
the text cites; what was found and not handed to the model has none.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, assert_never

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.mutable_status_container import StatusContainer

from core.answer.events import (
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
from core.answer.sources import how_read
from core.base.text import clean, one_line, shorten
from core.search.types import SearchResponse, Source, host_of
from core.ui.chat import ledger
from core.ui.chat.answer import UPDATES_PER_SECOND, draw_list, draw_results
from core.ui.escape import draw_html, label

FIRST_RESULTS = 3
LIVE_THOUGHT = 600
"""So much of a growing thought is on the page: all of it, again and again, would be megabytes."""
TOOL_NAMES = {"web_search": "搜索", "regulation_search": "查法规", "case_search": "查案例", "read_page": "阅读"}


class Steps:
    """Draws into `place`."""

    def __init__(self, place: DeltaGenerator, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._place = place
        self._clock = clock
        self._thinking: _Thinking | None = None
        self._search: _SearchStep | None = None
        self._readings: list[_ReadingStep] = []
        self._tools: dict[str, _ToolStep] = {}

    def take(self, event: RunEvent) -> None:
        match event:
            case Thought():
                self._think(event)
            case SearchStarted():
                self._search_started(event)
            case SearchFinished():
                self._search_finished(event)
            case ReadingStarted(sources=sources):
                self._reading_started(sources)
            case PageRead(source=source):
                for reading in self._readings:
                    reading.tick(source)
            case ToolStarted():
                self.tool_started(event.call_id, event.tool, event.input)
            case ToolFinished():
                self.tool_finished(event.call_id, event.summary, ok=event.ok)
            case TextDelta():
                self.end_thinking()
            case Notice() | Checked() | Answer() | Usage() | RunStopped() | RunFailed():
                pass
            case _:
                assert_never(event)

    def _think(self, thought: Thought) -> None:
        if self._thinking is None:
            self._thinking = _Thinking(self._place, self._clock)
        self._thinking.add(thought)

    def end_thinking(self) -> None:
        if self._thinking is not None:
            self._thinking.done()
            self._thinking = None

    def tool_started(self, call_id: str, tool: str, asked: str) -> None:
        self.end_thinking()
        self._tools[call_id] = _ToolStep(self._place, tool, asked)

    def tool_finished(self, call_id: str, summary: str, *, ok: bool) -> None:
        if step := self._tools.pop(call_id, None):
            step.done(summary) if ok else step.failed(summary)

    def _search_started(self, started: SearchStarted) -> None:
        if not self._tools:  # else the search is what one of the tools does
            self.end_thinking()
            self._search = _SearchStep(self._place, started.query, started.asked)

    def _search_finished(self, found: SearchFinished) -> None:
        """Several calls may run at once: the results belong to the one that asked for them."""
        if self._tools:
            asking = (step for step in self._tools.values() if step.asks(found.response.query.text))
            if step := next((step for step in asking if step.found is None), None):
                step.found = found
            return
        if self._search is None or (self._search.finished and not found.amends):
            self._search = _SearchStep(self._place, found.response.query.text, found.asked)
        self._search.done(found)

    def _reading_started(self, sources: Sequence[Source]) -> None:
        """Below the call that asked for it, where there is one."""
        self.end_thinking()
        asking = next((step for step in self._tools.values() if step.reads(sources)), None)
        self._readings.append(_ReadingStep(asking.place if asking else self._place, sources))

    def draw(self) -> None:
        if self._thinking is not None:
            self._thinking.draw()

    def finish(self) -> None:
        """No step stays open, however the run ended."""
        self.end_thinking()
        if self._search is not None and not self._search.finished:
            self._search.failed()
        for reading in self._readings:
            reading.end()
        for step in self._tools.values():
            step.failed("没有完成")
        self._tools.clear()


def draw_steps(events: Iterable[RunEvent]) -> None:
    """The steps of a run that is over."""
    steps = Steps(st.container())
    for event in events:
        steps.take(event)
    steps.finish()


class _Thinking:
    """The end of what the model thinks, while it does; all of it, when it is done."""

    def __init__(self, place: DeltaGenerator, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._text = ""
        self._seconds = 0.0
        self._began = clock()
        self._drawn = ""
        self._next_update = 0.0
        self._status = place.status("思考中", state="running", expanded=True)
        self._body = self._status.empty()

    def add(self, thought: Thought) -> None:
        self._text += thought.text
        self._seconds += thought.seconds

    def draw(self) -> None:
        now = self._clock()
        if now >= self._next_update and self._text != self._drawn:
            draw_html(_thought(_end_of(self._text)), self._body)
            self._drawn, self._next_update = self._text, now + 1 / UPDATES_PER_SECOND

    def done(self) -> None:
        draw_html(_thought(self._text or "（没有写出思考内容）"), self._body)
        seconds = max(self._seconds, self._clock() - self._began)  # the first where it is drawn again, later
        self._status.update(label=_thought_label(self._text, seconds), state="complete", expanded=False)


def _end_of(text: str) -> str:
    """From the beginning of a line on, where there is one."""
    if len(text) <= LIVE_THOUGHT:
        return text
    end = text[-LIVE_THOUGHT:]
    return f"…{end.partition(chr(10))[2] or end}"


def _thought(text: str) -> Markup:
    return Markup('<div class="wy-thought" tabindex="0">%s</div>') % clean(text).strip()


def _thought_label(text: str, seconds: float) -> str:
    name = f"已思考 {round(seconds)} 秒" if seconds >= 1 else "思考"
    return f"{name} · {label(shorten(one_line(text), 24))}" if text.strip() else name


class _SearchStep:
    """A search that the program made itself."""

    def __init__(self, place: DeltaGenerator, query: str, asked: str) -> None:
        self.finished = False
        own = f"（原话：{shorten(one_line(asked), 30)}）" if asked else ""
        self._status: StatusContainer = place.status(f"搜索中：{label(shorten(query, 60) + own)}", state="running")
        if asked:
            draw_html(ledger.words(query, asked), self._status)
        self._details = self._status.empty()

    def done(self, found: SearchFinished) -> None:
        self.finished = True
        with self._details.container():
            draw_found(found)
        self._status.update(
            label=f"搜索 · {label(ledger.summary(found.response))}", state=_state(found.response), expanded=False
        )

    def failed(self) -> None:
        self._status.update(label="搜索 · 没有完成", state="error", expanded=False)


class _ReadingStep:
    """Pages being opened, each ticked off as it comes."""

    def __init__(self, place: DeltaGenerator, sources: Sequence[Source]) -> None:
        self._sources = {source.number: source for source in sources}
        self._waiting = set(self._sources)
        self._status = place.status(f"正在阅读 {len(sources)} 个网页…", state="running", expanded=True)
        self._rows = self._status.empty()
        self._draw()

    def tick(self, source: Source) -> None:
        if source.number in self._waiting:
            self._sources[source.number] = source
            self._waiting.discard(source.number)
            self._draw()
            if not self._waiting:
                self._tell()

    def end(self) -> None:
        """Of a run that was stopped: what is still waiting was not read."""
        if self._waiting:
            self._waiting.clear()
            self._draw()
            self._tell()

    def _tell(self) -> None:
        read = sum(source.read == "page" for source in self._sources.values())
        unread = len(self._sources) - read
        told = [f"{read} 个网页已读全文"] * bool(read) + [f"{unread} 个仅摘要"] * bool(unread)
        self._status.update(label=f"阅读 · {'，'.join(told)}", state="complete" if read else "error", expanded=False)

    def _draw(self) -> None:
        rows = Markup("").join(
            reading_row(source, waiting=source.number in self._waiting) for source in self._sources.values()
        )
        draw_html(Markup('<ul class="wy-reading">%s</ul>') % rows, self._rows)


def reading_row(source: Source, *, waiting: bool) -> Markup:
    state = "waiting" if waiting else "read" if source.read == "page" else "unread"
    return Markup('<li class="%s">[%s] %s <span>%s</span></li>') % (
        state,
        source.number,
        host_of(source.url) or source.url,
        "阅读中" if waiting else how_read(source),
    )


class _ToolStep:
    """Two steps of the story: what was asked, and what came back."""

    def __init__(self, place: DeltaGenerator, tool: str, asked: str) -> None:
        self.found: SearchFinished | None = None
        self._tool = tool
        self._asked = one_line(asked)
        self._title = f"{TOOL_NAMES.get(tool, label(tool))}「{label(shorten(self._asked, 40))}」"
        self.place = place.container()
        self._status: StatusContainer = self.place.status(f"{self._title} · 进行中", state="running")
        asking = "要读" if tool == "read_page" else "查询"
        draw_html(Markup('<div class="wy-line"><b>%s</b> %s</div>') % (asking, self._asked), self._status)

    def asks(self, text: str) -> bool:
        return set(one_line(text).split()) <= set(self._asked.split())

    def reads(self, sources: Sequence[Source]) -> bool:
        """Several calls may read at once: numbers or links say whose pages these are."""
        numbers = set(re.findall(r"\d+", re.sub(r"https?://\S+", "", self._asked)))
        named = (str(source.number) in numbers or host_of(source.url) in self._asked for source in sources)
        return self._tool == "read_page" and any(named)

    def done(self, summary: str) -> None:
        self._status.update(label=f"{self._title} · 完成", state="complete", expanded=False)
        if self.found is None:
            draw_html(_thought(summary), self._status)
            return
        response = self.found.response
        with self._status:
            draw_html(ledger.entry(response))
        with self.place.status(f"搜索结果 · {label(ledger.summary(response))}", state=_state(response)):
            draw_found(self.found)

    def failed(self, reason: str) -> None:
        self._status.update(label=f"{self._title} · 失败", state="error", expanded=False)
        draw_html(_thought(reason), self._status)


def _state(response: SearchResponse) -> Literal["complete", "error"]:
    return "error" if search_failed(response) else "complete"


def search_failed(response: SearchResponse) -> bool:
    """The web was to be searched, and was not; what is built in is no proof of it."""
    return bool(response.failure) or not (response.provider or ledger.was_not_tried(response))


def draw_found(found: SearchFinished) -> None:
    """The first few sources, and one click away the rest: also what the model was not shown."""
    if not found.response.results:
        draw_html(Markup('<div class="wy-line">没有结果。各引擎的情况见回答下方的「搜索账本」。</div>'))
        return
    draw_list(found.sources[:FIRST_RESULTS])
    more, besides = found.sources[FIRST_RESULTS:], found.not_handed_over
    if more or besides:
        with st.expander(f"其余 {len(more) + len(besides)} 条"):
            if more:
                draw_list(more)
            if besides:
                draw_html(Markup('<div class="wy-line">下面 %s 条没有交给模型，所以没有编号。</div>') % len(besides))
                draw_results(besides)
