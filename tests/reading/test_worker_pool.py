"""The processes that take pages apart: confined, replaced when they die, and gone when they are not needed."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.base.http import Cancelled, Deadline
from core.reading.extraction_types import NotReadable
from core.reading.worker_pool import WorkerPool
from support import web_pages as pages

NEWS = pages.NEWS.encode()


@pytest.fixture(scope="module")
def workers() -> Iterator[WorkerPool]:
    workers = WorkerPool(1)
    workers.start()
    yield workers
    workers.close()


def children() -> set[int]:
    listed = Path(f"/proc/self/task/{threading.get_native_id()}/children")
    everywhere = listed.parent.parent.glob("*/children")
    found = {int(pid) for file in everywhere for pid in file.read_text().split()}
    return {pid for pid in found if b"core.reading.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()}


def _processor_time_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def patient() -> Deadline:
    return Deadline(60)


def test_a_worker_can_open_nothing(workers: WorkerPool) -> None:
    workers.extract(NEWS, "text/html", patient())
    limits = [Path(f"/proc/{pid}/limits").read_text() for pid in children()]
    assert any("Max open files            0                    0" in text for text in limits)
    assert any("Max processes             0                    0" in text for text in limits)


def test_one_that_was_killed_is_replaced(workers: WorkerPool) -> None:
    workers.extract(NEWS, "text/html", patient())
    (worker,) = workers._alive
    os.kill(worker._process.pid, signal.SIGKILL)
    with pytest.raises(NotReadable, match="broken"):
        workers.extract(NEWS, "text/html", patient())
    assert workers.extract(NEWS, "text/html", patient()).kind == "html"


@pytest.mark.parametrize("body", [pages.pdf_bomb, b"<html><body>" + b"<p>a</p>" * 290_000])
def test_the_kernel_ends_what_takes_too_long(workers: WorkerPool, body: pages.Body) -> None:
    hard = pages.made(body)
    began = _processor_time_of_children()
    with pytest.raises(NotReadable, match="complex"):
        workers.extract(hard, "text/html", patient())
    assert _processor_time_of_children() - began < 8  # its second, and what it took to start
    assert workers.extract(NEWS, "text/html", patient()).kind == "html"


def test_a_deadline_ends_it_sooner(workers: WorkerPool) -> None:
    workers.extract(NEWS, "text/html", patient())
    began = time.monotonic()
    with pytest.raises(NotReadable, match="timeout"):
        workers.extract(pages.pdf_bomb(), "application/pdf", Deadline(0.1))
    assert time.monotonic() - began < 10
    deadline = patient()
    threading.Timer(0.05, deadline.cancel).start()
    workers.extract(NEWS, "text/html", patient())
    with pytest.raises(Cancelled):
        workers.extract(pages.pdf_bomb(), "application/pdf", deadline)
    assert workers.extract(NEWS, "text/html", patient()).kind == "html"


def test_a_worker_that_is_still_starting_is_not_killed_for_it() -> None:
    workers = WorkerPool(1)
    try:
        with pytest.raises(NotReadable, match="timeout"):
            workers.extract(NEWS, "text/html", Deadline(0.01))
        (worker,) = workers._alive
        assert workers.extract(NEWS, "text/html", patient()).kind == "html"
        assert {worker} == workers._alive
    finally:
        workers.close()


def test_nothing_is_left_behind() -> None:
    before = children()
    workers = WorkerPool(2)
    workers.start()
    workers.extract(NEWS, "text/html", patient())
    assert len(children() - before) == 2
    workers.close()
    assert children() == before
    with pytest.raises(Cancelled):
        workers.extract(NEWS, "text/html", patient())
