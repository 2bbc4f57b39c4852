"""The processes that take pages apart, kept from test to test: each of them takes most of a second to start."""

from __future__ import annotations

import pytest

from core.base.http import Deadline
from core.reading import reader
from core.reading.worker_pool import WorkerPool


class KeptWorkers(WorkerPool):
    def start(self, deadline: Deadline) -> None:
        """They do when they are needed: two Apps that started them at once would wait for each other."""

    def close(self) -> None:
        """With the App that used them; they stay for the next one."""

    def end(self) -> None:
        super().close()


@pytest.fixture(autouse=True)
def kept_workers(workers: KeptWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every App of a test reads with them. No App recognizes text, unless a test says so (`support.scans.one_recognizer`)."""
    monkeypatch.setattr(reader, "WorkerPool", lambda *_, **__: workers)
    monkeypatch.setattr(reader, "is_recognition_installed", lambda: False)
