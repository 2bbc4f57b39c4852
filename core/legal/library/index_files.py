"""Files of an index on disk, and the reading of its tables and texts. An index in use is never written to.

data/legal/current.json     names the folder in use; replaced in one step when an import is complete
data/legal/<folder>/        laws.sqlite3, text/ and case_text/ (tantivy), never changed once they are named
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import tantivy
from filelock import FileLock, Timeout

from core.legal.errors import ImportBusy

MANIFEST = "current.json"
DATABASE = "laws.sqlite3"
TEXT, CASE_TEXT = "text", "case_text"
"""Folders of two text indexes. BM25 compares a text with the average of all: cases would change the order of articles."""
FORMAT = 1

ARTICLE_FIELDS = {"body": 1.0, "title": 0.2, "path": 0.4}
CASE_FIELDS = {"case_body": 1.0, "case_title": 1.0}


class IndexFiles:
    """The database of one index. All methods may be called from any thread."""

    def __init__(self, folder: Path, today: Callable[[], date] = date.today) -> None:
        self._today = today
        self._lock = threading.Lock()
        self._database = connect_read_only(folder / DATABASE)

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._database.execute(query, values).fetchall()

    def _columns(self, table: str) -> set[str]:
        """Return the columns of a table. Indexes of earlier versions of this program have fewer."""
        return {row[1] for row in self._rows(f"PRAGMA table_info({table})")}


def placeholders(values: Collection[int]) -> str:
    return ",".join("?" * len(values))


def _text_schema() -> tantivy.Schema:
    """Return the schema. `core.base.text.terms` cuts the terms, so tantivy only splits at blanks."""
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("id", fast=True)
    for name in (*ARTICLE_FIELDS, *CASE_FIELDS):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    return builder.build()


TEXT_SCHEMA = _text_schema()


class TextIndex:
    """The full text of articles or of cases."""

    def __init__(self, folder: Path, fields: dict[str, float]) -> None:
        text = tantivy.Index.open(str(folder))
        text.config_reader(num_warmers=0, reload_policy="manual")
        self._searcher = text.searcher()
        self._fields = fields

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def scores(self, weighted: dict[str, float], limit: int) -> dict[int, float]:
        """Return the best documents and their scores. Only a plain union of terms lets tantivy skip most documents, so
        neither a filter nor a prior is part of it."""
        query = tantivy.Query
        terms = [
            (tantivy.Occur.Should, query.boost_query(query.term_query(TEXT_SCHEMA, name, term, "freq"), weight * boost))
            for term, weight in weighted.items()
            for name, boost in self._fields.items()
        ]
        hits = self._searcher.search(query.boolean_query(terms), limit, count=False).hits
        ids = self._searcher.fast_field_values("id", [address for _, address in hits])
        return {int(identity): score for identity, (score, _) in zip(ids, hits, strict=True) if identity is not None}

    def frequency(self, term: str, *fields: str) -> int:
        return sum(self._searcher.doc_freq(field, term) for field in fields)


def connect_read_only(database: Path) -> sqlite3.Connection:
    """Open the database of an index, without a lock: an index in use is never written to."""
    return sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)


def current_folder(folder: Path) -> str | None:
    """Return the name of the folder in use, or None if there is none, it is gone or a newer program wrote it."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        return None
    name = str(manifest.get("folder"))
    return name if (folder / name / DATABASE).is_file() else None


@contextmanager
def import_lock(folder: Path) -> Iterator[None]:
    """Hold the import lock. Raises ImportBusy if another import has it. The system frees it if the process dies."""
    try:
        lock = FileLock(folder / "lock").acquire(blocking=False)
    except Timeout:
        raise ImportBusy from None
    with lock:
        yield


def delete_indexes(folder: Path, kept_name: str | None) -> None:
    for path in folder.iterdir():
        if path.is_dir() and path.name != kept_name:
            shutil.rmtree(path, ignore_errors=True)
