"""Cuts a text into passages to be indexed: whole sentences of one page, with the headings and the table header above them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from core.base.chinese.sentences import sentence_spans
from core.documents.storage import IndexedPassage
from core.documents.text_pieces import StoredPiece
from core.reading import TextSection

PASSAGE_BYTES = 900
"""Size of a passage: 300 Chinese characters, or 900 letters, which say as much."""
SMALLEST_BYTES = PASSAGE_BYTES // 4
"""Size below which a passage goes on behind the next heading."""
_LONGEST_LABEL, _LONGEST_TITLE = 200, 60


class PassageCutter:
    """Cuts the pieces of one file, in their order."""

    def __init__(self, name: str, title: str = "") -> None:
        stem = name.rpartition(".")[0] or name
        self._name = stem.replace("/", " ")
        self._title = title
        self._headings: list[TextSection] = []
        self._table_header = ""

    def cut(self, piece: StoredPiece) -> list[IndexedPassage]:
        return list(self._cut(piece))

    def _cut(self, piece: StoredPiece) -> Iterator[IndexedPassage]:
        self._title = self._title or _first_line(piece.text)
        for section, (start, end) in _parts(piece):
            if section is not None:
                self._enter(section, piece.text[start:end])
            above = self._labels()
            for first, last in _passages(piece.text, start, end):
                said = piece.text[first:last]
                words = "\n".join([*(label for label in above if label and label not in said), said])
                yield IndexedPassage(piece.start + first, piece.start + last, words)

    def _enter(self, section: TextSection, text: str) -> None:
        if section.kind == "heading":
            self._headings = [above for above in self._headings if above.level < section.level] + [section]
            return
        self._table_header = text.partition("\n")[0] if section.kind == "sheet" else ""
        if section.kind != "page":  # a chapter begins its own headings, a page goes on with the last one's
            self._headings = []
        if section.title:
            self._headings = [section]

    def _labels(self) -> list[str]:
        titles = " ".join(section.title for section in self._headings)
        return [label[:_LONGEST_LABEL] for label in (self._name, self._title, titles, self._table_header)]


def _first_line(text: str) -> str:
    """Return the first line, which is the title of most files; empty if it is too long for one."""
    line = next((line.strip("#* ") for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _LONGEST_TITLE else ""


def _parts(piece: StoredPiece) -> Iterator[tuple[TextSection | None, tuple[int, int]]]:
    """Yield the parts of a piece that have their own page or heading, each with the section that begins there."""
    starts = [section.start for section in piece.sections]
    edges = [0, *starts, len(piece.text)]
    yield from zip((None, *piece.sections), pairwise(edges), strict=True)


def _passages(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield spans of whole sentences between two positions. Only a sentence that is too long is cut."""
    begun: tuple[int, int] | None = None
    for first, last in _sentences(text, start, end):
        if begun and _size(text, begun[0], last) > PASSAGE_BYTES:
            yield begun
            begun = None
        begun = (begun[0] if begun else first, last)
    if begun:
        yield begun


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for first, last in sentence_spans(text[start:end]):
        begin = start + first
        while _size(text, begin, start + last) > PASSAGE_BYTES:
            yield begin, begin + PASSAGE_BYTES // 3
            begin += PASSAGE_BYTES // 3
        yield begin, start + last


def _size(text: str, start: int, end: int) -> int:
    return len(text[start:end].encode("utf-8", "replace"))


def cut_all(pieces: Sequence[StoredPiece], name: str, title: str = "") -> list[IndexedPassage]:
    """Return the passages of a whole file."""
    cutter = PassageCutter(name, title)
    return [passage for piece in pieces for passage in cutter.cut(piece)]
