"""Paragraphs (款) and items (项) inside an article. Every line that is not an item begins a new 款."""

from __future__ import annotations

import re

from core.base.chinese.numerals import NUMERAL, to_int
from core.base.chinese.script import plain

_ITEM = re.compile(rf"\(\s*({NUMERAL})\s*\)")


def split_paragraphs(text: str) -> list[list[str]]:
    """Split an article into its 款. Each is a list of its own line and the lines of its items."""
    paragraphs: list[list[str]] = []
    for line in text.splitlines():
        if paragraphs and _ITEM.match(plain(line)):
            paragraphs[-1].append(line)
        else:
            paragraphs.append([line])
    return paragraphs


def excerpt(text: str, paragraph: int | None, item: int | None) -> str | None:
    """Return the words of 第…款第…项, or None if there is no such part. Without a 款, any item of the article counts."""
    if not paragraph and not item:
        return None
    paragraphs = split_paragraphs(text)
    if paragraph and not 1 <= paragraph <= len(paragraphs):
        return None
    lines = paragraphs[paragraph - 1] if paragraph else text.splitlines()
    if not item:
        return "\n".join(lines)
    return next((line for line in lines if (mark := _ITEM.match(plain(line))) and _equals(mark[1], item)), None)


def _equals(numeral: str, number: int) -> bool:
    try:
        return to_int(numeral) == number
    except ValueError:
        return False
