"""The processes that take pages apart: confined, replaced when they die, and gone when they are not needed."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.app import App
from core.base.http import Cancelled, Deadline
from core.doctor import DoctorCheck, diagnose
from core.reading import FileError, Reader, ReadingSettings, worker_pool
from core.reading.extraction_types import NotReadable
from core.reading.worker_pool import WorkerPool
from support import web_pages as pages
from support.fake_engines import FakeEngine, results
from support.scripted_app import scripted_app

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


def test_a_worker_is_confined(workers: WorkerPool) -> None:
    assert workers.confinement(patient()).missing == []
    (worker,) = workers._alive
    status = Path(f"/proc/{worker._process.pid}/status").read_text()
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status


# These are refused for real: no such system call, no filter for the architecture, no such limit.
LACKING = {
    "seccomp": "from core.reading import confinement as c; c.MACHINES = {n: m._replace(seccomp_call=9999) for n, m in c.MACHINES.items()}",
    "没有为": "from core.reading import confinement as c; c.MACHINES = {}",
    "RLIMIT_AS": "from core.reading import confinement as c; c.resource.RLIMIT_AS = 99",
}


def let_workers_lack(lacking: str, monkeypatch: pytest.MonkeyPatch) -> None:
    script = f"{LACKING[lacking]}; from core.reading import worker; worker.main()"
    monkeypatch.setattr(worker_pool, "WORKER_COMMAND", (sys.executable, "-c", script))


@pytest.mark.parametrize("lacking", LACKING)
def test_without_confinement_nothing_is_read(
    lacking: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    let_workers_lack(lacking, monkeypatch)
    reader = Reader(ReadingSettings())
    try:
        for _ in range(2):
            with pytest.raises(FileError, match=r"不能封闭解析文件的进程.*READING_UNCONFINED=1"):
                reader.read_file("合同.txt", "一句话。".encode())
    finally:
        reader.close()
    (warning,) = [record.getMessage() for record in caplog.records if "no confinement" in record.getMessage()]
    assert lacking in warning
    assert "are not read" in warning


def test_an_administrator_can_allow_it(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    let_workers_lack("seccomp", monkeypatch)
    reader = Reader(ReadingSettings(unconfined=True))
    try:
        assert reader.read_file("合同.txt", "一句话。".encode()).text == "一句话。"
    finally:
        reader.close()
    assert "are read nevertheless" in caplog.text


def check_of_reading(app: App) -> DoctorCheck:
    return next(check for check in diagnose(app) if check.name == "阅读")


def test_the_diagnosis_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_app(says=[], engines=[FakeEngine("fake", results(1))]) as (app, _):
        check = check_of_reading(app)
        assert (check.ok, "由内核封闭" in check.message) == (True, True)
    let_workers_lack("seccomp", monkeypatch)
    with scripted_app(says=[], engines=[FakeEngine("fake", results(1))]) as (app, _):
        check = check_of_reading(app)
        assert (check.ok, "网页和文件都不读" in check.message) == (False, True)
        assert "READING_UNCONFINED=1" in check.cure
    with scripted_app(says=[], engines=[FakeEngine("fake", results(1))], READING_UNCONFINED="1") as (app, _):
        assert "仍然阅读" in check_of_reading(app).message


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
