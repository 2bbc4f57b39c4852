"""An embedder whose vectors come from a table, where no model is needed: letters of one group mean the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from core.base.embedding import Embedder, EmbeddingError


class TableEmbedder(Embedder):
    """A text is the sum of what its letters mean. It remembers what it was asked, and fails if `is_broken`."""

    def __init__(self, *groups: str, is_broken: bool = False) -> None:
        super().__init__("table")
        self.asked: list[str] = []
        self._groups = groups
        self._is_broken = is_broken

    def embed(self, texts: Sequence[str]) -> numpy.ndarray:
        self.asked += texts
        if self._is_broken:
            raise EmbeddingError("语义模型无法载入。")
        rows = numpy.array([[sum(map(text.count, group)) for group in self._groups] for text in texts], numpy.float32)
        lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
        return numpy.asarray(rows / numpy.maximum(lengths, 1e-9))
