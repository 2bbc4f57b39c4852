"""What each visitor has chosen for themselves: a small document for who is logged in, else for the browser.

Nothing else can be reached with a visitor's name, so that a forged or shared cookie gets no more than these choices.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy import delete, select, text, update

from core.store.conversations import digest
from core.store.database import Database
from core.store.outbox import Outbox
from core.store.tables import preferences

VERSION = 1

# Both databases understand it. Two servers may write the first choice of one account in the same moment.
_BEGIN = text("INSERT INTO preferences (visitor, document) VALUES (:visitor, '{}') ON CONFLICT (visitor) DO NOTHING")


class Preferences:
    def __init__(self, database: Database, outbox: Outbox) -> None:
        self._database = database
        self._outbox = outbox

    def of(self, visitor: str) -> dict[str, Any]:
        """By name; what was never chosen is not there. Raises StoreError when the database cannot be used."""
        wanted = select(preferences.c.document).where(preferences.c.visitor == digest(visitor))
        with self._database.read() as connection:
            return _decode(connection.execute(wanted).scalar())

    def change(self, visitor: str, changes: Mapping[str, Any]) -> None:
        """Written in the background; what is None is forgotten, and what is not named stays, whichever tab chose it."""
        self._outbox.change(visitor, changes, partial(self._write, visitor))

    def _write(self, visitor: str, changes: Mapping[str, Any]) -> None:
        theirs = preferences.c.visitor == digest(visitor)
        with self._database.write() as connection:
            connection.execute(_BEGIN, {"visitor": digest(visitor)})
            before = connection.execute(select(preferences.c.document).where(theirs).with_for_update()).scalar()
            after = {name: value for name, value in {**_decode(before), **changes}.items() if value is not None}
            if after:
                connection.execute(update(preferences).where(theirs).values(document=_encode(after)))
            else:
                connection.execute(delete(preferences).where(theirs))


def _encode(chosen: Mapping[str, Any]) -> str:
    return json.dumps({"version": VERSION, "chosen": chosen}, ensure_ascii=False)


def _decode(document: str | None) -> dict[str, Any]:
    """Nothing, for a document that this program cannot read."""
    try:
        found = json.loads(document or "{}")
    except (ValueError, RecursionError):
        return {}
    chosen = found.get("chosen") if isinstance(found, dict) and found.get("version") == VERSION else None
    return chosen if isinstance(chosen, dict) else {}
