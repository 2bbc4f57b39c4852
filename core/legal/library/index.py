"""The index of the imported laws and cases that is in use.

`LegalLibrary.index()` looks at current.json each time, so that an import in another process is seen at once. An open
index keeps its files open: it goes on answering after its folder was removed.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from core.base.embedding import Embedder, EmbeddingError
from core.legal.library.article_index import ArticleIndex
from core.legal.library.case_index import CaseIndex
from core.legal.library.index_files import MANIFEST, current_folder
from core.legal.library.shared_library import LibraryCopy, SharedFolder

if TYPE_CHECKING:
    from core.legal.library.vectors import Neighbours, VectorFile

log = logging.getLogger(__name__)


class LegalIndex(ArticleIndex, CaseIndex):
    """One complete index. All methods may be called from any thread."""

    def imported(self) -> str:
        """Return the day of the last import."""
        return str(self._rows("SELECT max(imported) FROM import")[0][0] or "")[:10]

    def origins(self) -> dict[str, str | None]:
        """Return the paths and addresses of the imports, oldest first, with the checksum of each file if known."""
        if "origin" not in self._columns("import"):
            return {}
        query = "SELECT origin, sha256, max(id) FROM import WHERE origin IS NOT NULL GROUP BY origin ORDER BY 3"
        return {row[0]: row[1] for row in self._rows(query)}

    def sources(self) -> dict[str, str]:
        """Return the titles of the imported sources, oldest first, each with the day of its last import."""
        query = "SELECT name, substr(max(imported), 1, 10) FROM import GROUP BY name ORDER BY max(id)"
        return {row[0]: row[1] for row in self._rows(query)}

    def was_imported(self, title: str) -> bool:
        """Return whether a source with this title is in the index."""
        return title in self.sources()

    def counts(self) -> dict[str, int]:
        """Return the numbers of laws, versions, articles and cases."""
        articles, cases = self._rows("SELECT (SELECT count(*) FROM article), (SELECT count(*) FROM court_case)")[0]
        return {"laws": len(self._by_key), "versions": len(self._versions), "articles": articles, "cases": cases}


class Shelf(NamedTuple):
    """Kind of texts with vectors: the name of their file, and a function that yields their ids and texts."""

    file: str
    texts: Callable[[LegalIndex], Iterator[tuple[int, str]]]


ARTICLES = Shelf("vectors", LegalIndex.meanings)
CASES = Shelf("case-vectors", LegalIndex.case_meanings)
SHELVES = {"计算向量": ARTICLES, "计算案例的向量": CASES}
"""Shelves by the name of their import stage. Articles come first: they are used while cases are computed."""


class LegalLibrary:
    """The library below the data folder: the index in use, and search by meaning if a model is configured."""

    def __init__(
        self,
        data_dir: Path,
        today: Callable[[], date] = date.today,
        *,
        embedder: Embedder | None = None,
        shared: SharedFolder | None = None,
    ) -> None:
        """`shared` is where the library is that all app servers share; the folder is a copy of it then."""
        self.folder = data_dir / "legal"
        self._copy = LibraryCopy(self.folder, shared) if shared else None
        self._today = today
        self._embedder = embedder
        self._lock = threading.Lock()
        self._open: tuple[str, LegalIndex] | None = None
        self._seen: tuple[int, int] | None = None
        self._neighbours: dict[Shelf, tuple[str, Neighbours]] = {}
        self.problem = ""
        """Reason why search by meaning fails although a model is configured, or empty."""

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Let nobody else change the library, on any app server, and begin with the newest one. Raise ImportBusy."""
        if self._copy is None:
            yield
        else:
            with self._copy.lock():
                yield

    def publish(self) -> None:
        """Let the other app servers have what was changed, if there are others."""
        if self._copy:
            self._copy.publish()

    def refresh(self) -> None:
        """Fetch what another app server has published, if this is not it. Raise AppError or OSError."""
        if self._copy:
            self._copy.refresh()

    def vectors_of(self, shelf: Shelf) -> VectorFile | None:
        """Return the vectors of a shelf, or None without a model. Raises EmbeddingError for an unusable model."""
        if self._embedder is None:
            return None
        from core.legal.library.vectors import VectorFile

        return VectorFile(self.folder, self._embedder, shelf.file)

    def similar_articles(self, text: str, limit: int) -> Mapping[int, float]:
        return self._similar(ARTICLES, text, limit)

    def similar_cases(self, text: str, limit: int, ids: Collection[int] | None) -> Mapping[int, float]:
        """Return the ids and scores of the closest cases. `ids` limits the search to these."""
        return self._similar(CASES, text, limit, ids)

    def _similar(self, shelf: Shelf, text: str, limit: int, ids: Collection[int] | None = None) -> Mapping[int, float]:
        """Return the ids and scores of the closest texts. Empty without a model or while vectors are computed."""
        try:
            neighbours = self._current_neighbours(shelf)
            return neighbours.nearest(text, limit, ids) if neighbours else {}
        except EmbeddingError as error:
            if not self.problem:
                log.warning("laws and cases are found by their words alone: %s", error)
            self.problem = str(error)
            return {}

    def _current_neighbours(self, shelf: Shelf) -> Neighbours | None:
        index, version = self.index(), self.version
        if self.problem or index is None or version is None or self._embedder is None:
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
        """Name of the index in use, which is not opened. Each import makes a new name."""
        if self._copy:
            self._copy.refresh_soon()
        return current_folder(self.folder)

    @property
    def available(self) -> bool:
        return self.version is not None

    def index(self) -> LegalIndex | None:
        """Return the index in use, or None before the first import."""
        if self._copy:
            self._copy.refresh_soon()
        for _ in range(3):  # a folder may be removed between reading its name and opening it
            try:
                stat = (self.folder / MANIFEST).stat()
            except OSError:
                return None
            seen = stat.st_mtime_ns, stat.st_ino
            with self._lock:
                if self._open and self._seen == seen:
                    return self._open[1]
                with suppress(OSError, ValueError, sqlite3.Error):
                    name = self.version
                    if name and (not self._open or self._open[0] != name):
                        self._open = (name, LegalIndex(self.folder / name, self._today))
                    self._seen = seen
                    return self._open[1] if self._open else None
        return None
