"""The text of a file in pieces: a passage of a long text, and its place there, are found without reading all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.reading import TextSection, decode_sections, encode_sections

PIECE_LENGTH = 8_000


@dataclass(frozen=True, slots=True)
class StoredPiece:
    start: int
    """Position in the text of the file. The next piece begins where this one ends."""
    text: str
    sections: tuple[TextSection, ...]
    """Sections that begin in this piece, with positions in it."""
    opening: TextSection | None
    """The section in which the piece begins, with the number of the line that it begins with."""
    uncertain: tuple[tuple[int, int], ...] = ()
    """Recognized digits that may be wrong, with positions in the piece."""

    @property
    def all_sections(self) -> tuple[TextSection, ...]:
        """The sections of the piece for `place_at`."""
        return (self.opening, *self.sections) if self.opening else self.sections

    def stored(self) -> dict[str, Any]:
        opening = encode_sections((self.opening,)) if self.opening else ""
        sections = encode_sections(self.sections, self.uncertain)
        return {"start": self.start, "text": self.text, "sections": sections, "opening": opening}


def piece_of(row: Any) -> StoredPiece:
    sections, uncertain = decode_sections(row.sections)
    opening = next(iter(decode_sections(row.opening)[0]), None)
    return StoredPiece(row.start, row.text, sections, opening, uncertain)


class PieceCutter:
    """Cuts the parts of a file into pieces, one part after the other."""

    def __init__(self, start: int = 0, opening: TextSection | None = None) -> None:
        self.length = start
        """Length of the text so far."""
        self._opening = opening

    def cut(
        self, text: str, sections: Sequence[TextSection], uncertain: Sequence[tuple[int, int]] = ()
    ) -> Iterator[StoredPiece]:
        """Yield the pieces of a part that stands behind what was cut before."""
        left = sorted(sections, key=lambda section: section.start)
        if self.length and text:
            text = f"\n\n{text}"
            left = [replace(section, start=section.start + 2) for section in left]
            uncertain = [(first + 2, last + 2) for first, last in uncertain]
        begin = 0
        while begin < len(text):
            end = _end_of_piece(text, begin)
            inside = [section for section in left if section.start < end or end == len(text)]
            left = left[len(inside) :]
            moved = tuple(replace(section, start=section.start - begin) for section in inside)
            doubted = tuple(
                (max(first - begin, 0), min(last, end) - begin)
                for first, last in uncertain
                if first < end and begin < last
            )
            piece = StoredPiece(self.length + begin, text[begin:end], moved, self._opening, doubted)
            yield piece
            self._opening = _open_at_end(piece)
            begin = end
        self.length += len(text)


def join_pieces(pieces: Sequence[StoredPiece]) -> tuple[str, tuple[TextSection, ...], tuple[tuple[int, int], ...]]:
    """Return the text with its sections and uncertain places."""
    sections = tuple(
        replace(section, start=section.start + piece.start) for piece in pieces for section in piece.sections
    )
    uncertain = tuple((start + piece.start, end + piece.start) for piece in pieces for start, end in piece.uncertain)
    return "".join(piece.text for piece in pieces), sections, uncertain


def _end_of_piece(text: str, begin: int) -> int:
    """Return where a piece ends: behind a line, else behind a sentence."""
    longest = begin + PIECE_LENGTH
    if longest >= len(text):
        return len(text)
    for mark in ("\n", "。", " "):
        if (found := text.rfind(mark, begin + PIECE_LENGTH // 2, longest)) >= 0:
            return found + 1
    return longest


def _open_at_end(piece: StoredPiece) -> TextSection | None:
    """Return the section that goes on behind the piece, as it goes on there."""
    known = piece.all_sections
    holder = next((section for section in reversed(known) if section.kind != "heading"), known[-1] if known else None)
    if holder is None:
        return None
    line = holder.first_line + piece.text.count("\n", holder.start)
    return replace(holder, start=0, first_line=line)
