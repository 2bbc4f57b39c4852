"""The outline of a text: its headings with their places, so that a reader of some passages knows what else there is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.base.text import one_line, shorten
from core.reading.page import Page
from core.reading.sections import Place, place_at

HEADING_LENGTH = 60
MAX_HEADINGS = 2_000
_ORDINAL = "[一二三四五六七八九十百零〇两0-9０-９]{1,7}"
# A line that is a heading by its number alone: 第三章 总则, 一、背景, 2.1 范围, Chapter 3, # Markdown.
_HEADING_LINE = re.compile(
    rf"^[ \t　]*(?P<title>第{_ORDINAL}[编章节篇部分].{{0,40}}|附件?{_ORDINAL}?[：: ].{{1,40}}|[一二三四五六七八九十]{{1,3}}、.{{1,40}}"
    r"|\d{1,2}(?:\.\d{1,2}){1,3}[ \t　].{1,60}|(?i:chapter|part|appendix|section) [\dIVXA-Z]{1,4}\b.{0,60}|\#{1,6} .{1,60})$",
    re.MULTILINE,
)
_ENDS_A_SENTENCE = re.compile(r"[。；;，,]\s*$|[.…·]{4,}|\d\s*$")


def outline(page: Page, *, characters: int) -> str:
    """Return the headings in order, each with its place, in about so many characters; empty for a text without any."""
    shown: list[str] = []
    left = characters
    for start, title in _headings(page):
        place = place_at(page.text, page.sections, start)
        entry = f"{shorten(one_line(title), HEADING_LENGTH)}{_place_words(place)}"
        left -= len(entry) + 1
        if left < 0:
            return "；".join([*shown, "（后面的标题从略）"]) if shown else ""
        shown.append(entry)
    return "；".join(shown)


def _headings(page: Page) -> Iterator[tuple[int, str]]:
    titled = [(section.start, section.title) for section in page.sections if section.title]
    if titled:
        yield from titled[:MAX_HEADINGS]
        return
    last = ""
    for count, found in enumerate(_HEADING_LINE.finditer(page.text)):
        title = found["title"].strip("# \t　")
        if count < MAX_HEADINGS and title != last and not _ENDS_A_SENTENCE.search(title):
            yield found.start(), title
            last = title


def _place_words(place: Place | None) -> str:
    return f"（{place.label}）" if place and place.page is not None else ""


def places_between(page: Page, start: int, end: int) -> list[Place]:
    """Return the places over which a part of the text goes: the pages, slides or sheets, or where it begins."""
    inside = (section.start for section in page.sections if start < section.start < end and section.kind != "heading")
    found = (place_at(page.text, page.sections, position) for position in (start, *inside))
    return list(dict.fromkeys(place for place in found if place is not None))
