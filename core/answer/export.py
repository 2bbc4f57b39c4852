"""A conversation to take away: as Markdown, as one HTML page, as JSON. Each answer brings its references and,
where it cites statutes, what 法条核验 says of them.

JSON, version 1; fields may be added, none changes its meaning without a new version:
    {"format": "wenyuan-conversation", "version": 1, "title", "exported",
     "messages": [{"id", "role": "user"|"assistant", "label": "问"|"答", "text", "created",
        (of an answer:) "model", "seconds", "complete",
        "references": [{"number", "title", "url", "domain", "snippet", "summary" (the same), "published", "read", "accessed"}],
        "check": null or {"version", "statements": [{"text", "verdict", ("by": "model",) "score", "reason", "evidence", "citations", …}], "uncited": […],
            (where a model was asked:) "opinion": {"model", "asked", "accepted", "tokens", "estimated"}},
        "statutes": [{"mark": "✓"|"○"|"≠"|"✗"|"⌛"|"？", "meaning", "cited", "lawName", "articleNumber", "text", "quote", "claim", "note", …}],
        "searches": [{"query", ("asked": the question, where it was searched for in other words,) "type", "provider", "results", "seconds", "fromCache"}],
        "notices": [text]}]}
Times are ISO 8601 with an offset. `text` is Markdown in which `[n]` cites the reference with that number.

What a model or a web page wrote can neither become a link nor load anything: other programs than ours will show it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, assert_never

from markupsafe import Markup

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
from core.answer.markdown import render_standalone
from core.answer.message import Message
from core.answer.source_html import references_html
from core.answer.sources import about
from core.base.inert_markdown import disarm, link_address, plain_line
from core.base.text import clean, one_line, shorten
from core.search.types import Source, host_of

if TYPE_CHECKING:
    from core.legal.desk import StatuteCheck
    from core.legal.verify import Verdict

CheckStatutes = Callable[[str], "StatuteCheck | None"]
"""法条核验 of an answer's text, as `App.check_statutes` does it."""

FORMAT = "wenyuan-conversation"
VERSION = 1
LABELS = {"user": "问", "assistant": "答"}
UNTITLED = "未命名的对话"

_SUMMARY_LENGTH = 120
_NOT_WHOLE = ("unfinished", CUT_OFF)
"""Kinds of notices on an answer of which there would have been more."""


def _unchecked(text: str) -> None:
    return None


# ── What all three say ────────────────────────────────────────────────────────────────────────────────────────────


def _said(messages: Iterable[Message]) -> Iterator[Message]:
    """Without the program's own words about the page."""
    return (message for message in messages if message.role != "note")


def _moment(seconds: float, zone: tzinfo | None) -> datetime:
    """In the reader's time zone, where it is known; else in the server's."""
    try:
        return datetime.fromtimestamp(seconds, zone).astimezone(zone)
    except (ValueError, OverflowError, OSError):  # a damaged record
        return datetime.fromtimestamp(0, zone).astimezone(zone)


def _shown_moment(seconds: float, zone: tzinfo | None) -> str:
    moment = _moment(seconds, zone)
    return f"{moment:%Y-%m-%d %H:%M}（UTC{moment.isoformat()[-6:]}）"


def _day(message: Message, zone: tzinfo | None) -> str:
    return f"{_moment(message.created, zone):%Y-%m-%d}"


def _origin(message: Message, zone: tzinfo | None) -> str:
    parts = [message.model or "模型未记录", _shown_moment(message.created, zone)]
    return " · ".join([*parts, f"{message.seconds:.1f} 秒"] if message.seconds else parts)


def _search_line(search: SearchFinished) -> str:
    response = search.response
    found = f"{response.provider}，找到 {len(response.results)} 条" if response.provider else "没有成功"
    cached = "，来自缓存" if response.from_cache else ""
    asked = f"（原话「{one_line(search.asked)}」）" if search.asked else ""
    return f"搜索「{one_line(response.query.text)}」{asked}：{found}，{response.search_time:.1f} 秒{cached}"


def _remarks(message: Message) -> Iterator[str]:
    """How the answer came about and how it ended, beyond its text."""
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


def _verdicts(message: Message, check: CheckStatutes) -> Sequence[Verdict]:
    checked = check(message.text)
    return checked.verdicts if checked else ()


def _claim_lines(message: Message) -> Iterator[str]:
    """依据核对: all of it counted, and each place that a reader should look at."""
    if message.check is None or not (counted := tally(message.check)):
        return
    yield counted
    yield from (str(claim) for claim in claims(message.check) if claim.verdict in PROBLEMS)
    yield from (f"{UNCITED}：{statement.text}" for statement in message.check.uncited)
    if message.check.opinion:
        yield str(message.check.opinion)


def _verdict_lines(message: Message, check: CheckStatutes) -> Iterator[str]:
    return map(_verdict_line, _verdicts(message, check))


def _verdict_line(verdict: Verdict) -> str:
    return f"{verdict.mark} {one_line(verdict.cited)}：{verdict.meaning}。{verdict.note}"


# ── Markdown ──────────────────────────────────────────────────────────────────────────────────────────────────────


def as_markdown(
    title: str, messages: Sequence[Message], *, zone: tzinfo | None = None, check: CheckStatutes = _unchecked
) -> str:
    parts = [f"# {plain_line(title) or UNTITLED}"]
    for message in _said(messages):
        parts.append(f"## {LABELS[message.role]}")
        if message.role == "user":
            parts += [f"*{_shown_moment(message.created, zone)}*", disarm(message.text)]
        else:
            parts += [
                f"*{plain_line(_origin(message, zone))}*",
                answer_as_markdown(message, check, zone=zone).rstrip("\n"),
            ]
            parts += [f"> {plain_line(remark)}" for remark in _remarks(message)]
    return "\n\n".join(parts) + "\n"


def answer_as_markdown(message: Message, check: CheckStatutes = _unchecked, *, zone: tzinfo | None = None) -> str:
    """One answer with what was checked of it, and its references."""
    parts = [disarm(message.text)]
    if claimed := list(_claim_lines(message)):
        parts += ["**依据核对**", "\n".join(f"- {plain_line(line)}" for line in claimed)]
    if verdicts := list(_verdict_lines(message, check)):
        parts += ["**法条核验**", "\n".join(f"- {plain_line(line)}" for line in verdicts)]
    if message.cited:
        accessed = _day(message, zone)
        parts += ["**参考文献**", "\n".join(_reference(source, accessed) for source in message.cited)]
    return "\n\n".join(parts) + "\n"


def _reference(source: Source, accessed: str) -> str:
    """Not a numbered list: Markdown would count 1, 2, 3 where the answer cites 1, 4, 7."""
    title = plain_line(source.title) or "（无标题）"
    address = link_address(source.url)
    domain = f" — {plain_line(host_of(source.url))}" if address else ""
    summary = plain_line(shorten(one_line(source.snippet), _SUMMARY_LENGTH))
    return (
        f"- \\[{source.number}\\] "
        + (f"[{title}]({address})" if address else title)
        + domain
        + f"（{plain_line(about(source, accessed=accessed))}）" * bool(about(source, accessed=accessed))
        + (f"：{summary}" if summary else "")
    )


# ── HTML ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_PAGE = Markup("""<!DOCTYPE html>
<html lang="zh-CN">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
""")

_STYLE = Markup("""
:root { color-scheme: light dark; }
body { margin: 0; font: 16px/1.75 "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; line-height: 1.4; }
h2 { font-size: 1rem; margin: 2.5rem 0 .25rem; }
h2 .origin, .remark, .domain, .summary { font-size: .85rem; font-weight: normal; opacity: .7; }
.question { white-space: pre-wrap; }
.summary { display: block; }
sup.cite { line-height: 0; } .wy-named > sup.cite { font-size: inherit; vertical-align: baseline; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid #8884; border-radius: .25rem; }
code { font-family: ui-monospace, Consolas, monospace; font-size: .9em; }
table { display: block; max-width: 100%; overflow-x: auto; border-collapse: collapse; } math { max-width: 100%; } th, td { border: 1px solid #8886; padding: .25rem .5rem; text-align: left; }
.right { text-align: right; } .center { text-align: center; }
blockquote { margin: 0; padding-left: 1rem; border-left: 3px solid #8886; }
section + section { border-top: 1px solid #8883; }
@media print { a { color: inherit; } section { break-inside: avoid-page; } }
""")


def as_html(
    title: str, messages: Sequence[Message], *, zone: tzinfo | None = None, check: CheckStatutes = _unchecked
) -> Markup:
    sections = (_section(message, f"m{number}", zone, check) for number, message in enumerate(_said(messages), 1))
    return _PAGE.format(title=one_line(title) or UNTITLED, style=_STYLE, body=Markup("\n").join(sections))


def _section(message: Message, anchor: str, zone: tzinfo | None, check: CheckStatutes) -> Markup:
    if message.role == "user":
        origin = _shown_moment(message.created, zone)
        inside = Markup('<div class="question">%s</div>') % clean(message.text)
    else:
        origin = _origin(message, zone)
        text = render_standalone(message.text, message.found, anchor=anchor)
        checks = _list("依据核对", _claim_lines(message)) + _list("法条核验", _verdict_lines(message, check))
        inside = Markup("<div>%s</div>") % text + checks + _below(message, anchor, zone)
    heading = Markup('<h2>%s <span class="origin">%s</span></h2>') % (LABELS[message.role], one_line(origin))
    return Markup("<section>%s\n%s</section>") % (heading, inside)


def _list(title: str, lines: Iterable[str]) -> Markup:
    rows = Markup().join(Markup("<li>%s</li>") % line for line in lines)
    return Markup("<h3>%s</h3><ul>%s</ul>") % (title, rows) if rows else Markup()


def _below(message: Message, anchor: str, zone: tzinfo | None) -> Markup:
    references = (
        references_html(message.cited, anchor=anchor, accessed=_day(message, zone)) if message.cited else Markup()
    )
    heading = Markup("<h3>参考文献</h3>") if references else Markup()
    remarks = Markup().join(Markup('<p class="remark">%s</p>') % remark for remark in _remarks(message))
    return heading + references + remarks


# ── JSON ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def as_json(
    title: str, messages: Iterable[Message], *, zone: tzinfo | None = None, check: CheckStatutes = _unchecked
) -> str:
    document = {
        "format": FORMAT,
        "version": VERSION,
        "title": one_line(title) or UNTITLED,
        "exported": datetime.now(zone).astimezone(zone).isoformat(timespec="seconds"),
        "messages": [_message_json(message, zone, check) for message in _said(messages)],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _message_json(message: Message, zone: tzinfo | None, check: CheckStatutes) -> dict[str, Any]:
    common = {
        "id": message.id,
        "role": message.role,
        "label": LABELS[message.role],
        "text": clean(message.text),
        "created": _moment(message.created, zone).isoformat(timespec="seconds"),
    }
    if message.role == "user":
        return common
    return common | {
        "model": clean(message.model),
        "seconds": round(message.seconds, 1),
        "complete": message.ending is None and all(notice.kind not in _NOT_WHOLE for notice in message.notices),
        "references": [_reference_json(source, _day(message, zone)) for source in message.cited],
        "check": message.check.to_json() if message.check else None,
        "statutes": [verdict.to_json() for verdict in _verdicts(message, check)],
        "searches": [_search_json(search) for search in message.searches],
        "notices": [clean(notice.text) for notice in message.notices],
    }


def _reference_json(source: Source, accessed: str) -> dict[str, Any]:
    return {
        "number": source.number,
        "title": one_line(source.title),
        "url": clean(source.url),
        "domain": host_of(source.url),
        "summary": one_line(source.snippet),
        "snippet": one_line(source.snippet),
        "published": source.published,
        "read": source.read,
        "accessed": accessed,
    }


def _search_json(search: SearchFinished) -> dict[str, Any]:
    response = search.response
    asked = {"asked": clean(search.asked)} if search.asked else {}
    return {
        "query": clean(response.query.text),
        **asked,
        "type": response.query.type.value,
        "provider": response.provider,
        "results": len(response.results),
        "seconds": round(response.search_time, 2),
        "fromCache": response.from_cache,
    }
