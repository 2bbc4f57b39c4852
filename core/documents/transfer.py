"""Files on their way into a backup and out of it, from a folder or PostgreSQL to either of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from sqlalchemy import select

from core.base.settings import Settings
from core.documents.errors import DocumentError
from core.documents.folder_files import FolderFiles
from core.documents.folder_index import FolderIndex
from core.documents.passage_cutting import cut_all
from core.documents.postgres_files import PostgresFiles
from core.documents.postgres_index import PostgresIndex
from core.documents.storage import FileStore, PassageIndex
from core.documents.text_rows import TextRows
from core.store import Database
from core.store.tables import documents

DocumentKey = tuple[str, str]
"""Ids of a collection and of one of its files."""


class DocumentTransfer:
    """The files of an installation and their index, whoever they belong to. Errors are DocumentError and StoreError."""

    def __init__(self, database: Database, index: PassageIndex, files: FileStore) -> None:
        self._database = database
        self._index = index
        self._files = files

    @property
    def stores(self) -> tuple[PassageIndex, FileStore]:
        return self._index, self._files

    @classmethod
    def from_settings(cls, settings: Settings, database: Database) -> DocumentTransfer:
        return cls(database, *document_stores(settings, database))

    def keys(self) -> set[DocumentKey]:
        """Return all files that are here."""
        return self.keys_in(self._database)

    @staticmethod
    def keys_in(database: Database) -> set[DocumentKey]:
        return {(collection_id, id) for collection_id, id, _ in _list(database)}

    def bodies(self) -> Iterator[tuple[str, bytes | None]]:
        """Yield the id of each file and its bytes; None if they are lost. What is deleted meanwhile is left out."""
        for collection_id, id, _ in _list(self._database):
            try:
                yield id, self._files.read(id)
            except DocumentError:
                if (collection_id, id) in self.keys():
                    yield id, None

    def bring(self, staged: Database, read_body: Callable[[str], bytes | None]) -> None:
        """Write the files of another database and index their texts. Nobody finds them before their rows are here. If that
        fails, they are removed."""
        here, brought = self.keys(), set[DocumentKey]()
        texts = TextRows(staged)
        try:
            for collection_id, id, name in _list(staged):
                brought.add((collection_id, id))
                if (body := read_body(id)) is not None:
                    self._files.write(id, body)
                self._index.remove(collection_id, [id])
                self._index.add(collection_id, id, cut_all(texts.load(id), name))
        except BaseException:
            self.remove(brought - here)
            raise

    def remove(self, keys: set[DocumentKey]) -> None:
        """Remove files whose rows are gone."""
        by_collection = defaultdict[str, list[str]](list)
        for collection_id, id in keys:
            by_collection[collection_id].append(id)
        left = {collection_id for collection_id, _ in self.keys()}
        for collection_id, ids in by_collection.items():
            if collection_id in left:
                self._index.remove(collection_id, ids)
            else:
                self._index.remove_collection(collection_id)
            self._files.delete(ids)


def document_stores(settings: Settings, database: Database) -> tuple[PassageIndex, FileStore]:
    """Return where index and files are kept: with PostgreSQL in the database, else in the data folder."""
    if settings.database.url:
        return PostgresIndex(database), PostgresFiles(database)
    folder = settings.data_dir / "documents"
    return FolderIndex(folder / "index"), FolderFiles(folder / "files")


def _list(database: Database) -> list[tuple[str, str, str]]:
    """Return collection, id and name of each file."""
    c = documents.c
    with database.read() as connection:
        return [tuple(row) for row in connection.execute(select(c.collection_id, c.id, c.name).order_by(c.id))]
