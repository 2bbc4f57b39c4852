from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy import text

from core.store import Database
from core.store.backends import SqliteFile
from support.handles import open_files


def test_what_many_readers_at_once_have_opened_is_let_go_when_nobody_reads(tmp_path: Path) -> None:
    database = Database(SqliteFile(tmp_path / "wenyuan.sqlite3"))
    all_read = threading.Barrier(9)

    def read() -> None:
        with database.read() as connection:
            connection.execute(text("SELECT 1"))
            all_read.wait()

    readers = [threading.Thread(target=read) for _ in range(8)]
    for reader in readers:
        reader.start()
    all_read.wait()
    for reader in readers:
        reader.join()
    assert len(open_files(tmp_path)) > 8
    with database.read() as connection:
        database.close_idle_connections()
        assert connection.execute(text("SELECT 1")).scalar() == 1, "somebody reads"
    database.close_idle_connections()
    assert not open_files(tmp_path)
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM schema_version")).scalar()
    database.close()
