"""The reader: from an address to a page that was read, or to an error that says why it was not."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from core.base.http import Cancelled, Deadline
from core.base.redis_link import RedisLink
from core.base.settings import Settings
from core.base.threads import ThreadPool
from core.reading.attached_files import check_file, file_page
from core.reading.download import Downloader, FetchTarget
from core.reading.errors import FileError, ReadingError
from core.reading.extraction_types import DocumentComment, ExtractedText, NotReadable
from core.reading.page import Page
from core.reading.page_cache import CachedPage, PageCache
from core.reading.settings import ReadingSettings
from core.reading.worker_pool import FILE_SECONDS, WorkerPool

log = logging.getLogger(__name__)

ReadOutcome = Page | ReadingError

MAX_PROCESSES = 4
FILE_TIMEOUT = 20.0
"""Seconds for one file, including the start of a process on a busy machine."""


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
        self._workers = WorkerPool(min(max(os.cpu_count() or 1, 2), MAX_PROCESSES))
        self._threads = ThreadPool()
        self._lock = threading.Lock()
        self._is_warm = False

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

    def warm_up(self) -> None:
        """Start the processes that the first page would have to wait for, once, without waiting for them."""
        with self._lock:
            needed, self._is_warm = self.max_pages > 0 and not self._is_warm, True
        if needed:
            self._threads.start(self._workers.start)

    def read(self, address: str, *, deadline: Deadline) -> Page:
        """Read a page. Raise ReadingError or Cancelled. Only a system resolver that hangs can take longer than the
        deadline."""
        if not self.max_pages:
            raise ReadingError("off")
        place = self._downloader.target_for(address)
        page = self._cached_page(place) or self._fetch_page(place, deadline)
        return replace(page, address=address)

    def read_bytes(self, body: bytes, content_type: str, *, deadline: Deadline) -> ExtractedText:
        """Return the text of a file, extracted in a worker like a page. Raise ReadingError."""
        try:
            return self._workers.extract(body, content_type, deadline)
        except NotReadable as error:
            raise ReadingError(error.reason) from None

    def read_file(self, name: str, body: bytes) -> Page:
        """Read a file that a reader attached. Raise FileError."""
        shown = check_file(name, len(body), megabytes=self.max_megabytes)
        try:
            return file_page(
                shown, self._workers.extract(body, "text/plain", Deadline(FILE_TIMEOUT), seconds=FILE_SECONDS)
            )
        except NotReadable as error:
            raise FileError(error.reason, name=shown) from None

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
        """Read all pages at once and return the outcomes in order. Pages that are late at the deadline count as timed
        out.

        Raise Cancelled as soon as the deadline is cancelled.

        `on_outcome` is called for each page when it is done, in a thread of its own.
        """
        outcomes: dict[int, ReadOutcome] = {}
        changed = threading.Event()

        def read_one(place: int, address: str) -> None:
            """Read one page and store its outcome."""
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
                changed.set()

        for place, address in enumerate(addresses):
            self._threads.start(partial(read_one, place, address))
        if addresses:
            deadline.wait_for(changed)
        return [outcomes.get(place) or ReadingError("timeout") for place in range(len(addresses))]

    def close(self) -> None:
        self._workers.close()
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
        got = self._downloader.download(target, deadline)
        try:
            found = self._workers.extract(got.body, got.content_type, deadline)
        except NotReadable as error:
            raise ReadingError(error.reason, host=got.host) from None
        page = Page(
            address=target.url,
            final_address=got.address,
            title=found.title,
            text=found.text,
            published=found.published,
            kind=found.kind,
            fetched_at=datetime.now(UTC),
            instructions=found.instructions,
            is_cut=found.is_cut,
        )
        if self._cache:
            self._cache.put(target.url, CachedPage(page, is_public=got.is_public))
        return page
