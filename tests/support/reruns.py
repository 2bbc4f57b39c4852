"""Second tries, as a pytest plugin: for tests that start servers or drive a browser, and each of them written down."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FILE = "RERUNS_FILE"
"""The environment variable with the file to which every second try is added, as one line with its reason."""


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known also where the plugin that reads it is turned off (`-p no:rerunfailures`)."""
    config.addinivalue_line("markers", "flaky(reruns): is tried again when it fails")


@pytest.hookimpl(trylast=True)  # when everything has its marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give a second try to what a busy machine can break."""
    for item in items:
        if item.get_closest_marker("servers") or item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write down a second try, in the process that hears of all of them."""
    file = os.environ.get(FILE)
    if file and str(report.outcome) == "rerun" and "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(file).open("a", encoding="utf-8") as reruns:
            reruns.write(f"{report.nodeid}: {' '.join(report.longreprtext.split())[-500:]}\n")
