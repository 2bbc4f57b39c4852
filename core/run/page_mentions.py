"""The pages of a file that a question names: 第 14 页讲什么, 第三到五章, slide 3."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

from core.base.chinese.numerals import NUMERAL, to_int
from core.reading import Page, SectionKind, Span, TextSection

MAX_PAGES = 200
_KINDS: dict[str, SectionKind] = {
    **dict.fromkeys(("页", "頁", "page", "pages", "p."), "page"),
    **dict.fromkeys(("章", "chapter", "chapters"), "chapter"),
    **dict.fromkeys(("张幻灯片", "幻灯片", "张", "slide", "slides"), "slide"),
}
_TO = re.compile(r"\s*(?:[-–—~～、和与及至到]|to|and)\s*第?\s*")
_MENTION = re.compile(
    rf"第\s*(?P<first>{NUMERAL})(?:{_TO.pattern}(?P<last>{NUMERAL}))?\s*(?P<kind>张幻灯片|页|頁|章|张)"
    rf"|(?P<word>幻灯片|\bpages?|\bp\.|\bchapters?|\bslides?)\s*(?P<from>\d{{1,5}})(?:{_TO.pattern}(?P<to>\d{{1,5}}))?",
    re.IGNORECASE,
)


def mentioned_spans(question: str, page: Page) -> tuple[Span, ...]:
    """Return the spans of the pages, slides and chapters that the question names and the file has."""
    wanted = set(_mentions(question))
    if not wanted:
        return ()
    holders = [section for section in page.sections if section.kind != "heading"]
    return tuple(
        (here.start, following.start)
        for here, following in pairwise([*holders, TextSection(page.length, "page")])
        if (here.kind, here.number) in wanted and following.start > here.start
    )


def _mentions(question: str) -> Iterator[tuple[SectionKind, int]]:
    for found in _MENTION.finditer(question):
        kind = _KINDS[(found["kind"] or found["word"]).lower()]
        with suppress(ValueError):
            first = to_int(found["first"] or found["from"])
            last = to_int(found["last"] or found["to"] or str(first))
            yield from ((kind, number) for number in range(first, min(max(first, last), first + MAX_PAGES) + 1))
