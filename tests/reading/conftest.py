from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.base.http import Deadline
from core.reading import Reader, ReadingSettings
from core.reading import reader as module
from support.web import web

__all__ = ["web"]

PATIENCE = 60.0  # on a busy machine a worker may take long to start


@pytest.fixture(scope="session")
def reader() -> Iterator[Reader]:
    """One for all tests: its processes take a while to start. It recognizes no text."""
    reader = Reader(ReadingSettings(allow_hosts=("wiki.intranet", "box.intranet:8080"), deny_hosts=("denied.example",)))
    reader.warm_up()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "is_recognition_installed", lambda: False)
        yield reader
    reader.close()


@pytest.fixture
def deadline() -> Deadline:
    return Deadline(PATIENCE)
