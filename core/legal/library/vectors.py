"""Vectors of an embedding model: one record per text, found by the hash of the text.

    data/legal/vectors-<model>.bin     records of a 64-bit key and the vector as signed bytes, appended as they are computed
    data/legal/vectors-<model>.for     names the index that has a vector for each of its articles
    data/legal/case-vectors-<model>.…  the same for cases, in files of their own so that article searches stay fast

A file outlives imports: a text that is imported again is not computed again. It is memory-mapped and searched exactly.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy

from core.base.embedding import Embedder
from core.base.vectors import BATCH, Array, best_places, cosines, to_bytes


def text_key(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


class VectorFile:
    """Vectors of one model for one kind of texts. Only the holder of the library's import lock may add to them."""

    def __init__(self, folder: Path, embedder: Embedder, name: str = "vectors") -> None:
        self.embedder = embedder
        self._path = folder / f"{name}-{embedder.fingerprint}.bin"
        self._marker = self._path.with_suffix(".for")
        self._layout = numpy.dtype([("key", "<u8"), ("row", "i1", (embedder.width,))])

    def records(self) -> Array:
        """Return all records that were written completely."""
        count = self._path.stat().st_size // self._layout.itemsize if self._path.is_file() else 0
        return numpy.memmap(self._path, self._layout, "r", shape=(count,)) if count else numpy.zeros(0, self._layout)

    def missing_texts(self, texts: Iterable[str]) -> dict[int, str]:
        known = set(self.records()["key"].tolist())
        return {key: text for text in texts if (key := text_key(text)) not in known}

    def add(self, texts_by_key: dict[int, str], on_done: Callable[[int], None]) -> None:
        """Compute and append vectors. `on_done` gets the number done. It may raise; the next call continues there."""
        done = 0
        with self._path.open("ab") as file:
            file.truncate(len(self.records()) * self._layout.itemsize)  # a record that was cut off by a crash
            for batch in _batches(sorted(texts_by_key.items(), key=lambda entry: len(entry[1]))):
                file.write(self._encode(batch).tobytes())
                done += len(batch)
                on_done(done)

    def is_complete_for(self, index: str) -> bool:
        return self._marker.is_file() and self._marker.read_text("utf-8") == index

    def mark_complete_for(self, index: str) -> None:
        """Record that every text of this index has a vector."""
        draft = self._marker.with_suffix(".new")
        draft.write_text(index, "utf-8")
        draft.replace(self._marker)

    def _encode(self, batch: Sequence[tuple[int, str]]) -> Array:
        made = numpy.zeros(len(batch), self._layout)
        made["key"] = [key for key, _ in batch]
        made["row"] = to_bytes(self.embedder.embed([text for _, text in batch]))
        return made


def _batches(entries: Sequence[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Yield batches of texts of similar length. A short text beside a long one costs as much as the long one."""
    left = iter(entries)
    while batch := list(islice(left, BATCH)):
        yield batch


class Neighbours:
    """Search by meaning over the texts of one index."""

    def __init__(self, vectors: VectorFile, texts: Iterable[tuple[int, str]]) -> None:
        """Match texts with their vectors. `texts` are pairs of id and text; those without a vector are not found."""
        records = vectors.records()
        place = {key: place for place, key in enumerate(records["key"].tolist())}
        found = [(place[key], number) for number, text in texts if (key := text_key(text)) in place]
        self._embedder = vectors.embedder
        self._rows = records["row"]
        self._places = numpy.array([place for place, _ in found], numpy.int64)
        self._numbers = numpy.array([number for _, number in found], numpy.int64)

    def __len__(self) -> int:
        return len(self._numbers)

    def nearest(self, question: str, limit: int, candidates: Collection[int] | None = None) -> dict[int, float]:
        """Return the ids of the closest texts with their cosines. `candidates` limits the search to these ids."""
        if not len(self):
            return {}
        likeness, numbers = cosines(self._rows, self._embedder.embed([question])[0])[self._places], self._numbers
        if candidates is not None:
            wanted = numpy.isin(numbers, numpy.fromiter(candidates, numpy.int64))
            likeness, numbers = likeness[wanted], numbers[wanted]
        return {int(numbers[place]): float(likeness[place]) for place in best_places(likeness, limit)}
