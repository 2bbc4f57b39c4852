"""`make load`: the database that is there before the first visitor comes."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select

from bench.load import fill
from core.store import Database
from core.store.backends import SqliteFile
from core.store.tables import messages
from core.store.text_pairs import pairs_of


def test_kept_conversations_leave_nothing_to_the_upkeep(tmp_path: Path) -> None:
    fill(tmp_path, 3)
    database = Database(SqliteFile(tmp_path / "database" / "wenyuan.sqlite3"))
    with database.read() as connection:
        rows = connection.execute(select(messages.c.text, messages.c.pairs)).all()
    database.close()
    assert len(rows) == 6
    assert all(pairs == pairs_of(text) for text, pairs in rows)
