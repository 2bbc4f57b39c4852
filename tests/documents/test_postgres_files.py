"""The bytes of files in PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from core.documents import DocumentError
from core.documents.postgres_files import CHUNK, PostgresFiles
from core.store import Database
from support.base import loaded
from support.postgres import Postgres

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture
def database(postgres: Postgres) -> Iterator[Database]:
    made = Database.from_settings(loaded(DATABASE_URL=postgres.new_database()).values)
    yield made
    made.close()


def size(database: Database) -> int:
    with database.read() as connection:
        return int(connection.execute(text("SELECT pg_total_relation_size('document_files')")).scalar_one())


@pytest.mark.parametrize("length", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_a_file_comes_back_as_it_was(database: Database, length: int) -> None:
    body = os.urandom(length)
    PostgresFiles(database).write("a", body)
    assert PostgresFiles(database).read("a") == body


def test_a_file_that_is_written_again_is_the_new_one(database: Database) -> None:
    files = PostgresFiles(database)
    files.write("a", b"old" * CHUNK)
    files.write("a", b"new")
    assert files.read("a") == b"new"


def test_a_deleted_file_is_gone_and_the_database_is_small_again(database: Database) -> None:
    files = PostgresFiles(database)
    files.write("kept", b"kept")
    before = size(database)
    for number in range(4):
        files.write(f"{number}", os.urandom(2**20))
    assert size(database) > before + 4 * 2**20
    files.delete([f"{number}" for number in range(4)])
    assert size(database) < before + 2**19
    assert files.read("kept") == b"kept"
    for id in ("0", "unknown"):
        with pytest.raises(DocumentError, match="请重新上传"):
            files.read(id)
    files.delete(["0"])
    files.delete([])
