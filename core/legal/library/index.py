"""The imported laws and cases, read-only: exact look-up in SQLite, full text in tantivy.

    data/legal/current.json     names the folder in use; replaced in one step when an import is complete
    data/legal/<folder>/        laws.sqlite3 and text/ (tantivy), never changed once they are named

`LegalLibrary.index()` looks at current.json each time, so that an import in another process is seen at once. An open
index keeps its files open: it goes on answering after its folder was removed.
"""

from __future__ import annotations

import json
import logging
import math
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tantivy

from core.legal.errors import EmbeddingError
from core.legal.text.asked_laws import familiarity
from core.legal.text.lay_words import search_terms
from core.legal.text.names import best_match, law_key, likest_name, mended, spellings
from core.legal.text.numerals import ArticleNumber
from core.legal.text.which_law import is_abroad, is_local
from core.legal.types import CaseType, CourtCase, Kind, Status

if TYPE_CHECKING:
    from core.legal.library.vectors import Neighbours, Vectors

log = logging.getLogger(__name__)

MANIFEST = "current.json"
DATABASE = "laws.sqlite3"
TEXT = "text"
FORMAT = 1

ARTICLE_FIELDS = {"body": 1.0, "title": 0.2, "path": 0.4}
CASE_FIELDS = {"case_body": 1.0, "case_title": 1.0}
_PRIOR = 0.3
"""How much more a statute weighs than a regulation that fits as well."""
_COVERAGE = 0.5
_NOT_IN_FORCE = 0.5
_FAMILIARITY = 0.12
_LENGTH = 0.1
"""BM25 prefers short articles a little more than people's questions do."""
_MEANT = 512
"""Characters: the model reads no more."""
_MEANING = 1.25
"""What the greatest likeness weighs beside the best hit of the words; docs/benchmarks.md says how this, the length and the prior were
chosen."""
_RANKS_ALIKE = 60
"""Reciprocal ranks of several wordings are added: the usual constant, which makes the first few ranks of one worth about the same."""
_MARGIN = 140
"""More are asked for than are wanted: hits in old versions are dropped, and the prior moves others up."""
_WEIGHED = 65_536


Near = Callable[[str, int], Mapping[int, float]]
"""The articles that mean most nearly what a question means: their ids, and how nearly, at most 1."""


@dataclass(frozen=True, slots=True)
class LawVersion:
    """One version of a law without its text."""

    id: int
    name: str
    key: str
    kind: Kind
    issuer: str | None
    published: str | None
    effective: str | None
    repealed: bool
    source: str
    article_count: int

    @property
    def begins(self) -> str:
        """The day from which it counts; where that is unknown, the day of its publication."""
        return self.effective or self.published or ""


@dataclass(frozen=True, slots=True)
class StoredArticle:
    id: int
    law_id: int
    number: ArticleNumber
    path: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Repeal:
    """An article that says of another law that it is no longer in force."""

    law_id: int
    number: ArticleNumber
    since: str


class LegalIndex:
    """One complete index. All methods may be called from any thread."""

    def __init__(self, folder: Path, today: Callable[[], date] = date.today) -> None:
        self._today = today
        self._lock = threading.Lock()
        self._database = connect_read_only(folder / DATABASE)
        text = tantivy.Index.open(str(folder / TEXT))
        text.config_reader(num_warmers=0, reload_policy="manual")
        self._searcher = text.searcher()
        self._current: tuple[str, dict[str, LawVersion]] = ("", {})
        self._weighed = lru_cache(maxsize=_WEIGHED)(self._weigh)
        self._versions = {version.id: version for version in self._load_versions()}
        self._by_key: dict[str, list[LawVersion]] = defaultdict(list)
        for version in self._versions.values():
            self._by_key[version.key].append(version)
        for versions in self._by_key.values():
            versions.sort(
                key=lambda version: (version.published or "", version.effective or "", version.id), reverse=True
            )

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._database.execute(query, values).fetchall()

    # ── Laws ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _load_versions(self) -> Iterator[LawVersion]:
        for row in self._rows(
            "SELECT id, name, key, kind, issuer, published, effective, repealed, source, article_count FROM law"
        ):
            identity, name, key, kind, issuer, published, effective, repealed, source, count = row
            yield LawVersion(
                identity, name, key, Kind(kind), issuer, published, effective, bool(repealed), source, count
            )

    def version(self, law_id: int) -> LawVersion:
        return self._versions[law_id]

    def versions(self, key: str) -> Sequence[LawVersion]:
        """All versions of a law, the newest first."""
        return self._by_key.get(key, ())

    def current(self, key: str) -> LawVersion | None:
        """The newest version that is in force; without one, the newest of all."""
        today = self._today().isoformat()
        if self._current[0] != today:
            self._current = (today, {key: self._newest(versions, today) for key, versions in self._by_key.items()})
        return self._current[1].get(key)

    @staticmethod
    def _newest(versions: Sequence[LawVersion], today: str) -> LawVersion:
        return next((version for version in versions if version.begins <= today), versions[0])

    def status(self, version: LawVersion) -> Status:
        if version.begins > self._today().isoformat():
            return Status.NOT_YET
        newer = self.current(version.key)
        if newer is not None and newer.id != version.id:
            return Status.AMENDED
        return Status.REPEALED if version.repealed or self.repeal(version.key) else Status.IN_FORCE

    def resolve(self, name: str) -> LawVersion | None:
        """The current version of the law that a written name stands for: exact or by a known short name."""
        return next((self.current(key) for key in spellings(name) if key in self._by_key), None)

    def is_known(self, name: str) -> bool:
        return self.resolve(name) is not None or law_key(name) in self._repeals

    def match(self, query: str, limit: int = 10) -> list[LawVersion]:
        """Laws whose names hold the letters of the query in order (工伤条例 → 工伤保险条例), the likeliest first."""
        exact = self.resolve(query)
        keys = best_match(query, ((key, self._weight(key)) for key in self._by_key), limit)
        found = [version for key in keys if (version := self.current(key))]
        return ([exact] if exact else []) + [law for law in found if law != exact][: limit - bool(exact)]

    def asked_back(self, name: str) -> str:
        """The question which law is meant by a name that no law has: 劳动合同发. Empty where none is like it."""
        law = self.resolve(mended(name))
        if law is None and not (is_abroad(name) or is_local(name)):
            key = likest_name(name, self._by_key)
            law = self.current(key) if key else None
        return f"是否指《{law.name}》？" if law else ""

    def containing(self, words: str, limit: int) -> list[LawVersion]:
        """Laws whose names contain the words as they are."""
        key = law_key(words)
        keys = [name for name in self._by_key if key in name]
        keys.sort(key=lambda name: (-self._weight(name), len(name)))
        return [version for name in keys[:limit] if (version := self.current(name))]

    def _weight(self, key: str) -> float:
        return self._by_key[key][0].kind.weight

    def laws(self) -> list[LawVersion]:
        """The current version of every law, by kind and name."""
        order = list(Kind)
        found = [version for key in self._by_key if (version := self.current(key))]
        return sorted(found, key=lambda law: (order.index(law.kind), law.name))

    @cached_property
    def _repeals(self) -> dict[str, Repeal]:
        rows = self._rows("SELECT key, law_id, number, suffix, since FROM repeal")
        return {row[0]: Repeal(row[1], ArticleNumber(row[2], row[3]), row[4]) for row in rows}

    def repeal(self, key: str) -> Repeal | None:
        """The article that put this law out of force, unless a law of the same name was made after that."""
        repeal = self._repeals.get(key)
        if repeal is None or repeal.since > self._today().isoformat():
            return None
        newest = self.versions(key)[0].published if key in self._by_key else None
        return None if newest and newest >= repeal.since else repeal

    # ── Articles ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _articles(self, condition: str, *values: Any) -> list[StoredArticle]:
        rows = self._rows(f"SELECT id, law_id, number, suffix, path, text FROM article WHERE {condition}", *values)  # noqa: S608 (the conditions stand in this file)
        return [StoredArticle(row[0], row[1], ArticleNumber(row[2], row[3]), _path(row[4]), row[5]) for row in rows]

    def article(self, law_id: int, number: ArticleNumber) -> StoredArticle | None:
        found = self._articles("law_id = ? AND number = ? AND suffix = ? ORDER BY id LIMIT 1", law_id, *number)
        return found[0] if found else None

    def before(self, law_id: int, number: ArticleNumber, back: int) -> StoredArticle | None:
        """The article `back` places before: 前条 of 第一百二十一条 may be 第一百二十条之六."""
        found = self._articles(
            "law_id = ? AND number > 0 AND (number, suffix) < (?, ?) ORDER BY number DESC, suffix DESC LIMIT 1 OFFSET ?",
            law_id,
            *number,
            back - 1,
        )
        return found[0] if found else None

    def articles(self, law_id: int) -> list[StoredArticle]:
        """The whole law, in its own order."""
        return self._articles("law_id = ? ORDER BY id", law_id)

    def meanings(self) -> Iterator[tuple[int, str]]:
        """Each article of a current version, with the words that an embedding model is shown of it."""
        for law in self.laws():
            for article in self.articles(law.id):
                yield article.id, " ".join((law.name, *article.path, str(article.number), article.text))[:_MEANT]

    def highest(self, law_id: int) -> int:
        return int(self._rows("SELECT max(number) FROM article WHERE law_id = ?", law_id)[0][0] or 0)

    def search(
        self, text: str, limit: int, near: Near = lambda _text, _limit: {}, also: Sequence[str] = ()
    ) -> list[StoredArticle]:
        """Articles of current versions that fit the words, best first; of two that fit alike, the statute.

        `near` adds those that mean the same in other words; `also` is the same question in other words.
        """
        fused: dict[int, float] = defaultdict(float)
        for wording in (text, *also):
            for rank, identity in enumerate(self._ranked(wording, limit + _MARGIN, near)):
                fused[identity] += 1 / (_RANKS_ALIKE + rank)
        best = sorted(fused, key=lambda identity: -fused[identity])[:limit]
        found = {article.id: article for article in self._articles(f"id IN ({_marks(best)})", *best)}
        return [found[identity] for identity in best]

    def _ranked(self, text: str, limit: int, near: Near) -> list[int]:
        """The ids of articles, best first."""
        weighted, today = search_terms(text), self._today().isoformat()
        scores, likeness = self._hits(ARTICLE_FIELDS, weighted, limit), near(text, limit)
        worded, meant = _shares(scores, 0.0), _shares(likeness, min(likeness.values(), default=0.0))
        asked = [term for term, weight in weighted.items() if weight == 1.0]
        ids = scores.keys() | likeness.keys()
        fitting: dict[int, float] = {}
        for identity, law_id, path, words in self._rows(
            f"SELECT id, law_id, path, text FROM article WHERE id IN ({_marks(ids)})",  # noqa: S608 (question marks)
            *ids,
        ):
            if weight := self._weighed(law_id, today):
                fit = self._fit(f"{words}\n{self.version(law_id).name}\n{path}", len(words), asked)
                fitting[identity] = weight * fit * (worded.get(identity, 0.0) + _MEANING * meant.get(identity, 0.0))
        return sorted(fitting, key=lambda identity: -fitting[identity])

    @staticmethod
    def _fit(words: str, length: int, asked: list[str]) -> float:
        """What BM25 does not see of an article: how many of the words are there at all, and its length."""
        coverage = len([term for term in asked if term in words]) / max(len(asked), 1)
        return (1 + _COVERAGE * coverage) * math.pow(length, _LENGTH)

    def _weigh(self, law_id: int, today: str) -> float:
        """What it does not see of a law: its rank, how often people ask about it, whether it counts; 0 for a version of another day.

        `today` says only how long this may be remembered.
        """
        law = self.version(law_id)
        if self.current(law.key) != law:
            return 0.0
        in_force = 1.0 if self.status(law) is Status.IN_FORCE else _NOT_IN_FORCE
        return (1 + _PRIOR * law.kind.weight) * (1 + _FAMILIARITY * familiarity(law.key)) * in_force

    def _hits(self, fields: dict[str, float], weighted: dict[str, float], limit: int) -> dict[int, float]:
        """The best documents and their scores.

        Only a plain union of terms lets tantivy skip most documents, so neither a filter nor a prior is part of it.
        """
        terms = [
            (tantivy.Occur.Should, tantivy.Query.boost_query(_term(name, term), weight * boost))
            for term, weight in weighted.items()
            for name, boost in fields.items()
        ]
        hits = self._searcher.search(tantivy.Query.boolean_query(terms), limit, count=False).hits
        ids = self._searcher.fast_field_values("id", [address for _, address in hits])
        return {int(identity): score for identity, (score, _) in zip(ids, hits, strict=True) if identity is not None}

    # ── Cases ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def cases_by_number(self, number: str) -> list[CourtCase]:
        return self._cases("number_key = ?", number)

    def cases_by_name(self, name: str) -> list[CourtCase]:
        return self._cases("name = ?", name)

    def search_cases(self, text: str, case_type: CaseType | None, limit: int) -> list[CourtCase]:
        scores = self._hits(CASE_FIELDS, search_terms(text), limit if case_type is None else 20 * limit)
        found = self._cases(f"id IN ({','.join('?' * len(scores))})", *scores)
        fitting = [case for case in found if case_type is None or case.type is case_type]
        return sorted(fitting, key=lambda case: -scores[case.id])[:limit]

    def _cases(self, condition: str, *values: Any) -> list[CourtCase]:
        rows = self._rows(
            f"SELECT name, number, court, date, type, summary, verdict, url, source, text, id FROM court_case WHERE {condition}",  # noqa: S608 (the conditions stand in this file)
            *values,
        )
        return [_case(*row) for row in rows]

    def imported(self) -> str:
        """The day of the last import."""
        return str(self._rows("SELECT max(imported) FROM import")[0][0] or "")[:10]

    def counts(self) -> dict[str, int]:
        """What the index holds: laws, versions, articles, cases."""
        articles, cases = self._rows("SELECT (SELECT count(*) FROM article), (SELECT count(*) FROM court_case)")[0]
        return {"laws": len(self._by_key), "versions": len(self._versions), "articles": articles, "cases": cases}


def _shares(scores: Mapping[int, float], least: float) -> dict[int, float]:
    """The best becomes 1, the least 0: all cosines of a model's answers lie close together."""
    width = max(scores.values(), default=1.0) - least
    return {identity: (score - least) / width if width else 1.0 for identity, score in scores.items()}


def _case(*row: Any) -> CourtCase:
    name, number, court, day, kind, summary, verdict, url, source, text, identity = row
    case_type = CaseType(kind) if kind else None
    return CourtCase(name, number, court, day, case_type, summary, verdict, url, source, text, identity)


def _marks(values: Collection[int]) -> str:
    return ",".join("?" * len(values))


def _path(stored: str) -> tuple[str, ...]:
    return tuple(stored.split("\n")) if stored else ()


def _text_schema() -> tantivy.Schema:
    """Terms are cut by `core.base.text.terms`, so tantivy only has to split at blanks."""
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("id", fast=True)
    for name in (*ARTICLE_FIELDS, *CASE_FIELDS):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    return builder.build()


TEXT_SCHEMA = _text_schema()


def _term(field: str, term: str) -> tantivy.Query:
    return tantivy.Query.term_query(TEXT_SCHEMA, field, term, "freq")


class LegalLibrary:
    """Whatever index is in use at the moment, below the data folder."""

    def __init__(self, data_dir: Path, today: Callable[[], date] = date.today, *, embedding: str = "") -> None:
        """`embedding`: a folder or a name, as `Embedder` takes them."""
        self.folder = data_dir / "legal"
        self._today = today
        self._embedding = embedding
        self._lock = threading.Lock()
        self._open: tuple[str, LegalIndex] | None = None
        self._seen: tuple[int, int] | None = None
        self._neighbours: tuple[str, Neighbours] | None = None
        self.problem = ""
        """Why articles are not found by meaning although a model is configured."""

    @cached_property
    def vectors(self) -> Vectors | None:
        """None without a model. Raises an EmbeddingError for one that cannot be used."""
        if not self._embedding:
            return None
        from core.legal.library.embedding import Embedder
        from core.legal.library.vectors import Vectors

        return Vectors(self.folder, Embedder(self._embedding))

    def near(self, text: str, limit: int) -> Mapping[int, float]:
        """Nothing without a model, and while the vectors of what was imported last are still being computed."""
        try:
            neighbours = self._neighbours_now()
            found = neighbours.nearest(text, limit) if neighbours else {}
        except EmbeddingError as error:
            if not self.problem:
                log.warning("articles are found by their words alone: %s", error)
            self.problem, found = str(error), {}
        return found

    def _neighbours_now(self) -> Neighbours | None:
        index, version = self.index(), self.version
        if self.problem or index is None or version is None or self.vectors is None:
            return None
        if self._neighbours is None or self._neighbours[0] != version:
            if not self.vectors.complete(version):
                return None
            from core.legal.library.vectors import Neighbours

            self._neighbours = version, Neighbours(self.vectors, index.meanings())
        return self._neighbours[1]

    @property
    def version(self) -> str | None:
        """Names the index in use without opening it; another one after each import."""
        return current_folder(self.folder)

    @property
    def available(self) -> bool:
        return self.version is not None

    def index(self) -> LegalIndex | None:
        """None before the first import."""
        for _ in range(3):  # a folder may be removed between reading its name and opening it
            seen = self._stamp()
            if seen is None:
                return None
            with self._lock:
                if self._open and self._seen == seen:
                    return self._open[1]
                with suppress(OSError, ValueError, sqlite3.Error):
                    name = current_folder(self.folder)
                    if name and (not self._open or self._open[0] != name):
                        self._open = (name, LegalIndex(self.folder / name, self._today))
                    self._seen = seen
                    return self._open[1] if self._open else None
        return None

    def _stamp(self) -> tuple[int, int] | None:
        try:
            stat = (self.folder / MANIFEST).stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_ino


def connect_read_only(database: Path) -> sqlite3.Connection:
    """Nobody writes to an index in use, so no lock is taken on it."""
    return sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)


def current_folder(folder: Path) -> str | None:
    """The name of the folder in use; None without one, when it is gone, and for one that a newer program wrote."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        return None
    name = str(manifest.get("folder"))
    return name if (folder / name / DATABASE).is_file() else None
