"""A conversation, or one answer, as Markdown for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from core.answer.export.said import (
    LABELS,
    SUMMARY_LENGTH,
    UNTITLED,
    CheckStatutes,
    attached,
    claim_lines,
    day,
    origin,
    remarks,
    said,
    shown_moment,
    unchecked,
    verdict_lines,
)
from core.answer.message import Message
from core.answer.sources import about
from core.base.inert_markdown import disarm, link_address, plain_line
from core.base.text import one_line, shorten
from core.base.web_addresses import host_of
from core.search.types import Source


def as_markdown(
    title: str, messages: Sequence[Message], *, zone: tzinfo | None = None, check: CheckStatutes = unchecked
) -> str:
    """Return the conversation as Markdown."""
    parts = [f"# {plain_line(title) or UNTITLED}"]
    for message in said(messages):
        parts.append(f"## {LABELS[message.role]}")
        if message.role == "user":
            parts += [f"*{shown_moment(message.created, zone)}*", disarm(message.text)]
            parts += [plain_line(attached(message))] * bool(message.files)
        else:
            parts += [
                f"*{plain_line(origin(message, zone))}*",
                answer_as_markdown(message, check, zone=zone).rstrip("\n"),
            ]
            parts += [f"> {plain_line(remark)}" for remark in remarks(message)]
    return "\n\n".join(parts) + "\n"


def answer_as_markdown(message: Message, check: CheckStatutes = unchecked, *, zone: tzinfo | None = None) -> str:
    """Return one answer with the results of its checks and its references."""
    parts = [disarm(message.text)]
    if claimed := list(claim_lines(message)):
        parts += ["**依据核对**", "\n".join(f"- {plain_line(line)}" for line in claimed)]
    if checked := list(verdict_lines(message, check)):
        parts += ["**法条核验**", "\n".join(f"- {plain_line(line)}" for line in checked)]
    if message.cited:
        accessed = day(message, zone)
        parts += ["**参考文献**", "\n".join(_reference(source, accessed) for source in message.cited)]
    return "\n\n".join(parts) + "\n"


def _reference(source: Source, accessed: str) -> str:
    """Format a reference. Not a numbered list: Markdown would count 1, 2, 3 where the answer cites 1, 4, 7."""
    title = plain_line(source.title) or "（无标题）"
    address = link_address(source.url)
    domain = f" — {plain_line(host_of(source.url))}" if address else ""
    summary = plain_line(shorten(one_line(source.snippet), SUMMARY_LENGTH))
    return (
        f"- \\[{source.number}\\] "
        + (f"[{title}]({address})" if address else title)
        + domain
        + f"（{plain_line(about(source, accessed=accessed))}）" * bool(about(source, accessed=accessed))
        + (f"：{summary}" if summary else "")
    )
