"""Search of passages by meaning, with the optional embedding model: what says the same in other words is found too.

The vectors are computed in the background, after the passages can be found by their words. Until a collection has all of them,
and whenever the model fails, words decide alone.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.base.embedding import Embedder, EmbeddingError
from core.documents.passage_cutting import PassageCutter
from core.documents.text_pieces import StoredPiece
from core.documents.text_rows import TextRows
from core.documents.vector_rows import VectorRows
from core.store import StoreError

if TYPE_CHECKING:
    from core.base.vectors import Array

log = logging.getLogger(__name__)

PassagePlace = tuple[str, int, int]
"""Id of a file, start and end of a passage in its text."""


@dataclass(slots=True)
class _Loaded:
    """The vectors of a collection in memory."""

    stamp: tuple[int, int]
    document_ids: list[str]
    spans: Array
    """Number of the document, start and end."""
    rows: Array
    used: float = 0.0


class PassageMeanings:
    """Vectors of passages: computed in one thread, and searched in any."""

    def __init__(self, rows: VectorRows, texts: TextRows, embedder: Embedder) -> None:
        self._rows = rows
        self._texts = texts
        self._embedder = embedder
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._has_more = False
        self._closing = threading.Event()
        self._loaded: dict[str, _Loaded] = {}
        self._problem = ""

    # ── Search ────────────────────────────────────────────────────────────────────────────────────────────────────

    def nearest(self, query: str, collection_ids: Collection[str], limit: int) -> dict[PassagePlace, float]:
        """Return the closest passages with their cosines. Empty without all vectors of these collections."""
        if self._problem:
            return {}
        try:
            loaded = self._load(collection_ids)
            return self._nearest(query, loaded, limit) if loaded else {}
        except EmbeddingError as error:
            self._give_up(error)
            return {}

    def close_idle(self, seconds: float) -> None:
        """Release the vectors that nobody has searched for so long."""
        with self._lock:
            oldest = time.monotonic() - seconds
            self._loaded = {id: one for id, one in self._loaded.items() if one.used > oldest}

    def _load(self, collection_ids: Collection[str]) -> list[_Loaded]:
        """Return the vectors of the collections; of none while some are missing, and go on with these."""
        stamps = {id: self._rows.stamp(id, self._embedder.fingerprint) for id in collection_ids}
        if None in stamps.values():
            self.start()
            return []
        return [self._load_collection(id, stamp) for id, stamp in stamps.items() if stamp and stamp[0]]

    def _load_collection(self, id: str, stamp: tuple[int, int]) -> _Loaded:
        with self._lock:
            loaded = self._loaded.get(id)
        if loaded is None or loaded.stamp != stamp:
            loaded = self._read_collection(id, stamp)
        loaded.used = time.monotonic()
        with self._lock:
            self._loaded[id] = loaded
        return loaded

    def _read_collection(self, id: str, stamp: tuple[int, int]) -> _Loaded:
        import numpy

        pieces = list(self._rows.load(id, self._embedder.fingerprint))
        document_ids = sorted({piece.document_id for piece in pieces})
        numbers = {document: number for number, document in enumerate(document_ids)}
        spans = [numpy.frombuffer(piece.spans, "<i4").reshape(-1, 2) for piece in pieces]
        owners = [
            numpy.full((len(each), 1), numbers[piece.document_id]) for each, piece in zip(spans, pieces, strict=True)
        ]
        places = numpy.hstack([numpy.vstack(owners), numpy.vstack(spans)]) if pieces else numpy.zeros((0, 3), "<i4")
        rows = numpy.frombuffer(b"".join(piece.vectors for piece in pieces), numpy.int8)
        return _Loaded(stamp, document_ids, places.astype("<i4"), rows.reshape(-1, self._embedder.width))

    def _nearest(self, query: str, every: Sequence[_Loaded], limit: int) -> dict[PassagePlace, float]:
        from core.base.vectors import best_places, cosines

        asked = self._embedder.embed([query])[0]
        found: dict[PassagePlace, float] = {}
        for loaded in every:
            likeness = cosines(loaded.rows, asked)
            for place in best_places(likeness, limit):
                number, start, end = map(int, loaded.spans[place])
                found[loaded.document_ids[number], start, end] = float(likeness[place])
        best = sorted(found.items(), key=lambda entry: -entry[1])
        return dict(best[:limit])

    # ── Computing ─────────────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Compute the vectors that are missing, in a thread of their own unless it runs."""
        with self._lock:
            self._has_more = True
            if self._thread is None and not self._closing.is_set() and not self._problem:
                self._thread = threading.Thread(target=self._work, name="wenyuan-documents-meaning", daemon=True)
                self._thread.start()

    def close(self, seconds: float = 5.0) -> None:
        self._closing.set()
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _work(self) -> None:
        try:
            while self._takes_more():
                self._embed_missing()
        except EmbeddingError as error:
            self._give_up(error)
        except StoreError as error:
            log.warning("the meaning of documents could not be stored: %s", error)
        except Exception:
            log.exception("the meaning of documents met a bug and waits for the next file")
        finally:
            with self._lock:
                if self._thread is threading.current_thread():
                    self._thread = None

    def _takes_more(self) -> bool:
        """Return whether there may be more to compute; if not, the thread ends."""
        with self._lock:
            if self._closing.is_set() or not self._has_more:
                self._thread = None
                return False
            self._has_more = False
            return True

    def _embed_missing(self) -> None:
        missing = self._rows.incomplete(self._embedder.fingerprint)
        random.shuffle(missing)  # several servers seldom compute the same
        for id in missing:
            lacking = self._rows.lacking(id, self._embedder.fingerprint)
            for piece in self._texts.load(id):
                if self._closing.is_set():
                    return
                if piece.start in lacking:
                    self._embed_piece(id, piece)

    def _embed_piece(self, id: str, piece: StoredPiece) -> None:
        """Compute the vectors of the passages alone: with the name of the file and its headings, fewer are found."""
        import numpy

        from core.base.vectors import BATCH, to_bytes

        spans = [(one.start - piece.start, one.end - piece.start) for one in PassageCutter("").cut(piece)]
        vectors = bytearray()
        for first in range(0, len(spans), BATCH):
            texts = [piece.text[start:end] for start, end in spans[first : first + BATCH]]
            vectors += to_bytes(self._embedder.embed(texts)).tobytes()
        places = (numpy.array(spans, "<i4") + piece.start).tobytes()
        self._rows.add(id, piece, self._embedder.fingerprint, places, bytes(vectors))

    def _give_up(self, error: EmbeddingError) -> None:
        if not self._problem:
            log.warning("documents are found by their words alone: %s", error)
        self._problem = str(error)
