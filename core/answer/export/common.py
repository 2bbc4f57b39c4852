"""The parts that every export has of a message: label, time, origin, remarks and the results of the checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, assert_never

from core.answer import events
from core.answer.citation_verdicts import (
    AGREEING_SOURCES,
    HOW_MADE_NOTE,
    NO_SOURCES_NOTE,
    PROBLEM_VERDICTS,
    against_law_lines,
    list_agreements,
    list_verdicts,
    other_uncited,
    tally,
    uncited_line,
    with_statutes,
)
from core.answer.message import Message
from core.answer.source_details import ATTACHED
from core.base.text import one_line, quote_paste_lines
from core.legal.entities import LIBRARY_LABELS
from core.search.types import Source

if TYPE_CHECKING:
    from core.legal import CaseFinding, StatuteCheck, StatuteFinding

CheckStatutes = Callable[[Message], "StatuteCheck | None"]
"""A function that returns 法条核验 and 案号核验 of an answer."""

LABELS = {"user": "问", "assistant": "答"}
UNTITLED = "未命名的对话"
SUMMARY_LENGTH = 120


def no_statute_check(message: Message) -> None:
    return None


def exported_messages(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield the messages without the program's own notes."""
    return (message for message in messages if message.role != "note")


def local_time(seconds: float, zone: tzinfo | None) -> datetime:
    """Return the time in the reader's zone if it is known, else in the server's."""
    try:
        return datetime.fromtimestamp(seconds, zone).astimezone(zone)
    except (ValueError, OverflowError, OSError):  # a damaged record
        return datetime.fromtimestamp(0, zone).astimezone(zone)


def format_time(seconds: float, zone: tzinfo | None) -> str:
    shown = local_time(seconds, zone)
    return f"{shown:%Y-%m-%d %H:%M}（UTC{shown.isoformat()[-6:]}）"


def format_day(message: Message, zone: tzinfo | None) -> str:
    return f"{local_time(message.created, zone):%Y-%m-%d}"


def origin_line(message: Message, zone: tzinfo | None) -> str:
    parts = [message.model or "模型未记录", format_time(message.created, zone)]
    return " · ".join([*parts, f"{message.seconds:.1f} 秒"] if message.seconds else parts)


def attachments_line(message: Message) -> str:
    """Return the line with a question's attachments; empty if it has none."""
    return f"{ATTACHED}：{'、'.join(map(one_line, message.files))}" if message.files else ""


def _search_line(search: events.SearchFinished) -> str:
    response = search.response
    provider = LIBRARY_LABELS.get(response.provider, response.provider)
    outcome = f"{provider}，找到 {len(response.results)} 条" if provider else "没有成功"
    cached = "，来自缓存" if response.from_cache else ""
    asked = f"（原话「{one_line(search.asked)}」）" if search.asked else ""
    return f"搜索「{one_line(response.query.text)}」{asked}：{outcome}，{response.search_time:.1f} 秒{cached}"


def unsourced_notes(message: Message) -> Iterator[str]:
    """Yield the sentence on an answer without any source."""
    if message.is_unsourced:
        yield NO_SOURCES_NOTE


def remarks(message: Message) -> Iterator[str]:
    """Yield the sentences on how the answer came about and how it ended."""
    yield from unsourced_notes(message)
    yield from filter(None, (quote_paste_lines(_remark(event)) for event in message.events))
    if message.stop_note:
        yield message.stop_note


def _remark(event: events.RunEvent) -> str:
    match event:
        case events.SearchFinished():
            return _search_line(event)
        case events.Notice(text=text) | events.RunFailed(message=text):
            return text
        case (
            events.SourcesGiven() | events.PartsStarted() | events.PartRead()
        ):  # each source says it, and a notice tells of what failed
            return ""
        case events.SearchStarted() | events.ReadingStarted() | events.PageRead() | events.Thought() | events.Answer():
            return ""
        case events.ToolStarted() | events.ToolFinished() | events.TextDelta() | events.Checked() | events.Usage():
            return ""
        case events.SourcesFound() | events.ApprovalAsked() | events.ApprovalAnswered():
            return ""
        case events.RunStopped():
            return ""
        case _:
            assert_never(event)


def statute_findings(message: Message, check_statutes: CheckStatutes) -> Sequence[StatuteFinding]:
    check = check_statutes(message)
    return check.findings if check else ()


def case_findings(message: Message, check_statutes: CheckStatutes) -> Sequence[CaseFinding]:
    check = check_statutes(message)
    return check.cases if check else ()


def source_lists(message: Message) -> Iterator[tuple[str, Sequence[Source]]]:
    """Yield the heading and the sources of each list below an answer that is not empty."""
    lists = {"参考文献": message.cited, AGREEING_SOURCES: message.agreeing}
    return ((name, sources) for name, sources in lists.items() if sources)


def check_lines(message: Message, check_statutes: CheckStatutes) -> Iterator[str]:
    """Yield the lines of 依据核验: the totals, then each place that a reader should look at."""
    check = with_statutes(message.check, check_statutes(message))
    if check is None or not (totals := tally(check)):
        return
    yield f"{totals}。{HOW_MADE_NOTE}"
    yield from (str(verdict) for verdict in list_verdicts(check) if verdict.verdict in PROBLEM_VERDICTS)
    yield from against_law_lines(check)
    yield from map(uncited_line, other_uncited(check))
    yield from map(str, list_agreements(check))
    if check.opinion:
        yield str(check.opinion)


def statute_lines(message: Message, check_statutes: CheckStatutes) -> Iterator[str]:
    for finding in statute_findings(message, check_statutes):
        yield f"{finding.mark} {one_line(finding.cited)}：{finding.meaning}。{finding.note}"


def case_lines(message: Message, check_statutes: CheckStatutes) -> Iterator[str]:
    for finding in case_findings(message, check_statutes):
        yield f"{finding.mark} {finding.cited}：{finding.sentence}"
