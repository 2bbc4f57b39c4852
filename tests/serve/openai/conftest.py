"""One running server for most tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.openai_protocol import TEXT, Served, serving
from support.openai_server import in_turn


@pytest.fixture(scope="session")
def running() -> Iterator[Served]:
    with serving() as served:
        yield served


@pytest.fixture
def served(running: Served) -> Iterator[Served]:
    """The server, with a model that says TEXT."""
    running.model.reply = in_turn(list(TEXT))
    running.model.requests.clear()
    running.web.asked.clear()
    yield running
    running.model.reasoning_tokens = 0
