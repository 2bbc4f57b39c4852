"""The installation that the tests of the transports use, and a server of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.app_server import AppServer
from support.forked_server import forked_server
from support.mcp_world import World, mcp_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with mcp_world(tmp_path_factory.mktemp("mcp")) as filled:
        yield filled


@pytest.fixture(scope="module")
def server(world: World) -> Iterator[AppServer]:
    with forked_server(**world.environ, API_ENABLED="true") as running:
        yield running
