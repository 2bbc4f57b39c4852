"""A conversation, or one answer, as Markdown for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from core.answer.export.common import (
    LABELS,
    SUMMARY_LENGTH,
    UNTITLED,
    CheckStatutes,
    attachments_line,
    check_lines,
    exported_messages,
    format_day,
    format_time,
    no_statute_check,
    origin_line,
    remarks,
    statute_lines,
)
from core.answer.message import Message
from core.answer.source_details import describe_source
from core.base.inert_markdown import escape_line, link_target, make_inert
from core.base.text import one_line, shorten
from core.base.web_addresses import host_of
from core.search.types import Source


def as_markdown(
    title: str,
    messages: Sequence[Message],
    *,
    zone: tzinfo | None = None,
    check_statutes: CheckStatutes = no_statute_check,
) -> str:
    """Return the conversation as Markdown."""
    parts = [f"# {escape_line(title) or UNTITLED}"]
    for message in exported_messages(messages):
        parts.append(f"## {LABELS[message.role]}")
        if message.role == "user":
            parts += [f"*{format_time(message.created, zone)}*", make_inert(message.text)]
            parts += [escape_line(attachments_line(message))] * bool(message.files)
        else:
            parts += [
                f"*{escape_line(origin_line(message, zone))}*",
                answer_as_markdown(message, check_statutes, zone=zone).rstrip("\n"),
            ]
            parts += [f"> {escape_line(remark)}" for remark in remarks(message)]
    return "\n\n".join(parts) + "\n"


def answer_as_markdown(
    message: Message, check_statutes: CheckStatutes = no_statute_check, *, zone: tzinfo | None = None
) -> str:
    """Return one answer with the results of its checks and its references."""
    parts = [make_inert(message.text)]
    if claimed := list(check_lines(message)):
        parts += ["**依据核对**", "\n".join(f"- {escape_line(line)}" for line in claimed)]
    if checked := list(statute_lines(message, check_statutes)):
        parts += ["**法条核验**", "\n".join(f"- {escape_line(line)}" for line in checked)]
    if message.cited:
        accessed = format_day(message, zone)
        parts += ["**参考文献**", "\n".join(_reference(source, accessed) for source in message.cited)]
    return "\n\n".join(parts) + "\n"


def _reference(source: Source, accessed: str) -> str:
    """Format a reference. Not a numbered list: Markdown would count 1, 2, 3 where the answer cites 1, 4, 7."""
    title = escape_line(source.title) or "（无标题）"
    address = link_target(source.url)
    domain = f" — {escape_line(host_of(source.url))}" if address else ""
    summary = escape_line(shorten(one_line(source.snippet), SUMMARY_LENGTH))
    return (
        f"- \\[{source.number}\\] "
        + (f"[{title}]({address})" if address else title)
        + domain
        + f"（{escape_line(describe_source(source, accessed=accessed))}）"
        * bool(describe_source(source, accessed=accessed))
        + (f"：{summary}" if summary else "")
    )
