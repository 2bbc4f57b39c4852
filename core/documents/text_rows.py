"""The stored texts of files, read as a whole or where a passage stands."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from core.documents.text_pieces import StoredPiece, piece_of
from core.store import Database
from core.store.tables import document_texts


class TextRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self, document_id: str) -> tuple[StoredPiece, ...]:
        """Return all that was read of a file so far."""
        c = document_texts.c
        with self._database.read() as connection:
            rows = connection.execute(select(document_texts).where(c.document_id == document_id).order_by(c.start))
            return tuple(map(piece_of, rows))

    def pieces_with(self, places: Sequence[tuple[str, int, int]]) -> list[StoredPiece | None]:
        """Return the piece in which each place stands (id of the file, start and end); None if it is no longer there."""
        with self._database.read() as connection:
            rows = [
                connection.execute(_LAST_BEFORE, {"document": id, "position": start}).first() for id, start, _ in places
            ]
        pieces = [piece_of(row) if row else None for row in rows]
        ends = [end for _, _, end in places]
        return [
            piece if piece and end <= piece.start + len(piece.text) else None
            for piece, end in zip(pieces, ends, strict=True)
        ]


_LAST_BEFORE = (
    select(document_texts)
    .where(document_texts.c.document_id == bindparam("document"), document_texts.c.start <= bindparam("position"))
    .order_by(document_texts.c.start.desc())
    .limit(1)
)
"""The statement runs for each hit of a search. Building it is most of the work."""
