"""Import: the old index and one more source become a new index, which replaces the old one in one step or not at all.

The new index is built in a folder of its own. current.json names it only when it is complete and on disk. Anything that
ends the import earlier (an error, a cancel, kill -9, a power cut) leaves the old index in use. The next import deletes
the remains.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import tantivy

from core.base.http import Deadline
from core.base.text import terms
from core.legal.article_numbers import ArticleNumber
from core.legal.entities import Article, CourtCase, Law, LawKind
from core.legal.errors import CorpusError, ImportCancelled
from core.legal.imports.merge import is_same_version, law_fingerprint, merge_versions, with_credible_force
from core.legal.imports.report import ImportReport, LawChange
from core.legal.layouts import corpora
from core.legal.layouts.items import Skipped
from core.legal.library import index_files
from core.legal.library.index_files import (
    CASE_TEXT,
    DATABASE,
    MANIFEST,
    TEXT,
    connect_read_only,
    current_folder,
    delete_indexes,
    import_lock,
)
from core.legal.text.amendments import all_amended_law_names, amendment_force
from core.legal.text.case_numbers import case_keys
from core.legal.text.dates import stated_force
from core.legal.text.law_names import law_key
from core.legal.text.repeals import repealed_laws

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
CREATE TABLE import (id INTEGER PRIMARY KEY, name TEXT, layout TEXT, imported TEXT);
"""
_ADDED_COLUMNS = {"court_case": ("cause", "gist", "import_id"), "import": ("origin", "sha256")}
"""Columns that indexes of earlier versions of this program do not have."""


DOWNLOAD = "下载"


@dataclass(frozen=True, slots=True)
class ImportProgress:
    stage: str
    """One of 下载, 读取, 建立索引 and, if an embedding model is configured, 计算向量."""
    done: int
    total: int


OnProgress = Callable[[ImportProgress], None]


def import_source(
    folder: Path,
    source: Path,
    *,
    origin: str = "",
    title: str = "",
    update: bool = False,
    on_progress: OnProgress = lambda _: None,
    deadline: Deadline | None = None,
) -> ImportReport:
    """Add a source to the index in `folder` (`LegalLibrary.folder`). `origin` is the address or path where an update
    will find the source again, `title` its name if that is not the file's. With `update`, laws in the same words are left alone, and the index stays in use if
    nothing would be added."""
    started = time.perf_counter()
    deadline = deadline or Deadline(float("inf"))
    folder.mkdir(parents=True, exist_ok=True)
    with import_lock(folder):
        old = current_folder(folder)
        delete_indexes(folder, kept_name=old)
        new = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{uuid.uuid4().hex[:8]}"
        new.mkdir()
        try:
            work = _Import(source, origin, title or source.name, new, on_progress, deadline, update)
            report = work.run(folder / old / DATABASE if old else None)
            if deadline.cancelled:
                raise ImportCancelled
            if work.has_new_index:
                _activate(folder, new)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
        delete_indexes(folder, kept_name=new.name if work.has_new_index else old)
    report.seconds = time.perf_counter() - started
    return report


def _activate(folder: Path, new: Path) -> None:
    texts = [path for name in (TEXT, CASE_TEXT) for path in (new / name, *(new / name).iterdir())]
    _flush(new / DATABASE, *texts, new)
    draft = folder / f"{MANIFEST}.new"
    draft.write_text(json.dumps({"format": index_files.FORMAT, "folder": new.name}), "utf-8")
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


@dataclass(slots=True)
class _Import:
    _source: Path
    _origin: str
    _title: str
    _new: Path
    _on_progress: OnProgress
    _deadline: Deadline
    _update: bool
    has_new_index: bool = False
    """True if there is a new index to put in use."""

    def run(self, old: Path | None) -> ImportReport:
        survey = corpora.survey(self._source)
        report = ImportReport(self._title, survey.name)
        with closing(sqlite3.connect(self._new / DATABASE, isolation_level=None)) as database:
            database.execute("PRAGMA synchronous = OFF")  # the files are flushed before current.json names them
            database.execute("PRAGMA journal_mode = OFF")
            if old:
                with closing(connect_read_only(old)) as before:
                    before.backup(database)
                database.execute("CREATE TABLE IF NOT EXISTS history (law_id INTEGER, day TEXT)")
            else:
                database.executescript(_SCHEMA)
            _add_columns(database)
            known = _read_contents(database)
            database.execute("BEGIN")
            store = _IndexWriter(database, report, self._origin, checksum(self._source), update=self._update)
            self._read(survey, store, report)
            database.execute("COMMIT")
            if not (report.laws or report.cases):
                raise _nothing_read_error(report)
            report.changes = list(law_changes(known, _read_contents(database)))
            self.has_new_index = store.has_changes or not self._update
            if self.has_new_index:
                self._write_text(database)
        return report

    def _read(self, survey: corpora.Survey, store: _IndexWriter, report: ImportReport) -> None:
        done = 0

        def on_file() -> None:
            nonlocal done
            done += 1
            self._report("读取", done, survey.files)

        for number, item in enumerate(corpora.read(self._source, survey, on_file), start=1):
            if survey.files == 1 and number % 1_000 == 0:
                self._report("读取", number, 0)
            if isinstance(item, Skipped):
                report.skip(item)
                if item.stored_as:
                    store.remove_source(item.stored_as)
            elif isinstance(item, Law):
                store.add_law(item)
            else:
                store.add_case(item)
        store.add_days_of_amendments()

    def _write_text(self, database: sqlite3.Connection) -> None:
        counts = "SELECT (SELECT count(*) FROM article), (SELECT count(*) FROM court_case)"
        articles, cases = database.execute(counts).fetchone()
        self._write(TEXT, _articles(database), 0, articles + cases)
        self._write(CASE_TEXT, _cases(database), articles, articles + cases)

    def _write(self, folder: str, documents: Iterator[tantivy.Document], before: int, total: int) -> None:
        (self._new / folder).mkdir()
        index = tantivy.Index(index_files.TEXT_SCHEMA, path=str(self._new / folder))
        writer = index.writer(heap_size=60_000_000, num_threads=1)
        for done, document in enumerate(documents, start=before + 1):
            writer.add_document(document)
            if done % 500 == 0 or done == total:
                self._report("建立索引", done, total)
        writer.commit()
        writer.wait_merging_threads()

    def _report(self, stage: str, done: int, total: int) -> None:
        if self._deadline.cancelled:
            raise ImportCancelled
        self._on_progress(ImportProgress(stage, done, max(total, done)))


def _nothing_read_error(report: ImportReport) -> CorpusError:
    """Return the error for a source without one readable law or case. Such a source must not become the index in use."""
    why = "".join(f"第一处：{first.path}，{first.reason}。" for first in report.skipped[:1])
    return CorpusError(
        f"{report.source} 里没有一部法规或一个案例可以导入，{report.skipped_count:,} 处无法读取。{why}",
        cure="请对照手册「怎么导入法律文本」检查格式。",
    )


def _add_columns(database: sqlite3.Connection) -> None:
    for table, columns in _ADDED_COLUMNS.items():
        known = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
        for column in columns:
            if column not in known:
                database.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    database.execute("UPDATE court_case SET import_id = 0 WHERE import_id IS NULL")
    database.execute("DROP INDEX IF EXISTS case_name")
    database.execute("CREATE INDEX IF NOT EXISTS case_identity ON court_case (name, number_key, source, import_id)")
    database.execute("CREATE INDEX IF NOT EXISTS case_facts ON court_case (type, cause, court, date)")


class IndexContents(NamedTuple):
    """Versions and repealed laws of an index."""

    versions: dict[str, list[tuple[str, str, str]]]
    """Publication day, name and fingerprint of each version, by law key, newest first."""
    repealed_keys: set[str]


def _read_contents(database: sqlite3.Connection) -> IndexContents:
    versions: dict[str, list[tuple[str, str, str]]] = {}
    query = "SELECT key, coalesce(published, ''), name, fingerprint FROM law ORDER BY 2 DESC, 3 DESC, 4 DESC"
    for key, published, name, fingerprint in database.execute(query):
        versions.setdefault(key, []).append((published, name, fingerprint))
    return IndexContents(versions, {row[0] for row in database.execute("SELECT key FROM repeal")})


def index_contents(folder: Path) -> IndexContents:
    """Return the contents of the index in use in this folder."""
    name = current_folder(folder)
    if name is None:
        return IndexContents({}, set())
    with closing(connect_read_only(folder / name / DATABASE)) as database:
        return _read_contents(database)


def law_changes(before: IndexContents, after: IndexContents) -> Iterator[LawChange]:
    """Yield the changes between two indexes: none after a first import, where everything would be new."""
    if not before.versions:
        return
    for key, versions in sorted(after.versions.items()):
        (published, name, fingerprint), known = versions[0], before.versions.get(key)
        if known is None:
            yield LawChange(name, "新增", None, published or None)
        elif fingerprint not in {version[2] for version in known}:
            what: Literal["修改", "文字有变化"] = "修改" if published > known[0][0] else "文字有变化"
            yield LawChange(name, what, known[0][0] or None, published or None)
    for key in sorted((after.repealed_keys - before.repealed_keys) & before.versions.keys()):
        published, name, _ = before.versions[key][0]
        yield LawChange(name, "废止", published or None)


def _articles(database: sqlite3.Connection) -> Iterator[tantivy.Document]:
    titles: dict[str, str] = {}
    query = "SELECT a.id, l.name, a.path, a.text FROM article a JOIN law l ON l.id = a.law_id"
    for identity, name, path, text in database.execute(query):
        title = titles.setdefault(name, _terms(name.replace("中华人民共和国", "")))
        yield tantivy.Document(id=identity, title=title, path=_terms(path), body=_terms(text))


def _cases(database: sqlite3.Connection) -> Iterator[tantivy.Document]:
    query = "SELECT id, name, cause, gist, text, summary, verdict FROM court_case"
    for identity, name, cause, gist, text, *parts in database.execute(query):
        title = _terms("\n".join(filter(None, (name, cause, gist))))
        besides = (part for part in parts if part and part not in text)  # a full text often repeats them
        yield tantivy.Document(id=identity, case_title=title, case_body=_terms("\n".join((text, *besides))))


def _terms(text: str) -> str:
    return " ".join(terms(text))


class _IndexWriter:
    """Writes one source into the index. Copies of one version of a law are merged; other versions stay beside it."""

    def __init__(
        self, database: sqlite3.Connection, report: ImportReport, origin: str, sha256: str | None, *, update: bool
    ) -> None:
        self._database = database
        self._report = report
        self._update = update
        self.has_changes = False
        """True if the source changed the index."""
        self._import = database.execute(
            "INSERT INTO import (name, layout, imported, origin, sha256) VALUES (?, ?, datetime('now'), ?, ?)",
            (report.source, report.layout, origin or None, sha256),
        ).lastrowid

    def add_law(self, law: Law) -> None:
        self._report.laws += 1
        self._report.articles += len(law.articles)
        key, law = law_key(law.name), with_credible_force(law)
        for law_id, stored in [entry for entry in self._stored_versions(key) if is_same_version(law, entry[1])]:
            self._report.unchanged += law_fingerprint(law) == law_fingerprint(stored)
            law = merge_versions(law, stored)
            if law == stored:
                return
            self._delete_law(law_id)
        self._insert(law, key)

    def _stored_versions(self, key: str) -> Iterator[tuple[int, Law]]:
        for law_id, *values in self._database.execute(_SELECT_VERSIONS, (key,)).fetchall():
            name, kind, issuer, published, effective, repealed, source = values
            articles = tuple(
                Article(ArticleNumber(number, suffix), text, tuple(path.splitlines()))
                for number, suffix, path, text in self._database.execute(_SELECT_ARTICLES, (law_id,))
            )
            history = tuple(row[0] for row in self._database.execute(_SELECT_HISTORY, (law_id,)))
            dates = (issuer, published, effective, bool(repealed), history)
            yield law_id, Law(name, LawKind(kind), articles, source, *dates)

    def remove_source(self, source: str) -> None:
        """Remove what an earlier import stored as a law and which is none."""
        for (law_id,) in self._database.execute("SELECT id FROM law WHERE source = ?", (source,)).fetchall():
            self._delete_law(law_id)
            self.has_changes = True

    def add_days_of_amendments(self) -> None:
        """Add the day of force to versions without one, from the amendments that were published on the same day."""
        days: dict[tuple[str, str], set[str | None]] = {}
        for law_id, name, published in self._database.execute(_SELECT_AMENDMENTS).fetchall():
            text = "\n".join(row[3] for row in self._database.execute(_SELECT_ARTICLES, (law_id,)))
            for amended in all_amended_law_names(name, text):
                day = amendment_force(text, published)
                days.setdefault((law_key(amended), published), set()).add(day)
        for (key, published), found in days.items():
            if len(found) == 1 and (day := found.pop()) and day >= published:
                added = self._database.execute(_ADD_FORCE_DAY, (day, key, published)).rowcount
                self.has_changes = self.has_changes or added > 0

    def _delete_law(self, law_id: int) -> None:
        for table, column in (("article", "law_id"), ("history", "law_id"), ("repeal", "law_id"), ("law", "id")):
            self._database.execute(f"DELETE FROM {table} WHERE {column} = ?", (law_id,))  # noqa: S608 (names from the line above)

    def _insert(self, law: Law, key: str) -> None:
        self.has_changes = True
        count = sum(article.number.number > 0 for article in law.articles)
        law_id = self._database.execute(
            "INSERT INTO law (name, key, kind, issuer, published, effective, repealed, source, article_count, fingerprint,"
            " import_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(law.name, key, law.kind.value, law.issuer, law.published, law.effective, law.repealed, law.source),
                *(count, law_fingerprint(law), self._import),
            ),
        ).lastrowid
        self._database.executemany(
            "INSERT INTO article (law_id, number, suffix, path, text) VALUES (?, ?, ?, ?, ?)",
            [(law_id, *article.number, "\n".join(article.path), article.text) for article in law.articles],
        )
        self._database.executemany("INSERT INTO history VALUES (?, ?)", [(law_id, day) for day in law.history])
        for article in law.articles[-3:]:
            since = stated_force(article.text) or law.effective or law.published or ""
            repeals = [(other, law_id, *article.number, since) for other in repealed_laws(article.text) if other != key]
            self._database.executemany("INSERT OR REPLACE INTO repeal VALUES (?, ?, ?, ?, ?)", repeals)

    def add_case(self, case: CourtCase) -> None:
        self._report.cases += 1
        key = next(iter(case_keys(case.number or "")), None)
        values = (
            *(case.name, case.number, key, case.court, case.date, case.type.value if case.type else None),
            *(case.cause, case.gist, case.summary, case.verdict, case.url, case.source, case.text),
        )
        if self._update and self._database.execute(_SELECT_CASE, values).fetchone():
            self._report.unchanged += 1
            return
        self.has_changes = True
        if key:
            self._database.execute("DELETE FROM court_case WHERE name = ? AND number_key = ?", (case.name, key))
        else:  # many judgments in one table have the same name
            self._database.execute(_DELETE_EARLIER_CASE, (case.name, case.source, self._import))
        self._database.execute(_INSERT_CASE, (*values, self._import))


_CASE_VALUES = (
    *("name", "number", "number_key", "court", "date", "type"),
    *("cause", "gist", "summary", "verdict", "url", "source", "text"),
)
_DELETE_EARLIER_CASE = "DELETE FROM court_case WHERE name = ? AND number_key IS NULL AND source = ? AND import_id < ?"
_SELECT_CASE = f"SELECT 1 FROM court_case WHERE {' AND '.join(f'{name} IS ?' for name in _CASE_VALUES)}"  # noqa: S608 (the names above)
_INSERT_CASE = f"INSERT INTO court_case ({', '.join(_CASE_VALUES)}, import_id) VALUES ({'?, ' * len(_CASE_VALUES)}?)"  # noqa: S608


_SELECT_VERSIONS = "SELECT id, name, kind, issuer, published, effective, repealed, source FROM law WHERE key = ?"
_SELECT_ARTICLES = "SELECT number, suffix, path, text FROM article WHERE law_id = ? ORDER BY id"
_SELECT_HISTORY = "SELECT day FROM history WHERE law_id = ? ORDER BY rowid"
_SELECT_AMENDMENTS = "SELECT id, name, published FROM law WHERE published IS NOT NULL AND (name LIKE '%修正案%' OR name LIKE '%修改%决定')"
_ADD_FORCE_DAY = "UPDATE law SET effective = ? WHERE key = ? AND published = ? AND effective IS NULL"


def checksum(source: Path) -> str | None:
    """Return the SHA-256 of a file, or None for a folder."""
    if not source.is_file():
        return None
    with source.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
