"""The stored texts of files, read as a whole or where a passage stands."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import and_, or_, select

from core.documents.storage import FoundPassage
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

    def pieces_with(self, passages: Sequence[FoundPassage]) -> list[StoredPiece | None]:
        """Return the piece in which each passage stands; None if it is no longer there."""
        c, earlier = document_texts.c, document_texts.alias().c
        holders = []
        for passage in passages:
            before = and_(earlier.document_id == passage.document_id, earlier.start <= passage.start)
            start = select(earlier.start).where(before).order_by(earlier.start.desc()).limit(1)
            holders.append(and_(c.document_id == passage.document_id, c.start == start.scalar_subquery()))
        if not holders:
            return []
        with self._database.read() as connection:
            rows = connection.execute(select(document_texts).where(or_(*holders))).all()
        pieces = [(row.document_id, piece_of(row)) for row in rows]
        return [_holder(passage, pieces) for passage in passages]


def _holder(passage: FoundPassage, pieces: Sequence[tuple[str, StoredPiece]]) -> StoredPiece | None:
    for document_id, piece in pieces:
        is_inside = piece.start <= passage.start and passage.end <= piece.start + len(piece.text)
        if document_id == passage.document_id and is_inside:
            return piece
    return None
