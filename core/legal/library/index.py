"""The index of the imported laws and cases that is in use.

`LegalLibrary.index()` looks at current.json each time, so that an import in another process is seen at once. An open
index keeps its files open: it goes on answering after its folder was removed.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from core.legal.errors import EmbeddingError
from core.legal.library.article_index import ArticleIndex
from core.legal.library.case_index import CaseIndex
from core.legal.library.index_files import MANIFEST, current_folder

if TYPE_CHECKING:
    from core.legal.library.embedding import Embedder
    from core.legal.library.vectors import Neighbours, VectorFile

log = logging.getLogger(__name__)


class LegalIndex(ArticleIndex, CaseIndex):
    """One complete index. All methods may be called from any thread."""

    def imported(self) -> str:
        """The day of the last import."""
        return str(self._rows("SELECT max(imported) FROM import")[0][0] or "")[:10]

    def origins(self) -> dict[str, str | None]:
        """Where the library was imported from, in that order, each with the checksum of its last import; not every one is known."""
        if "origin" not in self._columns("import"):
            return {}
        rows = self._rows(
            "SELECT origin, sha256, max(id) FROM import WHERE origin IS NOT NULL GROUP BY origin ORDER BY 3"
        )
        return {row[0]: row[1] for row in rows}

    def counts(self) -> dict[str, int]:
        """What the index holds: laws, versions, articles, cases."""
        articles, cases = self._rows("SELECT (SELECT count(*) FROM article), (SELECT count(*) FROM court_case)")[0]
        return {"laws": len(self._by_key), "versions": len(self._versions), "articles": articles, "cases": cases}


class Shelf(NamedTuple):
    """Texts that are compared by meaning with each other."""

    file: str
    texts: Callable[[LegalIndex], Iterator[tuple[int, str]]]


ARTICLES = Shelf("vectors", LegalIndex.meanings)
CASES = Shelf("case-vectors", LegalIndex.case_meanings)
SHELVES = {"计算向量": ARTICLES, "计算案例的向量": CASES}
"""As an import tells of them. Articles come first: they are used while the cases are under way."""


class LegalLibrary:
    """Whatever index is in use at the moment, below the data folder."""

    def __init__(self, data_dir: Path, today: Callable[[], date] = date.today, *, embedding: str = "") -> None:
        """`embedding`: a folder or a name, as `Embedder` takes them."""
        self.folder = data_dir / "legal"
        self._today = today
        self._embedding = embedding
        self._lock = threading.Lock()
        self._open: tuple[str, LegalIndex] | None = None
        self._seen: tuple[int, int] | None = None
        self._neighbours: dict[Shelf, tuple[str, Neighbours]] = {}
        self.problem = ""
        """Why nothing is found by meaning although a model is configured."""

    @cached_property
    def _embedder(self) -> Embedder:
        from core.legal.library.embedding import Embedder

        return Embedder(self._embedding)

    def vectors_of(self, shelf: Shelf) -> VectorFile | None:
        """None without a model. Raises an EmbeddingError for one that cannot be used."""
        if not self._embedding:
            return None
        from core.legal.library.vectors import VectorFile

        return VectorFile(self.folder, self._embedder, shelf.file)

    def near(self, text: str, limit: int) -> Mapping[int, float]:
        return self._near(ARTICLES, text, limit)

    def near_cases(self, text: str, limit: int, among: Collection[int] | None) -> Mapping[int, float]:
        return self._near(CASES, text, limit, among)

    def _near(self, shelf: Shelf, text: str, limit: int, among: Collection[int] | None = None) -> Mapping[int, float]:
        """Nothing without a model, and while the vectors of what was imported last are still being computed."""
        try:
            neighbours = self._neighbours_now(shelf)
            found = neighbours.nearest(text, limit, among) if neighbours else {}
        except EmbeddingError as error:
            if not self.problem:
                log.warning("laws and cases are found by their words alone: %s", error)
            self.problem, found = str(error), {}
        return found

    def _neighbours_now(self, shelf: Shelf) -> Neighbours | None:
        index, version = self.index(), self.version
        if self.problem or index is None or version is None or not self._embedding:
            return None
        if shelf not in self._neighbours or self._neighbours[shelf][0] != version:
            vectors = self.vectors_of(shelf)
            if vectors is None or not vectors.is_complete_for(version):
                return None
            from core.legal.library.vectors import Neighbours

            self._neighbours[shelf] = version, Neighbours(vectors, shelf.texts(index))
        return self._neighbours[shelf][1]

    @property
    def version(self) -> str | None:
        """Names the index in use without opening it; another one after each import."""
        return current_folder(self.folder)

    @property
    def available(self) -> bool:
        return self.version is not None

    def index(self) -> LegalIndex | None:
        """None before the first import."""
        for _ in range(3):  # a folder may be removed between reading its name and opening it
            seen = self._stamp()
            if seen is None:
                return None
            with self._lock:
                if self._open and self._seen == seen:
                    return self._open[1]
                with suppress(OSError, ValueError, sqlite3.Error):
                    name = current_folder(self.folder)
                    if name and (not self._open or self._open[0] != name):
                        self._open = (name, LegalIndex(self.folder / name, self._today))
                    self._seen = seen
                    return self._open[1] if self._open else None
        return None

    def _stamp(self) -> tuple[int, int] | None:
        try:
            stat = (self.folder / MANIFEST).stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_ino
