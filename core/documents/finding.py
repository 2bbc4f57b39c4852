"""Search of collections: what the index finds becomes passages with their files and places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.base.text import normalize
from core.documents.document_rows import DocumentRows
from core.documents.newer_first import newer_first
from core.documents.storage import FoundPassage, PassageIndex
from core.documents.text_rows import TextRows
from core.documents.types import Access, Document, PassageHit
from core.reading import place_at

CANDIDATES = 3
"""Passages that are looked at for each that is wanted: some say the same, some belong to older versions."""
LEAST_CANDIDATES = 30


class Finder:
    def __init__(self, rows: DocumentRows, texts: TextRows, index: PassageIndex) -> None:
        self._rows = rows
        self._texts = texts
        self._index = index

    def find(self, query: str, access: Access, names: Mapping[str, str], limit: int) -> tuple[PassageHit, ...]:
        """Return the best passages of the collections with these ids and names, the best first."""
        if not names or not query.strip() or limit < 1:
            return ()
        found = self._index.search(query, names.keys(), max(limit * CANDIDATES, LEAST_CANDIDATES))
        documents = self._rows.open_many({passage.document_id for passage in found}, access)
        hits = self._hits([passage for passage in found if passage.document_id in documents], documents, names)
        return tuple(_without_repetitions(newer_first(hits, query)))[:limit]

    def _hits(
        self, found: list[FoundPassage], documents: Mapping[str, Document], names: Mapping[str, str]
    ) -> Iterator[PassageHit]:
        for passage, piece in zip(found, self._texts.pieces_with(found), strict=True):
            document = documents[passage.document_id]
            if piece is None or document.collection_id not in names:
                continue
            first, last = passage.start - piece.start, passage.end - piece.start
            yield PassageHit(
                document,
                names[document.collection_id],
                passage.start,
                passage.end,
                piece.text[first:last],
                passage.score,
                place_at(piece.text, piece.all_sections, first),
            )


def _without_repetitions(hits: Sequence[PassageHit]) -> Iterator[PassageHit]:
    """Yield the hits, of those in the same words the first one."""
    seen: set[str] = set()
    for hit in hits:
        if (words := normalize(hit.text)) not in seen:
            seen.add(words)
            yield hit
