"""An answer as blocks, for drawing while it grows, and as HTML in which nothing but its own sources can be clicked.

Everything that a model or a web page wrote is escaped; the tags and attributes below are the only ones ever written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal
from urllib.parse import unquote, urlsplit

from markdown_it.token import Token
from markupsafe import Markup, escape

from core.answer.citations import holdback, parse, parse_blocks
from core.answer.sources import about
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


def render_html(markdown: str, sources: Iterable[Source], *, anchor: str = "", app_url: str = "") -> Markup:
    """Answer text as HTML. With an `anchor`, the first citation of each source can be reached from the references."""
    return _Renderer(sources, anchor, app_url).render(parse(markdown))


_NOTHING = Markup()
_SUMMARY_LENGTH = 120
_TITLE_LENGTH = 160


def references_html(sources: Iterable[Source], *, anchor: str = "", app_url: str = "", accessed: str = "") -> Markup:
    """`accessed`: the day, where the list is to be read elsewhere."""
    rows = Markup().join(_reference(source, anchor, app_url, accessed) for source in sources)
    return Markup('<ol class="wy-refs">%s</ol>') % rows


def results_html(results: Iterable[SearchResult], *, app_url: str = "") -> Markup:
    """Search results without numbers: no text can cite them."""
    entries = (
        _entry(result.title, result.url, result.snippet, app_url, about=result.published or "") for result in results
    )
    return Markup('<ul class="wy-refs">%s</ul>') % Markup().join(Markup("<li>%s</li>") % entry for entry in entries)


def _reference(source: Source, anchor: str, app_url: str, accessed: str) -> Markup:
    identity = back = _NOTHING
    if anchor:
        identity = Markup(' id="%s-ref-%s"') % (anchor, source.number)
        back = Markup(' <a class="back" href="#%s-cite-%s" title="回到正文">↩</a>') % (anchor, source.number)
    entry = _entry(source.title, source.url, source.snippet, app_url, back, about(source, accessed=accessed))
    return Markup('<li value="%s"%s>%s</li>') % (source.number, identity, entry)


def _entry(title: str, url: str, snippet: str, app_url: str, back: Markup = _NOTHING, about: str = "") -> Markup:
    title = shorten(one_line(title), _TITLE_LENGTH) or "（无标题）"
    href = _href(url, app_url)
    entry = Markup("<a %s>%s</a>") % (_link(href), title) if href else Markup("<span>%s</span>") % title
    if domain := _place(url, app_url):
        entry += Markup(' <span class="domain">%s</span>') % domain
    entry += back
    if about:
        entry += Markup('<span class="about">%s</span>') % about
    if summary := shorten(one_line(snippet), _SUMMARY_LENGTH):
        entry += Markup('<span class="summary">%s</span>') % summary
    return entry


_WEB_ADDRESS = re.compile(r"https?://[^\s/?#\\][^\s\x00-\x1f]*", re.IGNORECASE)
_OWN_PAGES = {"/help?article=": "内置手册", "/legal?law=": "本地法规库", "/legal?case=": "本地案例库"}
"""Addresses of this app, as a source has them after `app_url`, and what readers call the place."""


def _href(url: str, app_url: str) -> str:
    """What may stand in an href: a web address, or a page of this app; else nothing."""
    own = url.removeprefix(app_url)
    return own if _own_place(own) else url if _WEB_ADDRESS.fullmatch(url) and host_of(url) else ""


def _own_place(path: str) -> str:
    return next((name for start, name in _OWN_PAGES.items() if path.startswith(start)), "")


def _place(url: str, app_url: str) -> str:
    return _own_place(_href(url, app_url)) or host_of(url)


def _link(href: str) -> Markup:
    return Markup('href="%s" rel="noopener noreferrer nofollow" target="_blank"') % href


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
_OPENED = {tag: Markup("<%s>") % ours for tag, ours in _TAGS.items()}
_CLOSED = {tag: Markup("</%s>") % ours for tag, ours in _TAGS.items()}
_ALIGNED = {
    (tag, f"text-align:{side}"): Markup('<%s class="%s">') % (tag, side)
    for tag in ("th", "td")
    for side in ("right", "center")
}
_BREAK, _RULE, _END_OF_LINK = Markup("<br>"), Markup("<hr>"), Markup("</a>")
_NARROW_SPACE = Markup("\u202f")
# A blank before a citation that vanishes goes with it where a blank would look like a mistake.
_CLOSES = frozenset(" \n，。、；：？！,.;:?!)）】」』”’…")
_TARGET_LENGTH = 40


class _Renderer:
    def __init__(self, sources: Iterable[Source], anchor: str, app_url: str) -> None:
        self._sources = {source.number: source for source in sources}
        self._app_url = app_url
        self._anchor = anchor
        self._cited_before: dict[int, Markup] = {}
        self._after_link = _NOTHING

    def render(self, tokens: Iterable[Token]) -> Markup:
        out: list[Markup] = []
        self._write(tokens, out)
        return Markup("".join(out))  # noqa: S704 (every part is Markup by its type; to look at each again takes time)

    def _write(self, tokens: Iterable[Token], out: list[Markup]) -> None:
        for token in tokens:
            if token.type == "text":
                out.append(escape(token.content))
            elif token.type == "inline":
                self._write(token.children or (), out)
            elif token.type == "citation":
                self._citation(token, out)
            elif not token.hidden:
                out.append(_tag(token) if token.tag in _TAGS else self._token(token))

    def _token(self, token: Token) -> Markup:
        match token.type:
            case "code_inline":
                return Markup("<code>%s</code>") % token.content
            case "fence" | "code_block":
                return Markup("<pre><code>%s</code></pre>") % token.content.rstrip("\n")
            case "math_block":
                return Markup("<p>%s</p>") % token.content
            case "softbreak" | "hardbreak":  # models do not wrap lines: where they break one, they mean it
                return _BREAK
            case "hr":
                return _RULE
            case "image":
                return escape(f"[图片：{one_line(token.content)}]")
            case "link_open":
                return self._open_link(str(token.attrGet("href") or ""))
            case "link_close":
                return self._after_link
        return escape(token.content)

    @cached_property
    def _links(self) -> dict[str, Markup]:
        """Links to the sources, by the `_canonical` form of what the text points to."""
        urls = [source.url for source in self._sources.values()]
        hrefs = {_canonical(url, self._app_url): _href(url, self._app_url) for url in urls}
        return {address: Markup("<a %s>") % _link(href) for address, href in hrefs.items() if address}

    def _open_link(self, target: str) -> Markup:
        link = self._links.get(_canonical(target, self._app_url))
        if link:
            self._after_link = _END_OF_LINK
            return link
        pointed_to = host_of(target) or shorten(one_line(target), _TARGET_LENGTH)
        self._after_link = escape(f"（{pointed_to}）") if pointed_to else _NOTHING
        return _NOTHING

    def _citation(self, token: Token, out: list[Markup]) -> None:
        cited = [number for number in token.meta["numbers"] if number in self._sources]
        for place, number in enumerate(cited):
            out += [_NARROW_SPACE, self._superscript(number)] if place else [self._superscript(number)]
        if not cited and out and (not token.meta["after"] or token.meta["after"] in _CLOSES):
            out[-1] = out[-1].rstrip(" ")

    def _superscript(self, number: int) -> Markup:
        if number in self._cited_before:
            return self._cited_before[number]
        linked = _number(self._sources[number], self._app_url)
        again = self._cited_before[number] = Markup('<sup class="cite">%s</sup>') % linked
        if not self._anchor:
            return again
        return Markup('<sup class="cite" id="%s-cite-%s">%s</sup>') % (self._anchor, number, linked)


@lru_cache(maxsize=1024)
def _number(source: Source, app_url: str) -> Markup:
    """The same few sources are cited all over an answer, which is drawn again while it grows."""
    href = _href(source.url, app_url)
    if not href:
        return escape(source.number)
    title = f"{one_line(source.title)} — {_place(source.url, app_url)}"
    return Markup('<a %s title="%s">%s</a>') % (_link(href), title, source.number)


def _tag(token: Token) -> Markup:
    if token.nesting < 0:
        return _CLOSED[token.tag]
    if not token.attrs:
        return _OPENED[token.tag]
    start = token.attrGet("start")
    if start is not None:
        return Markup('<ol start="%s">') % int(start)
    return _ALIGNED.get((token.tag, str(token.attrGet("style"))), _OPENED[token.tag])
