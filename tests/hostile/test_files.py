"""Files that would like to wear the reader out, get at other files, or have somebody asked: each gets its text or a sentence.

No process takes more memory or time than it may, none is left behind, and nobody is asked for anything.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.base.http import Deadline
from core.reading import FileError, Page, Reader, ReadingSettings
from core.reading.confinement import MEMORY
from core.reading.page import MAX_FILE_TEXT
from core.reading.worker_pool import FILE_SECONDS, WorkerPool
from support.hostile_archives import ARCHIVES, XML
from support.hostile_office import OFFICE
from support.hostile_page import Canary, canary
from support.hostile_pdfs import FACT, PDFS, Body
from support.hostile_texts import BOOKS, MAILS, PAGES, TEXTS
from support.waiting import until

READ = "read"
TICKS = os.sysconf("SC_CLK_TCK")
CASES: dict[str, tuple[str, Body, set[str]]] = {
    **ARCHIVES,
    **XML,
    **OFFICE,
    **PAGES,
    **BOOKS,
    **MAILS,
    **TEXTS,
    **{f"{name}.pdf": ("pdf", body, expected) for name, (body, expected) in PDFS.items()},
}
SECRETS = ("root:x:0:0", Path("/etc/passwd").read_text("utf-8", "replace").splitlines()[0], "bin/bash")


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    """With one process, so that it is known who worked."""
    reader = Reader(ReadingSettings(file_megabytes=25))
    reader._workers = WorkerPool(1)
    yield reader
    alive = [worker._process for worker in reader._workers._alive]
    reader.close()
    assert all(process.poll() is not None for process in alive)


@pytest.fixture(scope="module")
def bird() -> Iterator[Canary]:
    with canary() as bird:
        yield bird


def worker_of(reader: Reader) -> int:
    """The id of the process that the next file goes to, once it is confined."""
    assert reader._workers.confinement(Deadline(60)).missing == []
    (worker,) = reader._workers._alive
    return worker._process.pid


def limits_of(pid: int) -> dict[str, tuple[str, str]]:
    """The soft and the hard limits that the kernel holds a process to."""
    lines = Path(f"/proc/{pid}/limits").read_text("utf-8").splitlines()[1:]
    return {line[:26].strip(): (line[26:47].strip(), line[47:68].strip()) for line in lines}


def memory_of(pid: int) -> int | None:
    """The most bytes of address space that a process has had; None if the kernel has ended it."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmPeak:")), None)


def processor_seconds(pid: int) -> float | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / TICKS


def outcome_of(reader: Reader, name: str, body: bytes) -> Page | FileError:
    """What became of a file. The process that read it kept to its limits."""
    pid = worker_of(reader)
    assert limits_of(pid)["Max address space"] == (str(MEMORY), str(MEMORY))
    assert limits_of(pid)["Max open files"] == ("0", "0")
    assert limits_of(pid)["Max file size"] == ("0", "0")
    before = processor_seconds(pid)
    try:
        outcome: Page | FileError = reader.read_file(name, body)
    except FileError as error:
        outcome = error
    used, after = memory_of(pid), processor_seconds(pid)
    parts = 1 if isinstance(outcome, FileError) else 1 + outcome.length // 40_000
    assert used is None or used <= MEMORY
    assert before is not None
    assert after is None or after - before <= FILE_SECONDS * parts + 1
    return outcome


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_file_is_its_text_or_a_sentence(reader: Reader, bird: Canary, name: str) -> None:
    ending, make, expected = CASES[name]
    outcome = outcome_of(reader, f"a.{ending}", make(f"http://{bird.place}/"))
    assert bird.seen == []
    if isinstance(outcome, FileError):
        assert outcome.reason in expected, outcome
        assert str(outcome).startswith(f"「a.{ending}」")
        assert str(outcome).endswith("。")
        return
    assert READ in expected, outcome.text[:500]
    assert FACT in outcome.text
    assert outcome.length <= MAX_FILE_TEXT
    assert not [secret for secret in SECRETS if secret in outcome.text + outcome.title]


def test_there_are_enough_of_them_and_a_good_file_is_read_afterwards(reader: Reader) -> None:
    assert len(CASES) >= 60
    assert outcome_of(reader, "a.txt", FACT.encode()).text == FACT  # type: ignore[union-attr]


def test_the_canary_would_notice(bird: Canary) -> None:
    before = len(bird.seen)
    with socket.create_connection(("127.0.0.1", bird.port)) as knock:
        knock.sendall(b"GET /noticed HTTP/1.1\r\n\r\n")
        knock.recv(999)
    until(lambda: len(bird.seen) > before)
    bird.seen.clear()
