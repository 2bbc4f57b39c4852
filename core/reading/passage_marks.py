"""Where the passages of a cleaned text stand among the characters of a page."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

MAX_PASSAGE = 20_000
"""Characters of all passages that are looked for."""
_SHORTEST_PART = 12
"""Characters of a passage that must stand together, where not all of it is on the page."""
_LARGEST_GAP = 20
"""Characters between two parts that are marked too: the page has a note there, or another spelling."""

Span = tuple[int, int]


def find_marks(chars: Sequence[str], passages: Sequence[str]) -> list[Span]:
    """Return start and end of each part of the page that belongs to a passage.

    Blanks, hyphens and the width of characters do not count. A passage that continues on another page, or is interrupted
    by a page's header, is found in parts."""
    letters: list[str] = []
    places: list[int] = []
    for place, char in enumerate(chars):
        for letter in _letters(char):
            letters.append(letter)
            places.append(place)
    page = "".join(letters)
    spans: list[Span] = []
    room = MAX_PASSAGE
    for passage in passages:
        wanted = "".join(map(_letters, passage[:room]))
        room -= len(passage[:room])
        spans += [(places[start], places[end - 1] + 1) for start, end in _find_passage(page, wanted)]
    return sorted(spans)


def _letters(char: str) -> str:
    """Return what counts of a character: nothing of blanks, hyphens and what pdfium puts at the end of a line."""
    normal = unicodedata.normalize("NFKC", char).casefold()
    return "".join(c for c in normal if not c.isspace() and unicodedata.category(c) not in ("Pd", "Cc", "Cf"))


def _find_passage(page: str, passage: str) -> list[Span]:
    if not passage:
        return []
    return list(_occurrences(page, passage)) or list(_parts(page, passage))


def _occurrences(page: str, passage: str) -> Iterator[Span]:
    start = page.find(passage)
    while start >= 0:
        yield start, start + len(passage)
        start = page.find(passage, start + len(passage))


def _parts(page: str, passage: str) -> Iterator[Span]:
    """Yield the parts of the passage that stand on the page, joined where little is between them on both sides."""
    blocks = SequenceMatcher(None, page, passage, autojunk=False).get_matching_blocks()
    joined: list[tuple[int, int, int]] = []  # start and end on the page, end in the passage
    for block in blocks:
        if block.size < _SHORTEST_PART:
            continue
        start, end, end_in_passage = block.a, block.a + block.size, block.b + block.size
        if joined and start - joined[-1][1] <= _LARGEST_GAP and block.b - joined[-1][2] <= _LARGEST_GAP:
            start = joined.pop()[0]
        joined.append((start, end, end_in_passage))
    return ((start, end) for start, end, _ in joined)
