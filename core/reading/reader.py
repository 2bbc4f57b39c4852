"""From an address to a page that was read, or to the sentence that says why not."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

from core.base.http import Cancelled, Deadline
from core.base.settings import Settings
from core.reading.download import Downloaded, Downloader
from core.reading.errors import ReadingError
from core.reading.extracted import Extracted, NotReadable
from core.reading.page import Page
from core.reading.settings import ReadingSettings
from core.reading.workers import ExtractionWorkers
from core.search.workers import Workers

log = logging.getLogger(__name__)

Render = Callable[[str, Deadline], str]
"""A browser that opens the address and returns the HTML that its scripts have made."""
Outcome = Page | ReadingError

MAX_PROCESSES = 4


class Reader:
    """Thread-safe, and one for the whole process."""

    def __init__(self, settings: ReadingSettings, *, render: Render | None = None) -> None:
        self.pages = settings.pages
        """How many results of a search are read; 0: nothing is."""
        self.timeout = settings.timeout
        self._render = render
        self._downloader = Downloader(settings)
        self._workers = ExtractionWorkers(min(max(os.cpu_count() or 1, 2), MAX_PROCESSES))
        self._threads = Workers()
        self._lock = threading.Lock()
        self._is_warm = False

    @classmethod
    def from_settings(cls, settings: Settings, *, render: Render | None = None) -> Reader:
        section = settings.section(ReadingSettings)
        if "READING_DENY_HOSTS" in settings.unusable:  # somebody wanted to keep us away, and we do not know from where
            section = section.model_copy(update={"pages": 0})
        return cls(section, render=render)

    def warm_up(self) -> None:
        """Starts the processes that the first page would have to wait for, once, and waits for none of them."""
        with self._lock:
            needed, self._is_warm = self.pages > 0 and not self._is_warm, True
        if needed:
            self._threads.start(self._workers.start)

    def read(self, address: str, *, deadline: Deadline) -> Page:
        """Raises ReadingError, or Cancelled. Only a system resolver that hangs can hold it longer than the deadline."""
        if not self.pages:
            raise ReadingError("off")
        got = self._downloader.download(address, deadline)
        try:
            found = self._extract(got, deadline)
        except NotReadable as error:
            raise ReadingError(error.reason, host=got.host) from None
        return Page(
            address=address,
            final_address=got.address,
            title=found.title,
            text=found.text,
            published=found.published,
            kind=found.kind,
            fetched_at=datetime.now(UTC),
            instructions=found.instructions,
            is_cut=found.is_cut,
        )

    def read_bytes(self, body: bytes, content_type: str, *, deadline: Deadline) -> Extracted:
        """What a file holds, taken apart where pages are. Raises ReadingError."""
        try:
            return self._workers.extract(body, content_type, deadline)
        except NotReadable as error:
            raise ReadingError(error.reason) from None

    def read_all(
        self,
        addresses: Sequence[str],
        *,
        deadline: Deadline,
        on_outcome: Callable[[str, Outcome], None] = lambda _address, _outcome: None,
    ) -> list[Outcome]:
        """All at once, in their order. At the deadline whatever is not there yet has timed out, and is abandoned.

        Raises Cancelled as soon as the deadline is cancelled.

        `on_outcome` is told of each as it comes, in a thread of its own.
        """
        outcomes: dict[int, Outcome] = {}
        changed = threading.Event()

        def read_one(place: int, address: str) -> None:
            try:
                outcome: Outcome = self.read(address, deadline=deadline)
            except ReadingError as error:
                outcome = error
            except Cancelled:
                outcome = ReadingError("timeout")
            except Exception:  # a browser's, for one; nobody waits in vain for this page
                log.exception("a page could not be read")
                outcome = ReadingError("failed")
            on_outcome(address, outcome)
            outcomes[place] = outcome  # nothing is returned that was not told before
            if len(outcomes) == len(addresses):
                changed.set()

        for place, address in enumerate(addresses):
            self._threads.start(partial(read_one, place, address))
        if addresses:
            deadline.wait_for(changed)
        return [outcomes.get(place) or ReadingError("timeout") for place in range(len(addresses))]

    def close(self) -> None:
        self._workers.close()

    def _extract(self, got: Downloaded, deadline: Deadline) -> Extracted:
        try:
            return self._workers.extract(got.body, got.content_type, deadline)
        except NotReadable as error:
            if error.reason != "script" or self._render is None:
                raise
        rendered = self._render(got.address, deadline)
        return self._workers.extract(rendered.encode("utf-8", "replace"), "text/html; charset=utf-8", deadline)
