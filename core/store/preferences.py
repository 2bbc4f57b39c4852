"""Preferences: a small document of choices for each account, else for each browser.

A visitor's name gives access to nothing else, so a forged or shared cookie gets no more than these choices.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from sqlalchemy import delete, select, text, update

from core.store.database import Database
from core.store.ids import digest
from core.store.outbox import Outbox
from core.store.tables import preferences

VERSION = 1

TOUCH_SECONDS = 86_400.0
"""Time after which choices that are looked at are marked as used again."""

# Both databases understand it. Two servers may write the first choice of one account in the same moment.
_BEGIN = text(
    "INSERT INTO preferences (visitor, document, used) VALUES (:visitor, '{}', 0) ON CONFLICT (visitor) DO NOTHING"
)


class PreferenceStore:
    """The choices of each visitor in the database."""

    def __init__(self, database: Database, outbox: Outbox, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._outbox = outbox
        self._clock = clock

    def load(self, visitor_id: str) -> dict[str, Any]:
        """Return the choices by name; those never made are missing. Raise StoreError if the database cannot be used."""
        with self._database.read() as connection:
            found = connection.execute(select(preferences).where(preferences.c.visitor == digest(visitor_id))).first()
        if found is None:
            return {}
        if found.used < self._clock() - TOUCH_SECONDS:
            # Under a name of its own: changes are merged into a write of the same name, and this one has none.
            self._outbox.add_write(f"used {visitor_id}", partial(self._mark_used, visitor_id), visitor_id=None)
        return _decode(found.document)

    def change(self, visitor_id: str, changes: Mapping[str, Any]) -> None:
        """Write these choices in the background. None deletes a choice; choices that are not named stay, from any tab."""
        self._outbox.merge_changes(visitor_id, changes, partial(self._write, visitor_id))

    def _mark_used(self, visitor_id: str) -> None:
        with self._database.write() as connection:
            theirs = preferences.c.visitor == digest(visitor_id)
            connection.execute(update(preferences).where(theirs).values(used=self._clock()))

    def _write(self, visitor_id: str, changes: Mapping[str, Any]) -> None:
        theirs = preferences.c.visitor == digest(visitor_id)
        with self._database.write() as connection:
            connection.execute(_BEGIN, {"visitor": digest(visitor_id)})
            before = connection.execute(select(preferences.c.document).where(theirs).with_for_update()).scalar()
            after = {name: value for name, value in {**_decode(before), **changes}.items() if value is not None}
            if after:
                document = json.dumps({"version": VERSION, "chosen": after}, ensure_ascii=False)
                connection.execute(update(preferences).where(theirs).values(document=document, used=self._clock()))
            else:
                connection.execute(delete(preferences).where(theirs))


def _decode(document: str | None) -> dict[str, Any]:
    """Return the choices; an empty dict for a document that this program cannot read."""
    try:
        found = json.loads(document or "{}")
    except (ValueError, RecursionError):
        return {}
    chosen = found.get("chosen") if isinstance(found, dict) and found.get("version") == VERSION else None
    return chosen if isinstance(chosen, dict) else {}
