"""The App of the process, as every page finds it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import core.app
from core.app import App


@contextmanager
def shared(app: App) -> Iterator[App]:
    """Make `app` the App of the process for as long as it lasts. Closing it is left to whoever built it."""
    before, core.app._shared = core.app._shared, app
    try:
        yield app
    finally:
        core.app._shared = before


@contextmanager
def shared_and_closed(app: App) -> Iterator[App]:
    """Do the same, and close the App at the end."""
    try:
        with shared(app):
            yield app
    finally:
        app.close()
