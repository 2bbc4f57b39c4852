"""The bytes of the files in PostgreSQL, where every app server finds them.

They are rows of half a megabyte. Rows go with a dump, a replica and the permissions of their table; large objects belong to no table,
so that one which nothing refers to any more stays for ever.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlalchemy import text

from core.documents.errors import DocumentError
from core.store import Database

CHUNK = 512 * 2**10
"""Bytes of a row: many times shorter than what takes a slow line the longest time of a statement."""


class PostgresFiles:
    """A FileStore in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, document_id: str, body: bytes) -> None:
        with self._database.write() as connection:
            connection.execute(_DELETE, {"ids": [document_id]})
            for number, chunk in enumerate(_chunks(body)):
                connection.execute(_INSERT, {"id": document_id, "number": number, "body": chunk})

    def read(self, document_id: str) -> bytes:
        with self._database.snapshot() as connection:
            count = connection.execute(_COUNT, {"id": document_id}).scalar_one()
            chunks = [
                connection.execute(_READ, {"id": document_id, "number": number}).scalar_one() for number in range(count)
            ]
        if not chunks:
            raise DocumentError("文件打不开：它的内容不在数据库里。", cure="请重新上传。")
        return b"".join(chunks)

    def delete(self, document_ids: Collection[str]) -> None:
        """Delete the files, and give back the disk of them and of their texts, whose rows went with those of the documents."""
        if not document_ids:
            return
        with self._database.write() as connection:
            deleted = connection.execute(_DELETE, {"ids": list(document_ids)}).rowcount
        if deleted:
            self._database.vacuum("document_files", "document_texts", "document_vectors")


def _chunks(body: bytes) -> Iterator[bytes]:
    """Yield the parts of a file; of an empty one, an empty part."""
    for start in range(0, max(len(body), 1), CHUNK):
        yield body[start : start + CHUNK]


_INSERT = text("INSERT INTO document_files (document_id, number, body) VALUES (:id, :number, :body)")
_DELETE = text("DELETE FROM document_files WHERE document_id = ANY(:ids)")
_COUNT = text("SELECT count(*) FROM document_files WHERE document_id = :id")
_READ = text("SELECT body FROM document_files WHERE document_id = :id AND number = :number")
