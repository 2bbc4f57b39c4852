"""Files that one app server publishes in the database and the others fetch: the library of laws and cases."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, text

from core.store.database import Database
from core.store.errors import StoreError

CHUNK = 512 * 2**10
"""Bytes of a row: a slow line carries it long before the longest time of a statement."""
_LOCK = 0x6C6962726172
"""Number of an advisory lock: "librar"."""
_NAME = re.compile(r"(?:(?!\.\.?/)[\w.-]+/)*(?!\.\.?$)[\w.-]+", re.ASCII)
"""Names of files that stay in the folder into which they are fetched."""


class SharedFiles:
    """The published files by their names, in PostgreSQL. It is thread-safe. Errors are StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of each published file by its name. Empty before the first publication."""
        with self._database.read() as connection:
            return _hashes(connection)

    @contextmanager
    def lock(self) -> Iterator[bool]:
        """Hold the right to publish: yield whether no other app server has it. A server that dies frees it."""
        with self._database.write() as connection:  # a lock of the session would be another's behind PgBouncer
            yield bool(connection.execute(_TRY_LOCK, {"lock": _LOCK}).scalar_one())

    def publish(self, files: Mapping[str, Path]) -> dict[str, str]:
        """Replace what is published by these files, all at once. Return their hashes."""
        hashes = {name: _hash(path) for name, path in files.items()}
        with self._database.write() as connection:
            stored = set(connection.execute(text("SELECT DISTINCT hash FROM shared_chunks")).scalars())
            for name, hash in hashes.items():
                if hash not in stored:
                    _store(connection, hash, files[name])
                    stored.add(hash)
            connection.execute(text("DELETE FROM shared_files"))
            connection.execute(_ADD_FILE, [{"name": name, "hash": hash} for name, hash in hashes.items()])
            connection.execute(_DELETE_UNUSED)
        self._database.vacuum("shared_chunks")
        return hashes

    def fetch(self, folder: Path, known: Mapping[str, str]) -> dict[str, str]:
        """Write the published files into a folder, except those whose hashes are known. Return the hashes of all. Raise StoreError
        for a damaged one."""
        with self._database.snapshot() as connection:
            hashes = _hashes(connection)
            if not all(map(_NAME.fullmatch, hashes)):
                raise _damaged("法规库")
            for name, hash in hashes.items():
                if known.get(name) != hash:
                    _restore(connection, hash, folder / name)
        return hashes


def _hashes(connection: Connection) -> dict[str, str]:
    rows = connection.execute(text("SELECT name, hash FROM shared_files ORDER BY name"))
    return {row.name: row.hash for row in rows}


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _store(connection: Connection, hash: str, path: Path) -> None:
    with path.open("rb") as file:
        for number, chunk in enumerate(iter(lambda: file.read(CHUNK), b"")):
            connection.execute(_ADD_CHUNK, {"hash": hash, "number": number, "body": chunk})


def _restore(connection: Connection, hash: str, path: Path) -> None:
    found, number = hashlib.sha256(), 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        while chunk := connection.execute(_READ_CHUNK, {"hash": hash, "number": number}).scalar():
            found.update(chunk)
            file.write(chunk)
            number += 1
    if found.hexdigest() != hash:
        raise _damaged(path.name)


def _damaged(what: str) -> StoreError:
    return StoreError(f"数据库里的{what}已损坏。", cure="请管理员重新导入法规。")


_TRY_LOCK = text("SELECT pg_try_advisory_xact_lock(:lock)")
_ADD_FILE = text("INSERT INTO shared_files (name, hash) VALUES (:name, :hash)")
_ADD_CHUNK = text("INSERT INTO shared_chunks (hash, number, body) VALUES (:hash, :number, :body)")
_READ_CHUNK = text("SELECT body FROM shared_chunks WHERE hash = :hash AND number = :number")
_DELETE_UNUSED = text("DELETE FROM shared_chunks WHERE hash NOT IN (SELECT hash FROM shared_files)")
