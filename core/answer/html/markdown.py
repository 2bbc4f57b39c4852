"""An answer as blocks, for drawing while it grows, and as HTML in which only its own sources can be clicked.

Everything that a model or a web page wrote is escaped; the tags and attributes below are the only ones ever written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from markdown_it.token import Token
from markupsafe import Markup, escape

from core.answer.annotation import AnnotatedText
from core.answer.check_results import InventedCitation, StatuteVerdict, UncitedStatement
from core.answer.citation_verdicts import UNCITED, uncited_label
from core.answer.citations import (
    parse_blocks,
    parse_clean_markdown,
    parse_markdown,
    sourced_numbers,
    stays_as_written,
    takes_blank_along,
    unsettled_length,
)
from core.answer.html.formulas import mathml, strip_delimiters
from core.answer.html.source_html import canonical_target, chip_html, link_attributes, link_target, number_html
from core.base.text import clean, one_line, shorten
from core.base.web_addresses import host_of
from core.search.types import Source

BlockKind = Literal["paragraph", "heading", "list", "table", "quote", "code", "rule", "math"]


@dataclass(frozen=True, slots=True)
class Block:
    kind: BlockKind
    text: str
    """The Markdown source, for `render_html`."""
    body: str = ""
    """The content of a code fence or a formula."""
    language: str = ""


_KINDS: dict[str, BlockKind] = {
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
    return split_clean_blocks(clean(markdown))


def split_clean_blocks(text: str) -> list[Block]:
    """Split a text that is clean already, or annotated, into blocks."""
    return [block for _, block in _split_with_lines(text)]


def _split_with_lines(text: str) -> list[tuple[int, Block]]:
    """Return every block with the number of the line it starts in."""
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


class BlockStream:
    """Splits a growing text into blocks that will not change any more and an open end that still may. A block is final
    once another one has begun on a line that is complete: the next characters may turn `***` from a rule into bold text
    that belongs to the paragraph above."""

    def __init__(self) -> None:
        self._lines = ""
        self._unfinished_line = ""

    def feed(self, chunk: str) -> list[Block]:
        """Take the next text and return the blocks that have become final."""
        lines, newline, self._unfinished_line = (self._unfinished_line + chunk).rpartition("\n")
        if not newline:
            return []
        self._lines += clean(lines + newline)
        blocks = _split_with_lines(self._lines)
        if len(blocks) < 2:
            return []
        open_from = blocks[-1][0]
        self._lines = "\n".join(self._lines.split("\n")[open_from:])
        return [block for _, block in blocks[:-1]]

    @property
    def open_blocks(self) -> list[Block]:
        """The blocks to draw below the final ones for now, without an end that may still change its meaning."""
        text = self._lines + clean(self._unfinished_line)
        blocks = split_blocks(text[: len(text) - unsettled_length(text)].rstrip("\n"))
        begun = blocks and blocks[-1].kind == "paragraph" and blocks[-1].text.lstrip().startswith(("$$", "\\["))
        return blocks[:-1] if begun else blocks

    def finish(self) -> list[Block]:
        """Return the blocks that became final only by the end of the text."""
        rest = split_blocks(self._lines + self._unfinished_line)
        self._lines = self._unfinished_line = ""
        return rest


def render_html(markdown: str, sources: Iterable[Source], *, anchor: str = "", app_url: str = "") -> Markup:
    """Return the answer as HTML. With an `anchor`, references can link to the first citation of each source."""
    return _Renderer(sources, anchor, app_url).render(parse_markdown(markdown))


def render_standalone(markdown: str, sources: Iterable[Source], *, anchor: str) -> Markup:
    """Return the answer as HTML for a page without our scripts and styles: formulas as MathML, numbers in brackets."""
    return _StandaloneRenderer(sources, anchor, "").render(parse_markdown(markdown))


def render_annotated(
    markdown: str, annotated: AnnotatedText, sources: Iterable[Source], *, anchor: str = "", app_url: str = ""
) -> Markup:
    """Return an annotated answer, or a part of it, as HTML: each number has its card and the verdict of the check."""
    return _AnnotatedRenderer(sources, anchor, app_url, annotated).render(parse_clean_markdown(markdown))


_NOTHING = Markup()
# The answer stands below the page's own headings, so its first level is the page's third.
_TAGS = {tag: tag for tag in ("p", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "blockquote")}
_TAGS |= {"strong": "strong", "em": "em", "s": "del", "h1": "h3", "h2": "h4", "h3": "h5"}
_TAGS |= {"h4": "h6", "h5": "h6", "h6": "h6"}
_OPENED = {tag: Markup("<%s>") % ours for tag, ours in _TAGS.items()}
_OPENED["table"] = Markup('<table tabindex="0">')  # so that it can be scrolled with the arrow keys
_CLOSED = {tag: Markup("</%s>") % ours for tag, ours in _TAGS.items()}
_ALIGNED = {
    (tag, f"text-align:{side}"): Markup('<%s class="%s">') % (tag, side)
    for tag in ("th", "td")
    for side in ("right", "center")
}
_BREAK, _RULE, _END_OF_LINK = Markup("<br>"), Markup("<hr>"), Markup("</a>")
_NARROW_SPACE = Markup("\u202f")
_LOUD_WORDS = Markup('<sup class="wy-uncited wy-mark %s" title="%s">%s</sup>')
_QUIET_WORDS = Markup('<sup class="wy-uncited%s" tabindex="-1">%s<span>%s</span></sup>')
"""A sign, and words that are seen on hover and focus."""
_LOUD_MARKS = {"≠": "red", "✗": "red", "⌛": "orange"}
_QUIET_MARKS = {"✓": " wy-mark green", "○": " wy-mark", "？": " wy-mark"}
"""The classes of the marks of 法条核验 for the style sheet."""
_NO_SUCH_SOURCE = Markup('<sup class="wy-remark" title="%s">%s</sup>')
"""Words that a copy of the text takes along."""
_TARGET_LENGTH = 40


class _Renderer:
    _sup = Markup('<sup class="cite"%s>%s</sup>')

    def __init__(self, sources: Iterable[Source], anchor: str, app_url: str) -> None:
        self._sources = {source.number: source for source in sources}
        self._app_url = app_url
        self._anchor = anchor
        self._cited_before = set[int]()
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
            elif token.type == "uncited":
                out.append(self._remark(token.meta["note"]))
            elif token.type == "agreeing":
                out.append(self._agreement(token.meta["note"]))
            elif token.type == "missing":
                out.append(self._missing(token.meta["note"]))
            elif token.type == "against_law":
                out.append(self._against_law(token.meta["note"]))
            elif not token.hidden:
                out.append(_tag(token) if token.tag in _TAGS else self._token(token))

    def _token(self, token: Token) -> Markup:
        match token.type:
            case "code_inline":
                return Markup("<code>%s</code>") % token.content
            case "fence" | "code_block":
                return Markup('<pre tabindex="0"><code>%s</code></pre>') % token.content.rstrip("\n")
            case "math_inline":
                return self._formula(token.content, display=token.content.startswith("$$"))
            case "math_block":
                return Markup("<p>%s</p>") % self._formula(token.content, display=True)
            case "softbreak" | "hardbreak":  # models do not wrap lines, so a line break is intended
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

    def _formula(self, formula: str, *, display: bool) -> Markup:
        """Return a formula. Streamlit strips MathML from HTML, so it travels in an attribute and a script of the page
        inserts it."""
        if drawn := mathml(strip_delimiters(formula), display=display):
            return Markup('<span class="wy-math" data-math="%s">%s</span>') % (str(drawn), formula)
        return escape(formula)

    @cached_property
    def _links(self) -> dict[str, Markup]:
        """The links to the sources, by the `canonical_target` form of their addresses."""
        urls = [source.url for source in self._sources.values()]
        hrefs = {canonical_target(url, self._app_url): link_target(url, self._app_url) for url in urls}
        return {address: Markup("<a %s>") % link_attributes(href) for address, href in hrefs.items() if address}

    def _open_link(self, target: str) -> Markup:
        link = self._links.get(canonical_target(target, self._app_url))
        if link:
            self._after_link = _END_OF_LINK
            return link
        pointed_to = host_of(target) or shorten(one_line(target), _TARGET_LENGTH)
        self._after_link = escape(f"（{pointed_to}）") if pointed_to else _NOTHING
        return _NOTHING

    def _citation(self, token: Token, out: list[Markup]) -> None:
        if stays_as_written(token, self._sources):
            out.append(escape(token.content))
            return
        cited = sourced_numbers(token, self._sources)
        chips = _NARROW_SPACE.join(self._chip(number, token.meta.get("note")) for number in cited)
        if cited:
            out.append(Markup('<span class="wy-named">%s</span>') % chips if "named" in token.meta else chips)
        elif out and takes_blank_along(token):
            out[-1] = out[-1].rstrip(" ")

    def _chip(self, number: int, note: int | None) -> Markup:
        return self._sup % (self._identity(number), number_html(self._sources[number], self._app_url))

    def _agreement(self, note: int) -> Markup:
        """Return the chip of a source that the model does not cite; nothing where there are no notes."""
        return _NOTHING

    def _remark(self, place: int) -> Markup:
        """Return the words behind a statement without a number; nothing where the text is not annotated."""
        return _NOTHING

    def _missing(self, place: int) -> Markup:
        """Return the words at a citation of a source that does not exist; nothing where the text is not annotated."""
        return _NOTHING

    def _against_law(self, place: int) -> Markup:
        """Return what 法条核验 has against a statement with a number; nothing where the text is not annotated."""
        return _NOTHING

    def _identity(self, number: int) -> Markup:
        """Return the attribute by which the first citation of a source can be reached."""
        if not self._anchor or number in self._cited_before:
            return _NOTHING
        self._cited_before.add(number)
        return Markup(' id="%s-cite-%s"') % (self._anchor, number)


class _AnnotatedRenderer(_Renderer):
    def __init__(self, sources: Iterable[Source], anchor: str, app_url: str, annotated: AnnotatedText) -> None:
        super().__init__(sources, anchor, app_url)
        self._notes, self._uncited, self._invented = annotated.notes, annotated.uncited, annotated.missing
        self._statutes = annotated.statutes

    def _chip(self, number: int, note: int | None) -> Markup:
        verdict = self._notes[note].get(number) if note is not None else None
        return chip_html(self._sources[number], self._app_url, identity=self._identity(number), verdict=verdict)

    def _agreement(self, note: int) -> Markup:
        known = (verdict for verdict in self._notes[note].values() if verdict.number in self._sources)
        return Markup().join(chip_html(self._sources[one.number], self._app_url, verdict=one) for one in known)

    def _remark(self, place: int) -> Markup:
        statement = self._uncited[place]
        if statement.invented is None or not statement.has_no_source:
            return uncited_html(statement)
        cited = InventedCitation(statement.end, statement.invented)
        return _NO_SUCH_SOURCE % (cited, f"{UNCITED}（{cited.label}）")

    def _missing(self, place: int) -> Markup:
        cited = self._invented[place]
        return _NO_SUCH_SOURCE % (cited, cited.label)

    def _against_law(self, place: int) -> Markup:
        return _statute_html(self._statutes[place])


def uncited_html(statement: UncitedStatement) -> Markup:
    """Return what is known of a statement without a number: small words where something is wrong, else only a sign."""
    if statement.statute is None:
        return _QUIET_WORDS % ("", "", uncited_label(statement))
    return _statute_html(statement.statute)


def _statute_html(statute: StatuteVerdict) -> Markup:
    told = f"{statute.check_name} {one_line(statute.cited)}：{statute.meaning}。{statute.note}"
    if statute.is_problem:
        return _LOUD_WORDS % (_LOUD_MARKS[statute.mark], told, statute)
    return _QUIET_WORDS % (_QUIET_MARKS.get(statute.mark, ""), statute.mark, told)


class _StandaloneRenderer(_Renderer):
    _sup = Markup('<sup class="cite"%s>[%s]</sup>')

    def _formula(self, formula: str, *, display: bool) -> Markup:
        return mathml(strip_delimiters(formula), display=display) or escape(formula)


def _tag(token: Token) -> Markup:
    if token.nesting < 0:
        return _CLOSED[token.tag]
    if not token.attrs:
        return _OPENED[token.tag]
    start = token.attrGet("start")
    if start is not None:
        return Markup('<ol start="%s">') % int(start)
    return _ALIGNED.get((token.tag, str(token.attrGet("style"))), _OPENED[token.tag])
