"""The processes that take pages apart: confined, replaced when they die, and gone when they are not needed."""

from __future__ import annotations

import json
import os
import resource
import signal
import struct
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
from core.reading.extraction_types import ExtractedText, NotReadable
from core.reading.worker_pool import WorkerPool
from support import web_pages as pages
from support.fake_engines import FakeEngine, results
from support.scripted_app import scripted_app

NEWS = pages.NEWS.encode()


@pytest.fixture(scope="module")
def workers() -> Iterator[WorkerPool]:
    workers = WorkerPool(1)
    workers.start(Deadline(30))
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
            with pytest.raises(FileError, match=r"不能封闭解析文件的进程.*「诊断」"):
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


# ── A worker that a page has taken over ───────────────────────────────────────────────────────────────────────────────

READY = '{"missing": [], "landlock": 0}'
TEXT = {"kind": "text", "text": "一句话。", "title": "", "published": None, "instructions": 0, "is_cut": False}
NO_JSON = ["", "{", "\x00", "{} {}", '{"a": NaN}', "[" * 1_000_000, '{"a":' * 100_000]
NO_OBJECT = ["null", "[]", "5", '"missing"', "NaN", "[]" * 2]


def let_workers_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *frames: str | bytes, body: bytes = b"") -> None:
    """Workers send these heads, whatever they are asked, the last one with this body."""
    heads = [frame if isinstance(frame, bytes) else frame.encode("utf-8", "surrogatepass") for frame in frames]
    bodies = [b""] * (len(heads) - 1) + [body]
    said = b"".join(struct.pack(">II", len(h), len(b)) + h + b for h, b in zip(heads, bodies, strict=True))
    file = tmp_path / "said"
    file.write_bytes(said)
    script = f"""
import socket
with socket.socket(fileno=0) as parent:
    parent.sendall(open({str(file)!r}, "rb").read())
    while parent.recv(65536):
        pass
"""
    monkeypatch.setattr(worker_pool, "WORKER_COMMAND", (sys.executable, "-c", script))


def extract_with_fakes() -> tuple[ExtractedText | str, bool]:
    """The text or the reason why there is none, and whether the worker is used again."""
    workers = WorkerPool(1)
    try:
        found: ExtractedText | str = workers.extract(NEWS, "text/html", patient())
    except NotReadable as error:
        found = error.reason
    try:
        return found, bool(workers._alive)
    finally:
        workers.close()


def test_a_right_answer_is_believed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for day in ("2024-05-06", "0012-01-05"):
        let_workers_say(monkeypatch, tmp_path, READY, json.dumps(TEXT | {"published": day, "kind": "html"}))
        assert extract_with_fakes() == (ExtractedText("html", "一句话。", published=day), True)
    let_workers_say(monkeypatch, tmp_path, READY, '{"reason": "locked"}')
    assert extract_with_fakes() == ("locked", True)


@pytest.mark.parametrize(
    "answer",
    [
        *NO_JSON,
        *NO_OBJECT,
        b"\xff",
        json.dumps(TEXT).encode("utf-16"),
        json.dumps(TEXT, ensure_ascii=False).encode().replace("话".encode(), b"\xed\xa0\x80"),
        "{}",
        '{"reason": "because"}',
        '{"reason": ["locked"]}',
        '{"reason": "locked", "text": ""}',
        *(json.dumps({key: value for key, value in TEXT.items() if key != name}) for name in TEXT),
        *(
            json.dumps(TEXT | wrong)
            for wrong in (
                *(
                    {"kind": "program"},
                    {"kind": None},
                    {"text": None},
                    {"text": ["x"]},
                    {"text": "\ud800"},
                    {"text": 5},
                ),
                *({"text": "x" * 400_001}, {"title": "x" * 201}, {"title": 1}, {"title": None}, {"more": 1}),
                *(
                    {"published": 20240506},
                    {"published": "today"},
                    {"published": "20240506"},
                    {"published": "2024-05-06 " * 100},
                ),
                *({"instructions": -1}, {"instructions": True}, {"instructions": 1.5}, {"instructions": "1"}),
                *({"instructions": 10**100}, {"instructions": float("nan")}, {"is_cut": 0}, {"is_cut": None}),
            )
        ),
    ],
)
def test_a_wrong_answer_is_not_believed_and_its_worker_asked_nothing_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str | bytes
) -> None:
    let_workers_say(monkeypatch, tmp_path, READY, answer)
    assert extract_with_fakes() == ("broken", False)


def test_what_an_answer_hides_is_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    let_workers_say(monkeypatch, tmp_path, READY, json.dumps(TEXT | {"text": "a\0b\u202e", "title": "c\0\nd"}))
    assert extract_with_fakes() == (ExtractedText("text", "ab", title="c d"), True)


@pytest.mark.parametrize(
    "ready",
    [
        *NO_JSON,
        *NO_OBJECT,
        b"\xff",
        "{}",
        '{"missing": []}',
        '{"landlock": 0}',
        '{"missing": "seccomp", "landlock": 0}',
        '{"missing": [1], "landlock": 0}',
        '{"missing": [], "landlock": true}',
        '{"missing": [], "landlock": NaN}',
        '{"missing": [], "landlock": -1}',
        '{"missing": [], "landlock": 0, "more": 1}',
        json.dumps({"missing": ["x" * 1_001], "landlock": 0}),
    ],
)
def test_a_worker_that_begins_with_nonsense_is_asked_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ready: str | bytes
) -> None:
    let_workers_say(monkeypatch, tmp_path, ready, json.dumps(TEXT))
    assert extract_with_fakes() == ("broken", False)


def test_a_document_with_comments_is_nothing_but_bytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    workers = WorkerPool(1)
    try:
        for head in ("null", json.dumps(TEXT), "[" * 100_000):
            let_workers_say(monkeypatch, tmp_path, READY, head, body=b"document")
            with pytest.raises(NotReadable, match="broken"):
                workers.add_comments(b"", [], "问源", patient())
            assert not workers._alive
        let_workers_say(monkeypatch, tmp_path, READY, "{}", body=b"document")
        assert workers.add_comments(b"", [], "问源", patient()) == b"document"
    finally:
        workers.close()


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
    workers.start(Deadline(30))
    workers.extract(NEWS, "text/html", patient())
    assert len(children() - before) == 2
    workers.close()
    assert children() == before
    with pytest.raises(Cancelled):
        workers.extract(NEWS, "text/html", patient())
