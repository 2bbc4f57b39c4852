"""Reading of plain text, Markdown and feeds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from core.base.chinese.calendar import iso_day
from core.base.text import clean, one_line, shorten
from core.reading.extraction_types import ExtractedText
from core.reading.page import MAX_TITLE
from core.reading.sections import MAX_SECTIONS, TextSection, with_beginning

_MARKDOWN_TITLE = re.compile(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_FIRST_LINES = 40
_HEADING = re.compile(r"^ {0,3}(?P<level>#{1,6})[ \t]+(?P<words>.*?)[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r"^ {0,3}(?:(?P<first>=+)|-{2,})[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


def read_text(text: str) -> ExtractedText:
    """Return plain text or Markdown as it is; the first heading is the title."""
    title = _MARKDOWN_TITLE.search("\n".join(text.split("\n", _FIRST_LINES)[:_FIRST_LINES]))
    return ExtractedText("text", text, title=one_line(title[1]) if title else "")


def read_markdown(text: str) -> ExtractedText:
    """Return Markdown as it is, with its headings."""
    text = clean(text)
    headings = tuple(islice(_headings(text.split("\n")), MAX_SECTIONS))
    return ExtractedText("markdown", text, title=read_text(text).title, sections=with_beginning(headings))


def _headings(lines: list[str]) -> Iterator[TextSection]:
    """Yield the headings, which begin with # or have a line of = or - below them. In blocks of code there are none."""
    position, fence = 0, ""
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        found = _FENCE.match(line)
        if found and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else found[1]
        elif not fence and (heading := _heading(line, below)):
            level, words = heading
            yield TextSection(position, "heading", 0, shorten(one_line(words), MAX_TITLE), level, first_line=0)
        position += len(line) + 1


def _heading(line: str, below: str) -> tuple[int, str] | None:
    """Return the level and the words of a heading; None for another line."""
    if found := _HEADING.match(line):
        return (len(found["level"]), found["words"]) if found["words"] else None
    words, underline = line.strip(), _UNDERLINE.match(below)
    if not words or underline is None or len(words) > MAX_TITLE or words[0] in "|>-*+" or _UNDERLINE.match(line):
        return None
    return 1 if underline["first"] else 2, words


def read_feed(feed: str) -> ExtractedText:
    """Return the entries of an RSS or Atom feed, one paragraph each. The newest day is the feed's."""
    from lxml import etree, html

    from core.reading.hidden_elements import remove_hidden

    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, encoding="utf-8")
    root = etree.fromstring(feed.encode(), parser)
    if root is None:
        return ExtractedText("feed", "")

    def words(element: etree._Element | None) -> str:
        inside = one_line("".join(element.itertext("*"))) if element is not None else ""
        if "<" not in inside:
            return inside
        tree = html.document_fromstring(inside)
        remove_hidden(tree)
        return one_line(tree.text_content())

    def child(element: etree._Element, *names: str) -> etree._Element | None:
        found = {etree.QName(part).localname: part for part in reversed(element) if isinstance(part.tag, str)}
        return next((found[name] for name in names if name in found), None)

    paragraphs, days = [], []
    for entry in root.iter("{*}item", "{*}entry"):
        title, text = child(entry, "title"), child(entry, "encoded", "content", "description", "summary")
        paragraphs.append("\n".join(filter(None, (words(title), words(text)))))
        days.append(iso_day(words(child(entry, "pubDate", "published", "updated", "date"))) or "")
    channel = next(root.iter("{*}channel"), root)
    return ExtractedText(
        "feed",
        "\n\n".join(filter(None, paragraphs)),
        title=words(child(channel, "title")),
        published=max(days, default="") or None,
    )
