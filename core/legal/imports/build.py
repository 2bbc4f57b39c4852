"""Importing: the old index and one more source become a new index, which is put in use in one step or not at all.

The new index grows in a folder of its own. Only when it is complete and on disk does current.json name it; whatever
ends the import before that (an error, a cancel, kill -9, a power cut) leaves the old one in use, and the next import
clears the remains away.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import tantivy
from filelock import FileLock, Timeout

from core.base.http import Deadline
from core.base.text import terms
from core.legal.errors import ImportBusy, ImportCancelled
from core.legal.layouts import corpora
from core.legal.layouts.items import Skipped
from core.legal.library.index import DATABASE, FORMAT, MANIFEST, TEXT, TEXT_SCHEMA, connect_read_only, current_folder
from core.legal.text.case_numbers import find_case_numbers
from core.legal.text.dates import stated_force
from core.legal.text.names import law_key
from core.legal.types import CourtCase, Law

_SCHEMA = """
CREATE TABLE law (id INTEGER PRIMARY KEY, name TEXT, key TEXT, kind TEXT, issuer TEXT, published TEXT, effective TEXT,
                  repealed INTEGER, source TEXT, article_count INTEGER, fingerprint TEXT, import_id INTEGER);
CREATE INDEX law_key ON law (key);
CREATE TABLE article (id INTEGER PRIMARY KEY, law_id INTEGER, number INTEGER, suffix INTEGER, path TEXT, text TEXT);
CREATE INDEX article_number ON article (law_id, number, suffix);
CREATE TABLE history (law_id INTEGER, day TEXT);
CREATE TABLE repeal (key TEXT PRIMARY KEY, law_id INTEGER, number INTEGER, suffix INTEGER, since TEXT);
CREATE TABLE court_case (id INTEGER PRIMARY KEY, name TEXT, number TEXT, number_key TEXT, court TEXT, date TEXT, type TEXT,
                         summary TEXT, verdict TEXT, url TEXT, source TEXT, text TEXT);
CREATE INDEX case_number ON court_case (number_key);
CREATE INDEX case_name ON court_case (name);
CREATE TABLE import (id INTEGER PRIMARY KEY, name TEXT, layout TEXT, imported TEXT);
"""
_WRITER_HEAP = 60_000_000
_MAX_REASONS = 1_000


@dataclass(frozen=True, slots=True)
class ImportProgress:
    stage: str
    """读取, then 建立索引, then 计算向量 where a model for that is configured."""
    done: int
    total: int


@dataclass(slots=True)
class ImportSummary:
    """What an import read, and what it left out and why."""

    source: str
    layout: str
    laws: int = 0
    articles: int = 0
    cases: int = 0
    unchanged: int = 0
    """Versions that the index had in the same words."""
    skipped: list[Skipped] = field(default_factory=list)
    skipped_count: int = 0
    seconds: float = 0.0

    def skip(self, skipped: Skipped) -> None:
        self.skipped_count += 1
        if len(self.skipped) < _MAX_REASONS:
            self.skipped.append(skipped)

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "layout": self.layout,
            "laws": self.laws,
            "articles": self.articles,
            "cases": self.cases,
            "unchanged": self.unchanged,
            "skipped": self.skipped_count,
            "reasons": [{"path": entry.path, "reason": entry.reason} for entry in self.skipped],
            "seconds": round(self.seconds, 2),
        }


OnProgress = Callable[[ImportProgress], None]


def import_source(
    folder: Path, source: Path, *, on_progress: OnProgress = lambda _: None, until: Deadline | None = None
) -> ImportSummary:
    """Adds a source to the index in `folder` (`LegalLibrary.folder`)."""
    started = time.perf_counter()
    until = until or Deadline(float("inf"))
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder):
        old = current_folder(folder)
        _clear(folder, keep=old)
        new = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{uuid.uuid4().hex[:8]}"
        new.mkdir()
        try:
            summary = _Import(source, new, on_progress, until).run(folder / old / DATABASE if old else None)
            if until.cancelled:
                raise ImportCancelled
            _put_in_use(folder, new)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
        _clear(folder, keep=new.name)
    summary.seconds = time.perf_counter() - started
    return summary


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One import at a time; the system lets go of the lock when a process dies."""
    try:
        lock = FileLock(folder / "lock").acquire(blocking=False)
    except Timeout:
        raise ImportBusy from None
    with lock:
        yield


def _clear(folder: Path, keep: str | None) -> None:
    for path in folder.iterdir():
        if path.is_dir() and path.name != keep:
            shutil.rmtree(path, ignore_errors=True)


def _put_in_use(folder: Path, new: Path) -> None:
    _flush(new / DATABASE, *(new / TEXT).iterdir(), new / TEXT, new)
    draft = folder / f"{MANIFEST}.new"
    draft.write_text(json.dumps({"format": FORMAT, "folder": new.name}), "utf-8")
    _flush(draft)
    draft.replace(folder / MANIFEST)
    _flush(folder)


def _flush(*paths: Path) -> None:
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class _Import:
    def __init__(self, source: Path, new: Path, on_progress: OnProgress, until: Deadline) -> None:
        self._source = source
        self._new = new
        self._on_progress = on_progress
        self._until = until

    def run(self, old: Path | None) -> ImportSummary:
        survey = corpora.survey(self._source)
        summary = ImportSummary(self._source.name, survey.name)
        with closing(sqlite3.connect(self._new / DATABASE, isolation_level=None)) as database:
            database.execute("PRAGMA synchronous = OFF")  # the files are flushed before they are named
            database.execute("PRAGMA journal_mode = OFF")
            if old:
                with closing(connect_read_only(old)) as before:
                    before.backup(database)
                database.execute("CREATE TABLE IF NOT EXISTS history (law_id INTEGER, day TEXT)")
            else:
                database.executescript(_SCHEMA)
            database.execute("BEGIN")
            self._read(survey, _Store(database, summary, self._source.name), summary)
            database.execute("COMMIT")
            self._write_text(database)
        return summary

    def _read(self, survey: corpora.Survey, store: _Store, summary: ImportSummary) -> None:
        done = 0

        def on_file() -> None:
            nonlocal done
            done += 1
            self._report("读取", done, survey.files)

        for item in corpora.read(self._source, survey, on_file):
            if isinstance(item, Skipped):
                summary.skip(item)
            elif isinstance(item, Law):
                store.add_law(item)
            else:
                store.add_case(item)

    def _write_text(self, database: sqlite3.Connection) -> None:
        (self._new / TEXT).mkdir()
        index = tantivy.Index(TEXT_SCHEMA, path=str(self._new / TEXT))
        writer = index.writer(_WRITER_HEAP, num_threads=1)
        total = database.execute(
            "SELECT (SELECT count(*) FROM article) + (SELECT count(*) FROM court_case)"
        ).fetchone()[0]
        for done, document in enumerate(_documents(database), start=1):
            writer.add_document(document)
            if done % 500 == 0 or done == total:
                self._report("建立索引", done, total)
        writer.commit()
        writer.wait_merging_threads()

    def _report(self, stage: str, done: int, total: int) -> None:
        if self._until.cancelled:
            raise ImportCancelled
        self._on_progress(ImportProgress(stage, done, max(total, done)))


def _documents(database: sqlite3.Connection) -> Iterator[tantivy.Document]:
    titles: dict[str, str] = {}
    for identity, name, path, text in database.execute(
        "SELECT a.id, l.name, a.path, a.text FROM article a JOIN law l ON l.id = a.law_id"
    ):
        title = titles.setdefault(name, _terms(name.replace("中华人民共和国", "")))
        yield tantivy.Document(id=identity, title=title, path=_terms(path), body=_terms(text))
    for identity, name, text in database.execute("SELECT id, name, text FROM court_case"):
        yield tantivy.Document(id=identity, case_title=_terms(name), case_body=_terms(text))


def _terms(text: str) -> str:
    return " ".join(terms(text))


class _Store:
    """Writes one source over what the index holds: the same version of a law is replaced, others stand beside it."""

    def __init__(self, database: sqlite3.Connection, summary: ImportSummary, name: str) -> None:
        self._database = database
        self._summary = summary
        self._import = database.execute(
            "INSERT INTO import (name, layout, imported) VALUES (?, ?, datetime('now'))", (name, summary.layout)
        ).lastrowid

    def add_law(self, law: Law) -> None:
        self._summary.laws += 1
        self._summary.articles += len(law.articles)
        key, fingerprint = law_key(law.name), _fingerprint(law)
        for old in map(_Old._make, self._database.execute(_OLD, (key,)).fetchall()):
            if not _same_version(law, fingerprint, old):
                continue
            self._summary.unchanged += fingerprint == old.fingerprint
            law = replace(law, history=law.history or self._history(old.id))
            if old.import_id == self._import and len(law.articles) < old.article_count:
                return  # two files of one source hold this version, and the other one is fuller
            law = _with_what_was_known(law, old)
            self._forget(old.id)
        self._insert(law, key, fingerprint)

    def _history(self, law_id: int) -> tuple[str, ...]:
        return tuple(row[0] for row in self._database.execute("SELECT day FROM history WHERE law_id = ?", (law_id,)))

    def _forget(self, law_id: int) -> None:
        for table, column in (("article", "law_id"), ("history", "law_id"), ("repeal", "law_id"), ("law", "id")):
            self._database.execute(f"DELETE FROM {table} WHERE {column} = ?", (law_id,))  # noqa: S608 (names from the line above)

    def _insert(self, law: Law, key: str, fingerprint: str) -> None:
        count = sum(article.number.number > 0 for article in law.articles)
        law_id = self._database.execute(
            "INSERT INTO law (name, key, kind, issuer, published, effective, repealed, source, article_count, fingerprint,"
            " import_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(law.name, key, law.kind.value, law.issuer, law.published, law.effective, law.repealed, law.source),
                *(count, fingerprint, self._import),
            ),
        ).lastrowid
        self._database.executemany(
            "INSERT INTO article (law_id, number, suffix, path, text) VALUES (?, ?, ?, ?, ?)",
            [(law_id, *article.number, "\n".join(article.path), article.text) for article in law.articles],
        )
        self._database.executemany("INSERT INTO history VALUES (?, ?)", [(law_id, day) for day in law.history])
        for article in law.articles[-3:]:
            since = stated_force(article.text) or law.effective or law.published or ""
            for other in repealed_laws(article.text):
                if other != key:
                    self._database.execute(
                        "INSERT OR REPLACE INTO repeal VALUES (?, ?, ?, ?, ?)", (other, law_id, *article.number, since)
                    )

    def add_case(self, case: CourtCase) -> None:
        self._summary.cases += 1
        numbers = find_case_numbers(case.number or "")
        key = numbers[0].canonical() if numbers else None
        self._database.execute(
            "DELETE FROM court_case WHERE name = ? AND (number_key IS ? OR source = ?)", (case.name, key, case.source)
        )
        self._database.execute(
            "INSERT INTO court_case (name, number, number_key, court, date, type, summary, verdict, url, source, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(case.name, case.number, key, case.court, case.date, case.type.value if case.type else None),
                *(case.summary, case.verdict, case.url, case.source, case.text),
            ),
        )


class _Old(NamedTuple):
    """A version that the index already holds."""

    id: int
    published: str | None
    effective: str | None
    repealed: int
    fingerprint: str
    import_id: int
    article_count: int


_OLD = f"SELECT {', '.join(_Old._fields)} FROM law WHERE key = ?"  # noqa: S608 (the names of the fields above)


def _same_version(law: Law, fingerprint: str, old: _Old) -> bool:
    if fingerprint == old.fingerprint or law.published == old.published:
        return True
    undated = law.published is None and len(law.articles) == old.article_count
    return undated or (law.effective is not None and law.effective == old.effective)


def _with_what_was_known(law: Law, old: _Old) -> Law:
    """Dates that the new source does not give; of two dates for the same words the later one knows more."""
    effective = law.effective or old.effective
    if law.published == old.published:
        return replace(law, effective=effective, repealed=law.repealed or bool(old.repealed))
    if (old.published or "") > (law.published or ""):
        return replace(law, effective=effective, published=old.published, repealed=bool(old.repealed))
    return replace(law, effective=effective)


# 《…》第三条同时废止 and 《…》中的… put only a part out of force.
_NAMED = re.compile(r"《([^《》]{2,60})》(?!\s*[第中的有])")


def repealed_laws(text: str) -> list[str]:
    """The keys of the laws that a closing article puts out of force: 《…》、《…》同时废止."""
    if not re.search(r"同时废止|即行废止|予以废止", text):
        return []
    return [
        law_key(name)
        for sentence in re.split("[。；]", text)
        if "废止" in sentence
        for name in _NAMED.findall(sentence)
    ]


def _fingerprint(law: Law) -> str:
    """Equal for the same words, whatever the punctuation and blanks."""
    words = " ".join(f"{article.number} {article.text}" for article in law.articles)
    return hashlib.sha256(re.sub(r"[\W_]+", "", words).encode()).hexdigest()
