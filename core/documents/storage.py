"""What the document library keeps beside the rows of the database: an index of passages, and the bytes of the files.

Each has two forms: in a folder of this server, or in the PostgreSQL database that all app servers share.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """A passage of a document, to be found by its words."""

    start: int
    end: int
    """Position in the text of the document, like `start`."""
    text: str
    """The words by which it is found: the passage, with the headings and the table header that it stands under."""


@dataclass(frozen=True, slots=True)
class FoundPassage:
    document_id: str
    start: int
    end: int
    score: float
    """Higher is better. Scores of one search can be compared, those of two cannot."""


class PassageIndex(Protocol):
    """An index of passages by their words. It is thread-safe. Errors are DocumentError or StoreError."""

    def add(self, collection_id: str, document_id: str, passages: Sequence[IndexedPassage]) -> None:
        """Add passages to those of the document. When it returns, they are found."""

    def remove(self, collection_id: str, document_ids: Collection[str]) -> None:
        """Remove documents for good: their words are gone from the disk."""

    def remove_collection(self, collection_id: str) -> None: ...

    def search(self, query: str, collection_ids: Collection[str], limit: int) -> list[FoundPassage]:
        """Return the best passages, the best first."""

    def lacks(self, collection_id: str) -> bool:
        """Return whether there is no index of a collection, or none that this program reads."""

    def rebuild(self, collection_id: str, documents: Iterable[tuple[str, Sequence[IndexedPassage]]]) -> None:
        """Make the index of a collection that lacks one from all its documents: whole or not at all."""

    def close_idle(self) -> None:
        """Release what idle collections hold in memory."""

    def close(self) -> None: ...


class FileStore(Protocol):
    """The bytes of the files, by the id of the document. Errors are DocumentError or StoreError."""

    def write(self, document_id: str, body: bytes) -> None: ...

    def read(self, document_id: str) -> bytes:
        """Return the bytes. Raise DocumentError if they are gone."""

    def delete(self, document_ids: Collection[str]) -> None: ...
