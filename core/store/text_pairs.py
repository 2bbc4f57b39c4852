"""Pairs of characters of a text in a few bytes, which rule out most texts that do not contain a word.

A Bloom filter for each message, of its characters and pairs of characters in the form for comparing. A text that contains the
word always passes; of the others about one in twenty does for a word of two characters, and hardly any for a longer one. What
passes is read. It stands in the row of the message, so that it comes, changes and goes with the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from core.base.chinese.script import comparison_form

BITS, PROBES = 6, 4
"""Bits for each character or pair, and how many of them it sets. An answer of 1,200 characters takes less than a kilobyte, so that
four stand on a page of SQLite's."""
MOST_BYTES = 64 * 1024
MOST_PAIRS = 6
"""Pairs of a word that are looked for: those of longer words would rule out hardly anything more."""
_CHARACTERS = 0x110000
_GOLDEN = 0x9E3779B97F4A7C15
_64_BITS = (1 << 64) - 1


def pairs_of(text: str) -> bytes:
    """Return the characters and pairs of the text as a Bloom filter."""
    plain = comparison_form(text)
    hashes = [_hashes(key) for key in _keys(set(plain), set(pairwise(plain)))]
    filled = bytearray(min(len(hashes) * BITS // 8 + 1, MOST_BYTES))
    bits = 8 * len(filled)
    for first, step in hashes:
        for place in range(first, first + PROBES * step, step):
            bit = place % bits
            filled[bit >> 3] |= 1 << (bit & 7)
    return bytes(filled)


def may_contain(pairs: bytes | None, word: str) -> bool:
    """Return False if the text with these pairs does not contain the word in any spelling. Without pairs, it may."""
    if not pairs:
        return True
    bits = 8 * len(pairs)
    for place in places(word):
        bit = place % bits
        if not pairs[bit >> 3] >> (bit & 7) & 1:
            return False
    return True


@lru_cache(1024)
def places(word: str) -> tuple[int, ...]:
    """Return the bits that a text with this word has, each to be taken modulo the number of its bits."""
    plain = comparison_form(word)
    keys = _keys((), list(pairwise(plain))[:MOST_PAIRS]) if len(plain) > 1 else _keys(plain, ())
    return tuple(first + probe * step for first, step in map(_hashes, keys) for probe in range(PROBES))


def _keys(characters: Iterable[str], pairs: Iterable[tuple[str, str]]) -> list[int]:
    """Return a number for each; the characters' are smaller than the pairs'."""
    return [*map(ord, characters), *((ord(one) + 1) * _CHARACTERS + ord(other) for one, other in pairs)]


def _hashes(key: int) -> tuple[int, int]:
    mixed = key * _GOLDEN & _64_BITS
    mixed ^= mixed >> 29
    return mixed >> 32, mixed & 0xFFFFFFFF | 1
