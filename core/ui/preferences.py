"""What the reader has chosen outlives the session: for who is logged in, else for the browser."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from core.base.errors import AppError
from core.base.threads import in_a_thread
from core.ui import identity, session

READ_SECONDS = 1.0
"""A page waits no longer for them, and then begins as for a first visit."""


def kept() -> dict[str, Any]:
    app, who = session.app(), identity.visitor()
    if who is None:
        return {}
    reading = app.loop.submit(in_a_thread(partial(app.preferences.of, who), name="wenyuan-preferences"))
    try:
        return reading.result(READ_SECONDS)
    except (AppError, TimeoutError):  # whether the database is well is said elsewhere
        return {}


def keep(changes: Mapping[str, Any]) -> None:
    """None: forgotten."""
    if who := identity.visitor():
        session.app().preferences.change(who, changes)
