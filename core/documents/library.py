"""The document library: collections and their files, for readers and for answers."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Collection as SizedCollection
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

from core.base.embedding import Embedder
from core.base.settings import DocumentSettings, Settings
from core.base.text import one_line
from core.documents.collection_rows import UNFINISHED, CollectionRows
from core.documents.document_rows import DocumentRows, Removal
from core.documents.errors import DocumentError
from core.documents.finding import Finder
from core.documents.folder_index import IDLE_SECONDS, REBUILDING
from core.documents.indexing import Indexer
from core.documents.limits import ClosedDatabase, require_size
from core.documents.meaning import PassageMeanings
from core.documents.reading_queue import ReadingQueue
from core.documents.storage import FileStore, PassageIndex
from core.documents.text_pieces import join_pieces
from core.documents.text_rows import TextRows
from core.documents.transfer import document_stores
from core.documents.types import Access, Collection, Document, DocumentState, PassageHit
from core.documents.vector_rows import VectorRows
from core.reading import FileError, Page, PageKind, Reader, count_instructions
from core.store import Database, new_conversation_id

MAX_NAME_LENGTH = 400
DAY = 86_400
_POLL_SECONDS = 0.2
"""Pause before looking again at what another process may have done meanwhile."""


class DocumentLibrary:
    """All collections of an installation. It is thread-safe.

    What is not the reader's raises CollectionNotFound or DocumentNotFound, whether it exists or not. A database or a disk
    that fails raises StoreError or DocumentError."""

    def __init__(
        self,
        database: Database,
        index: PassageIndex,
        files: FileStore,
        reader: Reader,
        *,
        settings: DocumentSettings | None = None,
        queue: ReadingQueue | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self._settings = settings or DocumentSettings()
        if not self._settings.enabled:
            database = ClosedDatabase()
        self._collections = CollectionRows(database)
        self._rows = DocumentRows(database, self._settings)
        self._texts = TextRows(database)
        self._index = index
        self._files = files
        self._reader = reader
        self._meanings = PassageMeanings(VectorRows(database), self._texts, embedder) if embedder else None
        self._finder = Finder(self._rows, self._texts, index, self._meanings)
        self._indexer = Indexer(
            queue or ReadingQueue(database),
            self._rows,
            self._texts,
            index,
            files,
            reader,
            megabytes=self._settings.file_megabytes,
            on_text=self._embed,
        )
        self._lock = threading.Lock()
        self._idle_timer: threading.Timer | None = None
        self._last_search = 0.0
        self._is_closed = False

    @classmethod
    def from_settings(
        cls, settings: Settings, database: Database, reader: Reader, embedder: Embedder | None = None
    ) -> DocumentLibrary:
        """Return the library of an installation. With a model, passages are found by their meaning too."""
        stores = document_stores(settings, database)
        return cls(database, *stores, reader, settings=settings.documents, embedder=embedder)

    def start(self) -> None:
        """Go on with what an earlier run of the program has left unfinished."""
        if self._settings.enabled:
            self._indexer.start()
            self._embed()

    # ── Collections ───────────────────────────────────────────────────────────────────────────────────────────────

    def list_collections(self, access: Access) -> tuple[Collection, ...]:
        """Return the reader's collections, and those that the shares open; the latest first."""
        return self._collections.list_open(access)

    def open_collection(self, id: str, access: Access) -> Collection:
        return self._collections.open(id, access)

    def find_shared(self, share: str) -> Collection:
        """Return the collection that a share opens. Raise CollectionNotFound."""
        return self._collections.find_shared(share)

    def create_collection(self, name: str, access: Access) -> Collection:
        return self._collections.open(self._collections.create(name, access), access)

    def rename_collection(self, id: str, name: str, access: Access) -> None:
        self._collections.rename(id, name, access)

    def delete_collection(self, id: str, access: Access) -> None:
        """Delete the collection with all its files, for good."""
        self._collections.delete(id, access)
        self._remove([removal for removal in self._rows.pending_removals() if removal[0] == id])

    def share_collection(self, id: str, access: Access) -> str:
        """Return the key that opens the collection for reading; the same one as long as it is shared."""
        return self._collections.share(id, access)

    def unshare_collection(self, id: str, access: Access) -> None:
        self._collections.unshare(id, access)

    # ── Files ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def add_document(
        self, collection_id: str, name: str, body: bytes, access: Access, *, modified: str | None = None
    ) -> Document:
        """Store a file and queue it for indexing. A file with the same name and bytes is returned as it is; one with the
        same name and other bytes replaces the old one. Raise DocumentError for a limit."""
        shown = _shown_name(name)
        require_size(shown, len(body), self._settings)
        digest = hashlib.sha256(body).hexdigest()
        old = self._rows.find(collection_id, shown, access)
        if old and old.hash == digest:
            return old
        new = Document(
            new_conversation_id(),
            collection_id,
            shown,
            len(body),
            digest,
            DocumentState.WAITING,
            time.time(),
            modified=modified,
        )
        self._files.write(new.id, body)
        try:
            self._rows.add(new, access)
        except BaseException:
            self._files.delete([new.id])
            raise
        if old:
            self._remove([(old.collection_id, old.id)])
        self._indexer.start()
        return new

    def list_documents(self, collection_id: str, access: Access) -> tuple[Document, ...]:
        """Return the files by name."""
        self._collections.open(collection_id, access)
        found = self._rows.list_in(collection_id, access)
        if any(document.state in UNFINISHED for document in found):
            self._indexer.start()  # whoever was reading them may be dead
        return found

    def open_document(self, id: str, access: Access) -> Document:
        return self._rows.open(id, access)

    def read_text(self, id: str, access: Access) -> Page:
        """Return the text of a file as a page with sections, `document.address` as its address. Raise DocumentError while
        nothing of it has been read."""
        document = self._rows.open(id, access)
        text, sections, uncertain = join_pieces(self._texts.load(id))
        if not text:
            raise DocumentError(f"「{document.name}」里还没有读出文字。", cure=document.reason or "请稍后再看。")
        return Page(
            document.address,
            document.address,
            document.name,
            text,
            document.modified,
            cast(PageKind, document.kind or "text"),
            datetime.fromtimestamp(document.created, UTC),
            count_instructions(text),
            is_cut=False,
            sections=sections,
            uncertain=uncertain,
        )

    def read_bytes(self, id: str, access: Access) -> bytes:
        return self._files.read(self._rows.open(id, access).id)

    def draw_page(self, id: str, number: int, access: Access, marks: Sequence[tuple[int, int]] = ()) -> bytes:
        """Return a page of a PDF as a PNG, with the passages at these positions of the text marked. Raise DocumentError
        for a file without such a page."""
        document = self._rows.open(id, access)
        if document.kind != "pdf":
            raise DocumentError(f"「{document.name}」没有可以显示的页面。", cure="请看它的文字。")
        text, _, _ = join_pieces(self._texts.load(id)) if marks else ("", (), ())
        passages = [text[start:end] for start, end in marks]
        try:
            return self._reader.draw_page(self._files.read(id), number, passages, name=document.name)
        except FileError as error:
            raise DocumentError(error.message, cure=error.cure) from None

    def reindex_document(self, id: str, access: Access) -> None:
        document = self._rows.reset(id, access)
        self._index.remove(document.collection_id, [id])
        self._indexer.start()

    def delete_document(self, id: str, access: Access) -> None:
        """Delete a file for good: bytes, text and index."""
        document = self._rows.delete(id, access)
        self._remove([(document.collection_id, id)])
        self._rows.refresh_versions(document.collection_id)

    def wait_until_indexed(self, collection_id: str, access: Access, *, seconds: float) -> bool:
        """Wait until no file of the collection is waiting or being read. Return whether that came in time."""
        self._collections.open(collection_id, access)
        deadline = time.monotonic() + seconds
        self._indexer.start()
        with self._indexer.changed:
            while self._rows.has_unfinished(collection_id):
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._indexer.changed.wait(min(left, _POLL_SECONDS))
        return True

    # ── Search ────────────────────────────────────────────────────────────────────────────────────────────────────

    def search(
        self, query: str, access: Access, *, collections: SizedCollection[str], limit: int = 10
    ) -> tuple[PassageHit, ...]:
        """Return the best passages of these collections, the best first. Newer versions of a file come before older ones."""
        names = self._collections.open_names(collections, access)
        if any(self._index.lacks(id) and self._rows.with_text(id) for id in names):
            self._indexer.start()
            raise DocumentError(REBUILDING)
        try:
            return self._finder.find(query, access, names, limit)
        finally:
            self._last_search = time.monotonic()
            self._close_when_idle()

    def tidy(self) -> None:
        """Delete what nobody has changed for as long as the settings say, and what was left to be removed."""
        if not self._settings.enabled:
            return
        if self._settings.days:
            self._collections.delete_unchanged_since(time.time() - self._settings.days * DAY)
        self._remove(self._rows.pending_removals())
        self._embed()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            if self._idle_timer:
                self._idle_timer.cancel()
        self._indexer.close()
        if self._meanings:
            self._meanings.close()
        self._index.close()

    def _embed(self) -> None:
        """Compute the vectors that are missing, in the background, if there is a model."""
        if self._meanings:
            self._meanings.start()

    def _close_when_idle(self, seconds: float = IDLE_SECONDS + 1) -> None:
        """Let what the index holds in memory go when nobody has searched for a while."""
        with self._lock:
            if self._idle_timer is None and not self._is_closed:
                self._idle_timer = threading.Timer(seconds, self._close_idle)
                self._idle_timer.daemon = True
                self._idle_timer.start()

    def _close_idle(self) -> None:
        with self._lock:
            self._idle_timer = None
        self._index.close_idle()
        if self._meanings:
            self._meanings.close_idle(IDLE_SECONDS)
        if (left := self._last_search + IDLE_SECONDS - time.monotonic()) > 0:
            self._close_when_idle(left + 1)

    def _remove(self, removals: Sequence[Removal]) -> None:
        for removal in removals:
            self._indexer.remove(removal)


def _shown_name(name: str) -> str:
    """Return the name of a file with its folders, as it is stored. Raise DocumentError if nothing is left of it."""
    folders = [one_line(part) for part in name.replace("\\", "/").split("/")]
    shown = "/".join(part for part in folders if part not in ("", ".", ".."))
    if not shown:
        raise DocumentError("这个文件没有名字。", cure="请先给它取一个名字。")
    if len(shown) > MAX_NAME_LENGTH:
        raise DocumentError(
            f"文件名太长（{len(shown)} 字，最多 {MAX_NAME_LENGTH} 字）。", cure="请改短它或它的文件夹的名字。"
        )
    return shown
