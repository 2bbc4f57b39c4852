"""The parts that every export has of a message: label, time, origin, remarks and the results of the checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, assert_never

from core.answer.claims import NOTHING_LOOKED_UP, PROBLEMS, UNCITED, claims, tally
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
from core.answer.sources import ATTACHED
from core.base.text import one_line
from core.legal.types import LIBRARIES

if TYPE_CHECKING:
    from core.legal.desk import StatuteCheck
    from core.legal.verify import Verdict

CheckStatutes = Callable[[Message], "StatuteCheck | None"]
"""A function that returns 法条核验 of an answer."""

LABELS = {"user": "问", "assistant": "答"}
UNTITLED = "未命名的对话"
SUMMARY_LENGTH = 120
NOT_WHOLE = ("unfinished", CUT_OFF)
"""The kinds of notices on an answer that is not complete."""


def unchecked(message: Message) -> None:
    return None


def said(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield the messages without the program's own notes."""
    return (message for message in messages if message.role != "note")


def moment(seconds: float, zone: tzinfo | None) -> datetime:
    """Return the time in the reader's zone if it is known, else in the server's."""
    try:
        return datetime.fromtimestamp(seconds, zone).astimezone(zone)
    except (ValueError, OverflowError, OSError):  # a damaged record
        return datetime.fromtimestamp(0, zone).astimezone(zone)


def shown_moment(seconds: float, zone: tzinfo | None) -> str:
    shown = moment(seconds, zone)
    return f"{shown:%Y-%m-%d %H:%M}（UTC{shown.isoformat()[-6:]}）"


def day(message: Message, zone: tzinfo | None) -> str:
    return f"{moment(message.created, zone):%Y-%m-%d}"


def origin(message: Message, zone: tzinfo | None) -> str:
    parts = [message.model or "模型未记录", shown_moment(message.created, zone)]
    return " · ".join([*parts, f"{message.seconds:.1f} 秒"] if message.seconds else parts)


def attached(message: Message) -> str:
    """Return the line with a question's attachments; empty if it has none."""
    return f"{ATTACHED}：{'、'.join(map(one_line, message.files))}" if message.files else ""


def _search_line(search: SearchFinished) -> str:
    response = search.response
    found = (
        f"{LIBRARIES.get(response.provider, response.provider)}，找到 {len(response.results)} 条"
        if response.provider
        else "没有成功"
    )
    cached = "，来自缓存" if response.from_cache else ""
    asked = f"（原话「{one_line(search.asked)}」）" if search.asked else ""
    return f"搜索「{one_line(response.query.text)}」{asked}：{found}，{response.search_time:.1f} 秒{cached}"


def remarks(message: Message) -> Iterator[str]:
    """Yield the sentences on how the answer came about and how it ended."""
    if message.looked_nothing_up:
        yield NOTHING_LOOKED_UP
    yield from filter(None, (one_line(_remark(event)) for event in message.events))
    if message.stopped:
        yield message.stopped


def _remark(event: RunEvent) -> str:
    match event:
        case SearchFinished():
            return _search_line(event)
        case Notice(text=text) | RunFailed(message=text):
            return text
        case SearchStarted() | ReadingStarted() | PageRead() | Thought() | ToolStarted() | ToolFinished():
            return ""
        case TextDelta() | Checked() | Answer() | Usage() | RunStopped():
            return ""
        case _:
            assert_never(event)


def verdicts(message: Message, check: CheckStatutes) -> Sequence[Verdict]:
    checked = check(message)
    return checked.verdicts if checked else ()


def claim_lines(message: Message) -> Iterator[str]:
    """Yield the lines of 依据核对: the totals, then each place that a reader should look at."""
    if message.check is None or not (counted := tally(message.check)):
        return
    yield counted
    yield from (str(claim) for claim in claims(message.check) if claim.verdict in PROBLEMS)
    yield from (f"{UNCITED}：{statement.text}" for statement in message.check.uncited)
    if message.check.opinion:
        yield str(message.check.opinion)


def verdict_lines(message: Message, check: CheckStatutes) -> Iterator[str]:
    return map(_verdict_line, verdicts(message, check))


def _verdict_line(verdict: Verdict) -> str:
    return f"{verdict.mark} {one_line(verdict.cited)}：{verdict.meaning}。{verdict.note}"
