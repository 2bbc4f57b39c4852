"""Recognition of text in pictures (OCR) where the extra is installed: one page at a time, in a process of its own."""

from __future__ import annotations

import sys
import threading
from functools import cache

from core.base.extras import OCR
from core.base.http import Deadline
from core.reading.confinement import Confinement
from core.reading.pictures import Picture
from core.reading.recognition_types import RecognizedLine
from core.reading.worker_pool import WorkerPool

RECOGNIZER_COMMAND = (sys.executable, "-m", "core.reading.recognition_worker")
IDLE_SECONDS = 60.0
"""Time after the last page for which the process is kept: it takes 600 MB, and two seconds to start."""


@cache
def is_recognition_installed() -> bool:
    return OCR.is_installed


class Recognizer:
    """The process that recognizes text: started with the first page, ended when it has had none for a while."""

    def __init__(self, *, may_be_unconfined: bool = False, idle_seconds: float = IDLE_SECONDS) -> None:
        self._pool = WorkerPool(1, may_be_unconfined=may_be_unconfined, command=RECOGNIZER_COMMAND)
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def recognize(self, picture: Picture, deadline: Deadline) -> list[RecognizedLine]:
        """Return the lines in a picture. Others who want that wait. Raise NotReadable or Cancelled."""
        try:
            return self._pool.recognize(picture, deadline)
        finally:
            self._end_later()

    def confinement(self, deadline: Deadline) -> Confinement:
        """Return what confines the process. Raise NotReadable."""
        try:
            return self._pool.confinement(deadline)
        finally:
            self._end_later()

    def _end_later(self) -> None:
        with self._lock:
            if self._timer:
                self._timer.cancel()
            self._timer = threading.Timer(self._idle_seconds, self._pool.end_idle)
            self._timer.daemon = True
            self._timer.start()

    def close(self) -> None:
        with self._lock:
            if self._timer:
                self._timer.cancel()
        self._pool.close()
