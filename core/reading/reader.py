"""The reader: from an address to a page that was read, or to an error that says why it was not."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from core.base.http import Cancelled, Deadline
from core.base.redis_link import RedisLink
from core.base.settings import Settings
from core.base.threads import ThreadPool
from core.reading.attached_files import check_file, file_page
from core.reading.confinement import Confinement
from core.reading.download import Downloader, FetchTarget
from core.reading.errors import FileError, ReadingError
from core.reading.extraction_types import DocumentComment, ExtractedText, NotReadable
from core.reading.file_parts import FIRST_PART_PAGES, MAX_FILE_PAGES, PART_PAGES, FilePart, join_parts
from core.reading.page import MAX_FILE_TEXT, Page, PageKind
from core.reading.page_cache import CachedPage, PageCache
from core.reading.recognition_types import RecognizedPage
from core.reading.recognized_text import recognized_page, with_recognized
from core.reading.recognizer import Recognizer, is_recognition_installed
from core.reading.settings import ReadingSettings
from core.reading.worker_pool import WorkerPool

log = logging.getLogger(__name__)

ReadOutcome = Page | ReadingError
OnPage = Callable[[int, int], object]
"""Callback with the place of a scanned page among those that are recognized, and their count."""

MAX_PROCESSES = 4
FILE_TIMEOUT = 20.0
"""Seconds for one file, including the start of a process on a busy machine."""
START_TIMEOUT = 60.0
MAX_SCANNED_PAGES = 20
"""Pages of one attached file that are recognized: a reader waits for them, up to two minutes."""
PICTURE_TIMEOUT = 300.0
"""Seconds for one page to be recognized, including the wait for the pages of others."""


class Reader:
    """Reads pages and files. It is thread-safe, and there is one for the whole process."""

    def __init__(self, settings: ReadingSettings, *, cache: PageCache | None = None) -> None:
        self.max_pages = settings.pages
        """Number of search results that are read; 0 switches reading off."""
        self.timeout = settings.timeout
        self.max_files = settings.files
        """Number of files that a reader may attach to a question."""
        self.max_megabytes = settings.file_megabytes
        """Size limit of each file."""
        self._cache = cache
        self._downloader = Downloader(settings)
        self.may_be_unconfined = settings.unconfined
        """Whether pages and files are read although the machine cannot confine the workers."""
        self._workers = WorkerPool(
            min(max(os.cpu_count() or 1, 2), MAX_PROCESSES), may_be_unconfined=self.may_be_unconfined
        )
        self._recognizer = Recognizer(may_be_unconfined=self.may_be_unconfined)
        self._threads = ThreadPool()
        self._lock = threading.Lock()
        self._is_warm = False
        self.is_ready = not settings.pages
        """False until the first process has been waited for."""

    @classmethod
    def from_settings(cls, settings: Settings, *, link: RedisLink | None = None) -> Reader:
        section = settings.section(ReadingSettings)
        if "READING_DENY_HOSTS" in settings.unusable:  # an administrator forbade hosts, and we do not know which
            section = section.model_copy(update={"pages": 0})
        return cls(section, cache=PageCache.from_settings(settings, link))

    @property
    def warning(self) -> str:
        """A sentence for the settings page when something is wrong; otherwise empty."""
        return self._cache.warning if self._cache else ""

    def confinement(self) -> Confinement:
        """Return what confines the workers, after starting one. Raise ReadingError."""
        try:
            return self._workers.confinement(Deadline(FILE_TIMEOUT))
        except NotReadable as error:
            raise ReadingError(error.reason) from None

    def recognizer_confinement(self) -> Confinement:
        """Return what confines the process that recognizes text, after starting it. Raise ReadingError."""
        try:
            return self._recognizer.confinement(Deadline(START_TIMEOUT))
        except NotReadable as error:
            raise ReadingError(error.reason) from None

    def warm_up(self) -> None:
        """Start the processes that the first page would have to wait for, once, without waiting for them."""
        with self._lock:
            needed, self._is_warm = self.max_pages > 0 and not self._is_warm, True
        if needed:
            self._threads.start(self._start_workers)

    def _start_workers(self) -> None:
        with suppress(Cancelled):  # the program is being ended
            self._workers.start(Deadline(START_TIMEOUT))

    def wait_until_ready(self, deadline: Deadline) -> None:
        """Wait for the first process, once. After a start on a busy machine it takes seconds, which no page has to answer
        for."""
        with suppress(NotReadable, Cancelled):
            self._workers.confinement(deadline)
        self.is_ready = True

    def read(self, address: str, *, deadline: Deadline) -> Page:
        """Read a page within the deadline, unless the system's resolver hangs. Raise ReadingError or Cancelled."""
        if not self.max_pages:
            raise ReadingError("off")
        target = self._downloader.target_for(address)
        return replace(self._cached_page(target) or self._fetch_page(target, deadline), address=address)

    def read_bytes(self, body: bytes, content_type: str, *, deadline: Deadline) -> ExtractedText:
        """Return the text of a file, extracted in a worker like a page. Raise ReadingError."""
        try:
            return self._workers.extract(body, content_type, deadline)
        except NotReadable as error:
            raise ReadingError(error.reason) from None

    def read_file(
        self,
        name: str,
        body: bytes,
        *,
        scanned_pages: int = MAX_SCANNED_PAGES,
        deadline: Deadline | None = None,
        on_page: OnPage = lambda _place, _count: None,
    ) -> Page:
        """Read a file that a reader attached. Raise FileError.

        The first `scanned_pages` of its pages that are pictures are recognized, which takes seconds for each: `on_page` is
        called before each, with its place among them, from 1, and their count. Cancelling the deadline ends that."""
        shown = check_file(name, len(body), megabytes=self.max_megabytes)
        parts = list(self._file_parts(shown, body, Deadline(FILE_TIMEOUT)))
        pictures = [number for part in parts for number in part.unread_pages][:scanned_pages]
        if pictures and self.can_recognize:
            pages = self._recognize_until(shown, body, pictures, deadline or Deadline(float("inf")), on_page)
            parts = [with_recognized(part, pages) if part.unread_pages else part for part in parts]
        whole = join_parts(parts)
        if not whole.text:
            raise _no_text_error(shown, whole.kind, has_pictures=bool(whole.unread_pages))
        return file_page(shown, whole)

    def _recognize_until(
        self, name: str, body: bytes, numbers: Sequence[int], deadline: Deadline, on_page: OnPage
    ) -> list[RecognizedPage]:
        """Return the pages that were recognized before the deadline was cancelled."""
        pages: list[RecognizedPage] = []
        with suppress(Cancelled):
            for place, number in enumerate(numbers, 1):
                on_page(place, len(numbers))
                pages += self.recognize_pages(name, body, [number], deadline=deadline)
        return pages

    def read_file_parts(self, name: str, body: bytes, *, megabytes: int | None = None) -> Iterator[FilePart]:
        """Yield the parts of a file in order: a PDF as its first 10 pages, then 40 each; another file as one part.

        Parts whose pages are all pictures have no text. Raise FileError, for a file in which no part has text at the
        end unless `can_recognize`. `megabytes` is the limit of the size, if that is not the one of attachments."""
        shown = check_file(name, len(body), megabytes=megabytes or self.max_megabytes)
        has_text = has_pictures = False
        for part in self._file_parts(shown, body):
            has_text, has_pictures = has_text or bool(part.text), has_pictures or bool(part.unread_pages)
            yield part
        if not has_text and not (self.can_recognize and has_pictures):
            raise _no_text_error(shown, part.kind, has_pictures=has_pictures)

    @property
    def can_recognize(self) -> bool:
        """Return whether text can be recognized in pictures: whether the extra for it is installed."""
        return is_recognition_installed()

    def recognize_pages(
        self, name: str, body: bytes, numbers: Iterable[int], *, deadline: Deadline | None = None
    ) -> Iterator[RecognizedPage]:
        """Yield these pages of a PDF or pictures of a file, numbered from 1, with the text that is recognized in them.

        A page takes seconds, and is begun when it is asked for. One that cannot be recognized states its problem, and the
        others follow. Raise Cancelled."""
        for number in numbers:
            limit = deadline.with_limit(PICTURE_TIMEOUT) if deadline else Deadline(PICTURE_TIMEOUT)
            try:
                picture = self._workers.open_picture(body, number, limit)
                yield recognized_page(number, self._recognizer.recognize(picture, limit))
            except NotReadable as error:
                problem = FileError(error.reason, name=name, number=number).message
                yield RecognizedPage(number, "", (), 0.0, problem)

    def _file_parts(self, name: str, body: bytes, deadline: Deadline | None = None) -> Iterator[FilePart]:
        """Yield the parts of a file, each within its own time or all within the deadline. Raise FileError."""
        suffix = name.rpartition(".")[2].lower()
        first, count, room = 1, FIRST_PART_PAGES, MAX_FILE_TEXT
        while True:
            try:
                found = self._workers.extract_file(body, suffix, first, count, deadline or Deadline(FILE_TIMEOUT))
            except NotReadable as error:
                raise FileError(error.reason, name=name) from None
            following = first + count
            may_follow = found.kind == "pdf" and following <= MAX_FILE_PAGES and len(found.text) < room
            has_more = found.is_cut and may_follow
            yield FilePart.from_extracted(found, first_page=first, is_cut=found.is_cut and not has_more)
            if not has_more:
                return
            first, count, room = following, PART_PAGES, room - len(found.text)

    def draw_page(self, body: bytes, number: int, passages: Sequence[str], *, name: str = "文件") -> bytes:
        """Return a page of a PDF, numbered from 1, as a PNG picture with the passages of its text marked.

        Of a passage that continues on another page, the part on this page is marked. Raise FileError."""
        try:
            return self._workers.draw_page(body, number, passages, Deadline(FILE_TIMEOUT)).png()
        except NotReadable as error:
            raise FileError(error.reason, name=name, number=number) from None

    def add_comments(self, name: str, body: bytes, comments: Sequence[DocumentComment], author: str) -> bytes:
        """Return a Word document with comments at these positions of its text. Raise FileError."""
        try:
            return self._workers.add_comments(body, comments, author, Deadline(FILE_TIMEOUT))
        except NotReadable as error:
            raise FileError(error.reason, name=name) from None

    def read_all(
        self,
        addresses: Sequence[str],
        *,
        deadline: Deadline,
        on_outcome: Callable[[str, ReadOutcome], None] = lambda _address, _outcome: None,
    ) -> list[ReadOutcome]:
        """Read all pages at once and return the outcomes in order; pages that are late count as timed out.

        `on_outcome` is called for each page when it is done, in a thread of its own. Raise Cancelled as soon as the
        deadline is cancelled."""
        outcomes: dict[int, ReadOutcome] = {}
        complete = threading.Event()

        def read_one(place: int, address: str) -> None:
            try:
                outcome: ReadOutcome = self.read(address, deadline=deadline)
            except ReadingError as error:
                outcome = error
            except Cancelled:
                outcome = ReadingError("timeout")
            except Exception:  # nobody waits in vain for this page
                log.exception("a page could not be read")
                outcome = ReadingError("failed")
            on_outcome(address, outcome)
            outcomes[place] = outcome  # after the callback: no outcome is returned that was not reported
            if len(outcomes) == len(addresses):
                complete.set()

        for place, address in enumerate(addresses):
            self._threads.start(partial(read_one, place, address))
        if addresses:
            deadline.wait_for(complete)
        return [outcomes.get(place) or ReadingError("timeout") for place in range(len(addresses))]

    def close(self) -> None:
        self._workers.close()
        self._recognizer.close()
        if self._cache:
            self._cache.close()

    def _cached_page(self, target: FetchTarget) -> Page | None:
        """Return the page that was read there not long ago, if it may still be read."""
        cached = self._cache.get(target.url) if self._cache else None
        if cached is None:
            return None
        try:
            final = self._downloader.target_for(cached.page.final_address)
        except ReadingError:
            return None
        return cached.page if cached.is_public or not final.public_only else None

    def _fetch_page(self, target: FetchTarget, deadline: Deadline) -> Page:
        download = self._downloader.download(target, deadline)
        try:
            page = self._workers.extract(download.body, download.content_type, deadline).page(
                target.url, download.address
            )
        except NotReadable as error:
            raise ReadingError(error.reason, host=download.host) from None
        if self._cache:
            self._cache.put(target.url, CachedPage(page, is_public=download.is_public))
        return page


def _no_text_error(name: str, kind: PageKind, *, has_pictures: bool) -> FileError:
    if not has_pictures:
        return FileError("empty", name=name)
    return FileError("picture" if kind == "image" else "scanned", name=name)
