"""The steps of a run as lines of text: what was thought, searched and read, as it happens."""

from __future__ import annotations

from typing import Literal, assert_never

from core.answer import events, reading_status
from core.answer.step_words import LOOK_UPS, TOOL_NAMES, search_summary
from core.base.text import one_line, quote_paste_lines, shorten
from core.base.web_addresses import host_of
from core.search.types import Source

_LONGEST_WORDS = 60


class StepText:
    """A growing text of steps, as Markdown: a list, with the thoughts between its parts. What was written is never changed:
    a call that is over continues its line if that is still the last one."""

    def __init__(self) -> None:
        self._last: Literal["", "thought", "step"] = ""
        self._open_call: str | None = None
        """The call whose line is still open at the end."""
        self._told_calls = set[str]()
        """The calls of which more was told than their beginning."""

    def add(self, event: events.RunEvent) -> str:
        """Return what the event adds to the text."""
        match event:
            case events.Thought(text=text):
                return self._thought(text)
            case events.SearchStarted(call_id="", query=query):
                return self._begin("", f"搜索「{_words(query)}」")
            case events.SearchFinished(amends=False):
                return self._search_finished(event)
            case events.ReadingStarted(call_id="", sources=sources):
                return self._line(f"阅读 {len(sources)} 个网页")
            case events.PageRead(source=source, call_id=call):
                self._told_calls.add(call)
                return self._line(f"{_name_of(source)} · {reading_status(source)}")
            case events.PartsStarted(source=source, parts=parts):
                return self._line(f"分 {parts} 部分通读《{_words(source.title)}》")
            case events.PartRead(part=part, parts=parts, problem=problem):
                return self._line(f"第 {part}/{parts} 部分：{problem or '已读'}")
            case events.ToolStarted(call_id=call):
                return self._begin(
                    call, f"{_tool(event.tool)}「{_words(event.arguments.get('query') or event.input)}」"
                )
            case events.ToolFinished():
                return self._tool_finished(event)
            case events.Notice(text=text):
                return self._line(quote_paste_lines(text))
            case events.SearchStarted() | events.SearchFinished() | events.ReadingStarted() | events.SourcesGiven():
                return ""  # stand in the line of the call
            case events.SourcesFound() | events.ApprovalAsked() | events.ApprovalAnswered():
                return ""  # the end of the call tells of it
            case events.TextDelta() | events.Checked() | events.Answer() | events.Usage():
                return ""
            case events.RunStopped() | events.RunFailed():
                return ""
            case _:
                assert_never(event)

    def begin_draft(self) -> str:
        """Return the line above the text of an agent that may become the answer."""
        return self._thought("\n\n草稿：\n" if self._last == "thought" else "草稿：\n")

    def _search_finished(self, found: events.SearchFinished) -> str:
        response = found.response
        self._told_calls.add(found.call_id)
        summary = search_summary(response, shown=len(found.sources))
        return self._end(
            found.call_id, f"{LOOK_UPS.get(response.provider, '搜索')}「{_words(response.query.text)}」", summary
        )

    def _tool_finished(self, finished: events.ToolFinished) -> str:
        if finished.ok and finished.call_id in self._told_calls:
            return ""
        outcome = _words(finished.summary) if finished.ok else f"失败：{_words(finished.summary)}"
        return self._end(finished.call_id, _tool(finished.tool), outcome)

    # ── Lines ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _thought(self, text: str) -> str:
        before = f"{self._line_end()}\n" if self._last == "step" else ""
        self._last = "thought"
        return before + text

    def _begin(self, call: str, text: str) -> str:
        before = "\n" if self._last == "thought" else self._line_end()
        self._last, self._open_call = "step", call
        return f"{before}- {text}"

    def _line(self, text: str) -> str:
        return self._begin("", text) + self._line_end()

    def _end(self, call: str, title: str, outcome: str) -> str:
        """Continue the line of the call, or write a new one."""
        if self._open_call != call:
            return self._line(f"{title} · {outcome}")
        return f" · {outcome}{self._line_end()}"

    def _line_end(self) -> str:
        """Return the end of the last line, unless it was written."""
        end = "" if self._open_call is None else "\n"
        self._open_call = None
        return end


def _words(text: str) -> str:
    return shorten(one_line(text), _LONGEST_WORDS)


def _tool(name: str) -> str:
    return TOOL_NAMES.get(name, one_line(name))


def _name_of(source: Source) -> str:
    return f"[{source.number}] {host_of(source.url) or _words(source.title)}"
