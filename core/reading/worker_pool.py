"""A pool of child processes that extract text. They are kept: a new interpreter would cost half a second each time."""

from __future__ import annotations

import json
import logging
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from core.base.http import Cancelled, Deadline
from core.base.settings import child_environment
from core.base.tuning import use_all_cores
from core.reading.confinement import Confinement
from core.reading.extraction_types import DocumentComment, ExtractedText, NotReadable
from core.reading.pictures import PIXEL_BYTES, Picture
from core.reading.recognition_types import RecognizedLine
from core.reading.worker_answers import DOCUMENT, FILE_TEXT, LINES, PICTURE, READY, TEXT, FailureAnswer, parse_answer
from core.reading.worker_protocol import receive_frame, send_frame

log = logging.getLogger(__name__)

PAGE_SECONDS = 1.0
FILE_SECONDS = 5.0
"""Processor time for a file: a reader waits for one file of their own, and knows its content."""
RECOGNITION_SECONDS = 60.0
"""Processor time for the text of one picture: ten times what a dense page takes."""
Answer = TypeVar("Answer")
MAX_TASKS = 200
"""Number of tasks after which a worker is replaced, so that memory leaked by its libraries is freed."""
WORKER_COMMAND = (sys.executable, "-m", "core.reading.worker")
_VARIABLES = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ORT_DISABLE_TELEMETRY": "1"}
"""For the libraries: no thread for each core, which would take the address space, and no report of their use."""
_PROJECT_DIR = Path(__file__).resolve().parents[2]


class WorkerPool:
    """Worker processes, started when they are first needed. One that was killed is replaced."""

    def __init__(self, count: int, *, may_be_unconfined: bool = False, command: Sequence[str] | None = None) -> None:
        self._count = count
        self._command = command
        self._may_be_unconfined = may_be_unconfined
        self._has_warned = False
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(count):
            self._idle.put(None)
        self._lock = threading.Lock()
        self._alive: set[_Worker] = set()
        self._closed = False

    def start(self, deadline: Deadline) -> None:
        """Start all idle workers now, rather than with the first page. Each is lent when it is ready."""
        for worker in [self._start_idle_worker() for _ in range(self._idle.qsize())]:
            with suppress(NotReadable):
                worker.await_ready(deadline)
            self._idle.put(self._keep_or_end(worker))

    def _start_idle_worker(self) -> _Worker:
        return self._idle.get() or self._start_worker()

    def extract(self, body: bytes, content_type: str, deadline: Deadline) -> ExtractedText:
        """Return the extracted text, within the deadline whatever the bytes are. Raise NotReadable."""
        task = {"content_type": content_type, "seconds": PAGE_SECONDS}
        return ExtractedText(**dict(self._ask(task, body, deadline, TEXT)[0]))

    def extract_file(
        self, body: bytes, suffix: str, first_page: int, page_count: int, deadline: Deadline
    ) -> ExtractedText:
        """Return the text of these pages of a PDF, or of all of another file. Raise NotReadable."""
        pages = {"suffix": suffix, "first_page": first_page, "page_count": page_count}
        return ExtractedText(**dict(self._ask(pages | {"seconds": FILE_SECONDS}, body, deadline, FILE_TEXT)[0]))

    def add_comments(self, body: bytes, comments: Sequence[DocumentComment], author: str, deadline: Deadline) -> bytes:
        """Return a Word document with comments. Raise NotReadable."""
        task = {"remarks": comments, "author": author, "seconds": FILE_SECONDS}
        return self._ask(task, body, deadline, DOCUMENT)[1]

    def draw_page(self, body: bytes, number: int, passages: Sequence[str], deadline: Deadline) -> Picture:
        """Return the picture of a page with the passages marked. Raise NotReadable."""
        task = {"draw": number, "passages": passages, "seconds": FILE_SECONDS}
        return self._ask_for_picture(task, body, deadline)

    def open_picture(self, body: bytes, number: int, deadline: Deadline) -> Picture:
        """Return a page of a PDF, or a picture of a file, large enough to recognize its text. Raise NotReadable."""
        return self._ask_for_picture({"picture": number, "seconds": FILE_SECONDS}, body, deadline)

    def recognize(self, picture: Picture, deadline: Deadline) -> list[RecognizedLine]:
        """Return the lines of text in a picture. Raise NotReadable."""
        head, pixels = picture.frame()
        answer, _ = self._ask(head | {"seconds": RECOGNITION_SECONDS}, pixels, deadline, LINES)
        return [RecognizedLine(line.text, line.confidences, line.box) for line in answer.lines]

    def _ask_for_picture(self, task: Mapping[str, Any], body: bytes, deadline: Deadline) -> Picture:
        size, pixels = self._ask(task, body, deadline, PICTURE)
        if len(pixels) != size.width * size.height * PIXEL_BYTES:
            raise NotReadable("broken")
        return Picture(size.width, size.height, pixels)

    def confinement(self, deadline: Deadline) -> Confinement:
        """Return what confines a worker. Raise NotReadable."""
        with self._borrow_worker(deadline) as worker:
            return worker.await_ready(deadline)

    def _ask(
        self, task: Mapping[str, Any], body: bytes, deadline: Deadline, expected: TypeAdapter[Answer | FailureAnswer]
    ) -> tuple[Answer, bytes]:
        with self._borrow_worker(deadline) as worker:
            self._refuse_unconfined(worker.await_ready(deadline))
            return worker.ask(task, body, deadline, expected)

    @contextmanager
    def _borrow_worker(self, deadline: Deadline) -> Iterator[_Worker]:
        try:
            worker = self._idle.get(timeout=deadline.next_timeout())
        except (queue.Empty, TimeoutError):
            raise _timeout_error(deadline) from None
        try:
            worker = worker if worker and not self._closed else self._start_worker()
            yield worker
        finally:
            self._idle.put(self._keep_or_end(worker))

    def _refuse_unconfined(self, confinement: Confinement) -> None:
        if not confinement.missing:
            return
        if not self._has_warned:
            self._has_warned = True
            done = "are read nevertheless" if self._may_be_unconfined else "are not read"
            log.warning("no confinement for the parsers (%s): pages and files %s", ", ".join(confinement.missing), done)
        if not self._may_be_unconfined:
            raise NotReadable("unconfined")

    def end_idle(self) -> None:
        """End the workers that do nothing. They are started again when they are needed."""
        for _ in range(self._count):
            with suppress(queue.Empty):
                worker = self._idle.get_nowait()
                if worker:
                    self._end_worker(worker)
                self._idle.put(None)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            alive, self._alive = self._alive, set()
        for worker in alive:
            worker.end()

    def _start_worker(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise Cancelled
            worker = _Worker(self._command or WORKER_COMMAND)
            self._alive.add(worker)
            return worker

    def _keep_or_end(self, worker: _Worker | None) -> _Worker | None:
        if worker is None or (worker.is_usable and worker.tasks < MAX_TASKS):
            return worker
        self._end_worker(worker)
        return None

    def _end_worker(self, worker: _Worker) -> None:
        worker.end()
        with self._lock:
            self._alive.discard(worker)


class _Worker:
    def __init__(self, command: Sequence[str]) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs, use_all_cores():
            self._process = subprocess.Popen(  # noqa: S603
                command,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=_PROJECT_DIR,
                env=child_environment() | _VARIABLES,
            )
        self._lock = threading.Lock()
        self._confinement: Confinement | None = None
        self.is_usable = True
        self.tasks = 0

    def ask(
        self, task: Mapping[str, Any], body: bytes, deadline: Deadline, expected: TypeAdapter[Answer | FailureAnswer]
    ) -> tuple[Answer, bytes]:
        """Send one task and return the answer with its bytes. Raise NotReadable or Cancelled."""
        self.tasks += 1
        self.is_usable = False
        try:
            deadline.attach_socket(self._socket.fileno())
            self._socket.settimeout(deadline.next_timeout())
            send_frame(self._socket, json.dumps(task).encode(), body)
            frame = receive_frame(self._socket, next_timeout=deadline.next_timeout)
        except TimeoutError:
            raise _timeout_error(deadline) from None
        except OSError:
            frame = None
        finally:
            deadline.detach_socket()
        if frame is None:
            raise self._death_error(deadline)
        answer = parse_answer(expected, frame[0])
        self.is_usable = True
        if isinstance(answer, FailureAnswer):
            raise NotReadable(answer.reason)
        return answer, frame[1]

    def await_ready(self, deadline: Deadline) -> Confinement:
        """Wait until the worker has started, and return what confines it. Raise NotReadable.

        It is not killed for being slow: on a busy machine none would ever start."""
        if self._confinement is None:
            try:
                frame = receive_frame(self._socket, next_timeout=deadline.next_timeout)
            except TimeoutError:
                raise _timeout_error(deadline) from None
            except OSError:
                frame = None
            self.is_usable = False
            ready = parse_answer(READY, frame[0] if frame else b"")
            self.is_usable = True
            self._confinement = Confinement(ready.missing, ready.landlock)
        return self._confinement

    def _death_error(self, deadline: Deadline) -> Exception:
        if deadline.cancelled:
            return Cancelled()
        return NotReadable("complex" if self.end() == -signal.SIGPROF else "broken")  # SIGPROF: its time was over

    def end(self) -> int:
        """Kill the process and return its exit status. No process is left behind."""
        with self._lock:
            self.is_usable = False
            self._socket.close()
            if self._process.poll() is None:
                self._process.kill()
            return self._process.wait()


def _timeout_error(deadline: Deadline) -> Exception:
    return Cancelled() if deadline.cancelled else NotReadable("timeout")
