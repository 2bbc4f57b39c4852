"""Differences between a quotation and the law, or between two versions of a text."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

MAX_LETTER_PAIRS = 4_000_000
"""Largest number of letter pairs to compare. Ten thousand quoted letters would block the page for half a minute."""

_WORD = 3


class DiffSegment(NamedTuple):
    """Part of both texts. Equal words stand in `old`; where the texts differ, either side may be empty."""

    old: str
    new: str | None = None
    """The newer words, or None if they equal `old`."""


@lru_cache(maxsize=256)
def diff_texts(old: str, new: str) -> tuple[DiffSegment, ...]:
    """Return the differences between two texts. One or two equal letters between two changes count as changed."""
    if len(old) * len(new) > MAX_LETTER_PAIRS:
        return (DiffSegment(old, new),)
    found: list[DiffSegment] = []
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for place, (change, a, b, c, d) in enumerate(codes):
        by_chance = change == "equal" and b - a < _WORD and 0 < place < len(codes) - 1
        if change == "equal" and not by_chance:
            found.append(DiffSegment(old[a:b]))
        elif found and found[-1].new is not None:
            found[-1] = DiffSegment(found[-1].old + old[a:b], found[-1].new + new[c:d])
        else:
            found.append(DiffSegment(old[a:b], new[c:d]))
    return tuple(found)


@lru_cache(maxsize=256)
def diff_quotation(quote: str, text: str) -> tuple[DiffSegment, ...]:
    """Return the differences between a quotation and the words it quotes. Punctuation and ellipses do not count."""
    if len(quote) * len(text) > MAX_LETTER_PAIRS:
        return (DiffSegment(quote, text),)
    changes = SequenceMatcher(None, quote, text, autojunk=False).get_opcodes()
    while changes and changes[0][0] == "insert":  # the article begins before the quotation does
        del changes[0]
    while changes and changes[-1][0] == "insert":
        del changes[-1]
    return tuple(
        DiffSegment(quote[a:b])
        if change == "equal" or _differs_in_marks_only(quote[a:b], text[c:d])
        else DiffSegment(quote[a:b], text[c:d])
        for change, a, b, c, d in changes
    )


def _differs_in_marks_only(quoted: str, text: str) -> bool:
    return not re.search(r"\w", quoted) and ("…" in quoted or "..." in quoted or not re.search(r"\w", text))
