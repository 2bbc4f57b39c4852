"""What a quotation changed, left out or added, next to the words of the law."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

MOST_PAIRS = 4_000_000
"""Of letters to compare. A quotation of ten thousand would hold up the page for half a minute."""

_WORD = 3


class Stretch(NamedTuple):
    """A part of both texts. Equal words stand in `quoted`; where they differ, either side may be empty."""

    quoted: str
    real: str | None = None
    """None: the same as quoted."""


@lru_cache(maxsize=256)
def changes(old: str, new: str) -> tuple[Stretch, ...]:
    """The older text beside the newer one; a letter that both have by chance between two changes is part of the change."""
    if len(old) * len(new) > MOST_PAIRS:
        return (Stretch(old, new),)
    found: list[Stretch] = []
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for place, (change, a, b, c, d) in enumerate(codes):
        by_chance = change == "equal" and b - a < _WORD and 0 < place < len(codes) - 1
        if change == "equal" and not by_chance:
            found.append(Stretch(old[a:b]))
        elif found and found[-1].real is not None:
            found[-1] = Stretch(found[-1].quoted + old[a:b], found[-1].real + new[c:d])
        else:
            found.append(Stretch(old[a:b], new[c:d]))
    return tuple(found)


@lru_cache(maxsize=256)
def difference(quote: str, text: str) -> tuple[Stretch, ...]:
    """The quotation beside the part of the article that it quotes; punctuation and ellipses are no difference."""
    if len(quote) * len(text) > MOST_PAIRS:
        return (Stretch(quote, text),)
    changes = SequenceMatcher(None, quote, text, autojunk=False).get_opcodes()
    while changes and changes[0][0] == "insert":  # the article begins before the quotation does
        del changes[0]
    while changes and changes[-1][0] == "insert":
        del changes[-1]
    return tuple(
        Stretch(quote[a:b])
        if change == "equal" or _only_marks(quote[a:b], text[c:d])
        else Stretch(quote[a:b], text[c:d])
        for change, a, b, c, d in changes
    )


def _only_marks(quoted: str, real: str) -> bool:
    return not re.search(r"\w", quoted) and ("…" in quoted or "..." in quoted or not re.search(r"\w", real))
