"""Words of a statement that stand in the place of others, or in another order, within nearly the wording of a passage.

Where a statement repeats a passage but for a name, or with its parties exchanged, words decide, and no model is believed. A
free paraphrase has too little in common with the passage for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from core.base.chinese.script import comparison_form

LONGEST_EXCHANGE = 10
"""Units of the statement that can stand in the place of others. More is another wording."""
MAX_UNITS = 800
"""The number of units that are compared."""
_UNIT = re.compile(r"\d+(?:[.,:]\d+)*%?|[a-z]+|[^\W_]")
"""A unit of comparison: a number, a Latin word, a Chinese character."""
_PARTICLES = frozenset("的了是在和与及等也就而则之其这该此并着地所以为于个自有被把对从由向将已曾都")


def find_exchanged_words(statement: str, passage: str) -> str:
    """Return the first words of the statement that replace others of the passage or have moved; empty if none do."""
    return next(_exchanged_words(_units(statement), _units(passage)), "")


def _units(text: str) -> list[str]:
    return _UNIT.findall(comparison_form(text))[:MAX_UNITS]


def _exchanged_words(stated: Sequence[str], found: Sequence[str]) -> Iterator[str]:
    pairs = set(pairwise(found))
    for kind, start, end, there, there_end in SequenceMatcher(None, stated, found, autojunk=False).get_opcodes():
        if kind not in {"replace", "delete"}:
            continue
        words = stated[start:end]
        if any(map(_is_value, words)) or _is_exchange(words, found[there:there_end]):
            yield "".join(words)
        yield from ("".join(pair) for pair in pairwise(words) if pair in pairs and not _PARTICLES.intersection(pair))


def _is_value(unit: str) -> bool:
    return unit.isascii()


def _is_exchange(words: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether both say something. One character for several is often a synonym, one for one a name or an opposite."""
    mine, theirs = (sum(unit not in _PARTICLES for unit in units) for units in (words, others))
    return len(words) <= LONGEST_EXCHANGE and ((mine >= 2 and theirs >= 1) or mine == theirs == 1)
