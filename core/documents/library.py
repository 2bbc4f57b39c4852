"""The document library: collections and their files, for readers and for answers."""

from __future__ import annotations

from collections.abc import Collection as SizedCollection
from collections.abc import Sequence

from core.documents.types import Access, Collection, Document, PassageHit
from core.reading import Page


class DocumentLibrary:
    """All collections of an installation. It is thread-safe.

    What is not the reader's raises CollectionNotFound or DocumentNotFound, whether it exists or not. A database or a disk
    that fails raises StoreError or DocumentError."""

    # ── Collections ───────────────────────────────────────────────────────────────────────────────────────────────

    def list_collections(self, access: Access) -> tuple[Collection, ...]:
        """Return the reader's collections, and those that the shares open; the latest first."""
        raise NotImplementedError

    def open_collection(self, id: str, access: Access) -> Collection:
        raise NotImplementedError

    def find_shared(self, share: str) -> Collection:
        """Return the collection that a share opens. Raise CollectionNotFound."""
        raise NotImplementedError

    def create_collection(self, name: str, access: Access) -> Collection:
        raise NotImplementedError

    def rename_collection(self, id: str, name: str, access: Access) -> None:
        raise NotImplementedError

    def delete_collection(self, id: str, access: Access) -> None:
        """Delete the collection with all its files, for good."""
        raise NotImplementedError

    def share_collection(self, id: str, access: Access) -> str:
        """Return the key that opens the collection for reading; the same one as long as it is shared."""
        raise NotImplementedError

    def unshare_collection(self, id: str, access: Access) -> None:
        raise NotImplementedError

    # ── Files ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def add_document(
        self, collection_id: str, name: str, body: bytes, access: Access, *, modified: str | None = None
    ) -> Document:
        """Store a file and queue it for indexing. A file with the same name and bytes is returned as it is; one with the
        same name and other bytes replaces the old one. Raise DocumentError for a limit."""
        raise NotImplementedError

    def list_documents(self, collection_id: str, access: Access) -> tuple[Document, ...]:
        """Return the files by name."""
        raise NotImplementedError

    def open_document(self, id: str, access: Access) -> Document:
        raise NotImplementedError

    def read_text(self, id: str, access: Access) -> Page:
        """Return the text of a file as a page with sections, `document.address` as its address. Raise DocumentError while
        nothing of it has been read."""
        raise NotImplementedError

    def read_bytes(self, id: str, access: Access) -> bytes:
        raise NotImplementedError

    def draw_page(self, id: str, number: int, access: Access, marks: Sequence[tuple[int, int]] = ()) -> bytes:
        """Return a page of a PDF as a PNG, with the passages at these positions of the text marked. Raise DocumentError
        for a file without such a page."""
        raise NotImplementedError

    def reindex_document(self, id: str, access: Access) -> None:
        raise NotImplementedError

    def delete_document(self, id: str, access: Access) -> None:
        """Delete a file for good: bytes, text and index."""
        raise NotImplementedError

    def wait_until_indexed(self, collection_id: str, access: Access, *, seconds: float) -> bool:
        """Wait until no file of the collection is waiting or being read. Return whether that came in time."""
        raise NotImplementedError

    # ── Search ────────────────────────────────────────────────────────────────────────────────────────────────────

    def search(
        self, query: str, access: Access, *, collections: SizedCollection[str], limit: int = 10
    ) -> tuple[PassageHit, ...]:
        """Return the best passages of these collections, the best first. Newer versions of a file come before older ones."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError
