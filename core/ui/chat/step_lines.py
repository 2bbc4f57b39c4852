"""Steps of a run as lines, in both modes. Example: 搜索「…」 · SearXNG · 10 条 · 0.5 秒 → 阅读 3 个网页 · … → 思考 · ….

A line is one row of HTML whose details fold away. A call and its result are one line, below the short thought that
announced it. A source shows the number that the text cites. Results that were not given to the model have none.
"""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Literal, assert_never

from markupsafe import Markup

from core.answer import events, passages_html, reading_status, references_html, results_html
from core.answer.events import SearchFinished
from core.answer.step_words import LOOK_UPS, TOOL_NAMES, search_summary, was_not_tried
from core.base.text import clean, one_line, shorten
from core.base.web_addresses import host_of
from core.run import PageRequest
from core.search.types import DOCUMENTS, SearchResponse, Source
from core.ui.chat import search_ledger
from core.ui.labels import ARGUMENTS, SEARCH_TYPES

FIRST_RESULTS = 3
MAX_BRIEF_LENGTH = 60
"""Largest length of a thought that only announces a call. It is one grey line above that call."""
MAX_LIVE_THOUGHT = 600
"""Number of characters of a growing thought that are shown. All of it, sent again and again, would be megabytes."""
RUNNING, NOT_FINISHED, STOPPED, ONLY_SNIPPET = "进行中", "没有完成", "已停止", "仅摘要"

State = Literal["running", "done", "partial", "stopped", "failed"]
"""The state of a step. `partial`: pages were not read, and the answer has their snippets. `stopped`: by the reader."""


class StepLine(ABC):
    """One step. `is_changed` means that it must be drawn again, `is_removed` that there is nothing to draw."""

    unfolds_while_running = False

    def __init__(self) -> None:
        self._started = time.monotonic()
        self.state: State = "running"
        self.is_changed = True
        self.is_removed = False

    @property
    @abstractmethod
    def name(self) -> str:
        """The step in one word."""

    @property
    @abstractmethod
    def title(self) -> str: ...

    @property
    def badge(self) -> str:
        """A word behind the title."""
        return ""

    @property
    @abstractmethod
    def facts(self) -> str: ...

    @property
    @abstractmethod
    def details(self) -> Markup: ...

    @property
    def is_open(self) -> bool:
        return self.unfolds_while_running and self.state == "running"

    def end(self, *, by_reader: bool = False) -> None:
        """End the step with the run. A step that still runs was stopped by the reader, or has failed."""
        if self.state == "running":
            self.set_state("stopped" if by_reader else "failed")

    def set_state(self, state: State) -> None:
        self.state, self.is_changed = state, True

    def to_html(self) -> Markup:
        badge = Markup(' <span class="wy-badge">%s</span>') % self.badge if self.badge else Markup()
        facts = Markup(' <span class="facts">· %s</span>') % self.facts if self.facts else Markup()
        row = Markup("<b>%s</b>%s%s") % (self.title, badge, facts)
        since = Markup()
        if self.state == "running":  # the style sheet counts the seconds
            since = Markup(' style="--since:-%ss"') % round(time.monotonic() - self._started)
        if not (details := self.details):
            return Markup('<div class="wy-step %s"%s>%s</div>') % (self.state, since, row)
        opened = Markup(" open") if self.is_open else Markup()
        head = Markup('<details class="wy-step %s"%s%s>') % (self.state, opened, since)
        return Markup("%s<summary>%s</summary><div>%s</div></details>") % (head, row, details)


class ThoughtLine(StepLine):
    """A thought: its end while it grows, all of it folded when it is done. A short one that announces a call is one
    grey line."""

    name = "思考"
    unfolds_while_running = True

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.is_announcement = False
        self._seconds = 0.0

    def add(self, thought: events.Thought) -> None:
        self.text += thought.text
        self._seconds += thought.seconds
        self.is_changed = True

    def end(self, *, by_reader: bool = False) -> None:
        # The recorded time counts if the line is drawn again later.
        self._seconds = max(self._seconds, time.monotonic() - self._started)
        self.is_removed = not self.text.strip()
        self.set_state("done")

    def remove_answer(self, answer: str) -> None:
        """Remove the parts that the answer repeats. A model without a fixed format may write its whole answer as a
        thought first."""
        answer = one_line(answer)
        parts = [part for part in re.split(r"\n\s*\n", self.text) if one_line(part) not in answer]
        if text := "\n\n".join(parts).strip():
            self.text, self.is_changed = text, self.is_changed or text != self.text
        else:
            self.is_removed = self.is_changed = True

    def to_html(self) -> Markup:
        if self.is_announcement:
            return Markup('<div class="wy-step said"><span class="facts">%s</span></div>') % one_line(self.text)
        return super().to_html()

    @property
    def title(self) -> str:
        if self.state == "running":
            return "思考中"
        return f"已思考 {round(self._seconds)} 秒" if self._seconds >= 1 else "思考"

    @property
    def facts(self) -> str:
        return "" if self.state == "running" else shorten(one_line(self.text), MAX_BRIEF_LENGTH)

    @property
    def details(self) -> Markup:
        return _thought_html(_end_of(self.text) if self.state == "running" else self.text)


def _end_of(text: str) -> str:
    """Return the end of a long text, from the beginning of a line if possible."""
    if len(text) <= MAX_LIVE_THOUGHT:
        return text
    end = text[-MAX_LIVE_THOUGHT:]
    return f"…{end.partition(chr(10))[2] or end}"


def _thought_html(text: str) -> Markup:
    text = clean(text).strip()
    return Markup('<div class="wy-thought" tabindex="0">%s</div>') % text if text else Markup()


class SearchLine(StepLine):
    """A search that the program made itself."""

    def __init__(self, query: str, original_question: str, app_url: str) -> None:
        super().__init__()
        self.found: SearchFinished | None = None
        self._query, self._asked, self._app_url = query, original_question, app_url

    def finish(self, found: SearchFinished) -> None:
        self.found = found
        self.set_state("failed" if has_search_failed(found.response) else "done")

    @property
    def name(self) -> str:
        return LOOK_UPS.get(self.found.response.provider, "搜索") if self.found else "搜索"

    @property
    def title(self) -> str:
        return f"{self.name}「{shorten(one_line(self._query), 40)}」"

    @property
    def facts(self) -> str:
        if self.found is not None:
            return search_summary(self.found.response, shown=len(self.found.sources))
        own = f"原话：{shorten(one_line(self._asked), 30)} · " if self._asked else ""
        return own + {"running": RUNNING, "stopped": STOPPED}.get(self.state, NOT_FINISHED)

    @property
    def details(self) -> Markup:
        if self.found is None:
            return search_ledger.query_html(self._query, self._asked)
        return search_ledger.entry_html(self.found.response, self._asked) + found_html(self.found, self._app_url)


class ReadingLine(StepLine):
    """Pages being opened, each marked when it is read."""

    name = "阅读"
    unfolds_while_running = True

    def __init__(self, sources: Sequence[Source]) -> None:
        super().__init__()
        self._sources = {source.number: source for source in sources}
        self._waiting = set(self._sources)

    def mark_read(self, source: Source) -> None:
        if source.number in self._waiting:
            self._sources[source.number] = source
            self._waiting.discard(source.number)
            self.is_changed = True
            if not self._waiting:
                self.end()

    def note_given(self, source: Source) -> None:
        """Note how much of a page the model was given."""
        if source.number in self._sources and source.number not in self._waiting:
            self._sources[source.number] = source
            self.is_changed = True

    def end(self, *, by_reader: bool = False) -> None:
        """End the step. Pages that still wait were not read."""
        is_stopped = by_reader and bool(self._waiting)
        self._waiting.clear()
        self.set_state("stopped" if is_stopped else "partial" if self.snippet_count else "done")

    @property
    def read_count(self) -> int:
        return sum(source.read == "page" for source in self._sources.values())

    @property
    def snippet_count(self) -> int:
        return len(self._sources) - self.read_count

    @property
    def title(self) -> str:
        return f"阅读 {len(self._sources)} 个网页"

    @property
    def facts(self) -> str:
        if self.state == "running":
            return RUNNING
        counts = {"已读全文": self.read_count, ONLY_SNIPPET: self.snippet_count}
        known = "，".join(f"{count} 个{status}" for status, count in counts.items() if count)
        return f"{STOPPED} · {known}" if self.state == "stopped" else known

    @property
    def details(self) -> Markup:
        rows = (reading_row_html(source, waiting=number in self._waiting) for number, source in self._sources.items())
        return Markup('<ul class="wy-reading">%s</ul>') % Markup("").join(rows)


def reading_row_html(source: Source, *, waiting: bool) -> Markup:
    state = "waiting" if waiting else "read" if source.read == "page" else "unread"
    site, status = host_of(source.url) or source.url, "阅读中" if waiting else reading_status(source)
    return Markup('<li class="%s">[%s] %s <span>%s</span></li>') % (state, source.number, site, status)


_MAIN_ARGUMENTS = {"read_page": "sources", "read_document": "file"}
"""The argument that says what is read; a search has its query."""


class GivenLine(StepLine):
    """The files of which the model was given the text, and how much of each."""

    name = "附件"

    def __init__(self, sources: Sequence[Source]) -> None:
        super().__init__()
        self._sources = sources
        self.set_state("done")

    @property
    def title(self) -> str:
        return f"交给模型 {len(self._sources)} 个文件"

    @property
    def facts(self) -> str:
        parts = sum(source.given < source.characters for source in self._sources)
        return f"{parts} 个只有一部分" if parts else "全文"

    @property
    def details(self) -> Markup:
        rows = (given_row_html(source) for source in self._sources)
        return Markup('<ul class="wy-reading">%s</ul>') % Markup("").join(rows)


def given_row_html(source: Source) -> Markup:
    name, status = shorten(one_line(source.title), 60), reading_status(source)
    return Markup('<li class="read">[%s] %s <span>%s</span></li>') % (source.number, name, status)


class PartsLine(StepLine):
    """A file that is read part by part, for a question about the whole."""

    name = "通读"
    unfolds_while_running = True

    def __init__(self, event: events.PartsStarted) -> None:
        super().__init__()
        self._parts: dict[int, events.PartRead] = {}
        self._count = event.parts
        self._source = event.source

    def add(self, event: events.PartRead) -> None:
        self._parts[event.part] = event
        self.is_changed = True
        if len(self._parts) == self._count:
            self.set_state("partial" if self._problems else "done")

    def end(self, *, by_reader: bool = False) -> None:
        if self.state == "running":
            self.set_state("stopped" if by_reader else "partial")

    @property
    def _problems(self) -> int:
        return sum(bool(part.problem) for part in self._parts.values())

    @property
    def title(self) -> str:
        if self.state == "running":
            return f"读第 {min(len(self._parts) + 1, self._count)}/{self._count} 部分"
        return f"分 {self._count} 部分通读《{shorten(one_line(self._source.title), 40)}》"

    @property
    def facts(self) -> str:
        if self.state == "running":
            return RUNNING
        read = len(self._parts) - self._problems
        known = "全部读过" if read == self._count else f"读了 {read} 部分，{self._count - read} 部分没有读成"
        return f"{STOPPED} · {known}" if self.state == "stopped" else known

    @property
    def details(self) -> Markup:
        rows = (_part_row_html(self._parts[number]) for number in sorted(self._parts))
        return Markup('<ul class="wy-reading">%s</ul>') % Markup("").join(rows) if self._parts else Markup()


def _part_row_html(part: events.PartRead) -> Markup:
    row = Markup('<li class="%s">第 %s 部分 %s <span>%s</span></li>')
    return row % ("unread" if part.problem else "read", part.part, part.places, part.problem or "已读")


class ToolLine(StepLine):
    """A call of the agent with its result: search results, pages, or a sentence."""

    def __init__(self, started: events.ToolStarted, app_url: str) -> None:
        super().__init__()
        self.tool = started.tool
        self.found: SearchFinished | None = None
        self.reading: ReadingLine | None = None
        asked = started.arguments.get(_MAIN_ARGUMENTS.get(self.tool, "query"))
        self._asked = one_line(asked or started.input)
        self._focus = started.arguments.get("focus", "")
        self._type = started.arguments.get("search_type", "")
        self._pages = [f"（{pages}）"] if (pages := started.arguments.get("pages")) else []
        self._others = {name: value for name, value in started.arguments.items() if value and value != asked}
        self._app_url = app_url
        self._summary, self._ok, self._seconds = "", True, 0.0

    def search(self, query: str) -> None:
        self._asked, self.is_changed = one_line(query), True

    def find(self, found: SearchFinished) -> None:
        self.found, self.is_changed = found, True

    def start_reading(self, sources: Sequence[Source]) -> None:
        self.reading, self.is_changed = ReadingLine(sources), True

    def mark_read(self, source: Source) -> None:
        if self.reading:
            self.reading.mark_read(source)
            self.is_changed = True

    def note_given(self, source: Source) -> None:
        if self.reading:
            self.reading.note_given(source)
            self.is_changed = True

    def finish(self, summary: str, *, ok: bool, seconds: float = 0.0) -> None:
        self._summary, self._ok, self._seconds = summary, ok, seconds
        if self.reading:
            self.reading.end()
        is_partial = self.reading is not None and self.reading.snippet_count > 0
        failed = not ok or (self.found is not None and has_search_failed(self.found.response))
        self.set_state("partial" if is_partial else "failed" if failed else "done")

    def end(self, *, by_reader: bool = False) -> None:
        if self.state != "running":
            return
        if self.reading and self.reading.state == "running":
            self.reading.end(by_reader=by_reader)
        if by_reader:
            self.set_state("stopped")
        else:
            self.finish(NOT_FINISHED, ok=False)

    @property
    def name(self) -> str:
        return TOOL_NAMES.get(self.tool, one_line(self.tool))

    @property
    def title(self) -> str:
        if self.tool == "read_document":
            return f"{self.name} {shorten(' '.join((self._asked, *self._pages)), 60)}"
        if self.tool != "read_page":
            return f"{self.name}「{shorten(self._asked, 40)}」"
        wanted = PageRequest.parse(self._asked, self._focus)
        pages = "".join(f"[{page}]" if isinstance(page, int) else host_of(page) or page for page in wanted.pages)
        return f"{self.name} {pages}{'：' if pages and wanted.focus else ''}{shorten(wanted.focus, 40)}"

    @property
    def badge(self) -> str:
        return "" if self._type == "general" else SEARCH_TYPES.get(self._type, "")

    @property
    def facts(self) -> str:
        if self.state == "running":
            return RUNNING
        if self.reading is not None and self.state != "failed":
            return self.reading.facts
        if self.state == "stopped":
            return STOPPED
        if not self._ok:
            return f"失败：{shorten(one_line(self._summary), MAX_BRIEF_LENGTH)}"
        if self.found is not None:
            return search_summary(self.found.response, shown=len(self.found.sources))
        return self._summary if self.tool == "read_document" else "完成"

    @property
    def details(self) -> Markup:
        row_html = search_ledger.row_html
        others = Markup().join(
            row_html(ARGUMENTS.get(name, name), one_line(SEARCH_TYPES.get(value, value)))
            for name, value in self._others.items()
        )
        if self.found is not None:
            results = search_ledger.entry_html(self.found.response) + found_html(self.found, self._app_url)
            return others + results
        asked = row_html("要读" if self.tool in _MAIN_ARGUMENTS else "查询", self._asked)
        pages = self.reading.details if self.reading else Markup()
        return asked + others + pages + (row_html("结果", self._summary) if self._summary else Markup())

    @property
    def is_open(self) -> bool:
        return self.reading is not None and self.reading.is_open


WAITS_FOR_READER = "等你允许"
_APPROVALS: dict[events.ApprovalOutcome, str] = {
    "allowed": "你允许了",
    "refused": "你没有允许",
    "timeout": "没有等到你的选择",
    "nobody": "没有人可以按「允许」",
}


class ForeignToolLine(ToolLine):
    """A call of a tool of a foreign MCP server, with what the reader said to it and the sources that it brought."""

    def __init__(self, started: events.ToolStarted, app_url: str) -> None:
        super().__init__(started, app_url)
        self._server = started.server
        self._arguments = started.arguments
        self._waits = False
        self._answer = ""
        self._sources: tuple[Source, ...] = ()

    def ask_reader(self) -> None:
        self._waits = self.is_changed = True

    def note_answer(self, outcome: events.ApprovalOutcome) -> None:
        self._waits, self._answer, self.is_changed = False, _APPROVALS[outcome], True

    def add_sources(self, sources: tuple[Source, ...]) -> None:
        self._sources, self.is_changed = sources, True

    @property
    def title(self) -> str:
        return f"{self.name}「{shorten(self._asked, 40)}」" if self._asked else self.name

    @property
    def badge(self) -> str:
        return "外部工具"

    @property
    def facts(self) -> str:
        if self.state == "running":
            return WAITS_FOR_READER if self._waits else RUNNING
        if self.state == "stopped":
            return STOPPED
        told = shorten(one_line(self._summary), MAX_BRIEF_LENGTH)
        parts = [told if self._ok else f"失败：{told}", f"{self._seconds:.1f} 秒" if self._seconds >= 0.05 else ""]
        return " · ".join(filter(None, parts))

    @property
    def details(self) -> Markup:
        row_html = search_ledger.row_html
        rows = [row_html("服务器", self._server), row_html("工具", self.tool.removeprefix(f"{self._server}."))]
        rows += [row_html(name, one_line(value)) for name, value in self._arguments.items()]
        rows += [row_html("是否允许", self._answer)] if self._answer else []
        rows += [row_html("结果", self._summary)] if self._summary else []
        if self._sources:
            rows.append(references_html(self._sources, app_url=self._app_url))
        return Markup().join(rows)


def has_search_failed(response: SearchResponse) -> bool:
    """Return whether a web search was wanted and failed. Results of built-in libraries do not count."""
    return bool(response.failure) or not (response.provider or was_not_tried(response))


def found_html(found: SearchFinished, app_url: str) -> Markup:
    """Return the first few sources, and the rest folded, including results that the model was not given."""
    if not found.response.results:
        return search_ledger.row_html("结果", "没有找到。")
    if found.response.provider == DOCUMENTS:
        return passages_html(found.response.results, found.sources)
    shown = references_html(found.sources[:FIRST_RESULTS], app_url=app_url)
    more, besides = found.sources[FIRST_RESULTS:], found.unnumbered_results
    if not (more or besides):
        return shown
    rest = references_html(more, app_url=app_url) if more else Markup()
    if besides:
        rest += Markup('<div class="wy-line">下面 %s 条没有取用，所以没有编号。</div>') % len(besides)
        rest += results_html(besides, app_url=app_url)
    return shown + Markup("<details><summary>其余 %s 条</summary>%s</details>") % (len(more) + len(besides), rest)


class StepLines:
    """Lines for the events of a run, in the order in which they began."""

    def __init__(self, *, app_url: str = "") -> None:
        self.lines: list[StepLine] = []
        self.is_stopped = False
        """True if the reader stopped the run."""
        self._app_url = app_url
        self._thinking: ThoughtLine | None = None
        self._search: SearchLine | None = None
        self._reading: ReadingLine | None = None
        self._parts: dict[int, PartsLine] = {}
        self._calls: dict[str, ToolLine] = {}

    def add_event(self, event: events.RunEvent) -> None:
        """Update the lines for one event."""
        match event:
            case events.Thought():
                self._think(event)
            case events.SearchStarted():
                self._search_started(event)
            case SearchFinished():
                self._search_finished(event)
            case events.ReadingStarted():
                self._reading_started(event)
            case events.PageRead(source=source):
                if reading := self._calls.get(event.call_id, self._reading):
                    reading.mark_read(source)
            case events.SourcesGiven():
                self._sources_given(event)
            case events.PartsStarted():
                self._parts_started(event)
            case events.PartRead(source=source):
                if parts := self._parts.get(source.number):
                    parts.add(event)
            case events.ToolStarted():
                self._tool_started(event)
            case events.ToolFinished():
                if call := self._calls.get(event.call_id):
                    call.finish(event.summary, ok=event.ok, seconds=event.seconds)
            case events.SourcesFound():
                if isinstance(line := self._calls.get(event.call_id), ForeignToolLine):
                    line.add_sources(event.sources)
            case events.ApprovalAsked():
                if isinstance(line := self._calls.get(event.call_id), ForeignToolLine):
                    line.ask_reader()
            case events.ApprovalAnswered():
                if isinstance(line := self._calls.get(event.call_id), ForeignToolLine):
                    line.note_answer(event.outcome)
            case events.TextDelta():
                self._end_thinking()
            case events.Answer(text=text):
                self._on_answer(text)
            case events.RunStopped():
                self.is_stopped = event.reason == "user"
            case events.Notice() | events.Checked() | events.Usage() | events.RunFailed():
                pass
            case _:
                assert_never(event)

    def _think(self, thought: events.Thought) -> None:
        if self._thinking is None:
            self._thinking = ThoughtLine()
            self.lines.append(self._thinking)
        self._thinking.add(thought)

    def _end_thinking(self) -> None:
        if self._thinking is not None:
            self._thinking.end()
            self._thinking = None

    def _tool_started(self, started: events.ToolStarted) -> None:
        if self._thinking is not None and len(self._thinking.text.strip()) <= MAX_BRIEF_LENGTH:
            self._thinking.is_announcement = True
        self._end_thinking()
        line = (ForeignToolLine if started.server else ToolLine)(started, self._app_url)
        self._calls[started.call_id] = line
        self.lines.append(line)

    def _search_started(self, started: events.SearchStarted) -> None:
        if call := self._calls.get(started.call_id):
            call.search(started.query)
        else:
            self._end_thinking()
            self._begin_search(started.query, started.asked)

    def _begin_search(self, query: str, asked: str) -> SearchLine:
        self._search = SearchLine(query, asked, self._app_url)
        self.lines.append(self._search)
        return self._search

    def _search_finished(self, found: SearchFinished) -> None:
        """Attach results to the call that asked for them. Several calls may run at once."""
        if call := self._calls.get(found.call_id):
            call.find(found)
            return
        search = self._search
        if search is None or (search.found is not None and not found.amends):
            search = self._begin_search(found.response.query.text, found.asked)
        search.finish(found)

    def _reading_started(self, started: events.ReadingStarted) -> None:
        """Attach the pages to the call that asked for them, else add a line."""
        self._end_thinking()
        if call := self._calls.get(started.call_id):
            call.start_reading(started.sources)
        else:
            self._reading = ReadingLine(started.sources)
            self.lines.append(self._reading)

    def _sources_given(self, given: events.SourcesGiven) -> None:
        """Say of pages in their line how much the model was given, and add a line for files."""
        self._end_thinking()
        reading = self._calls.get(given.call_id, self._reading)
        for source in given.sources:
            if reading is not None:
                reading.note_given(source)
        # A file of a collection stands in the line of the search that has found it.
        files = [one for one in given.sources if one.is_own_file and not one.given_parts]
        if files and not given.call_id:
            self.lines.append(GivenLine(files))

    def _parts_started(self, started: events.PartsStarted) -> None:
        self._end_thinking()
        line = self._parts[started.source.number] = PartsLine(started)
        self.lines.append(line)

    def _on_answer(self, text: str) -> None:
        self._end_thinking()
        for line in self.lines:
            if isinstance(line, ThoughtLine):
                line.remove_answer(text)

    def finish(self) -> None:
        """End all open lines, however the run ended."""
        self._end_thinking()
        for line in self.lines:
            if line.state == "running":
                line.end(by_reader=self.is_stopped)

    @property
    def visible(self) -> list[StepLine]:
        return [line for line in self.lines if not line.is_removed]

    @property
    def totals(self) -> str:
        """Totals such as 已搜索 2 次 · 阅读 3 页. Empty if there are only thoughts."""
        calls = [line.tool for line in self.lines if isinstance(line, ToolLine)]
        searched = [line.name for line in self.lines if isinstance(line, SearchLine)]
        pages = sum(reading.read_count for reading in self._readings)
        counted = {
            "已搜索 {} 次": searched.count("搜索") + calls.count("web_search"),
            "查资料 {} 次": searched.count("查资料") + calls.count("document_search"),
            "查法规 {} 次": searched.count("查法规") + calls.count("regulation_search"),
            "查案例 {} 次": calls.count("case_search"),
            "外部工具 {} 次": sum(isinstance(line, ForeignToolLine) for line in self.lines),
            "读资料 {} 次": calls.count("read_document"),
            "阅读 {} 页": pages,
        }
        return " · ".join(words.format(count) for words, count in counted.items() if count)

    @property
    def failed(self) -> list[StepLine]:
        return [line for line in self.visible if line.state == "failed"]

    @property
    def snippet_count(self) -> int:
        """The number of pages that were opened and not read."""
        return sum(reading.snippet_count for reading in self._readings)

    @property
    def _readings(self) -> list[ReadingLine]:
        readings = (line.reading if isinstance(line, ToolLine) else line for line in self.lines)
        return [reading for reading in readings if isinstance(reading, ReadingLine)]


def lines_of(run_events: Iterable[events.RunEvent], *, app_url: str = "") -> StepLines:
    """Return the lines of a finished run."""
    steps = StepLines(app_url=app_url)
    for event in run_events:
        steps.add_event(event)
    steps.finish()
    return steps


def rail_html(lines: Iterable[StepLine]) -> Markup:
    return Markup('<div class="wy-rail">%s</div>') % Markup().join(line.to_html() for line in lines)
