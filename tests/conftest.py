"""Rules for every test: no way out to the internet, no keys from the developer's shell, nothing written to the project."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent)]
pytest_plugins = ["support.reruns"]

from support.base import SHARED, VARIABLES  # noqa: E402

if TYPE_CHECKING:
    from support.postgres import Postgres
    from support.reading import KeptWorkers

for name in VARIABLES | {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"}:
    os.environ.pop(name, None)
os.environ["LEGAL_BUILT_IN"] = "0"  # a test that wants the law inside says so
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # for tests that import onnxruntime themselves


settings.register_profile("a busy machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("a busy machine")


class InternetRefused(OSError):
    """A test tried to leave this machine."""


_connect = socket.socket.connect
_getaddrinfo = socket.getaddrinfo


def _is_local(host: object) -> bool:
    return str(host) in {"localhost", "::1", ""} or str(host).startswith("127.")


def _guarded_connect(self: socket.socket, address: Any) -> None:
    if isinstance(address, tuple) and not _is_local(address[0]):
        raise InternetRefused(f"tests may not connect to {address[0]}")
    _connect(self, address)


def _guarded_getaddrinfo(host: object, *args: object, **kwargs: object) -> object:
    name = host.decode() if isinstance(host, bytes) else host
    if name is not None and not _is_local(name):
        raise socket.gaierror(socket.EAI_NONAME, "tests may not look up other hosts")
    return _getaddrinfo(host, *args, **kwargs)  # type: ignore[arg-type]


socket.socket.connect = _guarded_connect  # type: ignore[method-assign, assignment]
socket.getaddrinfo = _guarded_getaddrinfo  # type: ignore[assignment]


STARTERS = {
    f"support.{name}" for name in ("app_server", "chrome", "nginx", "openai_protocol", "postgres", "redis_server")
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as `servers` the tests of every module that imports the means to start one."""
    for item in items:
        module = item.getparent(pytest.Module)
        if module and STARTERS & {getattr(value, "__module__", "") for value in vars(module.obj).values()}:
            item.add_marker(pytest.mark.servers)


def pytest_collection_finish() -> None:
    """Streamlit's AppTest looks through every installed package for components, once for each page that is opened; and
    openai reads all certificates, twice for each model."""
    if "streamlit.testing.v1" in sys.modules:
        from streamlit.components.v2 import manifest_scanner

        manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
    if "openai" in sys.modules:
        import httpcore2

        httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)


@pytest.fixture(autouse=True)
def _own_data_dir(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DATA_DIR", str(tmp_path_factory.mktemp("data")))
    yield
    if app := sys.modules.get("core.app"):
        app.close_shared_app()


@pytest.fixture(autouse=True)
def _own_logging() -> Iterator[None]:
    """What a program that ran inside a test has set does not reach the next one: the command line logs errors only."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    for handler in [handler for handler in root.handlers if handler not in handlers]:
        root.removeHandler(handler)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Recorded material beside the project, where a developer has it."""
    if not SHARED.is_dir():
        pytest.skip("the recorded material (../shared) is not here")
    return SHARED


@pytest.fixture(scope="session")
def _cluster() -> Iterator[Postgres]:
    from support.postgres import running_postgres

    with running_postgres() as server:
        yield server


@pytest.fixture
def postgres(_cluster: Postgres) -> Postgres:
    """A real one, which runs, whatever the test before has done to it."""
    _cluster.start()
    return _cluster


@pytest.fixture(scope="session")
def workers() -> Iterator[KeptWorkers]:
    """For `support.reading.kept_workers`."""
    from core.base.http import Deadline
    from support.reading import KeptWorkers
    from support.web_pages import NEWS

    kept = KeptWorkers(2)  # as many as an App has
    kept.extract(NEWS.encode(), "text/html", Deadline(60))  # no test's deadline is spent on waiting for the first one
    yield kept
    kept.end()
