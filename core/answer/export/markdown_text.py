"""A conversation, or one answer, as Markdown for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from core.answer.export import common
from core.answer.message import Message
from core.answer.source_details import describe_source
from core.base.inert_markdown import escape_line, link_target, make_inert
from core.base.text import one_line, shorten
from core.base.web_addresses import host_of
from core.reading import Place
from core.search.types import Source


def as_markdown(
    title: str,
    messages: Sequence[Message],
    *,
    zone: tzinfo | None = None,
    check_statutes: common.CheckStatutes = common.no_statute_check,
) -> str:
    """Return the conversation as Markdown."""
    parts = [f"# {escape_line(title) or common.UNTITLED}"]
    for message in common.exported_messages(messages):
        parts.append(f"## {common.LABELS[message.role]}")
        if message.role == "user":
            parts += [f"*{common.format_time(message.created, zone)}*", make_inert(message.text)]
            parts += [escape_line(common.attachments_line(message))] * bool(message.files)
        else:
            parts.append(f"*{escape_line(common.origin_line(message, zone))}*")
            parts.append(answer_as_markdown(message, check_statutes, zone=zone).rstrip("\n"))
            parts += [f"> {escape_line(remark)}" for remark in common.remarks(message)]
    return "\n\n".join(parts) + "\n"


def answer_as_markdown(
    message: Message, check_statutes: common.CheckStatutes = common.no_statute_check, *, zone: tzinfo | None = None
) -> str:
    """Return one answer with the results of its checks and its references."""
    parts = [make_inert(message.shown_text)]
    checks = {
        "依据核验": common.check_lines(message, check_statutes),
        "法条核验": common.statute_lines(message, check_statutes),
        "案号核验": common.case_lines(message, check_statutes),
    }
    for name, lines in checks.items():
        if shown := "\n".join(f"- {escape_line(line)}" for line in lines):
            parts += [f"**{name}**", shown]
    return "\n\n".join((*parts, *references_as_markdown(message, zone=zone))) + "\n"


def references_as_markdown(message: Message, *, zone: tzinfo | None = None) -> list[str]:
    """Return the lists of the sources of an answer: a heading and the lines of each."""
    accessed, places = common.format_day(message, zone), message.places
    parts: list[str] = []
    for name, sources in common.source_lists(message):
        lines = (_reference(source, accessed, places.get(source.number, ())) for source in sources)
        parts += [f"**{name}**", "\n".join(lines)]
    return parts


def _reference(source: Source, accessed: str, places: Sequence[Place]) -> str:
    """Format a reference. Not a numbered list: Markdown would count 1, 2, 3 where the answer cites 1, 4, 7."""
    title = escape_line(source.title) or "（无标题）"
    if address := link_target(source.url):
        title = f"[{title}]({address}) — {escape_line(host_of(source.url))}"
    details = escape_line(describe_source(source, accessed=accessed, places=places))
    summary = escape_line(shorten(one_line(source.snippet), common.SUMMARY_LENGTH))
    after = (f"（{details}）" if details else "") + (f"：{summary}" if summary else "")
    return f"- \\[{source.number}\\] {title}{after}"
