"""Reads and indexes the files that wait, in one thread of this process, which runs only while there is something to do; files with
scanned pages are passed on to a second one, which recognizes them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import groupby
from operator import itemgetter

from core.base.errors import AppError
from core.base.extras import OCR
from core.base.http import Cancelled, Deadline
from core.documents.document_rows import DocumentRows, Removal
from core.documents.errors import DocumentError
from core.documents.passage_cutting import PassageCutter, cut_all
from core.documents.reading_queue import ClaimLost, ReadingQueue
from core.documents.storage import FileStore, PassageIndex
from core.documents.text_pieces import PieceCutter
from core.documents.text_rows import TextRows
from core.documents.types import Document, DocumentState
from core.documents.version_marks import full_day
from core.documents.versions import encode_traits
from core.reading import FileError, FilePart, Reader, with_recognized
from core.store import StoreError

log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""Pause before looking again at files that other processes read: one of them may die."""
NOTHING_RECOGNIZED = "没有认出文字。"
NOT_PREPARED = "读取时程序出错，没有读完。可以再试一次。"


class _TriedAgain(Exception):
    """The file was not read in time. It waits again."""


class Indexer:
    """The thread that reads files. It is started by whoever adds one."""

    def __init__(
        self,
        queue: ReadingQueue,
        rows: DocumentRows,
        texts: TextRows,
        index: PassageIndex,
        files: FileStore,
        reader: Reader,
        *,
        megabytes: int,
        changed: threading.Condition | None = None,
        on_text: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_text` is called when new text can be found."""
        self._megabytes = megabytes
        self._on_text = on_text
        self._queue = queue
        self._rows = rows
        self._texts = texts
        self._index = index
        self._files = files
        self._reader = reader
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._deadline = Deadline(float("inf"))
        """Cancelled when the program ends."""
        self._has_more = False
        self._current = ""
        """Id of the file that is being read."""
        self.changed = changed or threading.Condition()
        """Notified after each step."""
        self._recognition: Indexer | None = None
        """The thread that recognizes the pages of scanned files."""
        if not queue.is_for_recognition:
            self._recognition = Indexer(
                queue.for_recognition(),
                rows,
                texts,
                index,
                files,
                reader,
                megabytes=megabytes,
                changed=self.changed,
                on_text=on_text,
            )

    def start(self) -> None:
        """Start the thread unless it runs. It reads what waits, and removes what was left to be removed."""
        if self._recognition:
            self._recognition.start()
        with self._lock:
            self._has_more = True
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._work, name="wenyuan-documents", daemon=True)
                self._thread.start()

    def close(self, seconds: float = 5.0) -> None:
        self._closing.set()
        self._deadline.cancel()
        if self._recognition:
            self._recognition.close(seconds)
        with self._lock:  # a thread that is just being started can be joined only then
            thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def remove(self, removal: Removal) -> None:
        """Remove a file, or a whole collection, from the index and the disk for good."""
        collection_id, document_id = removal
        if document_id:
            self._index.remove(collection_id, [document_id])
            self._files.delete([document_id])
        else:
            self._index.remove_collection(collection_id)
        self._rows.forget_removal(removal)

    def _work(self) -> None:
        ended = threading.Event()
        threading.Thread(target=self._beat, args=(ended,), name="wenyuan-documents-lease", daemon=True).start()
        try:
            while not self._closing.is_set():
                self._try_to_empty_queue()
                with suppress(StoreError):
                    if self._may_end():
                        return
                self._closing.wait(LOOK_SECONDS)
        finally:
            ended.set()

    def _try_to_empty_queue(self) -> None:
        try:
            self._empty_queue()
        except (StoreError, DocumentError) as error:
            log.warning("files of the document library could not be read: %s", error)
        except Exception:
            log.exception("the document library met a bug and goes on")

    def _may_end(self) -> bool:
        is_empty = self._queue.is_empty()
        with self._lock:
            if is_empty and not self._has_more:
                self._thread = None
                return True
        return False

    def _beat(self, ended: threading.Event) -> None:
        """Say that this process is at work, as long as it is."""
        while not ended.wait(self._queue.lease / 3):
            if id := self._current:
                with suppress(StoreError):
                    self._queue.extend(id)

    def _empty_queue(self) -> None:
        with self._lock:
            self._has_more = False
        for removal in self._rows.pending_removals():
            self.remove(removal)
        self._rebuild_lost()
        while not self._closing.is_set() and (document := self._queue.claim()):
            self._read(document)
            with self.changed:
                self.changed.notify_all()

    def _rebuild_lost(self, collection_id: str = "") -> None:
        """Make the index of each collection that has lost it, or of this one, from the stored texts."""
        if self._queue.is_for_recognition:
            return
        for id, files in groupby(self._rows.with_text(collection_id), key=itemgetter(0)):
            if self._index.lacks(id):
                log.info("the index of a collection is made from its texts")
                self._index.rebuild(id, ((file, cut_all(self._texts.load(file), name)) for _, file, name in files))

    def _read(self, document: Document) -> None:
        self._current = document.id
        try:
            self._rebuild_lost(document.collection_id)
            self._index.remove(document.collection_id, [document.id])
            state, reason = self._read_parts(document)
            if state is DocumentState.RECOGNIZING and self._recognition:
                self._queue.pass_on(document.id)
                self._recognition.start()
            else:
                self._finish(document, state, reason)
        except _TriedAgain:
            log.info("a file of the document library was not read in time, and is tried again")
        except ClaimLost:
            self._forget(document)
        except Cancelled:  # the program is being ended; another process, or the next start, goes on
            with suppress(ClaimLost):
                self._queue.finish(document.id, self._queue.waiting_state)
        except StoreError:
            raise
        except Exception as error:
            if not isinstance(error, AppError):
                log.exception("a file could not be indexed")
            reason = str(error) if isinstance(error, AppError) else NOT_PREPARED
            with suppress(ClaimLost):
                self._finish(document, DocumentState.UNREADABLE, reason)
        finally:
            self._current = ""

    def _finish(self, document: Document, state: DocumentState, reason: str) -> None:
        """Compare the versions of files when the last of a collection has been read, before that is said of it."""
        is_last = not self._rows.has_unfinished(document.collection_id, besides=document.id)
        if is_last:
            self._rows.refresh_versions(document.collection_id)
        self._queue.finish(document.id, state, reason=reason)
        if not is_last and not self._rows.has_unfinished(document.collection_id):  # another process was quicker
            self._rows.refresh_versions(document.collection_id)

    def _read_parts(self, document: Document) -> tuple[DocumentState, str]:
        """Read a file part by part: each can be found before the next is read. Return how that ended."""
        body = self._files.read(document.id)
        pieces, passages = PieceCutter(), PassageCutter(document.name)
        unread: list[int] = []
        end: str | None = None
        try:
            for part in self._parts(document, body):
                self._store(document, part, pieces, passages)
                unread += part.unread_pages
                end = part.end if part.is_cut else None
                if self._closing.is_set():
                    raise Cancelled
        except FileError as error:
            if error.reason == "timeout" and self._queue.try_again(document.id):  # by the clock: the machine was busy
                raise _TriedAgain from None
            if not pieces.length:
                return DocumentState.UNREADABLE, str(error)
            return DocumentState.INDEXED, f"没有读完，只有前面的部分可以查找：{error}"
        if unread and self._recognition and self._reader.can_recognize:
            return DocumentState.RECOGNIZING, ""
        if not pieces.length:
            return DocumentState.UNREADABLE, NOTHING_RECOGNIZED
        return DocumentState.INDEXED, _what_is_missing(unread, end=end, can_recognize=self._reader.can_recognize)

    def _parts(self, document: Document, body: bytes) -> Iterator[FilePart]:
        """Yield the parts of a file, with the text of scanned pages in the thread that recognizes them."""
        recognizes = self._recognition is None and self._reader.can_recognize
        for part in self._reader.read_file_parts(document.name, body, megabytes=self._megabytes):
            yield self._recognize(document, body, part) if recognizes and part.unread_pages else part

    def _recognize(self, document: Document, body: bytes, part: FilePart) -> FilePart:
        """Return the part with the text of its scanned pages, after saying with each page how far that is."""
        pages = []
        for page in self._reader.recognize_pages(document.name, body, part.unread_pages, deadline=self._deadline):
            pages.append(page)
            self._queue.add_pieces(document.id, (), kind=part.kind, pages=part.pages, pages_done=page.number)
            with self.changed:
                self.changed.notify_all()
        return with_recognized(part, pages)

    def _store(self, document: Document, part: FilePart, pieces: PieceCutter, passages: PassageCutter) -> None:
        is_first = not pieces.length
        cut = list(pieces.cut(part.text, part.sections, part.uncertain))
        done = max((section.number for section in part.sections if section.kind in ("page", "slide")), default=0)
        values = {
            "kind": part.kind,
            "title": part.title,
            "pages": part.pages,
            "characters": pieces.length,
        }
        if is_first and part.text:
            values["traits"] = encode_traits(document.name, part.text)
            if modified := full_day(part.text) or part.modified:
                values["modified"] = modified
        self._queue.add_pieces(document.id, cut, **values)
        self._index.add(document.collection_id, document.id, [one for piece in cut for one in passages.cut(piece)])
        pages_done = max(done, *part.unread_pages, 0) if part.unread_pages else done
        self._queue.add_pieces(document.id, (), pages_done=pages_done)  # they can be found now
        with self.changed:
            self.changed.notify_all()
        self._on_text()

    def _forget(self, document: Document) -> None:
        """Remove what was written of a file that was deleted meanwhile, unless another process reads it now."""
        if not self._rows.exists(document.id):
            removal = document.collection_id, document.id
            self._rows.note_removal(removal)
            self.remove(removal)


def _what_is_missing(unread: list[int], *, end: str | None, can_recognize: bool) -> str:
    parts = []
    if unread:
        shown = "、".join(map(str, unread[:5])) + ("……" if len(unread) > 5 else "")
        parts.append(
            f"有 {len(unread)} 页没有识别出来（第 {shown} 页）。可以再试一次。"
            if can_recognize
            else f"有 {len(unread)} 页只有图像，没有文字层（第 {shown} 页）。管理员用 {OCR.command} 装上文字识别后，可以重新索引这个文件。"
        )
    if end is not None:
        parts.append(f"文件太长，只读到{end}。" if end else "文件太长，只读了前面的部分。")
    return "".join(parts)
