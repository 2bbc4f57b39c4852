"""A reader's own file that is read in a thread, because text has to be recognized on its pages."""

from __future__ import annotations

import threading
import time

from core.base.http import Deadline
from core.reading.errors import FileError
from core.reading.page import Page
from core.reading.reader import Reader

FORGOTTEN_SECONDS = 30.0
"""Time after which a reader who does not look any more has gone."""
STOPPED = "「{}」停止了识别，没有读。"


class FileReading:
    """A file that is being read. Whoever waits for it looks at `progress` from time to time; otherwise it ends."""

    def __init__(self, reader: Reader, name: str, body: bytes) -> None:
        self.name = name
        self.body = body
        self.page: Page | None = None
        """The file, once it was read: with the pages that were recognized until then, if it was stopped."""
        self.problem = ""
        """Sentence that says why it could not be read; otherwise empty."""
        self._reader = reader
        self._deadline = Deadline(float("inf"))
        self._progress = (1, 0)
        self._last_look = time.monotonic()
        self._ended = threading.Event()
        threading.Thread(target=self._read, name="wenyuan-recognition", daemon=True).start()

    @property
    def is_done(self) -> bool:
        return self._ended.is_set()

    @property
    def progress(self) -> tuple[int, int]:
        """The place of the page under way among those that are recognized, from 1, and their count; 0 if it is not known yet."""
        self._last_look = time.monotonic()
        return self._progress

    def stop(self) -> None:
        """End the reading after what was recognized."""
        self._deadline.cancel()

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the reading. Return whether that came in time."""
        return self._ended.wait(seconds)

    def _read(self) -> None:
        try:
            self.page = self._reader.read_file(self.name, self.body, deadline=self._deadline, on_page=self._note)
        except FileError as error:
            self.problem = STOPPED.format(self.name) if self._deadline.cancelled else str(error)
        finally:
            self._ended.set()

    def _note(self, place: int, count: int) -> None:
        self._progress = place, count
        if time.monotonic() - self._last_look > FORGOTTEN_SECONDS:
            self.stop()
