"""What the embedding model made of each text: one record a text, found again by the text itself.

    data/legal/vectors-<model>.bin     records of a 64-bit key and the vector as signed bytes, appended as they are computed
    data/legal/vectors-<model>.for     names the index that has a vector for each of its articles
    data/legal/case-vectors-<model>.…  the same of cases: many of these make no question about articles slower

A file outlives imports: what is imported again in the same words is not computed again. It is memory-mapped, and searched
exactly: 68,000 vectors of 512 take 35 MB and some 6 ms; as half floats they would take twice that, and ten times as long.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy

from core.legal.library.embedding import Embedder

_SCALE = 400.0
"""A component of a unit vector of 512 is 0.04 on average; beyond 0.3175 it is cut off."""
_BLOCK = 256
"""Rows: with many more than these the linear algebra wakes its other threads, whose waiting costs ten times the work."""
_BATCH = 8
"""Texts at a time: with 32 a model of this size takes a fifth longer and three times the memory."""

Array = numpy.ndarray[Any, numpy.dtype[Any]]


def key_of(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


class Vectors:
    """The records of one model and one kind of texts. Whoever adds to them does it alone: an import holds the library's lock."""

    def __init__(self, folder: Path, embedder: Embedder, name: str = "vectors") -> None:
        self.embedder = embedder
        self._path = folder / f"{name}-{embedder.fingerprint}.bin"
        self._complete = self._path.with_suffix(".for")
        self._layout = numpy.dtype([("key", "<u8"), ("row", "i1", (embedder.width,))])

    def records(self) -> Array:
        """All that were written whole."""
        count = self._path.stat().st_size // self._layout.itemsize if self._path.is_file() else 0
        return numpy.memmap(self._path, self._layout, "r", shape=(count,)) if count else numpy.zeros(0, self._layout)

    def missing(self, texts: Iterable[str]) -> dict[int, str]:
        known = set(self.records()["key"].tolist())
        return {key: text for text in texts if (key := key_of(text)) not in known}

    def add(self, missing: dict[int, str], on_done: Callable[[int], None]) -> None:
        """`on_done` gets how many are done, and may raise to end it: the next time goes on from there."""
        done = 0
        with self._path.open("ab") as file:
            file.truncate(len(self.records()) * self._layout.itemsize)  # a record that was cut off by a crash
            for batch in _batches(sorted(missing.items(), key=lambda entry: len(entry[1]))):
                file.write(self._made(batch).tobytes())
                done += len(batch)
                on_done(done)

    def complete(self, index: str) -> bool:
        return self._complete.is_file() and self._complete.read_text("utf-8") == index

    def completed(self, index: str) -> None:
        draft = self._complete.with_suffix(".new")
        draft.write_text(index, "utf-8")
        draft.replace(self._complete)

    def _made(self, batch: Sequence[tuple[int, str]]) -> Array:
        made = numpy.zeros(len(batch), self._layout)
        made["key"] = [key for key, _ in batch]
        made["row"] = numpy.clip(numpy.rint(self.embedder.embed([text for _, text in batch]) * _SCALE), -127, 127)
        return made


def _batches(entries: Sequence[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Of texts of about the same length: a short one beside a long one costs as much as that."""
    left = iter(entries)
    while batch := list(islice(left, _BATCH)):
        yield batch


class Neighbours:
    """The texts of one index by meaning."""

    def __init__(self, vectors: Vectors, texts: Iterable[tuple[int, str]]) -> None:
        """`texts` with the number by which each is known to the index. Those without a vector are not found."""
        records = vectors.records()
        place = {key: place for place, key in enumerate(records["key"].tolist())}
        found = [(place[key], number) for number, text in texts if (key := key_of(text)) in place]
        self._embedder = vectors.embedder
        self._rows = records["row"]
        self._places = numpy.array([place for place, _ in found], numpy.int64)
        self._numbers = numpy.array([number for _, number in found], numpy.int64)

    def __len__(self) -> int:
        return len(self._numbers)

    def nearest(self, question: str, limit: int, among: Collection[int] | None = None) -> dict[int, float]:
        """The numbers of the texts that mean most nearly the same, with their cosines. `among`: only these count."""
        if not len(self):
            return {}
        asked = self._embedder.embed([question])[0] / _SCALE
        likeness, numbers = self._products(asked)[self._places], self._numbers
        if among is not None:
            wanted = numpy.isin(numbers, numpy.fromiter(among, numpy.int64))
            likeness, numbers = likeness[wanted], numbers[wanted]
        last = max(len(likeness) - limit, 0)
        best: Array = numpy.argpartition(likeness, last)[last:] if last else numpy.arange(len(likeness))
        found = {int(numbers[place]): float(likeness[place]) for place in best}
        return dict(sorted(found.items(), key=lambda entry: -entry[1]))

    def _products(self, asked: Array) -> Array:
        """Block by block: a few megabytes stay in the processor's cache, and never more than these are floats."""
        products = numpy.empty(len(self._rows), numpy.float32)
        floats = numpy.empty((_BLOCK, len(asked)), numpy.float32)
        for start in range(0, len(self._rows), _BLOCK):
            block = self._rows[start : start + _BLOCK]
            floats[: len(block)] = block
            products[start : start + len(block)] = floats[: len(block)] @ asked
        return products
