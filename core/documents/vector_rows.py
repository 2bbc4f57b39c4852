"""The stored vectors of passages, one row for each piece of a text. They are deleted with it."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlalchemy import Join, and_, delete, func, insert, select

from core.documents.text_pieces import StoredPiece
from core.store import Database
from core.store.tables import document_texts, document_vectors, documents

_DOCUMENTS_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class PieceVectors:
    document_id: str
    spans: bytes
    """Positions of the passages: pairs of 32-bit numbers."""
    vectors: bytes


class VectorRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    def incomplete(self, model: str) -> list[str]:
        """Return the ids of the files with text that has no vectors of this model."""
        query = select(_TEXTS.c.document_id).distinct().select_from(_beside_vectors(model)).where(_LACKS)
        with self._database.read() as connection:
            return list(connection.execute(query).scalars())

    def lacking(self, document_id: str, model: str) -> set[int]:
        """Return the positions of the pieces of a file that have no vectors of this model."""
        query = (
            select(_TEXTS.c.start)
            .select_from(_beside_vectors(model))
            .where(_TEXTS.c.document_id == document_id, _LACKS)
        )
        with self._database.read() as connection:
            return set(connection.execute(query).scalars())

    def add(self, document_id: str, piece: StoredPiece, model: str, spans: bytes, vectors: bytes) -> None:
        """Store the vectors of a piece, unless its text is gone or another one by now."""
        place = {"document_id": document_id, "start": piece.start}
        text, c = document_texts.c, document_vectors.c
        current = select(text.text).where(text.document_id == document_id, text.start == piece.start)
        with self._database.write() as connection:
            if connection.execute(current.with_for_update()).scalar_one_or_none() != piece.text:
                return
            connection.execute(delete(document_vectors).where(c.document_id == document_id, c.start == piece.start))
            values = {"model": model, "mark": secrets.randbits(30), "spans": spans, "vectors": vectors}
            connection.execute(insert(document_vectors).values(**place, **values))

    def stamp(self, collection_id: str, model: str) -> tuple[int, int] | None:
        """Return what changes whenever the vectors of a collection do. None while some are missing."""
        count = select(func.count(_TEXTS.c.start), func.count(_VECTORS.c.start), func.sum(_VECTORS.c.mark))
        query = count.select_from(_beside_vectors(model).join(documents, documents.c.id == _TEXTS.c.document_id))
        with self._database.read() as connection:
            texts, found, marks = connection.execute(query.where(documents.c.collection_id == collection_id)).one()
        return (found, int(marks or 0)) if found == texts else None

    def load(self, collection_id: str, model: str) -> Iterator[PieceVectors]:
        """Yield all vectors of a collection, some files at a time: no statement takes long."""
        c = document_vectors.c
        with self._database.read() as connection:
            ids = connection.execute(select(documents.c.id).where(documents.c.collection_id == collection_id))
            every = list(ids.scalars())
        for first in range(0, len(every), _DOCUMENTS_AT_ONCE):
            some: Collection[str] = every[first : first + _DOCUMENTS_AT_ONCE]
            query = select(c.document_id, c.spans, c.vectors).where(c.document_id.in_(some), c.model == model)
            with self._database.read() as connection:
                rows = connection.execute(query.order_by(c.document_id, c.start)).all()
            yield from (PieceVectors(*row) for row in rows)


_TEXTS, _VECTORS = document_texts, document_vectors
_LACKS = _VECTORS.c.start.is_(None)


def _beside_vectors(model: str) -> Join:
    """Return the pieces of texts, each beside its vectors of this model if it has any."""
    same = and_(_VECTORS.c.document_id == _TEXTS.c.document_id, _VECTORS.c.start == _TEXTS.c.start)
    return _TEXTS.outerjoin(_VECTORS, and_(same, _VECTORS.c.model == model))
