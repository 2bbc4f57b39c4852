"""An answer as blocks, for drawing while it grows, and as HTML in which nothing but its own sources can be clicked.

Everything that a model or a web page wrote is escaped; the tags and attributes below are the only ones ever written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Literal
from urllib.parse import unquote, urlsplit

from markdown_it.token import Token

from core.answer.citations import holdback, parse, parse_blocks
from core.base.text import clean, one_line, shorten
from core.search.types import SearchResult, Source, host_of

Kind = Literal["paragraph", "heading", "list", "table", "quote", "code", "rule", "math"]


@dataclass(frozen=True, slots=True)
class Block:
    kind: Kind
    text: str
    """The Markdown source, as `render_html` takes it."""
    body: str = ""
    """What stands inside a code fence or a formula."""
    language: str = ""


_KINDS: dict[str, Kind] = {
    "paragraph_open": "paragraph",
    "heading_open": "heading",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "blockquote_open": "quote",
    "fence": "code",
    "code_block": "code",
    "hr": "rule",
    "math_block": "math",
}
_LANGUAGE = re.compile(r"\s*([A-Za-z0-9_+#.-]{1,32})")


def split_blocks(markdown: str) -> list[Block]:
    return [block for _, block in _split(clean(markdown))]


def _split(text: str) -> list[tuple[int, Block]]:
    """Every block with the number of the line it starts in."""
    lines = text.split("\n")
    blocks = []
    for token in parse_blocks(text):
        if token.level == 0 and token.nesting >= 0 and token.map:
            start, end = token.map
            blocks.append((start, _block(token, "\n".join(lines[start:end]))))
    return blocks


def _block(token: Token, source: str) -> Block:
    kind = _KINDS[token.type]
    if kind == "code":
        language = _LANGUAGE.match(token.info)
        return Block(kind, source, token.content.rstrip("\n"), language[1] if language else "")
    if kind == "math":
        return Block(kind, source, token.content[2:-2].strip())
    return Block(kind, source.rstrip("\n"))


class Blocks:
    """A growing text, cut into blocks that will not change any more and an open end that still may.

    A block is final once another one has begun on a line that is complete: the next characters may turn `***` from
    a rule into bold text that belongs to the paragraph above.
    """

    def __init__(self) -> None:
        self._lines = ""
        self._unfinished_line = ""

    def feed(self, chunk: str) -> list[Block]:
        """The blocks that have become final."""
        lines, newline, self._unfinished_line = (self._unfinished_line + chunk).rpartition("\n")
        if not newline:
            return []
        self._lines += clean(lines + newline)
        blocks = _split(self._lines)
        if len(blocks) < 2:
            return []
        open_from = blocks[-1][0]
        self._lines = "\n".join(self._lines.split("\n")[open_from:])
        return [block for _, block in blocks[:-1]]

    @property
    def open(self) -> list[Block]:
        """What to draw below the final blocks for now, without an end that may still become something else."""
        text = self._lines + clean(self._unfinished_line)
        return split_blocks(text[: len(text) - holdback(text)].rstrip("\n"))

    def finish(self) -> list[Block]:
        """The blocks that only the end of the text made final."""
        rest = split_blocks(self._lines + self._unfinished_line)
        self._lines = self._unfinished_line = ""
        return rest


def render_html(markdown: str, sources: Iterable[Source], *, anchor: str = "", app_url: str = "") -> str:
    """Answer text as HTML. With an `anchor`, the first citation of each source can be reached from the references."""
    return _Renderer(sources, anchor, app_url).render(parse(markdown))


_SUMMARY_LENGTH = 120
_TITLE_LENGTH = 160


def references_html(sources: Iterable[Source], *, anchor: str = "", app_url: str = "") -> str:
    rows = "".join(_reference(source, anchor, app_url) for source in sources)
    return f'<ol class="wy-refs">{rows}</ol>'


def results_html(results: Iterable[SearchResult], *, app_url: str = "") -> str:
    """Search results without numbers: no text can cite them."""
    rows = "".join(f"<li>{_entry(result.title, result.url, result.snippet, app_url)}</li>" for result in results)
    return f'<ul class="wy-refs">{rows}</ul>'


def _reference(source: Source, anchor: str, app_url: str) -> str:
    identity = f' id="{escape(anchor)}-ref-{source.number}"' if anchor else ""
    back = f' <a class="back" href="#{escape(anchor)}-cite-{source.number}" title="回到正文">↩</a>' if anchor else ""
    entry = _entry(source.title, source.url, source.snippet, app_url, back)
    return f'<li value="{source.number}"{identity}>{entry}</li>'


def _entry(title: str, url: str, snippet: str, app_url: str, back: str = "") -> str:
    title = escape(shorten(one_line(title), _TITLE_LENGTH)) or "（无标题）"
    domain = escape(_place(url, app_url))
    summary = escape(shorten(one_line(snippet), _SUMMARY_LENGTH))
    href = _href(url, app_url)
    return (
        (f"<a {_link(href)}>{title}</a>" if href else f"<span>{title}</span>")
        + (f' <span class="domain">{domain}</span>' if domain else "")
        + back
        + (f'<span class="summary">{summary}</span>' if summary else "")
    )


_WEB_ADDRESS = re.compile(r"https?://[^\s/?#\\][^\s\x00-\x1f]*", re.IGNORECASE)
_OWN_PAGES = {"/help?article=": "内置手册", "/legal?law=": "本地法规库", "/legal?case=": "本地案例库"}
"""Addresses of this app, as a source has them after `app_url`, and what readers call the place."""


def _href(url: str, app_url: str) -> str:
    """What may stand in an href: a web address, or a page of this app; else nothing."""
    own = url.removeprefix(app_url)
    return own if _own_place(own) else url if _WEB_ADDRESS.fullmatch(url) else ""


def _own_place(path: str) -> str:
    return next((name for start, name in _OWN_PAGES.items() if path.startswith(start)), "")


def _place(url: str, app_url: str) -> str:
    return _own_place(_href(url, app_url)) or host_of(url)


def _link(href: str) -> str:
    return f'href="{escape(href)}" rel="noopener noreferrer nofollow" target="_blank"'


def _canonical(url: str, app_url: str) -> str:
    """Equal for two spellings of one address. A link always gets the source's own spelling, so this may be lenient."""
    href = _href(url, app_url)
    try:
        parts = urlsplit(href)
        port = "" if parts.port in (None, 80, 443) else f":{parts.port}"
    except ValueError:
        return ""
    return unquote(f"{parts.hostname or ''}{port}{parts.path.rstrip('/')}?{parts.query}") if href else ""


# The answer stands below the page's own headings, so its first level is the page's third.
_TAGS = {tag: tag for tag in ("p", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "blockquote")}
_TAGS |= {"strong": "strong", "em": "em", "s": "del", "h1": "h3", "h2": "h4", "h3": "h5"}
_TAGS |= {"h4": "h6", "h5": "h6", "h6": "h6"}
_ALIGNED = {"text-align:right": ' class="right"', "text-align:center": ' class="center"'}
_NARROW_SPACE = "\u202f"
# A blank before a citation that vanishes goes with it where a blank would look like a mistake.
_CLOSES = frozenset(" \n，。、；：？！,.;:?!)）】」』”’…")
_TARGET_LENGTH = 40


class _Renderer:
    def __init__(self, sources: Iterable[Source], anchor: str, app_url: str) -> None:
        sources = tuple(sources)
        self._numbers = {source.number: _number(source, app_url) for source in sources}
        self._hrefs = {_canonical(source.url, app_url): _href(source.url, app_url) for source in sources}
        self._hrefs.pop("", None)
        self._app_url = app_url
        self._anchor = escape(anchor)
        self._anchored: set[int] = set()
        self._after_link = ""

    def render(self, tokens: Iterable[Token]) -> str:
        out: list[str] = []
        for token in tokens:
            if token.type == "inline":
                out.append(self.render(token.children or ()))
            elif token.type == "citation":
                self._citation(token, out)
            elif not token.hidden:
                out.append(self._token(token))
        return "".join(out)

    def _token(self, token: Token) -> str:
        match token.type:
            case "text" | "text_special" | "math_inline":
                return escape(token.content)
            case "code_inline":
                return f"<code>{escape(token.content)}</code>"
            case "fence" | "code_block":
                code = token.content.rstrip("\n")
                return f"<pre><code>{escape(code)}</code></pre>"
            case "math_block":
                return f"<p>{escape(token.content)}</p>"
            case "softbreak" | "hardbreak":  # models do not wrap lines: where they break one, they mean it
                return "<br>"
            case "hr":
                return "<hr>"
            case "image":
                return escape(f"[图片：{one_line(token.content)}]")
            case "link_open":
                return self._open_link(str(token.attrGet("href") or ""))
            case "link_close":
                return self._after_link
        return self._tag(token)

    def _tag(self, token: Token) -> str:
        tag = _TAGS.get(token.tag)
        if not tag:
            return escape(token.content)
        if token.nesting < 0:
            return f"</{tag}>"
        start = token.attrGet("start")
        numbered = f' start="{int(start)}"' if start is not None else ""
        return f"<{tag}{numbered}{_ALIGNED.get(str(token.attrGet('style')), '')}>"

    def _open_link(self, target: str) -> str:
        href = self._hrefs.get(_canonical(target, self._app_url))
        if href:
            self._after_link = "</a>"
            return f"<a {_link(href)}>"
        pointed_to = host_of(target) or shorten(one_line(target), _TARGET_LENGTH)
        self._after_link = escape(f"（{pointed_to}）") if pointed_to else ""
        return ""

    def _citation(self, token: Token, out: list[str]) -> None:
        cited = [number for number in token.meta["numbers"] if number in self._numbers]
        if cited:
            out.append(_NARROW_SPACE.join(map(self._superscript, cited)))
        elif out and (not token.meta["after"] or token.meta["after"] in _CLOSES):
            out[-1] = out[-1].rstrip(" ")

    def _superscript(self, number: int) -> str:
        identity = ""
        if self._anchor and number not in self._anchored:
            self._anchored.add(number)
            identity = f' id="{self._anchor}-cite-{number}"'
        return f'<sup class="cite"{identity}>{self._numbers[number]}</sup>'


def _number(source: Source, app_url: str) -> str:
    href = _href(source.url, app_url)
    title = escape(f"{one_line(source.title)} — {_place(source.url, app_url)}")
    return f'<a {_link(href)} title="{title}">{source.number}</a>' if href else str(source.number)
