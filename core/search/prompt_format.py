"""Search results as the model reads them: numbered, shortened and fenced as data; or a sentence if there are none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.base.text import one_line, shorten
from core.search.types import Source

OPEN_FENCE = "<sources>"
CLOSE_FENCE = "</sources>"

ATTACHED = "（附件，用户提供的文件）"
OUTDATED = "旧版，资料中有同一文件的新版本；两者不一致时以新版为准"
NOTHING_FOUND = "（已执行搜索，但没有找到相关结果。请根据自己的知识回答，并说明没有找到可引用的来源；不要编造来源。）"
NO_WEB_ENGINE = "没有能联网的搜索引擎，只能查本机的内容：内置手册和法规库。"
SEARCH_FAILED = "（本次搜索没有成功，没有任何搜索结果。请根据自己的知识回答，并说明未能联网核实；不要编造来源。）"


def web_failure_note(reason: str, *, has_local_results: bool) -> str:
    """Return the note for the model that the web was not searched, in the words that the reader sees.
    `has_local_results`: the local libraries or attachments have found something."""
    if has_local_results:
        return f"（{reason}以下来源来自本机的资料或用户的附件，不是网页。）"
    return f"（{reason}）\n{SEARCH_FAILED}"


# Retrieved text must not be able to close the fence it stands in, nor open a second one.
_FENCE_TAG = re.compile(r"<\s*(/?)\s*(sources?)", re.IGNORECASE)


LINE_MARK = "> "
"""The start of each line of a quoted text, which keeps its lines. None of them can pass for a line of the block."""


@dataclass(frozen=True, slots=True)
class QuotedText:
    """The text of a source, or some of it, with its lines."""

    label: str
    """What the text is: 正文节选, 正文全文."""
    text: str
    note: str = ""
    """How much of the source this is."""
    outline: str = ""
    """The headings of the source."""


PromptText = str | QuotedText


def sources_block(
    sources: Sequence[Source], *, snippet_length: int, passages_by_number: Mapping[int, PromptText] | None = None
) -> str:
    """Return the sources as a fenced block, each with number and title, URL, snippet and date on lines of their own.
    `passages_by_number`: passages of the pages that were read, in place of the snippet."""
    passages = passages_by_number or {}
    lines = (line for source in sources for line in _entry(source, snippet_length, passages.get(source.number)))
    return "\n".join((OPEN_FENCE, *lines, CLOSE_FENCE))


def _entry(source: Source, snippet_length: int, passages: PromptText | None) -> Iterator[str]:
    yield f"[{source.number}] {fence_safe(source.title)}"
    yield _origin_line(source)
    if passages is None:
        yield f"摘要: {shorten(fence_safe(source.snippet), snippet_length) or _unread_note(source)}"
    elif isinstance(passages, str):
        yield f"正文节选: {fence_safe(passages)}"
    else:
        yield from _quoted_lines(passages)
    if source.published or source.read not in {"library", "file"}:
        yield f"日期: {fence_safe(source.published or '不详')}"
    if source.is_outdated:
        yield f"版本: {OUTDATED}"


def _origin_line(source: Source) -> str:
    if source.collection:
        return f"出处: 用户的{fence_safe(source.collection_label)}中的文件"
    if source.tool and source.read == "file":
        return f"出处: {fence_safe(source.tool_label)} 的结果"
    return f"URL: {ATTACHED if source.read == 'file' else fence_safe(source.url)}"


def _quoted_lines(quoted: QuotedText) -> Iterator[str]:
    if quoted.note:
        yield f"说明: {fence_safe(quoted.note)}"
    if quoted.outline:
        yield f"目录: {fence_safe(quoted.outline)}"
    yield f"{quoted.label}:"
    yield from (f"{LINE_MARK}{safe}" for line in quoted.text.splitlines() if (safe := fence_safe(line)))


def _unread_note(source: Source) -> str:
    """Return why a source without a snippet was not read, such as a link that the user typed."""
    return f"（没有读到：{source.unread}）" if source.unread else ""


def fence_safe(text: str) -> str:
    """Return the text on one line, without tags that could end the fence around it."""
    return _FENCE_TAG.sub(r"‹\1\2", one_line(text))
