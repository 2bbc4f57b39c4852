"""Search of collections: what the index finds becomes passages with their files and places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from core.base.fusion import fuse_scores
from core.base.text import normalize
from core.documents.document_rows import DocumentRows
from core.documents.meaning import PassageMeanings
from core.documents.newer_first import newer_first
from core.documents.storage import FoundPassage, PassageIndex
from core.documents.text_rows import TextRows
from core.documents.types import Access, PassageHit
from core.reading import place_at

CANDIDATES = 3
"""Passages that are looked at for each that is wanted: some say the same, some belong to older versions."""
LEAST_CANDIDATES = 30


class Finder:
    def __init__(
        self, rows: DocumentRows, texts: TextRows, index: PassageIndex, meanings: PassageMeanings | None
    ) -> None:
        self._rows = rows
        self._texts = texts
        self._index = index
        self._meanings = meanings

    def find(self, query: str, access: Access, names: Mapping[str, str], limit: int) -> tuple[PassageHit, ...]:
        """Return the best passages of the collections with these ids and names, the best first."""
        if not names or not query.strip() or limit < 1:
            return ()
        found = self._find_passages(query, names, max(limit * CANDIDATES, LEAST_CANDIDATES))
        documents = self._rows.open_many({passage.document_id for passage in found}, access)
        hits = [
            PassageHit(document, names[document.collection_id], passage.start, passage.end, "", passage.score)
            for passage in found
            if (document := documents.get(passage.document_id)) and document.collection_id in names
        ]
        return tuple(islice(_without_repetitions(self._with_texts(newer_first(hits, query), limit)), limit))

    def _find_passages(self, query: str, names: Mapping[str, str], limit: int) -> list[FoundPassage]:
        """Return the best passages by words and, if there are vectors, by meaning."""
        worded = self._index.search(query, names.keys(), limit)
        meant = self._meanings.nearest(query, names.keys(), limit) if self._meanings else {}
        if not meant:
            return worded
        fused = fuse_scores({(one.document_id, one.start, one.end): one.score for one in worded}, meant)
        best = sorted(fused.items(), key=lambda entry: (-entry[1], entry[0]))
        return [FoundPassage(*place, score) for place, score in best[:limit]]

    def _with_texts(self, hits: Sequence[PassageHit], at_once: int) -> Iterator[PassageHit]:
        """Yield the hits with their texts and places. No more texts are loaded than are wanted, but for repetitions."""
        for first in range(0, len(hits), at_once):
            some = hits[first : first + at_once]
            pieces = self._texts.pieces_with([(hit.document.id, hit.start, hit.end) for hit in some])
            for hit, piece in zip(some, pieces, strict=True):
                if piece is not None:
                    start, end = hit.start - piece.start, hit.end - piece.start
                    place = place_at(piece.text, piece.all_sections, start)
                    yield replace(hit, text=piece.text[start:end], place=place)


def _without_repetitions(hits: Iterable[PassageHit]) -> Iterator[PassageHit]:
    """Yield the hits, of those in the same words the first one."""
    seen: set[str] = set()
    for hit in hits:
        if (words := normalize(hit.text)) not in seen:
            seen.add(words)
            yield hit
