"""Reading of plain text, Markdown and feeds."""

from __future__ import annotations

import re

from core.base.chinese.calendar import iso_day
from core.base.text import one_line
from core.reading.extraction_types import ExtractedText

_MARKDOWN_TITLE = re.compile(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_FIRST_LINES = 40


def read_text(text: str) -> ExtractedText:
    """Return plain text or Markdown as it is; the first heading is the title."""
    title = _MARKDOWN_TITLE.search("\n".join(text.split("\n", _FIRST_LINES)[:_FIRST_LINES]))
    return ExtractedText("text", text, title=one_line(title[1]) if title else "")


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
