"""Preferences of a visitor that outlive the session: stored for the account, else for the browser."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from core.base.errors import AppError
from core.base.threads import run_in_thread
from core.ui import identity, session

READ_SECONDS = 1.0
"""Longest wait of a page for the preferences. After it the page starts as for a first visit."""


def load() -> dict[str, Any]:
    """Return the stored preferences. Empty if there are none or the database is not available."""
    app, who = session.app(), identity.visitor()
    if who is None:
        return {}
    reading = app.loop.submit(run_in_thread(partial(app.preferences.load, who), name="wenyuan-preferences"))
    try:
        return reading.result(READ_SECONDS)
    except (AppError, TimeoutError):  # whether the database is well is said elsewhere
        return {}


def save(changes: Mapping[str, Any]) -> None:
    """Store changed preferences. A value of None deletes one."""
    if who := identity.visitor():
        session.app().preferences.change(who, changes)
